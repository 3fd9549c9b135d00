//! The Parquet schema of a base file: what Hudi's Avro writer makes of an Avro schema.
//!
//! Source: parquet-avro 1.13 `AvroSchemaConverter`, with three-level lists (`parquet.avro.write-old-list-structure=false`),
//! which alone can hold null elements. Decimals are fixed bytes of the least size for their precision.

use super::thrift::{Element, Out};
use crate::error::{Error, Result};
use crate::schema::{AvroField, AvroKind, AvroSchema, LogicalType};

/// How a leaf's values are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Physical {
    Boolean,
    Int32,
    Int64,
    Float,
    Double,
    ByteArray,
    Fixed(usize),
}

/// What a stored value means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Plain,
    Text,
    Enum,
    Decimal { precision: u8, scale: i8 },
    Date,
    Time { micros: bool },
    Timestamp { micros: bool, utc: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Record,
    List,
    Map,
}

/// One field: a leaf or a group of fields.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) optional: bool,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Leaf(Physical, Meaning),
    /// A record's fields; a list's one element; a map's key and value.
    Group(Shape, Vec<Node>),
}

/// One leaf as the writer of its column sees it.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    pub(super) path: Vec<String>,
    pub(super) physical: Physical,
    pub(super) meaning: Meaning,
    pub(super) max_def: u8,
    pub(super) max_rep: u8,
}

/// The columns of a file, in order.
#[derive(Debug, Clone)]
pub struct FileSchema {
    pub(super) name: String,
    pub(super) fields: Vec<Node>,
}

impl FileSchema {
    /// The file's schema for rows of an Avro record.
    ///
    /// Errors: `Schema` when it is no record; `Unsupported`, naming the `field`, for a type that Java's readers cannot read
    /// back from Parquet, or read as another.
    pub fn of_avro(schema: &AvroSchema) -> Result<Self> {
        let record = schema.as_record();
        let record = record.ok_or_else(|| Error::schema("the table's schema is not a record"))?;
        Ok(Self {
            name: record.name.clone(),
            fields: fields(&record.fields)?,
        })
    }

    pub(super) fn leaves(&self) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        for field in &self.fields {
            collect(field, &[], (0, 0), &mut leaves);
        }
        leaves
    }

    /// The flattened tree, as a footer lists it.
    pub(super) fn write(&self, out: &mut Out, id: i16) {
        let mut elements = vec![Flat::Root(&self.name, self.fields.len())];
        for field in &self.fields {
            flatten(field, &mut elements);
        }
        out.list(id, Element::Struct, &elements, |out, flat| {
            out.nested(|out| flat.write(out));
        });
    }
}

fn fields(fields: &[AvroField]) -> Result<Vec<Node>> {
    let nodes = fields.iter().map(|field| node(&field.name, &field.schema));
    nodes.collect()
}

fn node(name: &str, schema: &AvroSchema) -> Result<Node> {
    let refuse = |what: &str| {
        Err(Error::unsupported(format!("{what} is not written"))
            .context("field", name)
            .context(
                "hint",
                "use a type that Spark and Hudi 1.1 write to base files",
            ))
    };
    let Some((inner, optional)) = schema.nullable() else {
        return refuse("a union of several types");
    };
    let kind = match &inner.kind {
        AvroKind::Array(items) => Kind::Group(Shape::List, vec![node("element", items)?]),
        AvroKind::Map(values) => {
            let key = Node {
                name: "key".to_owned(),
                optional: false,
                kind: Kind::Leaf(Physical::ByteArray, Meaning::Text),
            };
            Kind::Group(Shape::Map, vec![key, node("value", values)?])
        }
        AvroKind::Record(record) if record.fields.is_empty() => {
            return refuse("a record without fields");
        }
        AvroKind::Record(record) => Kind::Group(Shape::Record, fields(&record.fields)?),
        _ => match leaf(inner) {
            Some((physical, meaning)) => Kind::Leaf(physical, meaning),
            None => return refuse("this type"),
        },
    };
    Ok(Node {
        name: name.to_owned(),
        optional,
        kind,
    })
}

