use std::sync::Arc;

use arrow::array::{BooleanBufferBuilder, NullBufferBuilder};
use arrow::datatypes::{DataType, Field, Fields};

use super::column::{Column, Presence, Step, Texts, Values};
use super::skip::Skip;
use crate::error::{Error, Result};
use crate::schema::{
    AvroField, AvroKind, AvroSchema, FileNames, Mixed, leaf_type, list_type, map_type, member_name,
};

/// Types of a schema, counted wherever they are used: a schema that names itself twice a level would grow without end.
const MAX_TYPES: usize = 100_000;

/// A writer's schema on its way to steps.
#[derive(Default)]
pub(super) struct Compiler {
    types: usize,
}

impl Compiler {
    /// The steps for the fields of a record, and the fields that are read: those of `wanted`, or all.
    pub(super) fn record(
        &mut self,
        fields: &[AvroField],
        wanted: Option<(&Fields, &FileNames)>,
    ) -> Result<(Vec<Step>, Fields)> {
        let mut steps: Vec<Step> = Vec::new();
        let mut read = Vec::new();
        let mut passed = Vec::new();
        for field in fields {
            let target = match wanted {
                None => None,
                Some((wanted, names)) => match wanted
                    .iter()
                    .find(|w| names.of(w.name()) == Some(&field.name))
                {
                    Some(target) => Some(Wanted {
                        data_type: target.data_type(),
                        names: names.inner(target.name()),
                    }),
                    None => {
                        passed.push(self.skip(&field.schema)?);
                        continue;
                    }
                },
            };
            push_skip(&mut steps, &mut passed);
            let (column, nullable) = self
                .column(&field.schema, target.as_ref())
                .map_err(|error| error.context("field", &field.name))?;
            read.push(Field::new(&field.name, column.data_type.clone(), nullable));
            steps.push(Step::Read(column));
        }
        push_skip(&mut steps, &mut passed);
        Ok((steps, read.into()))
    }

    fn count(&mut self) -> Result<()> {
        self.types += 1;
        match self.types > MAX_TYPES {
            true => Err(Error::unsupported("an Avro schema has too many types")),
            false => Ok(()),
        }
    }

    /// A column of a type and whether it may be null; of records in it, what `wanted` has.
    fn column(
        &mut self,
        schema: &AvroSchema,
        wanted: Option<&Wanted<'_>>,
    ) -> Result<(Column, bool)> {
        self.count()?;
        let AvroKind::Union(branches) = &schema.kind else {
            return self.value(schema, wanted, Presence::Always);
        };
        if let [a, b] = branches.as_slice() {
            match (&a.kind, &b.kind) {
                (AvroKind::Null, _) => return self.value(b, wanted, Presence::Nullable(0)),
                (_, AvroKind::Null) => return self.value(a, wanted, Presence::Nullable(1)),
                _ => {}
            }
        }
        let mut members = 0;
        let places = branches.iter().map(|branch| {
            (branch.kind != AvroKind::Null).then(|| {
                members += 1;
                members - 1
            })
        });
        let presence = Presence::Union(places.collect());
        match schema.mixed() {
            Some((mixed, _)) => Ok((self.mixed(branches, mixed, wanted, presence)?, true)),
            None => {
                let single = branches.iter().find(|branch| branch.kind != AvroKind::Null);
                let null = AvroSchema::plain(AvroKind::Null);
                self.value(single.unwrap_or(&null), wanted, presence)
            }
        }
    }

    fn mixed(
        &mut self,
        branches: &[AvroSchema],
        mixed: Mixed<'_>,
        wanted: Option<&Wanted<'_>>,
        presence: Presence,
    ) -> Result<Column> {
        Ok(match mixed {
            Mixed::Long => column(DataType::Int64, presence, Values::Long(Vec::new()), 0),
            Mixed::Double => {
                let others = branches.iter().filter(|b| b.kind != AvroKind::Null);
                let doubles = others.map(|b| b.kind == AvroKind::Double).collect();
                let values = Values::FloatOrDouble(doubles, Vec::new());
                column(DataType::Float64, presence, values, 0)
            }
            Mixed::Members(members) => {
                let (mut columns, mut fields) = (Vec::new(), Vec::new());
                for (at, member) in members.into_iter().enumerate() {
                    if matches!(member.kind, AvroKind::Union(_)) {
                        return Err(Error::unsupported(
                            "a union inside a union is not supported",
                        ));
                    }
                    let name = member_name(at);
                    let wanted = wanted.and_then(|w| child(w.data_type, &name, &w.names));
                    let (column, _) = self.column(member, wanted.as_ref())?;
                    fields.push(Field::new(name, column.data_type.clone(), true));
                    columns.push(column);
                }
                let cost = columns.iter().map(|column| column.null_cost + 1).sum();
                let data_type = DataType::Struct(fields.into());
                column(data_type, presence, Values::Members(columns), cost)
            }
        })
    }

