//! One base file being written: meta columns, what Hudi keeps in footers, and its report.

use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray};

use super::target::{FileSink, OpenedFile};
use super::written::{self, WrittenFile};
use crate::codec::bloom::{BloomFilter, BloomSettings};
use crate::codec::bytes::compare;
use crate::codec::parquet::{Compressor, FileSchema, FileWriter, Rows, Source, TextRows};
use crate::error::Result;
use crate::host::now_millis;
use crate::index::RecordKeys;
use crate::model::{BaseFileName, BaseFormat, InstantTime, PartitionPath};
use crate::timeline::payload::{RuntimeStats, WriteStat};

/// What all files of a call share.
#[derive(Debug, Clone)]
pub(super) struct Format {
    pub(super) schema: FileSchema,
    /// Avro JSON of the file's columns, meta fields among them.
    pub(super) avro: String,
    /// How many columns follow the meta columns.
    pub(super) columns: usize,
    /// Whether the meta columns are filled; they are null otherwise.
    pub(super) meta_fields: bool,
    /// Whether keys are the instant and the row's number.
    pub(super) auto_keys: bool,
    pub(super) instant: InstantTime,
    pub(super) bloom: BloomSettings,
}

impl Format {
    /// What `_hoodie_commit_seqno` of a file's rows begins with; a generated key is the same text.
    pub(super) fn counted(&self, file: u32) -> String {
        format!("{}_{file}_", self.instant)
    }

    /// The generated keys of a file's rows.
    pub(super) fn counted_keys(&self, file: u32, rows: usize) -> RecordKeys {
        let prefix = self.counted(file);
        let mut keys = RecordKeys::default();
        for row in 0..rows {
            // Chunks of such keys are far from four gigabytes.
            let _fits = keys.push(&format!("{prefix}{row}"));
        }
        keys
    }

    fn sources(&self, file: u32, partition: &PartitionPath, name: &str) -> Vec<Source> {
        let counter = || Source::Counter(self.counted(file));
        let mut sources = match self.meta_fields {
            true => vec![
                Source::Constant(self.instant.as_str().to_owned()),
                counter(),
                if self.auto_keys {
                    counter()
                } else {
                    Source::Texts
                },
                Source::Constant(partition.as_str().to_owned()),
                Source::Constant(name.to_owned()),
            ],
            false => vec![Source::Absent; 5],
        };
        sources.extend(std::iter::repeat_n(Source::Array, self.columns));
        sources
    }
}

impl TextRows for StringArray {
    fn texts(&self, start: usize, end: usize) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        let offsets = self.offsets().get(start..=end).unwrap_or_default();
        let bytes = self.value_data();
        offsets.windows(2).map(|pair| match pair {
            [start, end] => bytes
                .get(*start as usize..*end as usize)
                .unwrap_or_default(),
            _ => &[],
        })
    }
}

/// Parts that an upload has on their way at once.
const PARTS_ON_THEIR_WAY: u64 = 2;

/// A file that takes rows.
pub(super) struct BaseFile {
    /// Its number in the call.
    pub(super) number: u32,
    partition: PartitionPath,
    new_partition: bool,
    name: BaseFileName,
    writer: FileWriter,
    sink: Box<dyn FileSink>,
    pub(super) rows: usize,
    /// Bytes handed to the sink.
    pub(super) sent: u64,
    started: i64,
}

impl BaseFile {
    /// The name of a new file group's first file.
    pub(super) fn name(format: &Format, number: u32) -> Result<BaseFileName> {
        Ok(BaseFileName {
            file_id: format!("{}-0", crate::host::random_uuid()?),
            write_token: format!("{number}-0-0"),
            instant: format.instant.clone(),
            format: BaseFormat::Parquet,
        })
    }

    pub(super) fn begin(
        format: &Arc<Format>,
        number: u32,
        partition: PartitionPath,
        name: BaseFileName,
        opened: OpenedFile,
    ) -> Result<Self> {
        let sources = format.sources(number, &partition, &name.to_string());
        Ok(Self {
            number,
            partition,
            new_partition: opened.new_partition,
            name,
            writer: FileWriter::new(&format.schema, &sources)?,
            sink: opened.sink,
            rows: 0,
            sent: 0,
            started: now_millis(),
        })
    }

    /// Adds rows; `keys` are there when the table has meta fields and key fields.
    pub(super) fn push(
        &mut self,
        arrays: &[ArrayRef],
        keys: Option<&StringArray>,
        rows: usize,
        packer: &mut Compressor,
    ) -> Result<()> {
        let texts = keys.map(std::slice::from_ref).unwrap_or_default();
        let pushed = Rows {
            arrays,
            texts,
            count: rows,
        };
        self.writer.push(&pushed, packer)?;
        self.rows += rows;
        Ok(())
    }

    /// Bytes of memory: what is encoded, the part of the upload that is not full, and those that may be on their way.
    pub(super) fn memory(&self, part: u64) -> usize {
        let on_their_way = (self.sent / part).min(PARTS_ON_THEIR_WAY) * part;
        self.writer.memory() + (on_their_way + self.sent % part) as usize
    }

    /// Bytes that would leave if the row group ended now, about.
    pub(super) fn buffered(&self) -> usize {
        self.writer.memory()
    }