fn leaf(schema: &AvroSchema) -> Option<(Physical, Meaning)> {
    if schema.other_logical.is_some() {
        return None;
    }
    let timestamp = |micros, utc| Some((Physical::Int64, Meaning::Timestamp { micros, utc }));
    if let Some(logical) = schema.logical {
        return match logical {
            LogicalType::Decimal { precision, scale } => {
                let meaning = Meaning::Decimal { precision, scale };
                Some((Physical::Fixed(decimal_bytes(precision)), meaning))
            }
            LogicalType::Uuid => match &schema.kind {
                AvroKind::String => Some((Physical::ByteArray, Meaning::Text)),
                _ => None,
            },
            LogicalType::Date => Some((Physical::Int32, Meaning::Date)),
            LogicalType::TimeMillis => Some((Physical::Int32, Meaning::Time { micros: false })),
            LogicalType::TimeMicros => Some((Physical::Int64, Meaning::Time { micros: true })),
            LogicalType::TimestampMillis => timestamp(false, true),
            LogicalType::TimestampMicros => timestamp(true, true),
            LogicalType::LocalTimestampMillis => timestamp(false, false),
            LogicalType::LocalTimestampMicros => timestamp(true, false),
            LogicalType::TimestampNanos
            | LogicalType::LocalTimestampNanos
            | LogicalType::Vector { .. } => None,
        };
    }
    let plain = |physical| Some((physical, Meaning::Plain));
    match &schema.kind {
        AvroKind::Boolean => plain(Physical::Boolean),
        AvroKind::Int => plain(Physical::Int32),
        AvroKind::Long => plain(Physical::Int64),
        AvroKind::Float => plain(Physical::Float),
        AvroKind::Double => plain(Physical::Double),
        AvroKind::Bytes => plain(Physical::ByteArray),
        AvroKind::String => Some((Physical::ByteArray, Meaning::Text)),
        AvroKind::Enum(_) => Some((Physical::ByteArray, Meaning::Enum)),
        AvroKind::Fixed(fixed) if fixed.size > 0 => plain(Physical::Fixed(fixed.size)),
        _ => None,
    }
}

/// The least number of bytes whose two's complement holds every number of `precision` digits.
pub(super) fn decimal_bytes(precision: u8) -> usize {
    // log2(10^precision) bits and one for the sign; no power of ten comes near a power of 256.
    let bits = f64::from(precision) * 10_f64.log2() + 1.0;
    (bits / 8.0).ceil() as usize
}

fn collect(node: &Node, above: &[String], (def, rep): (u8, u8), leaves: &mut Vec<Leaf>) {
    let mut path = above.to_vec();
    path.push(node.name.clone());
    let def = def + u8::from(node.optional);
    match &node.kind {
        Kind::Leaf(physical, meaning) => leaves.push(Leaf {
            path,
            physical: *physical,
            meaning: *meaning,
            max_def: def,
            max_rep: rep,
        }),
        Kind::Group(shape, children) => {
            let levels = match shape {
                Shape::Record => (def, rep),
                Shape::List | Shape::Map => (def + 1, rep + 1),
            };
            path.extend(shape.repeated().map(str::to_owned));
            for child in children {
                collect(child, &path, levels, leaves);
            }
        }
    }
}

impl Shape {
    /// The name of the repeated group between a list or map and its members.
    fn repeated(self) -> Option<&'static str> {
        match self {
            Self::Record => None,
            Self::List => Some("list"),
            Self::Map => Some("key_value"),
        }
    }
}

/// One entry of a footer's list of schema elements.
enum Flat<'a> {
    Root(&'a str, usize),
    Node(&'a Node),
    Repeated(Shape, usize),
}

fn flatten<'a>(node: &'a Node, elements: &mut Vec<Flat<'a>>) {
    elements.push(Flat::Node(node));
    if let Kind::Group(shape, children) = &node.kind {
        if shape.repeated().is_some() {
            elements.push(Flat::Repeated(*shape, children.len()));
        }
        for child in children {
            flatten(child, elements);
        }
    }
}

