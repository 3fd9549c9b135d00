use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BinaryArray, StringArray};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};

use super::page::Values;
use super::run_values::Part;
use crate::error::{Error, Result};

/// Bytes that are copied at once; what is copied beyond a text is taken off again.
const WORD: usize = 16;

/// From so many bytes on a call for the copy is worth it.
const MANY_BYTES: usize = 256;

/// Texts, or bytes.
#[derive(Debug)]
pub(in super::super) struct Texts {
    is_text: bool,
    dictionary: Dictionary,
    values: Together,
    /// Values of the dictionary, all the same, that are not in `bytes` yet: the place and how many. Whole columns are so.
    same: (u32, usize),
    /// What came of it when a whole batch was so.
    constant: Option<(u32, ArrayRef)>,
}

/// Values one behind the other.
///
/// Both lists are as long as there is room, so that a value is put in its place without a call.
#[derive(Debug, Default)]
struct Together {
    bytes: Vec<u8>,
    /// Where the next value goes.
    at: usize,
    /// Where each value ends, and a zero before the first.
    ends: Vec<i32>,
    count: usize,
}

#[derive(Debug, Default)]
struct Dictionary {
    /// Its values, and room to read words behind the last.
    bytes: Vec<u8>,
    /// Where each begins, and how long it is.
    places: Vec<(u32, u32)>,
}

impl Texts {
    pub(super) fn new(is_text: bool) -> Self {
        Self {
            is_text,
            dictionary: Dictionary::default(),
            values: Together::default(),
            same: (0, 0),
            constant: None,
        }
    }

    /// `None` when the values are not there.
    pub(super) fn set_dictionary(&mut self, plain: &[u8], values: usize) -> Option<()> {
        let mut places = Vec::with_capacity(values.min(plain.len() / 4));
        let mut at = 0;
        for _ in 0..values {
            let (begin, length) = next_of(plain, at)?;
            places.push((u32::try_from(begin).ok()?, u32::try_from(length).ok()?));
            at = begin + length;
        }
        let mut bytes = Vec::with_capacity(plain.len() + WORD);
        bytes.extend_from_slice(plain);
        bytes.resize(plain.len() + WORD, 0);
        self.dictionary = Dictionary { bytes, places };
        self.constant = None;
        Some(())
    }

    /// Makes room for the rows of a batch, which is about as large as the one before.
    pub(super) fn begin(&mut self, rows: usize, bytes_before: usize) {
        self.values = Together {
            bytes: vec![0; bytes_before + bytes_before / 32 + WORD],
            at: 0,
            ends: vec![0; rows + 1],
            count: 0,
        };
    }

    /// Adds so many values; `None` when they are not there.
    pub(super) fn read(&mut self, values: &mut Values, count: usize) -> Result<Option<()>> {
        match values {
            Values::Plain { bytes, at, .. } => Ok(self.plain(bytes, at, count)),
            Values::Places(places) => {
                let mut left = count;
                while left > 0 {
                    let done = match places.next(left)? {
                        Part::Same(place, times) => {
                            left -= times;
                            self.again(place, times)
                        }
                        Part::Packed(packed) => {
                            left -= packed.count;
                            self.settle().and_then(|()| {
                                let Self {
                                    dictionary, values, ..
                                } = self;
                                packed.each(|place| dictionary.copy(place, values))
                            })
                        }
                    };
                    if done.is_none() {
                        return Ok(None);
                    }
                }
                Ok(Some(()))
            }
            Values::Bits { .. } | Values::BitRuns(_) => Ok(None),
        }
    }

    fn plain(&mut self, from: &[u8], at: &mut usize, count: usize) -> Option<()> {
        self.settle()?;
        for _ in 0..count {
            let (begin, length) = next_of(from, *at)?;
            self.values.add(from, begin, length)?;
            *at = begin + length;
        }
        Some(())
    }

    /// One value of the dictionary so many times more.
    fn again(&mut self, place: u32, times: usize) -> Option<()> {
        if self.same.1 > 0 && self.same.0 != place {
            self.settle()?;
        }
        self.dictionary.places.get(place as usize)?;
        self.same = (place, self.same.1 + times);
        Some(())
    }

    /// Writes out what was put off.
    fn settle(&mut self) -> Option<()> {
        let (place, times) = std::mem::take(&mut self.same);
        let Self {
            dictionary, values, ..
        } = self;
        (0..times).try_for_each(|_| dictionary.copy(place, values))
    }

    pub(super) fn nulls(&mut self, count: usize) -> Option<()> {
        self.settle()?;
        (0..count).try_for_each(|_| self.values.end())
    }

