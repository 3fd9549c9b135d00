//! Partition paths as Java's key generators make them.

use std::collections::HashMap;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Fields};

use super::columns::{FieldPath, row_list};
use super::java_text;
use crate::config::{KeyGeneratorType, PartitionFieldKind, TableConfig};
use crate::error::{Error, Result};
use crate::keygen::{TimestampFormat, TimestampText};
use crate::model::{NULL_PARTITION, PartitionPath, encode_value};

/// A call that writes into more partitions holds too many open files.
const MOST_PARTITIONS: usize = 100_000;

/// How a table's partition paths come about, and those met so far, by number.
#[derive(Debug)]
pub(super) struct Partitioner {
    levels: Vec<Level>,
    hive_style: bool,
    url_encode: bool,
    numbers: HashMap<String, u32>,
    pub(super) paths: Vec<PartitionPath>,
}

#[derive(Debug)]
struct Level {
    field: FieldPath,
    /// That of a timestamp generator.
    format: Option<Moments>,
}

/// How a timestamp generator makes paths of a column.
#[derive(Debug)]
enum Moments {
    Numbers(TimestampFormat),
    Texts(TimestampText),
}

impl Moments {
    /// `None` where the table's generator does not say how paths come from such a column.
    fn of(config: &TableConfig, data_type: &DataType) -> Option<Self> {
        match data_type {
            DataType::Utf8 => TimestampText::of(config).map(Self::Texts),
            _ => TimestampFormat::of(config)
                .filter(|format| format.writes(data_type))
                .map(Self::Numbers),
        }
    }

    /// The path of a value; none for one that stands for no moment.
    fn write(&self, values: &ArrayRef, row: usize) -> Option<String> {
        match self {
            Self::Numbers(format) => format.write(values, row),
            Self::Texts(format) => format.write(values.as_string_opt::<i32>()?.value(row)),
        }
    }
}

impl Partitioner {
    /// The partitioner of a table.
    ///
    /// Errors: `Unsupported` where the table does not tell how a field becomes a path.
    pub(super) fn of(config: &TableConfig, fields: &Fields) -> Result<Self> {
        let unsupported =
            |name: &str, what: &str| Err(Error::unsupported(what).context("field", name));
        let mut levels = Vec::new();
        for partition in config.partition_fields() {
            let field = FieldPath::find(fields, &partition.name)?;
            let format = match partition.kind {
                PartitionFieldKind::Simple => None,
                PartitionFieldKind::Unknown => {
                    return unsupported(
                        &field.name,
                        "a partition field of a kind that is not known",
                    );
                }
                PartitionFieldKind::Timestamp => match Moments::of(config, &field.data_type) {
                    Some(format) => Some(format),
                    None => {
                        let what = "this timestamp key generator is not written with";
                        return unsupported(&field.name, what);
                    }
                },
            };
            levels.push(Level { field, format });
        }
        if *config.keygen() == KeyGeneratorType::GlobalDelete && !levels.is_empty() {
            return unsupported("", "the generator for deletes has no partitions");
        }
        let mut partitioner = Self {
            levels,
            hive_style: config.hive_style(),
            url_encode: config.url_encoded(),
            numbers: HashMap::new(),
            paths: Vec::new(),
        };
        if partitioner.levels.is_empty() {
            partitioner.paths.push(PartitionPath::default());
        }
        Ok(partitioner)
    }