const REQUIRED: i32 = 0;
const OPTIONAL: i32 = 1;
const REPEATED: i32 = 2;
const CONVERTED_MAP: i32 = 1;
const CONVERTED_MAP_KEY_VALUE: i32 = 2;
const CONVERTED_LIST: i32 = 3;

impl Flat<'_> {
    /// `SchemaElement`: 1 type, 2 type_length, 3 repetition, 4 name, 5 num_children, 6 converted_type, 7 scale,
    /// 8 precision, 10 logicalType.
    fn write(&self, out: &mut Out) {
        match self {
            Self::Root(name, children) => {
                out.binary(4, name.as_bytes());
                out.i32(5, count(*children));
            }
            Self::Repeated(shape, children) => {
                out.i32(3, REPEATED);
                let name = shape.repeated().unwrap_or_default();
                out.binary(4, name.as_bytes());
                out.i32(5, count(*children));
                if *shape == Shape::Map {
                    out.i32(6, CONVERTED_MAP_KEY_VALUE);
                }
            }
            Self::Node(node) => write_node(node, out),
        }
    }
}

fn write_node(node: &Node, out: &mut Out) {
    let repetition = if node.optional { OPTIONAL } else { REQUIRED };
    match &node.kind {
        Kind::Leaf(physical, meaning) => {
            out.i32(1, physical.number());
            if let Physical::Fixed(size) = physical {
                out.i32(2, count(*size));
            }
            out.i32(3, repetition);
            out.binary(4, node.name.as_bytes());
            meaning.write(out);
        }
        Kind::Group(shape, children) => {
            out.i32(3, repetition);
            out.binary(4, node.name.as_bytes());
            let (members, converted, logical) = match shape {
                Shape::Record => (children.len(), None, None),
                Shape::List => (1, Some(CONVERTED_LIST), Some(3)),
                Shape::Map => (1, Some(CONVERTED_MAP), Some(2)),
            };
            out.i32(5, count(members));
            if let Some(converted) = converted {
                out.i32(6, converted);
            }
            if let Some(logical) = logical {
                out.structure(10, |out| out.structure(logical, |_| ()));
            }
        }
    }
}

impl Physical {
    pub(super) fn number(self) -> i32 {
        match self {
            Self::Boolean => 0,
            Self::Int32 => 1,
            Self::Int64 => 2,
            Self::Float => 4,
            Self::Double => 5,
            Self::ByteArray => 6,
            Self::Fixed(_) => 7,
        }
    }
}

impl Meaning {
    /// The converted type, its scale and precision, and the logical type.
    fn write(self, out: &mut Out) {
        let (converted, logical) = match self {
            Self::Plain => return,
            Self::Text => (0, 1),
            Self::Enum => (4, 4),
            Self::Decimal { .. } => (5, 5),
            Self::Date => (6, 6),
            Self::Time { micros } => (7 + i32::from(micros), 7),
            Self::Timestamp { micros, .. } => (9 + i32::from(micros), 8),
        };
        // Older readers would take the converted type of a local timestamp for UTC.
        if !matches!(self, Self::Timestamp { utc: false, .. }) {
            out.i32(6, converted);
        }
        if let Self::Decimal { precision, scale } = self {
            out.i32(7, i32::from(scale));
            out.i32(8, i32::from(precision));
        }
        out.structure(10, |out| {
            out.structure(logical, |out| match self {
                Self::Decimal { precision, scale } => {
                    out.i32(1, i32::from(scale));
                    out.i32(2, i32::from(precision));
                }
                Self::Time { micros } => unit(out, true, micros),
                Self::Timestamp { micros, utc } => unit(out, utc, micros),
                _ => (),
            });
        });
    }
}

/// `TimeType` and `TimestampType`: 1 isAdjustedToUTC, 2 unit (1 millis, 2 micros).
fn unit(out: &mut Out, utc: bool, micros: bool) {
    out.bool(1, utc);
    out.structure(2, |out| out.structure(1 + i16::from(micros), |_| ()));
}

fn count(size: usize) -> i32 {
    i32::try_from(size).unwrap_or(i32::MAX)
}
