//! Rows of an array replaced where they lie: what stays is not copied, unless it is another's too.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray, StringArray};
use arrow::buffer::{Buffer, MutableBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type, TimeUnit,
    TimestampMicrosecondType,
};

use super::plain::{range, validity};
use super::runs::{NO_SOURCE, Run, Runs};

/// What became of an array whose rows were to be replaced.
pub(super) enum Patched {
    Done(ArrayRef),
    /// Its rows are not replaced by such of the same size, or are moved.
    Not(ArrayRef),
}

/// The first array with rows of the others in their places; `None` for runs beyond their arrays.
pub(super) fn patch(first: ArrayRef, others: &[&ArrayRef], runs: &Runs) -> Option<Patched> {
    if !runs.replace_some_of(first.len()) || runs.has_nulls() {
        return Some(Patched::Not(first));
    }
    match first.data_type() {
        DataType::Int32 => numbers::<Int32Type>(first, others, runs),
        DataType::Int64 => numbers::<Int64Type>(first, others, runs),
        DataType::Float32 => numbers::<Float32Type>(first, others, runs),
        DataType::Float64 => numbers::<Float64Type>(first, others, runs),
        DataType::Date32 => numbers::<Date32Type>(first, others, runs),
        DataType::Decimal128(..) => numbers::<Decimal128Type>(first, others, runs),
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            numbers::<TimestampMicrosecondType>(first, others, runs)
        }
        DataType::Utf8 => texts(first, others, runs),
        _ => Some(Patched::Not(first)),
    }
}

/// Runs of the others, with the rows that they replace.
fn replaced(runs: &Runs) -> impl Iterator<Item = (Range<usize>, &Run)> {
    let mut at = 0;
    let placed = runs.as_slice().iter().map(move |run| {
        let begin = at;
        at += run.rows as usize;
        (begin..at, run)
    });
    placed.filter(|(_, run)| run.source != 0 && run.source != NO_SOURCE)
}

fn nulls_of(first: &ArrayRef, others: &[&ArrayRef], runs: &Runs) -> Option<Option<NullBuffer>> {
    let sources: Vec<&ArrayRef> = std::iter::once(first)
        .chain(others.iter().copied())
        .collect();
    validity(&sources, runs)
}

fn numbers<T: ArrowPrimitiveType>(
    first: ArrayRef,
    others: &[&ArrayRef],
    runs: &Runs,
) -> Option<Patched> {
    let values = others.iter().map(|other| {
        let array = other.as_primitive_opt::<T>()?;
        Some(array.values().as_ref())
    });
    let values: Vec<&[T::Native]> = values.collect::<Option<_>>()?;
    let nulls = nulls_of(&first, others, runs)?;
    let array = first.as_primitive_opt::<T>()?.clone();
    drop(first);
    let (data_type, own, _) = array.into_parts();
    let mut own = own_or_copied(own.into_inner());
    let room: &mut [T::Native] = own.typed_data_mut();
    for (rows, run) in replaced(runs) {
        let from = values.get(run.source as usize - 1)?.get(range(run))?;
        let to = room.get_mut(rows)?;
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    }
    let array = PrimitiveArray::<T>::new(ScalarBuffer::from(Buffer::from(own)), nulls);
    Some(Patched::Done(Arc::new(array.with_data_type(data_type))))
}

/// The bytes, to be written to; as they are when nobody else has them.
fn own_or_copied(bytes: Buffer) -> MutableBuffer {
    bytes.into_mutable().unwrap_or_else(|bytes| {
        let mut copy = MutableBuffer::with_capacity(bytes.len());
        copy.extend_from_slice(bytes.as_slice());
        copy
    })
}

/// Texts of a column, and where each begins and ends.
type Texts<'a> = (&'a OffsetBuffer<i32>, &'a Buffer);

fn texts(first: ArrayRef, others: &[&ArrayRef], runs: &Runs) -> Option<Patched> {
    let arrays = others.iter().map(|other| {
        let array = other.as_string_opt::<i32>()?;
        Some((array.offsets(), array.values()))
    });
    let others_texts: Vec<Texts<'_>> = arrays.collect::<Option<_>>()?;
    let array = first.as_string_opt::<i32>()?;
    if !same_lengths(array.offsets(), &others_texts, runs)? {
        return Some(Patched::Not(first));
    }
    let nulls = nulls_of(&first, others, runs)?;
    let array = array.clone();
    drop(first);
    let (offsets, text, _) = array.into_parts();
    let mut text = own_or_copied(text);
    write(&mut text, &offsets, &others_texts, runs)?;
    let array = StringArray::try_new(offsets, text.into(), nulls).ok()?;
    Some(Patched::Done(Arc::new(array)))
}

/// Whether each row is as long as the one that replaces it.
fn same_lengths(own: &[i32], others: &[Texts<'_>], runs: &Runs) -> Option<bool> {
    for (rows, run) in replaced(runs) {
        let (offsets, _) = others.get(run.source as usize - 1)?;
        let from = range(run);
        let (own, from) = (
            own.get(rows.start..=rows.end)?,
            offsets.get(from.start..=from.end)?,
        );
        let moved = own.first()?.wrapping_sub(*from.first()?);
        if own
            .iter()
            .zip(from)
            .any(|(own, from)| own.wrapping_sub(*from) != moved)
        {
            return Some(false);
        }
    }
    Some(true)
}

fn write(text: &mut MutableBuffer, own: &[i32], others: &[Texts<'_>], runs: &Runs) -> Option<()> {
    let place = |offsets: &[i32], rows: Range<usize>| {
        let begin = usize::try_from(*offsets.get(rows.start)?).ok()?;
        Some(begin..usize::try_from(*offsets.get(rows.end)?).ok()?)
    };
    let text = text.as_slice_mut();
    for (rows, run) in replaced(runs) {
        let (offsets, values) = others.get(run.source as usize - 1)?;
        let from = values.get(place(offsets, range(run))?)?;
        put(text.get_mut(place(own, rows)?)?, from)?;
    }
    Some(())
}

/// Copies a text over one of its length, by words of which the last may overlap the one before: most are too short for a call.
#[inline(always)]
fn put(to: &mut [u8], from: &[u8]) -> Option<()> {
    const WORD: usize = 8;
    if from.len() < WORD {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        return Some(());
    }
    let words = from.as_chunks::<WORD>().0.iter();
    let room = to.as_chunks_mut::<WORD>().0.iter_mut();
    room.zip(words).for_each(|(to, from)| *to = *from);
    *to.last_chunk_mut::<WORD>()? = *from.last_chunk::<WORD>()?;
    Some(())
}