    /// About the bytes that the file would have if it ended now.
    pub(super) fn size(&self) -> u64 {
        self.writer.size()
    }

    /// Ends the row group and sends all that is finished.
    pub(super) async fn flush(&mut self, packer: &mut Compressor) -> Result<()> {
        self.writer.finish_group(packer)?;
        for bytes in self.writer.take() {
            self.sent += bytes.len() as u64;
            self.sink.write(bytes).await?;
        }
        Ok(())
    }

    /// Ends the file. The report still lacks the keys, which the caller keeps.
    pub(super) async fn finish(
        mut self,
        format: &Format,
        keys: Option<&RecordKeys>,
        packer: &mut Compressor,
    ) -> Result<WrittenFile> {
        if let Err(error) = self.flush(packer).await {
            self.abort().await;
            return Err(error);
        }
        let footer = Footer::of(format, keys);
        let Self {
            writer, mut sink, ..
        } = self;
        let (last, columns) = match writer.finish(&footer.keys(format), packer) {
            Ok(finished) => finished,
            Err(error) => {
                sink.abort().await;
                return Err(error);
            }
        };
        for bytes in last {
            if let Err(error) = sink.write(bytes).await {
                sink.abort().await;
                return Err(error);
            }
        }
        let size = sink.complete().await?;
        let name = self.name.to_string();
        Ok(WrittenFile {
            stat: WriteStat {
                file_id: self.name.file_id,
                path: Some(self.partition.file_path(&name)),
                prev_commit: Some("null".to_owned()),
                num_writes: self.rows as i64,
                num_inserts: self.rows as i64,
                total_write_bytes: size.cast_signed(),
                file_size_in_bytes: size.cast_signed(),
                partition_path: Some(self.partition.as_str().to_owned()),
                runtime_stats: Some(RuntimeStats {
                    total_create_time: now_millis() - self.started,
                    ..RuntimeStats::default()
                }),
                ..WriteStat::default()
            },
            partition: self.partition,
            new_partition: self.new_partition,
            name,
            keys: RecordKeys::default(),
            columns: written::ranges(columns),
        })
    }

    pub(super) async fn abort(self) {
        self.sink.abort().await;
    }
}

/// Hudi's entries of a footer.
#[derive(Default)]
struct Footer {
    bloom: Option<String>,
    range: Option<(String, String)>,
}

impl Footer {
    fn of(format: &Format, keys: Option<&RecordKeys>) -> Self {
        let Some(keys) = keys.filter(|_| format.meta_fields) else {
            return Self::default();
        };
        let mut bloom = BloomFilter::new(format.bloom);
        bloom.add_all(keys.iter().map(str::as_bytes));
        let mut range: Option<(&str, &str)> = None;
        for key in keys.iter() {
            range = Some(match range {
                None => (key, key),
                Some((min, max)) if java_less(max.as_bytes(), key.as_bytes()) => (min, key),
                Some((min, max)) if java_less(key.as_bytes(), min.as_bytes()) => (key, max),
                Some(same) => same,
            });
        }
        Self {
            bloom: Some(bloom.to_base64()),
            range: range.map(|(min, max)| (min.to_owned(), max.to_owned())),
        }
    }

    fn keys<'a>(&'a self, format: &'a Format) -> Vec<(&'static str, &'a str)> {
        let mut keys = Vec::new();
        if let Some(bloom) = &self.bloom {
            keys.push(("org.apache.hudi.bloomfilter", bloom.as_str()));
            keys.push(("hoodie_bloom_filter_type_code", "DYNAMIC_V0"));
        }
        if let Some((min, max)) = &self.range {
            keys.push(("hoodie_min_record_key", min));
            keys.push(("hoodie_max_record_key", max));
        }
        keys.push(("parquet.avro.schema", &format.avro));
        keys.push(("writer.model.name", "avro"));
        keys
    }
}

/// Java's order of texts, which is that of UTF-16: characters beyond the first 65,536 come before U+E000.
fn java_less(a: &[u8], b: &[u8]) -> bool {
    if a.is_ascii() && b.is_ascii() {
        return compare(a, b).is_lt();
    }
    let first = a.iter().zip(b).find(|(a, b)| a != b);
    match first {
        None => a.len() < b.len(),
        Some((a, b)) => {
            // Such a character begins with 0xf0 or more, and those from U+E000 on with 0xee or 0xef: these come last.
            let place = |byte: u8| match byte {
                0xee | 0xef => byte + 0x10,
                _ => byte,
            };
            place(*a) < place(*b)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_ordered_as_java_orders_texts() {
        let mut texts = [
            "\u{e000}",
            "\u{1f600}",
            "z",
            "",
            "é",
            "\u{ffff}",
            "a",
            "ab",
            "\u{800}",
            "中",
            "\u{d7ff}",
            "\u{10ffff}",
        ];
        texts.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
        for pair in texts.windows(2) {
            assert!(
                java_less(pair[0].as_bytes(), pair[1].as_bytes()),
                "{pair:?}"
            );
            assert!(
                !java_less(pair[1].as_bytes(), pair[0].as_bytes()),
                "{pair:?}"
            );
        }
    }
}