    /// The values since the last call.
    pub(super) fn take(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let (place, times) = self.same;
        if times > 0 && self.values.count == 0 {
            self.same = (0, 0);
            return self.constant(place, times);
        }
        self.settle().ok_or_else(too_large)?;
        let Together {
            mut bytes,
            at,
            mut ends,
            count,
        } = std::mem::take(&mut self.values);
        bytes.truncate(at);
        ends.truncate(count + 1);
        self.array(Buffer::from_vec(bytes), ends, nulls)
    }

    /// Bytes of the batch at hand.
    pub(super) fn bytes(&self) -> usize {
        self.values.at
    }

    fn constant(&mut self, place: u32, times: usize) -> Result<ArrayRef> {
        if let Some((known, array)) = &self.constant
            && *known == place
            && array.len() >= times
        {
            return Ok(array.slice(0, times));
        }
        let value = self.dictionary.value(place).ok_or_else(too_large)?;
        let length = value.len();
        let last = length.checked_mul(times).map(i32::try_from);
        if !matches!(last, Some(Ok(_))) {
            return Err(too_large());
        }
        let ends = (0..=times).map(|end| (end * length) as i32).collect();
        let array = self.array(Buffer::from_vec(value.repeat(times)), ends, None)?;
        self.constant = Some((place, Arc::clone(&array)));
        Ok(array)
    }

    fn array(&self, bytes: Buffer, ends: Vec<i32>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let ends = OffsetBuffer::new(ScalarBuffer::from(ends));
        let array = match self.is_text {
            true => StringArray::try_new(ends, bytes, nulls).map(|array| Arc::new(array) as _),
            false => BinaryArray::try_new(ends, bytes, nulls).map(|array| Arc::new(array) as _),
        };
        array.map_err(|error| {
            Error::corrupt("a column holds text that is not UTF-8").with_source(error)
        })
    }
}

impl Dictionary {
    fn value(&self, place: u32) -> Option<&[u8]> {
        let (begin, length) = *self.places.get(place as usize)?;
        let begin = begin as usize;
        self.bytes.get(begin..begin + length as usize)
    }

    #[inline(always)]
    fn copy(&self, place: u32, to: &mut Together) -> Option<()> {
        let (begin, length) = *self.places.get(place as usize)?;
        to.add(&self.bytes, begin as usize, length as usize)
    }
}

impl Together {
    /// Adds a value that lies within `from`.
    #[inline(always)]
    fn add(&mut self, from: &[u8], begin: usize, length: usize) -> Option<()> {
        let end = self.at.checked_add(length)?;
        if end + WORD > self.bytes.len() {
            self.grow(end + WORD);
        }
        let mut done = 0;
        if length <= MANY_BYTES {
            while done < length
                && let Some(word) = from.get(begin + done..)?.first_chunk::<WORD>()
            {
                *self.bytes.get_mut(self.at + done..)?.first_chunk_mut()? = *word;
                done += WORD;
            }
        }
        if done < length {
            // A long one, or the last of its page.
            let rest = from.get(begin + done..begin + length)?;
            self.bytes
                .get_mut(self.at + done..end)?
                .copy_from_slice(rest);
        }
        self.at = end;
        self.end()
    }

    /// Ends a value.
    #[inline(always)]
    fn end(&mut self) -> Option<()> {
        let end = self.at as i32;
        self.count += 1;
        match self.ends.get_mut(self.count) {
            Some(place) => *place = end,
            None => self.more_ends(end),
        }
        // Whatever does not fit 32 bits has come out below zero.
        (end >= 0).then_some(())
    }

    /// Lists have more values than rows.
    #[cold]
    #[inline(never)]
    fn more_ends(&mut self, end: i32) {
        self.ends.push(end);
        self.ends.resize(self.ends.len() * 2, 0);
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, least: usize) {
        self.bytes.resize(least.max(self.bytes.len() * 2), 0);
    }
}

/// Passes over so many values that stand with their lengths before them; `None` when they are not there.
pub(super) fn pass(from: &[u8], at: &mut usize, count: usize) -> Option<()> {
    for _ in 0..count {
        let (begin, length) = next_of(from, *at)?;
        *at = begin + length;
    }
    Some(())
}

/// Where the value whose length stands at `at` begins, and how long it is; it lies within `from`.
#[inline(always)]
fn next_of(from: &[u8], at: usize) -> Option<(usize, usize)> {
    let length = from.get(at..)?.first_chunk()?;
    let length = u32::from_le_bytes(*length) as usize;
    let begin = at + 4;
    (length <= from.len() - begin).then_some((begin, length))
}

fn too_large() -> Error {
    Error::corrupt("the values of a column are too large for one batch")
}
