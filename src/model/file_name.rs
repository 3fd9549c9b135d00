//! The names of data files: base files and log files, read and written.
//!
//! ```text
//! base   <fileId>_<writeToken>_<instant>.<extension>
//! log    .<fileId>_<instant>.log.<version>[_<writeToken>[.cdc]]
//! native <fileId>_<writeToken>_<instant>_<version>.<log|deletes|cdc>.<extension>
//! ```
//!
//! Names are read from the right, since a file id may hold underscores. The instant of a base file is the one that
//! wrote it; that of a log file is the base instant of its slice in table version 6, and the instant that wrote it
//! from version 8 on. A name of another shape is no data file and gives `None`.

use std::cmp::Ordering;
use std::fmt;

use super::instant::InstantTime;

/// The file format that a base file's extension names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BaseFormat {
    /// `.parquet`
    Parquet,
    /// `.orc`
    Orc,
    /// `.hfile`, in the metadata table
    HFile,
    /// `.lance`
    Lance,
}

impl BaseFormat {
    /// The format of an extension without its dot.
    pub fn from_extension(extension: &str) -> Option<Self> {
        Some(match extension {
            "parquet" => Self::Parquet,
            "orc" => Self::Orc,
            "hfile" => Self::HFile,
            "lance" => Self::Lance,
            _ => return None,
        })
    }

    /// The extension without its dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Orc => "orc",
            Self::HFile => "hfile",
            Self::Lance => "lance",
        }
    }
}

/// The name of a base file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BaseFileName {
    /// The file group's id, such as `9360114a-124f-4cb7-947f-6605dff69e87-0`.
    pub file_id: String,
    /// `<task partition>-<stage>-<attempt>` of the task that wrote it.
    pub write_token: String,
    /// The instant that wrote it.
    pub instant: InstantTime,
    /// What its extension says.
    pub format: BaseFormat,
}

impl BaseFileName {
    /// Reads a name without folders.
    pub fn parse(name: &str) -> Option<Self> {
        match FileName::parse(name)? {
            FileName::Base(base) => Some(base),
            FileName::Log(_) | FileName::NativeLog(_) => None,
        }
    }
}

impl fmt::Display for BaseFileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file_id,
            write_token,
            instant,
            format,
        } = self;
        write!(
            f,
            "{file_id}_{write_token}_{instant}.{}",
            format.extension()
        )
    }
}

/// The name of a log file. Its order is that of the files of one slice: instant, version as a number, write token,
/// and a change log after the data log of the same task.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LogFileName {
    /// The file group's id.
    pub file_id: String,
    /// Version 6: the base instant of the slice; from version 8 on: the instant that wrote the file.
    pub instant: InstantTime,
    /// Counts from 1.
    pub version: u32,
    /// Absent in very old tables.
    pub write_token: Option<String>,
    /// Whether this is a change log, which snapshot reads pass over.
    pub cdc: bool,
}

impl LogFileName {
    /// Reads a name without folders.
    pub fn parse(name: &str) -> Option<Self> {
        match FileName::parse(name)? {
            FileName::Log(log) => Some(log),
            FileName::Base(_) | FileName::NativeLog(_) => None,
        }
    }
}

impl fmt::Display for LogFileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".{}_{}.log.{}", self.file_id, self.instant, self.version)?;
        if let Some(token) = &self.write_token {
            write!(f, "_{token}")?;
        }
        if self.cdc { write!(f, ".cdc") } else { Ok(()) }
    }
}

impl Ord for LogFileName {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |log: &Self| (log.version, log.write_token.clone(), log.cdc);
        self.instant
            .cmp(&other.instant)
            .then_with(|| key(self).cmp(&key(other)))
            .then_with(|| self.file_id.cmp(&other.file_id))
    }
}

impl PartialOrd for LogFileName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The name of a log file of the form that table versions above 9 bring; its rows cannot be read here, and must not
/// be left out in silence.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NativeLogName {
    /// The file group's id.
    pub file_id: String,
    /// The instant that wrote it.
    pub instant: InstantTime,
}

/// What the name of a file in a partition says.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FileName {
    /// A base file.
    Base(BaseFileName),
    /// A log file.
    Log(LogFileName),
    /// A log file of a newer table version.
    NativeLog(NativeLogName),
}

