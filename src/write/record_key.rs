//! Record keys as Java's key generators make them.

use arrow::array::{Array, ArrayRef, AsArray, StringArray, StringBuilder};
use arrow::datatypes::Fields;

use super::columns::{FieldPath, row_list};
use super::java_text;
use crate::config::{KeyGeneratorType, TableConfig};
use crate::error::{Error, Result};
use crate::model::TableVersion;

const NULL: &str = "__null__";
const EMPTY: &str = "__empty__";

/// How a table's record keys come about.
#[derive(Debug, Clone)]
pub(super) enum RecordKeyGenerator {
    /// The table has no key fields: a row's key is the instant, the file's number and its own.
    Auto,
    /// The value of one field.
    Simple(FieldPath),
    /// `field:value` of each field, with commas between.
    Complex(Vec<FieldPath>),
}

/// Whether one key field of the complex generator is written without its name, on tables below version 9.
const NEW_ENCODING: &str = "hoodie.write.complex.keygen.new.encoding";
/// Whether a table of which that is not known is refused.
const VALIDATION: &str = "hoodie.write.complex.keygen.validation.enable";

impl RecordKeyGenerator {
    /// The generator of a table; `option` gives the call's own settings.
    ///
    /// Errors: `Unsupported` for a generator that is not known, and for one key field under the complex generator below version 9:
    /// releases up to 1.0.2 wrote its value alone there, later ones with its name, and no property tells.
    pub(super) fn of(
        config: &TableConfig,
        fields: &Fields,
        option: impl Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        let names = config.record_key_fields();
        let found = names.iter().map(|name| FieldPath::find(fields, name));
        let mut found: Vec<FieldPath> = found.collect::<Result<_>>()?;
        if found.is_empty() {
            return Ok(Self::Auto);
        }
        let complex = match config.keygen() {
            KeyGeneratorType::Complex => found.len() > 1 || named_alone(config, option)?,
            KeyGeneratorType::MetadataTable | KeyGeneratorType::UserProvided(_) => {
                return Err(
                    Error::unsupported("a key generator that this engine does not know")
                        .context("property", "hoodie.table.keygenerator.class"),
                );
            }
            _ => found.len() > 1,
        };
        match found.pop().filter(|_| !complex) {
            Some(only) => Ok(Self::Simple(only)),
            None => {
                let found = names.iter().map(|name| FieldPath::find(fields, name));
                Ok(Self::Complex(found.collect::<Result<_>>()?))
            }
        }
    }

    /// The keys of some rows, the first of which is row `first` of the input; none when they are generated.
    ///
    /// Errors: `InvalidArgument` with the `rows` whose key is null or empty.
    pub(super) fn keys(&self, columns: &[ArrayRef], first: u64) -> Result<Option<StringArray>> {
        match self {
            Self::Auto => Ok(None),
            Self::Simple(field) => {
                let values = field.of(columns)?;
                let keys = texts(&values)?;
                refuse_empty(&keys, first, &field.name)?;
                Ok(Some(keys))
            }
            Self::Complex(fields) => complex(fields, columns, first).map(Some),
        }
    }
}

/// Whether the only key field of the complex generator is written with its name.
fn named_alone(config: &TableConfig, option: impl Fn(&str) -> Option<String>) -> Result<bool> {
    if config.version() >= TableVersion::Nine {
        return Ok(true);
    }
    let is = |name: &str, text: &str| option(name).is_some_and(|v| v.eq_ignore_ascii_case(text));
    if is(NEW_ENCODING, "true") {
        return Ok(false);
    }
    if is(NEW_ENCODING, "false") || is(VALIDATION, "false") {
        return Ok(true);
    }
    Err(Error::unsupported(
        "one key field under the complex key generator is stored in two ways below table version 9",
    )
    .context("property", NEW_ENCODING)
    .context(
        "hint",
        "true when stored keys are values alone, false when they are `field:value`",
    ))
}

/// Values as text; those that are text already stay where they are.
fn texts(values: &ArrayRef) -> Result<StringArray> {
    if let Some(texts) = values.as_string_opt::<i32>() {
        return Ok(texts.clone());
    }
    let mut built = StringBuilder::with_capacity(values.len(), values.len() * 8);
    let mut text = String::new();
    for row in 0..values.len() {
        if values.is_null(row) {
            built.append_null();
            continue;
        }
        text.clear();
        java_text::put(&mut text, values, row)?;
        built.append_value(&text);
    }
    Ok(built.finish())
}

fn refuse_empty(keys: &StringArray, first: u64, field: &str) -> Result<()> {
    let empty_is_impossible = keys.null_count() == 0
        && keys
            .offsets()
            .windows(2)
            .all(|pair| pair.first() != pair.last());
    if empty_is_impossible {
        return Ok(());
    }
    let bad = (0..keys.len()).filter(|row| keys.is_null(*row) || keys.value_length(*row) == 0);
    let rows: Vec<u64> = bad.map(|row| first + row as u64).collect();
    Err(Error::invalid_argument("a record key is null or empty")
        .context("field", field)
        .context("rows", row_list(&rows))
        .context("hint", "every row needs a value in its key field"))
}

fn complex(fields: &[FieldPath], columns: &[ArrayRef], first: u64) -> Result<StringArray> {
    let parts = fields.iter().map(|field| Ok((field, field.of(columns)?)));
    let parts: Vec<(&FieldPath, ArrayRef)> = parts.collect::<Result<_>>()?;
    let rows = columns.first().map_or(0, |column| column.len());
    let mut built = StringBuilder::with_capacity(rows, rows * 16 * fields.len());
    let (mut key, mut bad) = (String::new(), Vec::new());
    for row in 0..rows {
        key.clear();
        let mut told = false;
        for (at, (field, values)) in parts.iter().enumerate() {
            if at > 0 {
                key.push(',');
            }
            key.push_str(&field.name);
            key.push(':');
            let start = key.len();
            match values.is_null(row) {
                true => key.push_str(NULL),
                false => java_text::put(&mut key, values, row)?,
            }
            told |= key.len() > start && values.is_valid(row);
            if key.len() == start {
                key.push_str(EMPTY);
            }
        }
        if !told {
            bad.push(first + row as u64);
        }
        built.append_value(&key);
    }
    if bad.is_empty() {
        return Ok(built.finish());
    }
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    Err(
        Error::invalid_argument("all key fields of a row are null or empty")
            .context("field", names.join(", "))
            .context("rows", row_list(&bad))
            .context("hint", "every row needs a value in at least one of them"),
    )
}
