//! Arrays brought to the types of the table: views, dictionaries, large and run-end types unfolded; safe promotions on request.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BinaryBuilder, Float64Array, Int32Array, Int64Array,
    MutableArrayData, StringArray, StringBuilder, StructArray, make_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{
    DataType, Date32Type, Field, Float32Type, Int8Type, Int16Type, Int32Type, Int64Type, TimeUnit,
    TimestampMillisecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};

use super::columns::row_list;
use crate::error::{Error, Result};
use crate::schema::type_name;

/// How arrays are brought to other types.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    /// Whether promotions that lose nothing are made.
    pub(super) widen: bool,
    /// The row of the input that an array's first value is of; none within lists.
    pub(super) first: Option<u64>,
}

/// Brings `array` to `target`, the type that the table gives `field`.
///
/// Errors: `Schema` with `field`, both types and what would help, or the `rows` whose values would lose.
pub(super) fn normal(
    array: &ArrayRef,
    target: &DataType,
    field: &str,
    manner: Manner,
) -> Result<ArrayRef> {
    let widen = manner.widen;
    if array.data_type() == target {
        return Ok(array.clone());
    }
    let unfolded = unfold(array, field)?;
    if unfolded.data_type() == target {
        return Ok(unfolded);
    }
    let misfit = || misfit(array.data_type(), target, field, widen);
    match (unfolded.data_type(), target) {
        (DataType::List(_), DataType::List(element)) => list(&unfolded, element, field, manner),
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let record = unfolded.as_struct();
            let columns = fields.iter().map(|wanted| {
                let name = format!("{field}.{}", wanted.name());
                let given = record.column_by_name(wanted.name());
                let given = given.ok_or_else(|| {
                    Error::schema("a field of a struct is missing").context("field", &name)
                })?;
                normal(given, wanted.data_type(), &name, manner)
            });
            let columns: Vec<ArrayRef> = columns.collect::<Result<_>>()?;
            let names = record.column_names();
            let unknown = names.iter().find(|name| fields.find(name).is_none());
            if let Some(extra) = unknown.or(names.get(fields.len())) {
                return Err(Error::schema("the table has no such field")
                    .context("field", format!("{field}.{extra}"))
                    .context("hint", "leave it out; Spark adds fields to structs"));
            }
            let made = StructArray::try_new(fields.clone(), columns, record.nulls().cloned());
            Ok(Arc::new(made.map_err(|e| misfit().with_source(e))?))
        }
        (DataType::Map(..), DataType::Map(entries, _)) => {
            let map = unfolded.as_map();
            let inner: ArrayRef = Arc::new(map.entries().clone());
            let renamed = rename_entries(&inner, entries).ok_or_else(misfit)?;
            let inner = Manner {
                first: None,
                ..manner
            };
            let inner = normal(&renamed, entries.data_type(), field, inner)?;
            let data = unfolded.to_data().into_builder();
            let data = data
                .data_type(target.clone())
                .child_data(vec![inner.to_data()]);
            Ok(make_array(
                data.build().map_err(|e| misfit().with_source(e))?,
            ))
        }
        (DataType::Timestamp(given, a), DataType::Timestamp(unit, b))
            if given == unit && a.is_some() && b.is_some() =>
        {
            relabel(&unfolded, target).ok_or_else(misfit)
        }
        (given, target) if widen => {
            let given = given.clone();
            widened(&unfolded, &given, target, (field, manner.first))?.ok_or_else(misfit)
        }
        _ => Err(misfit()),
    }
}

fn misfit(given: &DataType, target: &DataType, field: &str, widen: bool) -> Error {
    let hint = match widen {
        true => "give the column the table's type",
        false => "give the column the table's type, or set widen for promotions that lose nothing",
    };
    Error::schema("a column is not of the table's type")
        .context("field", field)
        .context("type", type_name(given))
        .context("tableType", type_name(target))
        .context("hint", hint)
}