    /// As [`Self::column`], for a type that is no union.
    fn value(
        &mut self,
        schema: &AvroSchema,
        wanted: Option<&Wanted<'_>>,
        presence: Presence,
    ) -> Result<(Column, bool)> {
        let nullable = match &presence {
            Presence::Always => schema.kind == AvroKind::Null,
            Presence::Nullable(_) => true,
            Presence::Union(branches) => branches.contains(&None),
        };
        if let Some(mut data_type) = leaf_type(schema) {
            // A vector is bytes here; what they mean is the conformer's.
            if let (DataType::FixedSizeList(..), AvroKind::Fixed(fixed)) =
                (&data_type, &schema.kind)
            {
                data_type =
                    DataType::FixedSizeBinary(i32::try_from(fixed.size).unwrap_or(i32::MAX));
            }
            let values = leaf(schema, &data_type)?;
            let cost = match &values {
                Values::Fixed(size, _) => *size,
                _ => 0,
            };
            return Ok((column(data_type, presence, values, cost), nullable));
        }
        let made = match (&schema.kind, wanted) {
            (AvroKind::Record(record), _) => {
                let wanted = wanted.and_then(|wanted| match wanted.data_type {
                    DataType::Struct(fields) => Some((fields, &wanted.names)),
                    _ => None,
                });
                let (steps, fields) = self.record(&record.fields, wanted)?;
                let cost = steps.iter().map(|step| match step {
                    Step::Read(column) => column.null_cost + 1,
                    Step::Skip(_) => 0,
                });
                let cost = cost.sum();
                column(
                    DataType::Struct(fields),
                    presence,
                    Values::Record(steps),
                    cost,
                )
            }
            (AvroKind::Array(items), _) => {
                let wanted = wanted.and_then(|wanted| match wanted.data_type {
                    DataType::List(element) => Some(Wanted {
                        data_type: element.data_type(),
                        names: wanted.names.inner("element"),
                    }),
                    _ => None,
                });
                let (items, nullable) = self.column(items, wanted.as_ref())?;
                let element = Field::new("element", items.data_type.clone(), nullable);
                let values = Values::List(vec![0], Box::new(items));
                column(list_type(element), presence, values, 0)
            }
            (AvroKind::Map(values), _) => {
                let wanted = wanted.and_then(|wanted| match wanted.data_type {
                    DataType::Map(entries, _) => child(entries.data_type(), "value", &wanted.names),
                    _ => None,
                });
                let (values, nullable) = self.column(values, wanted.as_ref())?;
                let value = Field::new("value", values.data_type.clone(), nullable);
                let values = Values::Map(vec![0], Texts::default(), Box::new(values));
                column(map_type(value), presence, values, 0)
            }
            _ => {
                return Err(Error::unsupported(
                    "a union inside a union is not supported",
                ));
            }
        };
        Ok((made, nullable))
    }

    fn skip(&mut self, schema: &AvroSchema) -> Result<Skip> {
        self.count()?;
        Ok(match &schema.kind {
            AvroKind::Null => Skip::Bytes(0),
            AvroKind::Boolean => Skip::Bytes(1),
            AvroKind::Float => Skip::Bytes(4),
            AvroKind::Double => Skip::Bytes(8),
            AvroKind::Fixed(fixed) => Skip::Bytes(fixed.size),
            AvroKind::Int | AvroKind::Long | AvroKind::Enum(_) => Skip::Number,
            AvroKind::Bytes | AvroKind::String => Skip::Prefixed,
            AvroKind::Array(items) => Skip::Blocks(Box::new(self.skip(items)?)),
            AvroKind::Map(values) => {
                let entry = [Skip::Prefixed, self.skip(values)?];
                Skip::Blocks(Box::new(Skip::all(entry)))
            }
            AvroKind::Record(record) => {
                let fields = record.fields.iter().map(|field| self.skip(&field.schema));
                Skip::all(fields.collect::<Result<Vec<_>>>()?)
            }
            AvroKind::Union(branches) => {
                let branches = branches.iter().map(|branch| self.skip(branch));
                Skip::Union(branches.collect::<Result<_>>()?)
            }
        })
    }
}

fn push_skip(steps: &mut Vec<Step>, passed: &mut Vec<Skip>) {
    match Skip::all(passed.drain(..)) {
        Skip::Bytes(0) => {}
        skip => steps.push(Step::Skip(skip)),
    }
}

/// The type that the reader wants, and what its fields are called in the writer's.
struct Wanted<'a> {
    data_type: &'a DataType,
    names: FileNames,
}

fn child<'a>(data_type: &'a DataType, name: &str, names: &FileNames) -> Option<Wanted<'a>> {
    let DataType::Struct(fields) = data_type else {
        return None;
    };
    let field = fields.iter().find(|field| field.name() == name)?;
    Some(Wanted {
        data_type: field.data_type(),
        names: names.inner(name),
    })
}

fn column(data_type: DataType, presence: Presence, values: Values, null_cost: usize) -> Column {
    Column {
        data_type,
        presence,
        valid: NullBufferBuilder::new(0),
        values,
        null_cost,
    }
}

fn leaf(schema: &AvroSchema, data_type: &DataType) -> Result<Values> {
    let size = match &schema.kind {
        AvroKind::Fixed(fixed) => Some(fixed.size),
        _ => None,
    };
    Ok(match data_type {
        DataType::Decimal128(..) => Values::Decimal(size, Vec::new()),
        DataType::Decimal256(..) => Values::BigDecimal(size, Vec::new()),
        _ => match &schema.kind {
            AvroKind::Null => Values::Null,
            AvroKind::Boolean => Values::Boolean(BooleanBufferBuilder::new(0)),
            AvroKind::Int => Values::Int(Vec::new()),
            AvroKind::Long => Values::Long(Vec::new()),
            AvroKind::Float => Values::Float(Vec::new()),
            AvroKind::Double => Values::Double(Vec::new()),
            AvroKind::Bytes | AvroKind::String => Values::Bytes(Texts::default()),
            AvroKind::Fixed(fixed) => Values::Fixed(fixed.size, Vec::new()),
            AvroKind::Enum(symbols) => Values::Enum(Arc::clone(symbols), Texts::default()),
            _ => return Err(Error::internal("an Avro type that holds others is no leaf")),
        },
    })
}
