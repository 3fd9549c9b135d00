/// The size of an object whose listing tells none: what opens the object asks for it.
pub const UNKNOWN_SIZE: u64 = u64::MAX;

/// One object: its path, size and what else the store told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectMeta {
    /// Path relative to the table, without a leading slash.
    pub path: String,
    /// Size in bytes, or [`UNKNOWN_SIZE`].
    pub size: u64,
    /// The entity tag, where the store shows one.
    pub etag: Option<String>,
    /// Last change in milliseconds since 1970, where the store shows it.
    pub modified_millis: Option<i64>,
}

/// What stands directly in one folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folder {
    /// The files, by path.
    pub files: Vec<ObjectMeta>,
    /// The folders, by path relative to the table, without a trailing slash.
    pub folders: Vec<String>,
}

/// Where file names come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListingSource {
    /// The store lists itself.
    #[default]
    Store,
    /// A manifest file that somebody wrote beside the table.
    Manifest,
    /// A function that the caller gave.
    Custom,
    /// The table's own metadata table.
    MetadataTable,
}

impl ListingSource {
    /// The public word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Manifest => "manifest",
            Self::Custom => "custom",
            Self::MetadataTable => "metadata-table",
        }
    }
}

/// Where file names come from, and how old they may be: `metrics.listing`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListingFacts {
    /// Who lists.
    pub source: ListingSource,
    /// When a manifest was made, in RFC 3339.
    pub made_at: Option<String>,
    /// The newest instant a manifest knows.
    pub newest_instant: Option<String>,
    /// Whether names that begin with a dot are not listed: log files and partition metafiles among them.
    pub dot_names_hidden: bool,
}
