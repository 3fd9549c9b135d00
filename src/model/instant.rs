use std::fmt;

use chrono::{NaiveDate, NaiveDateTime, NaiveTime, Timelike};

use crate::error::{Error, Result};

/// The time of an instant as Hudi writes it: digits that sort as text.
///
/// Units: `yyyyMMddHHmmss` (14 digits, before 0.10) or `yyyyMMddHHmmssSSS` (17 digits), a wall clock in the timeline's
/// zone. Layout 1 metadata tables append three digits to a data table's instant, and bootstrap instants begin with
/// zeros, so the digits need not be a moment: see [`InstantTime::wall_clock`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstantTime(String);

impl InstantTime {
    /// Reads 14, 17, 20 or 23 digits: version 6 appends three digits to an instant of the metadata table, and three more to that.
    ///
    /// Errors: `InvalidArgument` for any other text.
    pub fn parse(text: &str) -> Result<Self> {
        if matches!(text.len(), 14 | 17 | 20 | 23) && text.bytes().all(|b| b.is_ascii_digit()) {
            return Ok(Self(text.to_owned()));
        }
        Err(
            Error::invalid_argument("not an instant: 14 or 17 digits, yyyyMMddHHmmss[SSS]")
                .context("instant", text),
        )
    }

    /// The instant of a wall clock, with milliseconds; what is finer is cut off.
    pub fn from_wall_clock(clock: NaiveDateTime) -> Self {
        let millis = clock.nanosecond() / 1_000_000 % 1000;
        Self(format!("{}{millis:03}", clock.format("%Y%m%d%H%M%S")))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The wall clock that the digits name; 14 digits mean the last millisecond of their second, as in Hudi.
    /// `None` for sentinels and other digits that are no date.
    pub fn wall_clock(&self) -> Option<NaiveDateTime> {
        let number = |from: usize, to: usize| self.0.get(from..to)?.parse::<u32>().ok();
        let year = i32::try_from(number(0, 4)?).ok()?;
        let date = NaiveDate::from_ymd_opt(year, number(4, 6)?, number(6, 8)?)?;
        let millis = match self.0.get(14..17) {
            Some(text) => text.parse().ok()?,
            None => 999,
        };
        let (hour, minute, second) = (number(8, 10)?, number(10, 12)?, number(12, 14)?);
        let time = NaiveTime::from_hms_milli_opt(hour, minute, second, millis)?;
        Some(date.and_time(time))
    }
}

impl fmt::Display for InstantTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What an instant does. Pending and completed names differ for three of them: see [`Action::completed_as`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// A write that makes base files, and a completed compaction.
    Commit,
    /// A write that may make log files, and a completed log compaction.
    DeltaCommit,
    /// A compaction that is not completed.
    Compaction,
    /// A log compaction that is not completed.
    LogCompaction,
    /// A write that replaces file groups, and a completed clustering.
    ReplaceCommit,
    /// A clustering that is not completed; version 6 calls it `replacecommit`.
    Clustering,
    /// Removal of files no longer needed.
    Clean,
    /// Removal of what one instant wrote.
    Rollback,
    /// Removal of every instant after a savepoint.
    Restore,
    /// A pin on the files of one instant, whose time it shares.
    Savepoint,
    /// The build of a metadata table partition.
    Indexing,
    /// A change of the schema history.
    SchemaCommit,
    /// A word that this engine does not know; shown, never acted on.
    Unknown(String),
}

impl Action {
    /// The word in file names.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Commit => "commit",
            Self::DeltaCommit => "deltacommit",
            Self::Compaction => "compaction",
            Self::LogCompaction => "logcompaction",
            Self::ReplaceCommit => "replacecommit",
            Self::Clustering => "clustering",
            Self::Clean => "clean",
            Self::Rollback => "rollback",
            Self::Restore => "restore",
            Self::Savepoint => "savepoint",
            Self::Indexing => "indexing",
            Self::SchemaCommit => "schemacommit",
            Self::Unknown(word) => word,
        }
    }

    /// The action of a word in a file name.
    pub fn from_word(word: &str) -> Self {
        match word {
            "commit" => Self::Commit,
            "deltacommit" => Self::DeltaCommit,
            "compaction" => Self::Compaction,
            "logcompaction" => Self::LogCompaction,
            "replacecommit" => Self::ReplaceCommit,
            "clustering" => Self::Clustering,
            "clean" => Self::Clean,
            "rollback" => Self::Rollback,
            "restore" => Self::Restore,
            "savepoint" => Self::Savepoint,
            "indexing" => Self::Indexing,
            "schemacommit" => Self::SchemaCommit,
            other => Self::Unknown(other.to_owned()),
        }
    }

    /// The action that a completed file of this one is named by: the comparable action, by which the files of one
    /// instant find each other.
    pub fn completed_as(&self) -> Self {
        match self {
            Self::Compaction => Self::Commit,
            Self::LogCompaction => Self::DeltaCommit,
            Self::Clustering => Self::ReplaceCommit,
            other => other.clone(),
        }
    }

    /// Whether the action writes data files that can become visible.
    pub fn writes_data(&self) -> bool {
        matches!(
            self,
            Self::Commit
                | Self::DeltaCommit
                | Self::Compaction
                | Self::LogCompaction
                | Self::ReplaceCommit
                | Self::Clustering
        )
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How far an instant has come; a later state is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Planned.
    Requested,
    /// Begun.
    Inflight,
    /// Done: its files may be visible.
    Completed,
}