/// The same values in the type that the table could have: no view, dictionary, run ends or offsets of 64 bits at this level.
fn unfold(array: &ArrayRef, field: &str) -> Result<ArrayRef> {
    let too_large = || {
        Error::limit_exceeded("a batch holds more than 2 GiB of one column").context("field", field)
    };
    Ok(match array.data_type() {
        DataType::Utf8View => Arc::new(StringArray::from_iter(array.as_string_view().iter())),
        DataType::BinaryView => Arc::new(BinaryArray::from_iter(array.as_binary_view().iter())),
        DataType::LargeUtf8 => {
            let large = array.as_string::<i64>();
            let (offsets, bytes) =
                small(large.offsets(), large.value_data()).ok_or_else(too_large)?;
            let text = StringArray::try_new(offsets, bytes, large.nulls().cloned());
            Arc::new(text.map_err(|e| too_large().with_source(e))?)
        }
        DataType::LargeBinary => {
            let large = array.as_binary::<i64>();
            let (offsets, bytes) =
                small(large.offsets(), large.value_data()).ok_or_else(too_large)?;
            let binary = BinaryArray::try_new(offsets, bytes, large.nulls().cloned());
            Arc::new(binary.map_err(|e| too_large().with_source(e))?)
        }
        DataType::LargeList(element) => {
            let large = array.as_list::<i64>();
            let offsets = narrow(large.offsets()).ok_or_else(too_large)?;
            let list = arrow::array::ListArray::try_new(
                element.clone(),
                offsets,
                large.values().clone(),
                large.nulls().cloned(),
            );
            Arc::new(list.map_err(|e| too_large().with_source(e))?)
        }
        DataType::FixedSizeList(element, size) => {
            let fixed = array.as_fixed_size_list();
            let size = usize::try_from(*size).unwrap_or(0);
            let offsets = OffsetBuffer::<i32>::from_lengths(std::iter::repeat_n(size, fixed.len()));
            let list = arrow::array::ListArray::try_new(
                element.clone(),
                offsets,
                fixed.values().clone(),
                fixed.nulls().cloned(),
            );
            Arc::new(list.map_err(|e| too_large().with_source(e))?)
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let at = places(dictionary.keys()).ok_or_else(|| {
                Error::schema("a dictionary's key is beyond its values").context("field", field)
            })?;
            unfold(&picked(dictionary.values(), at)?, field)?
        }
        DataType::RunEndEncoded(ends, _) => {
            let at = match ends.data_type() {
                DataType::Int16 => physical::<Int16Type>(array),
                DataType::Int32 => physical::<Int32Type>(array),
                _ => physical::<Int64Type>(array),
            };
            let (values, at) = at.ok_or_else(|| {
                Error::schema("a run-end array is not what it says").context("field", field)
            })?;
            unfold(&picked(&values, at)?, field)?
        }
        _ => array.clone(),
    })
}

/// The keys of a dictionary, none for null.
fn places(keys: &dyn Array) -> Option<Vec<Option<usize>>> {
    macro_rules! of {
        ($t:ty) => {
            keys.as_primitive::<$t>()
                .iter()
                .map(|key| match key {
                    Some(key) => usize::try_from(key).ok().map(Some),
                    None => Some(None),
                })
                .collect()
        };
    }
    match keys.data_type() {
        DataType::Int8 => of!(Int8Type),
        DataType::Int16 => of!(Int16Type),
        DataType::Int32 => of!(Int32Type),
        DataType::Int64 => of!(Int64Type),
        DataType::UInt8 => of!(UInt8Type),
        DataType::UInt16 => of!(UInt16Type),
        DataType::UInt32 => of!(UInt32Type),
        DataType::UInt64 => of!(UInt64Type),
        _ => None,
    }
}

/// The values of a run-end array and which of them each row has.
fn physical<T: arrow::datatypes::RunEndIndexType>(
    array: &ArrayRef,
) -> Option<(ArrayRef, Vec<Option<usize>>)> {
    let runs = array.as_run_opt::<T>()?;
    let at = (0..runs.len()).map(|row| Some(runs.get_physical_index(row)));
    Some((runs.values().clone(), at.collect()))
}

/// One value for each place, null for none. Text and binary by a loop, all else by ranges.
fn picked(values: &ArrayRef, at: Vec<Option<usize>>) -> Result<ArrayRef> {
    let wrong = || Error::schema("a dictionary's key is beyond its values");
    let valid = |place: &Option<usize>| place.filter(|place| values.is_valid(*place));
    if at.iter().flatten().any(|place| *place >= values.len()) {
        return Err(wrong());
    }
    if let Some(texts) = values.as_string_opt::<i32>() {
        let mut built = StringBuilder::with_capacity(at.len(), at.len() * 8);
        at.iter()
            .for_each(|place| built.append_option(valid(place).map(|at| texts.value(at))));
        return Ok(Arc::new(built.finish()));
    }
    if let Some(binary) = values.as_binary_opt::<i32>() {
        let mut built = BinaryBuilder::with_capacity(at.len(), at.len() * 8);
        at.iter()
            .for_each(|place| built.append_option(valid(place).map(|at| binary.value(at))));
        return Ok(Arc::new(built.finish()));
    }
    let data = values.to_data();
    let mut gathered = MutableArrayData::new(vec![&data], true, at.len());
    for place in at {
        let done = match place {
            Some(at) => gathered.try_extend(0, at, at + 1),
            None => gathered.try_extend_nulls(1),
        };
        done.map_err(|e| wrong().with_source(e))?;
    }
    Ok(make_array(gathered.freeze()))
}

