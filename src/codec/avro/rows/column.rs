use std::sync::Arc;

use arrow::array::{BooleanBufferBuilder, NullBufferBuilder};
use arrow::datatypes::{DataType, i256};

use super::decimal;
use super::row::Row;
use super::skip::Skip;
use crate::error::{Error, Result};
use crate::schema::AvroEnum;

/// A column that is being filled.
pub(super) struct Column {
    pub(super) data_type: DataType,
    pub(super) presence: Presence,
    pub(super) valid: NullBufferBuilder,
    pub(super) values: Values,
    /// What a null fills in: see [`MAX_FILL`](super::row::MAX_FILL).
    pub(super) null_cost: usize,
}

/// What stands on the wire before a value.
pub(super) enum Presence {
    /// Nothing.
    Always,
    /// 0 or 1, of which this one is null.
    Nullable(usize),
    /// A branch of a union of another form: null, or one of the members by their place.
    Union(Vec<Option<usize>>),
}

/// The values of a column, those under nulls included.
pub(super) enum Values {
    Null,
    Boolean(BooleanBufferBuilder),
    Int(Vec<i32>),
    Long(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Texts),
    Enum(Arc<AvroEnum>, Texts),
    Fixed(usize, Vec<u8>),
    /// Of so many bytes, or of any number.
    Decimal(Option<usize>, Vec<i128>),
    BigDecimal(Option<usize>, Vec<i256>),
    Record(Vec<Step>),
    List(Vec<i32>, Box<Column>),
    /// Ends, keys and values.
    Map(Vec<i32>, Texts, Box<Column>),
    /// A union of float and double, by whether the member is a double.
    FloatOrDouble(Vec<bool>, Vec<f64>),
    /// A union of several types: a column for each.
    Members(Vec<Column>),
}

/// What is done with one field of the writer.
pub(super) enum Step {
    Skip(Skip),
    Read(Column),
}

/// Texts or bytes, one after the other.
pub(super) struct Texts {
    /// Where each ends, after a 0.
    pub(super) ends: Vec<i32>,
    pub(super) data: Vec<u8>,
}

impl Default for Texts {
    fn default() -> Self {
        Self {
            ends: vec![0],
            data: Vec::new(),
        }
    }
}

impl Texts {
    #[inline]
    fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.data.extend_from_slice(bytes);
        self.ends.push(end(self.data.len())?);
        Ok(())
    }

    fn push_empty(&mut self) {
        self.ends.push(self.ends.last().copied().unwrap_or(0));
    }
}

/// An offset of Arrow's lists and texts.
#[inline]
fn end(length: usize) -> Result<i32> {
    i32::try_from(length)
        .map_err(|_| Error::limit_exceeded("a column of one batch is longer than 2 GiB"))
}

impl Column {
    pub(super) fn len(&self) -> usize {
        self.valid.len()
    }

    #[inline]
    pub(super) fn read(&mut self, row: &mut Row<'_>) -> Result<()> {
        match &self.presence {
            Presence::Always => {}
            Presence::Nullable(null) => {
                let branch = row.branch()?;
                if branch == *null {
                    return self.null(row);
                }
                if branch > 1 {
                    return Err(row.fault("a union has no such branch"));
                }
            }
            Presence::Union(branches) => {
                let branch = row.branch()?;
                return match branches.get(branch).copied() {
                    Some(Some(member)) => {
                        self.valid.append_non_null();
                        self.values.read_member(member, row)
                    }
                    Some(None) => self.null(row),
                    None => Err(row.fault("a union has no such branch")),
                };
            }
        }
        self.valid.append_non_null();
        self.values.read(row)
    }

    fn null(&mut self, row: &mut Row<'_>) -> Result<()> {
        row.spend_fill(self.null_cost)?;
        self.fill();
        Ok(())
    }

    /// A null, and what has to lie under it.
    fn fill(&mut self) {
        self.valid.append_null();
        match &mut self.values {
            Values::Null => {}
            Values::Boolean(values) => values.append(false),
            Values::Int(values) => values.push(0),
            Values::Long(values) => values.push(0),
            Values::Float(values) => values.push(0.0),
            Values::Double(values) | Values::FloatOrDouble(_, values) => values.push(0.0),
            Values::Bytes(texts) | Values::Enum(_, texts) => texts.push_empty(),
            Values::Fixed(size, values) => values.resize(values.len() + *size, 0),
            Values::Decimal(_, values) => values.push(0),
            Values::BigDecimal(_, values) => values.push(i256::ZERO),
            Values::Record(steps) => {
                for step in steps {
                    if let Step::Read(column) = step {
                        column.fill();
                    }
                }
            }
            Values::List(ends, _) | Values::Map(ends, ..) => {
                ends.push(ends.last().copied().unwrap_or(0));
            }
            Values::Members(members) => members.iter_mut().for_each(Self::fill),
        }
    }
}