impl FileName {
    /// Reads a name without folders; `None` for whatever is no data file: metafiles, checksums, strays.
    pub fn parse(name: &str) -> Option<Self> {
        match name.strip_prefix('.') {
            Some(rest) => parse_log(rest).map(Self::Log),
            None => parse_visible(name),
        }
    }
}

fn parse_visible(name: &str) -> Option<FileName> {
    let (stem, extension) = name.rsplit_once('.')?;
    let format = BaseFormat::from_extension(extension)?;
    if let Some((stem, "log" | "deletes" | "cdc")) = stem.rsplit_once('.') {
        return parse_native(stem).map(FileName::NativeLog);
    }
    let (rest, instant) = stem.rsplit_once('_')?;
    let (file_id, write_token) = rest.rsplit_once('_')?;
    if file_id.is_empty() || !is_token(write_token) {
        return None;
    }
    Some(FileName::Base(BaseFileName {
        file_id: file_id.to_owned(),
        write_token: write_token.to_owned(),
        instant: InstantTime::parse(instant).ok()?,
        format,
    }))
}

fn parse_native(stem: &str) -> Option<NativeLogName> {
    let (rest, version) = stem.rsplit_once('_')?;
    version.parse::<u32>().ok()?;
    let (rest, instant) = rest.rsplit_once('_')?;
    let (file_id, write_token) = rest.rsplit_once('_')?;
    if file_id.is_empty() || !is_token(write_token) {
        return None;
    }
    Some(NativeLogName {
        file_id: file_id.to_owned(),
        instant: InstantTime::parse(instant).ok()?,
    })
}