fn narrow(offsets: &OffsetBuffer<i64>) -> Option<OffsetBuffer<i32>> {
    let narrow = offsets.iter().map(|offset| i32::try_from(*offset).ok());
    let narrow: Vec<i32> = narrow.collect::<Option<_>>()?;
    Some(OffsetBuffer::new(ScalarBuffer::from(narrow)))
}

/// Offsets of 32 bits over the part of the bytes that they need.
fn small(
    offsets: &OffsetBuffer<i64>,
    bytes: &[u8],
) -> Option<(OffsetBuffer<i32>, arrow::buffer::Buffer)> {
    let (first, last) = (offsets.first(), offsets.last());
    let narrow = offsets
        .iter()
        .map(|offset| i32::try_from(offset - first).ok());
    let narrow: Vec<i32> = narrow.collect::<Option<_>>()?;
    let part = bytes.get(usize::try_from(first).ok()?..usize::try_from(last).ok()?)?;
    Some((OffsetBuffer::new(ScalarBuffer::from(narrow)), part.into()))
}

fn list(array: &ArrayRef, element: &Arc<Field>, field: &str, manner: Manner) -> Result<ArrayRef> {
    let given = array.as_list::<i32>();
    let name = format!("{field}.element");
    let inner = Manner {
        first: None,
        ..manner
    };
    let values = normal(given.values(), element.data_type(), &name, inner)?;
    let list = arrow::array::ListArray::try_new(
        element.clone(),
        given.offsets().clone(),
        values,
        given.nulls().cloned(),
    );
    let list = list.map_err(|source| {
        Error::schema("a list holds nulls where the table declares none")
            .context("field", name)
            .with_source(source)
    })?;
    Ok(Arc::new(list))
}

/// A map's entries under the names of the table: Arrow's producers call them as they like.
fn rename_entries(entries: &ArrayRef, wanted: &Field) -> Option<ArrayRef> {
    let DataType::Struct(wanted) = wanted.data_type() else {
        return None;
    };
    let given = entries.as_struct_opt()?;
    let fields = given.fields().iter().zip(wanted.iter());
    let fields = fields.map(|(given, wanted)| {
        let named = Field::clone(given).with_name(wanted.name());
        Arc::new(named.with_nullable(wanted.is_nullable()))
    });
    let columns = given.columns().to_vec();
    let made = StructArray::try_new(fields.collect(), columns, given.nulls().cloned());
    Some(Arc::new(made.ok()?))
}

/// The same numbers under another type of their width.
fn relabel(array: &ArrayRef, target: &DataType) -> Option<ArrayRef> {
    let data = array.to_data().into_builder().data_type(target.clone());
    Some(make_array(data.build().ok()?))
}

/// A promotion that loses nothing; none when there is none between the types.
fn widened(
    array: &ArrayRef,
    given: &DataType,
    target: &DataType,
    at: (&str, Option<u64>),
) -> Result<Option<ArrayRef>> {
    use DataType::{
        Date64, Decimal128, Float32, Float64, Int8, Int16, Int32, Int64, Timestamp, UInt8, UInt16,
        UInt32,
    };
    let nulls = array.nulls().cloned();
    macro_rules! map {
        ($from:ty, $to:ident, $each:expr) => {
            $to::new(
                array
                    .as_primitive::<$from>()
                    .values()
                    .iter()
                    .map($each)
                    .collect(),
                nulls,
            )
        };
    }
    Ok(Some(match (given, target) {
        (Int8, Int32) => Arc::new(map!(Int8Type, Int32Array, |v| i32::from(*v))),
        (Int16, Int32) => Arc::new(map!(Int16Type, Int32Array, |v| i32::from(*v))),
        (UInt8, Int32) => Arc::new(map!(UInt8Type, Int32Array, |v| i32::from(*v))),
        (UInt16, Int32) => Arc::new(map!(UInt16Type, Int32Array, |v| i32::from(*v))),
        (Int8, Int64) => Arc::new(map!(Int8Type, Int64Array, |v| i64::from(*v))),
        (Int16, Int64) => Arc::new(map!(Int16Type, Int64Array, |v| i64::from(*v))),
        (Int32, Int64) => Arc::new(map!(Int32Type, Int64Array, |v| i64::from(*v))),
        (UInt8, Int64) => Arc::new(map!(UInt8Type, Int64Array, |v| i64::from(*v))),
        (UInt16, Int64) => Arc::new(map!(UInt16Type, Int64Array, |v| i64::from(*v))),
        (UInt32, Int64) => Arc::new(map!(UInt32Type, Int64Array, |v| i64::from(*v))),
        (Float32, Float64) => Arc::new(map!(Float32Type, Float64Array, |v| f64::from(*v))),
        (Int8, Float64) => Arc::new(map!(Int8Type, Float64Array, |v| f64::from(*v))),
        (Int16, Float64) => Arc::new(map!(Int16Type, Float64Array, |v| f64::from(*v))),
        (Int32, Float64) => Arc::new(map!(Int32Type, Float64Array, |v| f64::from(*v))),
        (Decimal128(p, s), Decimal128(precision, scale)) if s == scale && p <= precision => {
            return Ok(relabel(array, target));
        }
        (Date64, DataType::Date32) => return days(array, at),
        (Timestamp(from, a), Timestamp(to, b)) if a.is_some() == b.is_some() => {
            return finer(array, *from, *to, target, at);
        }
        _ => return Ok(None),
    }))
}

