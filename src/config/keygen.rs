//! Which key generator a table has, and what it makes of the partition fields.

use super::key;
use super::properties::Properties;

/// How record keys and partition paths are made from columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyGeneratorType {
    /// One key field, one partition field.
    Simple,
    /// Several of either; keys name their fields.
    Complex,
    /// No partitions.
    NonPartition,
    /// The partition path is a formatted time.
    Timestamp,
    /// Each partition field says its own kind.
    Custom,
    /// Deletes by key wherever the record lies; no partitions.
    GlobalDelete,
    /// The metadata table's own.
    MetadataTable,
    /// A class that this engine does not know.
    UserProvided(String),
}

/// How the path's value of one partition field comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartitionFieldKind {
    /// The value as text.
    Simple,
    /// A formatted time: the path holds less than the column.
    Timestamp,
    /// Not said by the table: nothing may be concluded from the path.
    Unknown,
}

/// One partition field, in path order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionField {
    /// The column, perhaps nested (`a.b`).
    pub name: String,
    /// How its path value comes about.
    pub kind: PartitionFieldKind,
}

/// The generator that a table names, by class before by type, or the one that its fields call for.
pub(super) fn of_table(properties: &Properties) -> KeyGeneratorType {
    if let Some(class) = key::KEYGEN_CLASS.get(properties) {
        return of_class(class).unwrap_or_else(|| infer(properties));
    }
    match key::KEYGEN_TYPE.get(properties) {
        Some(kind) => of_type(kind).unwrap_or_else(|| infer(properties)),
        None => infer(properties),
    }
}

/// `None` for the generators of Spark SQL, which wrap the one that the fields call for.
fn of_class(class: &str) -> Option<KeyGeneratorType> {
    let name = class.rsplit('.').next().unwrap_or(class);
    Some(match name {
        "SimpleKeyGenerator" | "SimpleAvroKeyGenerator" => KeyGeneratorType::Simple,
        "ComplexKeyGenerator" | "ComplexAvroKeyGenerator" => KeyGeneratorType::Complex,
        "NonpartitionedKeyGenerator" | "NonpartitionedAvroKeyGenerator" => {
            KeyGeneratorType::NonPartition
        }
        "TimestampBasedKeyGenerator" | "TimestampBasedAvroKeyGenerator" => {
            KeyGeneratorType::Timestamp
        }
        "CustomKeyGenerator" | "CustomAvroKeyGenerator" => KeyGeneratorType::Custom,
        "GlobalDeleteKeyGenerator" | "GlobalAvroDeleteKeyGenerator" => {
            KeyGeneratorType::GlobalDelete
        }
        "HoodieTableMetadataKeyGenerator" => KeyGeneratorType::MetadataTable,
        "SqlKeyGenerator" | "UuidKeyGenerator" | "MergeIntoKeyGenerator" => return None,
        _ => KeyGeneratorType::UserProvided(class.to_owned()),
    })
}

fn of_type(kind: &str) -> Option<KeyGeneratorType> {
    let upper = kind.to_ascii_uppercase();
    Some(match upper.strip_suffix("_AVRO").unwrap_or(&upper) {
        "SIMPLE" => KeyGeneratorType::Simple,
        "COMPLEX" => KeyGeneratorType::Complex,
        "NON_PARTITION" => KeyGeneratorType::NonPartition,
        "TIMESTAMP" => KeyGeneratorType::Timestamp,
        "CUSTOM" => KeyGeneratorType::Custom,
        "GLOBAL_DELETE" => KeyGeneratorType::GlobalDelete,
        "HOODIE_TABLE_METADATA" => KeyGeneratorType::MetadataTable,
        sql if sql.starts_with("SPARK_SQL") => return None,
        _ => KeyGeneratorType::UserProvided(kind.to_owned()),
    })
}

/// Hudi's rule for a table that names no generator.
fn infer(properties: &Properties) -> KeyGeneratorType {
    let fields = key::PARTITION_FIELDS.list(properties);
    let keys = key::RECORD_KEY_FIELDS.list(properties).len();
    match fields.as_slice() {
        [] => KeyGeneratorType::NonPartition,
        [first, ..] if first.contains(':') => KeyGeneratorType::Custom,
        [_] if keys == 1 => KeyGeneratorType::Simple,
        _ => KeyGeneratorType::Complex,
    }
}

/// The partition fields of a table, each with what its generator makes of it.
pub(super) fn partition_fields(
    properties: &Properties,
    keygen: &KeyGeneratorType,
) -> Vec<PartitionField> {
    let unstated = match keygen {
        KeyGeneratorType::Timestamp => PartitionFieldKind::Timestamp,
        KeyGeneratorType::Custom | KeyGeneratorType::UserProvided(_) => PartitionFieldKind::Unknown,
        _ => PartitionFieldKind::Simple,
    };
    let fields = key::PARTITION_FIELDS.list(properties).into_iter();
    let typed = fields.map(|item| {
        let (name, kind) = match item.rsplit_once(':') {
            Some((name, kind)) if kind.eq_ignore_ascii_case("SIMPLE") => {
                (name, PartitionFieldKind::Simple)
            }
            Some((name, kind)) if kind.eq_ignore_ascii_case("TIMESTAMP") => {
                (name, PartitionFieldKind::Timestamp)
            }
            _ => (item, unstated),
        };
        PartitionField {
            name: name.trim().to_owned(),
            kind,
        }
    });
    typed.collect()
}
