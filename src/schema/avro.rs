//! An Avro schema as a value, with every name resolved.

use std::sync::Arc;

use serde_json::Value;

/// One Avro type and the logical type that annotates it.
#[derive(Debug, Clone, PartialEq)]
pub struct AvroSchema {
    /// The type that is stored.
    pub kind: AvroKind,
    /// What the stored value means; absent when the annotation is unknown to Avro or does not fit the type.
    pub logical: Option<LogicalType>,
    /// The text of `logicalType` when it is none of [`LogicalType`], such as Hudi's `blob`.
    pub other_logical: Option<String>,
}

/// The stored types of the Avro specification. A name used again is the same value again.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names are Avro's own")]
pub enum AvroKind {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    String,
    Fixed(Arc<AvroFixed>),
    Enum(Arc<AvroEnum>),
    Array(Arc<AvroSchema>),
    /// Values by text key.
    Map(Arc<AvroSchema>),
    Record(Arc<AvroRecord>),
    /// Branches in the order of their index.
    Union(Arc<Vec<AvroSchema>>),
}

/// Avro's logical types that change what a stored value means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are Avro's own")]
pub enum LogicalType {
    /// Unscaled big-endian two's complement, in `bytes` or `fixed`.
    Decimal {
        precision: u8,
        scale: i8,
    },
    Uuid,
    Date,
    TimeMillis,
    TimeMicros,
    TimestampMillis,
    TimestampMicros,
    TimestampNanos,
    LocalTimestampMillis,
    LocalTimestampMicros,
    LocalTimestampNanos,
    /// Hudi's VECTOR on `fixed`: so many numbers, the lowest byte first.
    Vector {
        element: VectorElement,
        dimension: i32,
    },
}

/// The numbers of a VECTOR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are Hudi's own")]
pub enum VectorElement {
    Float,
    Double,
    Int8,
}

impl VectorElement {
    /// Bytes of one number.
    pub fn size(self) -> i32 {
        match self {
            Self::Float => 4,
            Self::Double => 8,
            Self::Int8 => 1,
        }
    }
}

/// Bytes of one length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AvroFixed {
    /// Full name, with its namespace.
    pub name: String,
    /// Bytes of each value.
    pub size: usize,
}

/// One of some symbols, stored by index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AvroEnum {
    /// Full name, with its namespace.
    pub name: String,
    /// In the order of their index.
    pub symbols: Vec<String>,
    /// The symbol that stands for one the reader does not know.
    pub default: Option<String>,
}

/// Named fields in the order they are stored.
#[derive(Debug, Clone, PartialEq)]
pub struct AvroRecord {
    /// Full name, with its namespace.
    pub name: String,
    /// In the order they are stored.
    pub fields: Vec<AvroField>,
}

/// One field of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct AvroField {
    /// As written; names compare exactly.
    pub name: String,
    /// Other names under which older data may hold it.
    pub aliases: Vec<String>,
    /// What the field is, in words; none when empty.
    pub doc: Option<String>,
    /// `Some(Value::Null)` is a declared null.
    pub default: Option<Value>,
    /// The type.
    pub schema: AvroSchema,
}

impl AvroSchema {
    /// A type without a logical type.
    pub fn plain(kind: AvroKind) -> Self {
        Self {
            kind,
            logical: None,
            other_logical: None,
        }
    }

    /// The record, when the schema is one.
    pub fn as_record(&self) -> Option<&AvroRecord> {
        match &self.kind {
            AvroKind::Record(record) => Some(record),
            _ => None,
        }
    }

    /// The type beside null and whether null is allowed. None for a union of two or more other branches.
    pub fn nullable(&self) -> Option<(&AvroSchema, bool)> {
        let AvroKind::Union(branches) = &self.kind else {
            return Some((self, self.kind == AvroKind::Null));
        };
        let mut others = branches.iter().filter(|b| b.kind != AvroKind::Null);
        match (others.next(), others.next()) {
            (Some(one), None) => Some((one, branches.len() > 1)),
            (None, _) => branches.first().map(|null| (null, true)),
            (Some(_), Some(_)) => None,
        }
    }

    /// What a union of several types beside null is to a reader, and whether null is among them; none for any other type.
    pub fn mixed(&self) -> Option<(Mixed<'_>, bool)> {
        let AvroKind::Union(branches) = &self.kind else {
            return None;
        };
        let others: Vec<&Self> = branches
            .iter()
            .filter(|b| b.kind != AvroKind::Null)
            .collect();
        let mixed = match others.as_slice() {
            [] | [_] => return None,
            [a, b] => match (&a.kind, &b.kind) {
                (AvroKind::Int, AvroKind::Long) | (AvroKind::Long, AvroKind::Int) => Mixed::Long,
                (AvroKind::Float, AvroKind::Double) | (AvroKind::Double, AvroKind::Float) => {
                    Mixed::Double
                }
                _ => Mixed::Members(others.clone()),
            },
            _ => Mixed::Members(others.clone()),
        };
        Some((mixed, others.len() < branches.len()))
    }
}

/// How a union of several types beside null is read. Source: Spark 3.5 `SchemaConverters.toSqlType`; parquet-avro stores such
/// a union as a group of the same members.
#[derive(Debug, Clone, PartialEq)]
pub enum Mixed<'a> {
    /// Int and long.
    Long,
    /// Float and double.
    Double,
    /// A struct of nullable fields `member0`, `member1`, …, one a branch beside null, of which one is set.
    Members(Vec<&'a AvroSchema>),
}