impl State {
    /// `REQUESTED`, `INFLIGHT` or `COMPLETED`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Requested => "REQUESTED",
            Self::Inflight => "INFLIGHT",
            Self::Completed => "COMPLETED",
        }
    }
}

/// One instant of a timeline, in the most advanced state that the timeline shows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    /// When it was requested; the name that files and rows carry.
    pub time: InstantTime,
    /// When it completed; layout 1 does not store it.
    pub completion: Option<InstantTime>,
    /// The action of its most advanced file, so a completed compaction is a commit.
    pub action: Action,
    /// How far it has come.
    pub state: State,
}

impl Instant {
    /// Whether it is completed.
    pub fn is_completed(&self) -> bool {
        self.state == State::Completed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_digits_of_a_known_length_are_instants() {
        for text in [
            "20261129203020176",
            "20261129203020",
            "20261129203153827001",
            "00000000000000",
        ] {
            assert_eq!(InstantTime::parse(text).unwrap().as_str(), text);
        }
        for text in [
            "",
            "2026112920302017",
            "2026-11-29T20:30",
            "2026112920302017x",
            "２０２６１１",
        ] {
            let error = InstantTime::parse(text).unwrap_err();
            assert_eq!(error.kind().code(), "INVALID_ARGUMENT", "{text}");
        }
    }

    #[test]
    fn a_wall_clock_is_read_from_the_digits_and_sentinels_have_none() {
        let check = |text: &str, expected: Option<&str>| {
            let clock = InstantTime::parse(text).unwrap().wall_clock();
            assert_eq!(clock.map(|c| c.to_string()).as_deref(), expected);
        };
        check("20261129203020176", Some("2026-11-29 20:30:20.176"));
        check("20261129203020", Some("2026-11-29 20:30:20.999"));
        check("20261129203153827001", Some("2026-11-29 20:31:53.827"));
        check("00000000000000000", None);
        check("20261329203020176", None);
    }

    #[test]
    fn a_wall_clock_becomes_seventeen_digits() {
        let clock = NaiveDate::from_ymd_opt(2026, 1, 2)
            .and_then(|d| d.and_hms_micro_opt(3, 4, 5, 6_999))
            .unwrap();
        assert_eq!(
            InstantTime::from_wall_clock(clock).as_str(),
            "20260102030405006"
        );
    }
}
