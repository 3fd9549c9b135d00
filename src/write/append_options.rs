//! How rows become files, as the caller wants it.

use std::collections::BTreeMap;

use crate::codec::bloom::BloomSettings;
use crate::codec::parquet::Codec;

/// What a key that comes twice in one call means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DuplicateKeys {
    /// The call fails.
    #[default]
    Error,
    /// The latest of its rows is written: by the table's ordering fields, and of equal ones the last. All rows of the call are
    /// held in memory until then.
    KeepLatest,
    /// Nobody asks: the caller has seen to it.
    Unchecked,
}

/// How rows become files.
#[derive(Debug, Clone)]
pub struct AppendOptions {
    /// How pages are packed.
    pub codec: Codec,
    /// Bytes after which a file ends: `hoodie.parquet.max.file.size`. `u64::MAX` makes one file of each partition.
    pub max_file_size: u64,
    /// Bytes that open files may hold in memory, uploads among them.
    pub buffer: usize,
    /// Bytes that open files and keys may hold; none is no limit.
    pub memory_limit: Option<usize>,
    /// Bytes of one part of an upload.
    pub part: u64,
    /// Whether promotions that lose nothing are made.
    pub widen: bool,
    /// What a key that comes twice means.
    pub duplicate_keys: DuplicateKeys,
    /// Whether a key is one row of the table whatever its partition, as under a record index.
    pub global_keys: bool,
    /// Whether [`WrittenFile::keys`](super::WrittenFile::keys) are wanted.
    pub keep_keys: bool,
    /// Sizes of the Bloom filters.
    pub bloom: BloomSettings,
    /// The call's `hoodie.*` settings, which key generators look into.
    pub hudi_options: BTreeMap<String, String>,
}

impl Default for AppendOptions {
    fn default() -> Self {
        Self {
            codec: Codec::default(),
            max_file_size: 120 << 20,
            buffer: 56 << 20,
            memory_limit: None,
            part: 8 << 20,
            widen: false,
            duplicate_keys: DuplicateKeys::default(),
            global_keys: false,
            keep_keys: true,
            bloom: BloomSettings::default(),
            hudi_options: BTreeMap::new(),
        }
    }
}
