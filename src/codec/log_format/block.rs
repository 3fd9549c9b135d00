use std::ops::Range;

use bytes::Bytes;

use crate::error::{Error, Result};

/// What a block holds, by the number in its frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// 0: an order to the reader, see [`Command`]; no content.
    Command,
    /// 1: keys of deleted records.
    Delete,
    /// 2: what a reader calls a damaged span; never written.
    Corrupt,
    /// 3: records as Avro.
    AvroData,
    /// 4: records as an HFile.
    HFileData,
    /// 5: records as a Parquet file.
    ParquetData,
    /// 6: changes as Avro, which snapshots pass over.
    Cdc,
}

impl BlockKind {
    /// The kind of a number; `None` for those that no table version up to 9 has.
    pub fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            0 => Self::Command,
            1 => Self::Delete,
            2 => Self::Corrupt,
            3 => Self::AvroData,
            4 => Self::HFileData,
            5 => Self::ParquetData,
            6 => Self::Cdc,
            _ => return None,
        })
    }

    /// Whether it holds records or deletes of the table.
    pub const fn has_records(self) -> bool {
        matches!(
            self,
            Self::Delete | Self::AvroData | Self::HFileData | Self::ParquetData
        )
    }
}

/// What a command block orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Blocks of the target instant that lie before this one do not count.
    Rollback,
}

/// The keys of header maps, whose numbers are their order in `HeaderMetadataType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum HeaderKey {
    InstantTime,
    TargetInstantTime,
    Schema,
    CommandBlockType,
    CompactedBlockTimes,
    RecordPositions,
    BlockIdentifier,
    IsPartial,
    BaseFileInstantTimeOfRecordPositions,
}

impl HeaderKey {
    pub(super) fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            0 => Self::InstantTime,
            1 => Self::TargetInstantTime,
            2 => Self::Schema,
            3 => Self::CommandBlockType,
            4 => Self::CompactedBlockTimes,
            5 => Self::RecordPositions,
            6 => Self::BlockIdentifier,
            7 => Self::IsPartial,
            8 => Self::BaseFileInstantTimeOfRecordPositions,
            _ => return None,
        })
    }
}

/// What the header of a block says; every part may be absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockHeader(Vec<(HeaderKey, Box<str>)>);

impl BlockHeader {
    /// Of a key given twice the last value counts, as in a map.
    pub(super) fn set(&mut self, key: HeaderKey, value: &str) {
        self.0.retain(|(known, _)| *known != key);
        self.0.push((key, value.into()));
    }

    fn get(&self, key: HeaderKey) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| *known == key);
        found.map(|(_, value)| value.as_ref())
    }

    /// The instant that wrote the block; archives of the timeline have none.
    pub fn instant_time(&self) -> Option<&str> {
        self.get(HeaderKey::InstantTime)
    }

    /// The instant that a command is about.
    pub fn target_instant_time(&self) -> Option<&str> {
        self.get(HeaderKey::TargetInstantTime)
    }

    /// Avro JSON of the records as they were written, `_hoodie_*` columns included; that of a partial update has only
    /// the columns it sets.
    pub fn schema(&self) -> Option<&str> {
        self.get(HeaderKey::Schema)
    }

    /// What a command block orders.
    ///
    /// Errors: `Corrupt` when it does not say, `Unsupported` for an unknown order.
    pub fn command(&self) -> Result<Command> {
        match self.get(HeaderKey::CommandBlockType).map(str::trim) {
            Some("0") => Ok(Command::Rollback),
            None => Err(Error::corrupt("a command block names no command")),
            Some(other) => {
                Err(Error::unsupported("an unknown command in a log file")
                    .context("command", other))
            }
        }
    }

    /// The instants whose blocks a log compaction has merged into this one, newest first; `None` for any other block.
    pub fn compacted_block_times(&self) -> Option<impl Iterator<Item = &str>> {
        let list = self.get(HeaderKey::CompactedBlockTimes)?;
        Some(
            list.split(',')
                .map(str::trim)
                .filter(|time| !time.is_empty()),
        )
    }

    /// Base64 of a 64-bit Roaring bitmap: the positions in the base file of the block's records, in their order.
    pub fn record_positions(&self) -> Option<&str> {
        self.get(HeaderKey::RecordPositions)
    }

    /// The instant of the base file that [`record_positions`](Self::record_positions) count in.
    pub fn base_file_instant_time_of_positions(&self) -> Option<&str> {
        self.get(HeaderKey::BaseFileInstantTimeOfRecordPositions)
    }

    /// Whether the records hold only the columns that they set.
    pub fn is_partial(&self) -> bool {
        let text = self.get(HeaderKey::IsPartial);
        text.is_some_and(|text| text.eq_ignore_ascii_case("true"))
    }

    /// `<attempt>,<sequence>` of writers before 1.0, which nothing depends on.
    pub fn block_identifier(&self) -> Option<&str> {
        self.get(HeaderKey::BlockIdentifier)
    }
}

