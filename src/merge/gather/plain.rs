//! Numbers and text without nulls, which most columns are: runs of a few rows, each copied by one loop.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray, StringArray};
use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type, TimeUnit,
    TimestampMicrosecondType,
};

use super::{Run, Runs};

/// Rows so few are copied one by one: a call for them would take longer.
const FEW: usize = 8;

/// The rows of `runs`; `None` for types and arrays that are not plain, and for runs beyond their arrays.
pub(super) fn gather(sources: &[&ArrayRef], runs: &Runs) -> Option<ArrayRef> {
    if sources.iter().any(|source| source.null_count() > 0) {
        return None;
    }
    let data_type = sources.first()?.data_type();
    match data_type {
        DataType::Int32 => numbers::<Int32Type>(sources, runs, data_type),
        DataType::Int64 => numbers::<Int64Type>(sources, runs, data_type),
        DataType::Float32 => numbers::<Float32Type>(sources, runs, data_type),
        DataType::Float64 => numbers::<Float64Type>(sources, runs, data_type),
        DataType::Date32 => numbers::<Date32Type>(sources, runs, data_type),
        DataType::Decimal128(..) => numbers::<Decimal128Type>(sources, runs, data_type),
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            numbers::<TimestampMicrosecondType>(sources, runs, data_type)
        }
        DataType::Utf8 => texts(sources, runs),
        _ => None,
    }
}

fn range(run: &Run) -> std::ops::Range<usize> {
    let start = run.start as usize;
    start..start + run.rows as usize
}

fn numbers<T: ArrowPrimitiveType>(
    sources: &[&ArrayRef],
    runs: &Runs,
    data_type: &DataType,
) -> Option<ArrayRef> {
    let values = sources.iter().map(|source| {
        let array = source.as_primitive_opt::<T>()?;
        Some(array.values().as_ref())
    });
    let values: Vec<&[T::Native]> = values.collect::<Option<_>>()?;
    let mut gathered: Vec<T::Native> = Vec::with_capacity(runs.rows());
    for run in runs.as_slice() {
        let rows = values.get(run.source as usize)?.get(range(run))?;
        match rows.len() {
            0..FEW => rows.iter().for_each(|value| gathered.push(*value)),
            _ => gathered.extend_from_slice(rows),
        }
    }
    let array = PrimitiveArray::<T>::new(ScalarBuffer::from(gathered), None);
    Some(Arc::new(array.with_data_type(data_type.clone())))
}

fn texts(sources: &[&ArrayRef], runs: &Runs) -> Option<ArrayRef> {
    let arrays = sources.iter().map(|source| source.as_string_opt::<i32>());
    let arrays: Vec<&StringArray> = arrays.collect::<Option<_>>()?;
    let mut bytes = 0_usize;
    for run in runs.as_slice() {
        let offsets = arrays.get(run.source as usize)?.offsets();
        let rows = range(run);
        bytes += usize::try_from(offsets.get(rows.end)? - offsets.get(rows.start)?).ok()?;
    }
    // Offsets of 32 bits hold no more; the slow way says so.
    i32::try_from(bytes).ok()?;
    let mut text: Vec<u8> = Vec::with_capacity(bytes);
    let mut ends: Vec<i32> = Vec::with_capacity(runs.rows() + 1);
    ends.push(0);
    for run in runs.as_slice() {
        let array = arrays.get(run.source as usize)?;
        let rows = range(run);
        let offsets = array.offsets().get(rows.start..=rows.end)?;
        let (first, last) = (*offsets.first()?, *offsets.last()?);
        let moved = i32::try_from(text.len()).ok()? - first;
        let part = usize::try_from(first).ok()?..usize::try_from(last).ok()?;
        text.extend_from_slice(array.value_data().get(part)?);
        let after = offsets.get(1..)?;
        ends.extend(after.iter().map(|end| end + moved));
    }
    let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
    let array = StringArray::try_new(offsets, Buffer::from_vec(text), None).ok()?;
    Some(Arc::new(array))
}