    /// The number of each row's partition; none when the table has no partitions. Row 0 is row `first` of the input.
    ///
    /// Errors: `InvalidArgument` with the `rows` whose value makes no path that could be read back.
    pub(super) fn assign(&mut self, columns: &[ArrayRef], first: u64) -> Result<Option<Vec<u32>>> {
        if self.levels.is_empty() {
            return Ok(None);
        }
        let values = self.levels.iter().map(|level| level.field.of(columns));
        let values: Vec<ArrayRef> = values.collect::<Result<_>>()?;
        let rows = columns.first().map_or(0, |column| column.len());
        let mut numbers = Vec::with_capacity(rows);
        let (mut path, mut text, mut last) = (String::new(), String::new(), None);
        let mut last_path = String::new();
        for row in 0..rows {
            path.clear();
            for (level, values) in self.levels.iter().zip(&values) {
                self.put(&mut path, &mut text, level, values, row)
                    .map_err(|error| error.context("rows", row_list(&[first + row as u64])))?;
            }
            if let Some(number) = last.filter(|_| path == last_path) {
                numbers.push(number);
                continue;
            }
            let number = self.number(&path)?;
            numbers.push(number);
            last = Some(number);
            last_path.clone_from(&path);
        }
        Ok(Some(numbers))
    }

    fn number(&mut self, path: &str) -> Result<u32> {
        if let Some(number) = self.numbers.get(path) {
            return Ok(*number);
        }
        if self.paths.len() == MOST_PARTITIONS {
            return Err(
                Error::limit_exceeded("one call writes into too many partitions")
                    .context("limit", MOST_PARTITIONS),
            );
        }
        let number = self.paths.len() as u32;
        self.paths.push(PartitionPath::new(path));
        self.numbers.insert(path.to_owned(), number);
        Ok(number)
    }

    /// Appends one level of a path. Source: Hudi 1.1 `KeyGenUtils.getPartitionPath`.
    fn put(
        &self,
        path: &mut String,
        text: &mut String,
        level: &Level,
        values: &ArrayRef,
        row: usize,
    ) -> Result<()> {
        if !path.is_empty() {
            path.push('/');
        }
        if self.hive_style {
            path.push_str(&level.field.name);
            path.push('=');
        }
        text.clear();
        match (&level.format, values.is_null(row)) {
            (Some(_), true) => return Err(self.refuse(level, "null, which stands for no time")),
            (None, true) => {}
            (Some(format), false) => {
                let written = format.write(values, row);
                text.push_str(&written.ok_or_else(|| {
                    self.refuse(
                        level,
                        "beyond the calendar, or not spelled as the generator says",
                    )
                })?);
            }
            (None, false) => java_text::put(text, values, row)?,
        }
        if text.is_empty() {
            path.push_str(NULL_PARTITION);
            return Ok(());
        }
        if self.url_encode {
            path.push_str(&encode_value(text));
            return self.check_folders(level, &encode_value(text), true);
        }
        path.push_str(text);
        if is_scheme(path) {
            return Err(self.refuse(
                level,
                "a text with a colon, which Hadoop takes for the end of a scheme",
            ));
        }
        self.check_folders(level, text, level.format.is_some())
    }

    /// A value whose folders another reader would split or follow otherwise is refused.
    fn check_folders(&self, level: &Level, text: &str, slashes_are_meant: bool) -> Result<()> {
        if text.contains('/') && !slashes_are_meant && self.levels.len() > 1 {
            return Err(self.refuse(level, "a text with slashes"));
        }
        let bad = |folder: &str| {
            let named = self.hive_style && self.levels.len() == 1 && !text.contains('/');
            folder.is_empty() || (matches!(folder, "." | ".." | ".hoodie") && !named)
        };
        if text.split('/').any(bad) {
            return Err(self.refuse(level, "no name of a folder"));
        }
        // Markers are lines of text, which a rollback could not read again.
        if text.contains(['\0', '\n', '\r']) {
            return Err(self.refuse(level, "a text with a zero character or a line break"));
        }
        Ok(())
    }

    fn refuse(&self, level: &Level, what: &str) -> Error {
        Error::invalid_argument(format!("a partition value is {what}"))
            .context("field", &level.field.name)
            .context(
                "hint",
                "a table with URL-encoded partition paths takes more values",
            )
    }
}

/// Whether Hadoop's `Path` takes the beginning of a path for a scheme: Spark reads nothing of a table with such a folder.
fn is_scheme(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    first.contains(':')
}