/// One block of a log file: where it lies and what its header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogBlock {
    /// Index of its file in the list of log files that was scanned.
    pub file: usize,
    /// Where its magic begins.
    pub offset: u64,
    /// What its content is.
    pub kind: BlockKind,
    /// Log format version of the frame: 1.
    pub version: u32,
    /// What its header says.
    pub header: BlockHeader,
    /// Where its content lies in the file.
    pub content: Range<u64>,
    /// The content, where it came in while its frame was read.
    pub fetched: Option<Bytes>,
}

impl LogBlock {
    /// Bytes of the content.
    pub fn content_len(&self) -> u64 {
        self.content.end.saturating_sub(self.content.start)
    }

    /// The block's instant.
    ///
    /// Errors: `Corrupt`, with `offset`, for a block that names none.
    pub fn instant_time(&self) -> Result<&str> {
        let missing =
            || Error::corrupt("a log block names no instant").context("offset", self.offset);
        self.header.instant_time().ok_or_else(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn header(entries: &[(u32, &str)]) -> BlockHeader {
        let mut header = BlockHeader::default();
        for (code, value) in entries {
            header.set(HeaderKey::from_code(*code).unwrap(), value);
        }
        header
    }

    #[test]
    fn each_key_has_its_number_of_the_format() {
        let all = [
            (0, "t1"),
            (1, "t0"),
            (2, "{}"),
            (3, "0"),
            (4, "t3,t2"),
            (5, "AQ=="),
            (6, "1,2"),
            (7, "true"),
            (8, "t9"),
        ];
        let header = header(&all);
        assert_eq!(header.instant_time(), Some("t1"));
        assert_eq!(header.target_instant_time(), Some("t0"));
        assert_eq!(header.schema(), Some("{}"));
        assert_eq!(header.command().unwrap(), Command::Rollback);
        let times: Vec<_> = header.compacted_block_times().unwrap().collect();
        assert_eq!(times, ["t3", "t2"]);
        assert_eq!(header.record_positions(), Some("AQ=="));
        assert_eq!(header.block_identifier(), Some("1,2"));
        assert!(header.is_partial());
        assert_eq!(header.base_file_instant_time_of_positions(), Some("t9"));
        assert_eq!(HeaderKey::from_code(9), None);
    }

    #[test]
    fn an_absent_or_unknown_command_is_refused() {
        let kind = |entries: &[(u32, &str)]| header(entries).command().unwrap_err().kind();
        assert_eq!(kind(&[]), ErrorKind::Corrupt);
        assert_eq!(kind(&[(3, "1")]), ErrorKind::Unsupported);
    }

    #[test]
    fn the_last_value_of_a_key_counts_and_false_is_not_partial() {
        let header = header(&[(0, "a"), (7, "TRUE"), (0, "b"), (7, "false")]);
        assert_eq!(header.instant_time(), Some("b"));
        assert!(!header.is_partial());
        assert!(header.compacted_block_times().is_none());
    }
}
