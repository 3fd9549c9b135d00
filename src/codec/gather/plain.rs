//! Numbers, text and truth values, which most columns are: runs of a few rows, each copied without a call. In wasm a call for
//! a copy of memory takes as long as thirty of the copies that are made here.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, BooleanBufferBuilder,
    PrimitiveArray, StringArray,
};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type, TimeUnit,
    TimestampMicrosecondType,
};

use super::runs::{NO_SOURCE, Run, Runs};

/// Rows so few are copied one by one.
const FEW: usize = 8;

/// Bytes of text that are copied at once, as a few words; what is copied beyond the text is written over.
const WORDS: usize = 32;

/// From so many bytes on the call is worth it.
const MANY_BYTES: usize = 512;

/// The rows of `runs`; `None` for types that are not plain, and for runs beyond their arrays.
pub(super) fn gather(sources: &[&ArrayRef], runs: &Runs) -> Option<ArrayRef> {
    let data_type = sources.first()?.data_type();
    match data_type {
        DataType::Boolean => booleans(sources, runs),
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

pub(super) fn range(run: &Run) -> Range<usize> {
    let start = run.start as usize;
    start..start + run.rows as usize
}

/// Which rows are not null; `Some(None)` when all are not, `None` for a run beyond its array.
pub(super) fn validity(sources: &[&ArrayRef], runs: &Runs) -> Option<Option<NullBuffer>> {
    let nulls: Vec<_> = sources.iter().map(|source| source.nulls()).collect();
    let some_null = sources.iter().any(|source| source.null_count() > 0);
    if !some_null && runs.as_slice().iter().all(|run| run.source != NO_SOURCE) {
        return Some(None);
    }
    let bits: Vec<Option<&BooleanBuffer>> = nulls
        .iter()
        .map(|nulls| nulls.map(NullBuffer::inner))
        .collect();
    Some(Some(NullBuffer::new(gather_bits(&bits, true, runs)?)))
}

/// Bits of the sources, or `absent` where a source has none; rows without a source have false.
fn gather_bits(
    sources: &[Option<&BooleanBuffer>],
    absent: bool,
    runs: &Runs,
) -> Option<BooleanBuffer> {
    let mut gathered = BooleanBufferBuilder::new(runs.rows());
    let first = sources.first().copied().flatten();
    if let Some(first) = first.filter(|first| runs.replace_some_of(first.len())) {
        gathered.append_buffer(first);
        let mut at = 0;
        for run in runs.as_slice() {
            let rows = run.rows as usize;
            if run.source != 0 {
                let source = match run.source {
                    NO_SOURCE => None,
                    source => Some(*sources.get(source as usize)?),
                };
                for (to, from) in (at..at + rows).zip(range(run)) {
                    let bit = match source {
                        None => false,
                        Some(None) => absent,
                        Some(Some(bits)) if from < bits.len() => bits.value(from),
                        Some(Some(_)) => return None,
                    };
                    gathered.set_bit(to, bit);
                }
            }
            at += rows;
        }
        return Some(gathered.finish());
    }
    for run in runs.as_slice() {
        let rows = run.rows as usize;
        if run.source == NO_SOURCE {
            gathered.append_n(rows, false);
            continue;
        }
        match sources.get(run.source as usize)? {
            Some(from) => bits(&mut gathered, from, run)?,
            None => gathered.append_n(rows, absent),
        }
    }
    Some(gathered.finish())
}

/// Adds the bits of a run.
fn bits(to: &mut BooleanBufferBuilder, from: &BooleanBuffer, run: &Run) -> Option<()> {
    let rows = range(run);
    if rows.end > from.len() {
        return None;
    }
    match rows.len() {
        0..FEW => rows.for_each(|row| to.append(from.value(row))),
        _ => to.append_buffer(&from.slice(rows.start, rows.len())),
    }
    Some(())
}

fn booleans(sources: &[&ArrayRef], runs: &Runs) -> Option<ArrayRef> {
    let arrays = sources.iter().map(|source| source.as_boolean_opt());
    let arrays: Vec<&BooleanArray> = arrays.collect::<Option<_>>()?;
    let bits: Vec<Option<&BooleanBuffer>> =
        arrays.iter().map(|array| Some(array.values())).collect();
    let values = gather_bits(&bits, false, runs)?;
    let valid = validity(sources, runs)?;
    Some(Arc::new(BooleanArray::new(values, valid)))
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
    let gathered = match values.first() {
        Some(first) if runs.replace_some_of(first.len()) => replaced(first, &values, runs)?,
        _ => joined(&values, runs)?,
    };
    let valid = validity(sources, runs)?;
    let array = PrimitiveArray::<T>::new(ScalarBuffer::from(gathered), valid);
    Some(Arc::new(array.with_data_type(data_type.clone())))
}

/// The first source's values with some of other sources in their places: one long copy, and no run of the first looked at.
fn replaced<T: Copy + Default>(first: &[T], values: &[&[T]], runs: &Runs) -> Option<Vec<T>> {
    let mut gathered = first.to_vec();
    let mut at = 0;
    for run in runs.as_slice() {
        let rows = run.rows as usize;
        match run.source {
            0 => {}
            NO_SOURCE => gathered.get_mut(at..at + rows)?.fill(T::default()),
            source => {
                let from = values.get(source as usize)?.get(range(run))?;
                let to = gathered.get_mut(at..at + rows)?;
                to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            }
        }
        at += rows;
    }
    Some(gathered)
}

fn joined<T: Copy + Default>(values: &[&[T]], runs: &Runs) -> Option<Vec<T>> {
    let mut gathered: Vec<T> = Vec::with_capacity(runs.rows());
    for run in runs.as_slice() {
        if run.source == NO_SOURCE {
            gathered.resize(gathered.len() + run.rows as usize, T::default());
            continue;
        }
        let rows = values.get(run.source as usize)?.get(range(run))?;
        match rows.len() {
            0..FEW => rows.iter().for_each(|value| gathered.push(*value)),
            _ => gathered.extend_from_slice(rows),
        }
    }
    Some(gathered)
}

fn texts(sources: &[&ArrayRef], runs: &Runs) -> Option<ArrayRef> {
    let arrays = sources.iter().map(|source| source.as_string_opt::<i32>());
    let arrays = arrays.map(|array| array.map(|array| (array.offsets(), array.value_data())));
    let arrays: Vec<_> = arrays.collect::<Option<_>>()?;
    let mut bytes = 0_usize;
    for run in picked(runs) {
        let (offsets, _) = arrays.get(run.source as usize)?;
        let rows = range(run);
        bytes += usize::try_from(offsets.get(rows.end)? - offsets.get(rows.start)?).ok()?;
    }
    // Offsets of 32 bits hold no more; the slow way says so.
    i32::try_from(bytes).ok()?;
    let mut text = vec![0_u8; bytes + WORDS];
    let mut at = 0_usize;
    let mut ends = vec![0_i32; runs.rows() + 1];
    let (_, mut rest) = ends.split_first_mut()?;
    for run in runs.as_slice() {
        let (here, later) = rest.split_at_mut_checked(run.rows as usize)?;
        rest = later;
        if run.source == NO_SOURCE {
            here.fill(i32::try_from(at).ok()?);
            continue;
        }
        let (offsets, values) = arrays.get(run.source as usize)?;
        let rows = range(run);
        let offsets = offsets.get(rows.start..=rows.end)?;
        let (first, last) = (*offsets.first()?, *offsets.last()?);
        let moved = i32::try_from(at).ok()? - first;
        let part = usize::try_from(first).ok()?..usize::try_from(last).ok()?;
        at = copy(values, part, &mut text, at)?;
        let offsets = offsets.iter().skip(1);
        here.iter_mut()
            .zip(offsets)
            .for_each(|(to, end)| *to = end + moved);
    }
    text.truncate(bytes);
    let valid = validity(sources, runs)?;
    let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
    let array = StringArray::try_new(offsets, Buffer::from_vec(text), valid).ok()?;
    Some(Arc::new(array))
}

fn picked(runs: &Runs) -> impl Iterator<Item = &Run> {
    let runs = runs.as_slice().iter();
    runs.filter(|run| run.source != NO_SOURCE)
}

/// Copies `part` of `from` to where `to` is filled up to; up to where it is filled then. `to` has room for more words.
#[inline(always)]
fn copy(from: &[u8], part: Range<usize>, to: &mut [u8], at: usize) -> Option<usize> {
    let (length, end) = (part.len(), at + part.len());
    let mut words = |done: usize| {
        let words = from.get(part.start + done..)?.first_chunk::<WORDS>()?;
        *to.get_mut(at + done..)?.first_chunk_mut::<WORDS>()? = *words;
        Some(())
    };
    let mut done = 0;
    if length <= MANY_BYTES {
        while done < length && words(done).is_some() {
            done += WORDS;
        }
    }
    if done < length {
        // A long run, or the last text of its array.
        let source = from.get(part.start + done..part.end)?;
        to.get_mut(at + done..end)?.copy_from_slice(source);
    }
    Some(end)
}