fn parse_log(name: &str) -> Option<LogFileName> {
    let (id_and_instant, rest) = name.rsplit_once(".log.")?;
    let (file_id, instant) = id_and_instant.rsplit_once('_')?;
    let (version, token) = match rest.split_once('_') {
        Some((version, token)) => (version, Some(token)),
        None => (rest, None),
    };
    let (write_token, cdc) = match token.map(|token| (token, token.strip_suffix(".cdc"))) {
        Some((_, Some(token))) => (Some(token), true),
        Some((token, None)) => (Some(token), false),
        None => (None, false),
    };
    if file_id.is_empty() || !write_token.is_none_or(is_token) || !is_number(version) {
        return None;
    }
    Some(LogFileName {
        file_id: file_id.to_owned(),
        instant: InstantTime::parse(instant).ok()?,
        version: version.parse().ok()?,
        write_token: write_token.map(str::to_owned),
        cdc,
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Three numbers joined by `-`; a single number in tables older than 0.5.
fn is_token(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    matches!(parts.len(), 1 | 3) && parts.iter().all(|part| is_number(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_base(name: &str, expected: Option<(&str, &str, &str, BaseFormat)>) {
        let found = BaseFileName::parse(name);
        let parts = found.as_ref().map(|base| {
            (
                base.file_id.as_str(),
                base.write_token.as_str(),
                base.instant.as_str(),
                base.format,
            )
        });
        assert_eq!(parts, expected, "{name}");
        if let Some(base) = found {
            assert_eq!(base.to_string(), name);
        }
    }

    #[test]
    fn base_names_are_read_from_the_right() {
        check_base(
            "9360114a-124f-4cb7-947f-6605dff69e87-0_0-1978-2703_20261129211858183.parquet",
            Some((
                "9360114a-124f-4cb7-947f-6605dff69e87-0",
                "0-1978-2703",
                "20261129211858183",
                BaseFormat::Parquet,
            )),
        );
        check_base(
            "expr-index-idx_lower_name-0000-0_0-5-10_20261129211858183001.hfile",
            Some((
                "expr-index-idx_lower_name-0000-0",
                "0-5-10",
                "20261129211858183001",
                BaseFormat::HFile,
            )),
        );
        check_base(
            "old_0_20180101120000.parquet",
            Some(("old", "0", "20180101120000", BaseFormat::Parquet)),
        );
        check_base(
            "a_1-0-1_20261129211858183.orc",
            Some(("a", "1-0-1", "20261129211858183", BaseFormat::Orc)),
        );
    }

    #[test]
    fn other_names_are_no_base_files() {
        for name in [
            "",
            "part-00000-9360114a.snappy.parquet",
            "_SUCCESS",
            ".hoodie_partition_metadata",
            ".hoodie_partition_metadata.parquet",
            ".a_1-0-1_20261129211858183.parquet.crc",
            "a_1-0-1_20261129211858183.parquet.crc",
            "a_1-0-1_20261129211858183.csv",
            "a_1-0-1_.parquet",
            "_1-0-1_20261129211858183.parquet",
            "a_x_20261129211858183.parquet",
            "a_20261129211858183.parquet",
            "a_1-0-1_yesterday.parquet",
        ] {
            check_base(name, None);
        }
    }

    fn check_log(name: &str, expected: Option<(&str, &str, u32, Option<&str>, bool)>) {
        let found = LogFileName::parse(name);
        let parts = found.as_ref().map(|log| {
            let token = log.write_token.as_deref();
            (
                log.file_id.as_str(),
                log.instant.as_str(),
                log.version,
                token,
                log.cdc,
            )
        });
        assert_eq!(parts, expected, "{name}");
        if let Some(log) = found {
            assert_eq!(log.to_string(), name);
        }
    }

    #[test]
    fn log_names_have_token_and_suffix_or_not() {
        let id = "a4639947-682e-434b-a437-e62127ff08f2-0";
        check_log(
            ".a4639947-682e-434b-a437-e62127ff08f2-0_20261129203640896.log.12_1-39-53",
            Some((id, "20261129203640896", 12, Some("1-39-53"), false)),
        );
        check_log(
            ".a4639947-682e-434b-a437-e62127ff08f2-0_20261129203640896.log.1_1-5275-8227.cdc",
            Some((id, "20261129203640896", 1, Some("1-5275-8227"), true)),
        );
        check_log(
            ".a4639947-682e-434b-a437-e62127ff08f2-0_20170101120000.log.3",
            Some((id, "20170101120000", 3, None, false)),
        );
        check_log(
            ".with_mark_20170101120000.log.3",
            Some(("with_mark", "20170101120000", 3, None, false)),
        );
    }

    #[test]
    fn other_names_are_no_log_files() {
        for name in [
            ".a_20261129203640896.log",
            ".a_20261129203640896.log.",
            ".a_20261129203640896.log.x",
            ".a_20261129203640896.log.+1",
            ".a_20261129203640896.log.99999999999",
            ".a_20261129203640896.log.1_1-39",
            ".a_20261129203640896.log.1_1-39-53.crc",
            ".a_20261129203640896.log.1_1-39-53.cdc.crc",
            ".commits_.archive.1_1-0-1",
            "a_20261129203640896.log.1_1-39-53",
            ".hoodie_partition_metadata",
        ] {
            check_log(name, None);
        }
    }

    #[test]
    fn log_files_sort_by_instant_then_number_then_token_then_suffix() {
        let sorted = [
            ".f_20260101000000000.log.2_0-0-0",
            ".f_20260101000000000.log.9_0-0-0",
            ".f_20260101000000000.log.10",
            ".f_20260101000000000.log.10_0-0-0",
            ".f_20260101000000000.log.10_0-0-0.cdc",
            ".f_20260101000000000.log.10_1-0-0",
            ".f_20260101000000001.log.1_0-0-0",
        ];
        let mut names: Vec<LogFileName> = sorted
            .iter()
            .rev()
            .map(|n| LogFileName::parse(n).unwrap())
            .collect();
        names.sort();
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        assert_eq!(names, sorted);
    }

    #[test]
    fn log_files_of_newer_tables_are_told_apart() {
        for name in [
            "9360114a-0_1-0-1_20261129203640896_1.log.parquet",
            "9360114a-0_1-0-1_20261129203640896_2.deletes.parquet",
            "9360114a-0_1-0-1_20261129203640896_1.cdc.parquet",
        ] {
            let Some(FileName::NativeLog(log)) = FileName::parse(name) else {
                panic!("{name}");
            };
            assert_eq!(
                (log.file_id.as_str(), log.instant.as_str()),
                ("9360114a-0", "20261129203640896")
            );
        }
        assert_eq!(FileName::parse("notes.log.parquet"), None);
    }
}