impl Values {
    #[inline]
    fn read(&mut self, row: &mut Row<'_>) -> Result<()> {
        match self {
            Self::Null => {}
            Self::Boolean(values) => match row.cursor.u8()? {
                0 => values.append(false),
                1 => values.append(true),
                _ => return Err(row.fault("a boolean is neither 0 nor 1")),
            },
            Self::Int(values) => values.push(row.int()?),
            Self::Long(values) => values.push(row.cursor.zigzag()?),
            Self::Float(values) => values.push(f32::from_le_bytes(row.cursor.array()?)),
            Self::Double(values) => values.push(f64::from_le_bytes(row.cursor.array()?)),
            Self::Bytes(texts) => texts.push(row.prefixed()?)?,
            Self::Fixed(size, values) => values.extend_from_slice(row.cursor.take(*size)?),
            Self::Decimal(size, values) => match decimal::small(decimal_bytes(*size, row)?) {
                Some(value) => values.push(value),
                None => return Err(no_decimal(row)),
            },
            Self::Record(steps) => return read_record(steps, row),
            other => return other.read_rare(row),
        }
        Ok(())
    }

    fn read_rare(&mut self, row: &mut Row<'_>) -> Result<()> {
        match self {
            Self::Enum(symbols, texts) => {
                let symbol = usize::try_from(row.cursor.zigzag()?).ok();
                match symbol.and_then(|at| symbols.symbols.get(at)) {
                    Some(symbol) => texts.push(symbol.as_bytes()),
                    None => Err(row.fault("an enum has no such symbol")),
                }
            }
            Self::BigDecimal(size, values) => match decimal::large(decimal_bytes(*size, row)?) {
                Some(value) => {
                    values.push(value);
                    Ok(())
                }
                None => Err(no_decimal(row)),
            },
            Self::List(ends, items) => {
                read_blocks(row, items.takes_no_bytes(), |row| items.read(row))?;
                ends.push(end(items.len())?);
                Ok(())
            }
            Self::Map(ends, keys, values) => {
                read_blocks(row, false, |row| {
                    keys.push(row.prefixed()?)?;
                    values.read(row)
                })?;
                ends.push(end(values.len())?);
                Ok(())
            }
            _ => Err(Error::internal("an Avro column of no kind")),
        }
    }

    fn read_member(&mut self, member: usize, row: &mut Row<'_>) -> Result<()> {
        match self {
            Self::FloatOrDouble(doubles, values) => {
                values.push(match doubles.get(member) {
                    Some(true) => f64::from_le_bytes(row.cursor.array()?),
                    _ => f64::from(f32::from_le_bytes(row.cursor.array()?)),
                });
                Ok(())
            }
            Self::Members(columns) => {
                for (at, column) in columns.iter_mut().enumerate() {
                    match at == member {
                        true => column.read(row)?,
                        false => column.null(row)?,
                    }
                }
                Ok(())
            }
            single => single.read(row),
        }
    }
}

impl Column {
    fn takes_no_bytes(&self) -> bool {
        let values = match &self.values {
            Values::Null | Values::Fixed(0, _) => true,
            Values::Record(steps) => steps.iter().all(|step| match step {
                Step::Skip(skip) => matches!(skip, Skip::Bytes(0)),
                Step::Read(column) => column.takes_no_bytes(),
            }),
            _ => false,
        };
        values && matches!(self.presence, Presence::Always)
    }
}

#[inline]
fn decimal_bytes<'a>(size: Option<usize>, row: &mut Row<'a>) -> Result<&'a [u8]> {
    match size {
        Some(size) => row.cursor.take(size),
        None => row.prefixed(),
    }
}

#[cold]
fn no_decimal(row: &Row<'_>) -> Error {
    row.fault("a decimal has no bytes or does not fit its type")
}

fn read_record(steps: &mut [Step], row: &mut Row<'_>) -> Result<()> {
    for step in steps {
        match step {
            Step::Skip(skip) => skip.run(row)?,
            Step::Read(column) => column.read(row)?,
        }
    }
    Ok(())
}

fn read_blocks<'a>(
    row: &mut Row<'a>,
    items_take_no_bytes: bool,
    mut item: impl FnMut(&mut Row<'a>) -> Result<()>,
) -> Result<()> {
    loop {
        let (count, _) = row.block()?;
        if count == 0 {
            return Ok(());
        }
        if items_take_no_bytes {
            row.spend_items(count)?;
        }
        for _ in 0..count {
            item(row)?;
        }
    }
}