/// An error of values that would lose, with the rows where they are.
fn lossy(what: &str, (field, first): (&str, Option<u64>), rows: &[u64]) -> Error {
    let error = Error::schema(what).context("field", field);
    match first {
        None => error,
        Some(first) => {
            let rows: Vec<u64> = rows.iter().map(|row| first + row).collect();
            error.context("rows", row_list(&rows))
        }
    }
}

/// Numbers made of others, or the rows of those that cannot be; zero under a null.
fn each<T: Default>(
    values: &[i64],
    nulls: Option<&NullBuffer>,
    make: impl Fn(i64) -> Option<T>,
) -> std::result::Result<Vec<T>, Vec<u64>> {
    let (mut made, mut bad) = (Vec::with_capacity(values.len()), Vec::new());
    for (row, value) in values.iter().enumerate() {
        match nulls.is_none_or(|nulls| nulls.is_valid(row)) {
            true => match make(*value) {
                Some(value) => made.push(value),
                None => bad.push(row as u64),
            },
            false => made.push(T::default()),
        }
    }
    if bad.is_empty() { Ok(made) } else { Err(bad) }
}

/// Milliseconds of whole days as days.
fn days(array: &ArrayRef, at: (&str, Option<u64>)) -> Result<Option<ArrayRef>> {
    let data = array.to_data();
    let Some(buffer) = data.buffers().first() else {
        return Ok(None);
    };
    let millis = ScalarBuffer::<i64>::new(buffer.clone(), data.offset(), data.len());
    let day = |millis: i64| {
        let days = i32::try_from(millis / 86_400_000).ok();
        days.filter(|_| millis % 86_400_000 == 0)
    };
    let days = each(&millis, array.nulls(), day);
    let days = days.map_err(|rows| lossy("a date with a time of day would lose it", at, &rows))?;
    let nulls = array.nulls().cloned();
    let days = arrow::array::PrimitiveArray::<Date32Type>::new(days.into(), nulls);
    Ok(Some(Arc::new(days)))
}

/// Timestamps of a coarser unit than the table's.
fn finer(
    array: &ArrayRef,
    from: TimeUnit,
    to: TimeUnit,
    target: &DataType,
    at: (&str, Option<u64>),
) -> Result<Option<ArrayRef>> {
    let (counts, factor) = match (from, to) {
        (TimeUnit::Second, TimeUnit::Millisecond) => (seconds(array), 1000),
        (TimeUnit::Second, TimeUnit::Microsecond) => (seconds(array), 1_000_000),
        (TimeUnit::Millisecond, TimeUnit::Microsecond) => (
            array
                .as_primitive::<TimestampMillisecondType>()
                .values()
                .clone(),
            1000,
        ),
        _ => return Ok(None),
    };
    let nulls = array.nulls().cloned();
    let finer = each(&counts, nulls.as_ref(), |count| count.checked_mul(factor));
    let far = |rows: Vec<u64>| lossy("a timestamp is too far for the table's unit", at, &rows);
    let finer = finer.map_err(far)?;
    let finer: ArrayRef = Arc::new(Int64Array::new(finer.into(), nulls));
    Ok(relabel(&finer, target))
}

fn seconds(array: &ArrayRef) -> ScalarBuffer<i64> {
    array.as_primitive::<TimestampSecondType>().values().clone()
}
