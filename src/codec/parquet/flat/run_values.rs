use std::ops::Range;

use bytes::Bytes;

use super::super::runs::{Run, Runs};
use crate::error::{Error, Result};

/// Runs of levels or of dictionary places, read a few at a time.
#[derive(Debug)]
pub(in super::super) struct RunValues {
    bytes: Bytes,
    at: usize,
    width: u8,
    held: Held,
    /// Values of the run at hand that are still to come.
    left: usize,
}

/// The run at hand.
#[derive(Debug)]
enum Held {
    Repeated(u32),
    /// Where its bytes are, and the next value in them.
    Packed(Range<usize>, usize),
}

/// Consecutive values.
#[derive(Debug)]
pub(in super::super) enum Part<'a> {
    /// One value so many times.
    Same(u32, usize),
    /// Packed ones.
    Packed(Packed<'a>),
}

/// Values of a fixed width in bits.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Packed<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) width: u8,
    pub(super) first: usize,
    pub(super) count: usize,
}

impl RunValues {
    pub(in super::super) fn new(bytes: Bytes, width: u8) -> Self {
        Self {
            bytes,
            at: 0,
            width,
            held: Held::Repeated(0),
            left: 0,
        }
    }

    /// The next values of one run, `most` at most and never none.
    ///
    /// Errors: `Corrupt` where no run is left.
    pub(in super::super) fn next(&mut self, most: usize) -> Result<Part<'_>> {
        while self.left == 0 {
            self.load()?;
        }
        let count = most.min(self.left);
        self.left -= count;
        Ok(match &mut self.held {
            Held::Repeated(value) => Part::Same(*value, count),
            Held::Packed(range, next) => {
                let first = *next;
                *next += count;
                Part::Packed(Packed {
                    bytes: self.bytes.get(range.clone()).unwrap_or_default(),
                    width: self.width,
                    first,
                    count,
                })
            }
        })
    }

    fn load(&mut self) -> Result<()> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let mut runs = Runs::new(rest, self.width)?;
        let run = runs
            .next()?
            .ok_or_else(|| Error::corrupt("a page holds fewer values than it declares"))?;
        self.at += runs.position();
        let (held, count) = match run {
            Run::Repeated { value, count } => (Held::Repeated(value as u32), count),
            Run::Packed { count, .. } if self.width == 0 => (Held::Repeated(0), count),
            Run::Packed { bytes, count } => {
                (Held::Packed(self.at - bytes.len()..self.at, 0), count)
            }
        };
        self.held = held;
        self.left = usize::try_from(count).unwrap_or(usize::MAX);
        Ok(())
    }
}

impl Packed<'_> {
    /// Hands over the values one by one.
    #[inline(always)]
    pub(in super::super) fn each(&self, mut each: impl FnMut(u32) -> Option<()>) -> Option<()> {
        let width = usize::from(self.width);
        let mask = u64::MAX >> (64 - width.clamp(1, 32));
        for at in self.first..self.first + self.count {
            let bit = at * width;
            let rest = self.bytes.get(bit / 8..).unwrap_or_default();
            let word = match rest.first_chunk() {
                Some(word) => u64::from_le_bytes(*word),
                None => last_word(rest),
            };
            each(((word >> (bit % 8)) & mask) as u32)?;
        }
        Some(())
    }
}

/// Fewer than eight bytes, as if zeros followed.
fn last_word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = *from;
    }
    u64::from_le_bytes(word)
}
