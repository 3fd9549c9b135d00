//! Texts that end in a number which counts: commit sequence numbers.

use super::bound::{Bound, Bounds};
use super::delta::Texts;

/// `prefix0`, `prefix1`, … over all pages of a file.
#[derive(Debug)]
pub(super) struct Counter {
    prefix: Vec<u8>,
    next: u64,
    /// The first number of the page.
    first: u64,
    digits: Vec<u8>,
    texts: Texts,
}

impl Counter {
    pub(super) fn new(prefix: &[u8]) -> Self {
        Self {
            prefix: prefix.to_vec(),
            next: 0,
            first: 0,
            digits: vec![b'0'],
            texts: Texts::default(),
        }
    }

    pub(super) fn push(&mut self, rows: usize) {
        for _ in 0..rows {
            let kept = match self.next {
                0 => 0,
                _ => self.step(),
            };
            if self.next == self.first {
                self.texts.push(&text(&self.prefix, self.next));
            } else {
                let rest = self.digits.get(kept..).unwrap_or_default();
                self.texts.push_rest(self.prefix.len() + kept, rest);
            }
            self.next += 1;
        }
    }

    /// The digits of the next number; returns how many at their front stay.
    fn step(&mut self) -> usize {
        for (at, digit) in self.digits.iter_mut().enumerate().rev() {
            if *digit < b'9' {
                *digit += 1;
                return at;
            }
            *digit = b'0';
        }
        self.digits.insert(0, b'1');
        0
    }

    pub(super) fn size(&self) -> usize {
        self.texts.size()
    }

    /// Writes the page and returns the least and the greatest of its texts: as text, 10 comes before 9.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) -> Bounds {
        self.texts.finish(out);
        let last = self.next.saturating_sub(1);
        let powers = || (0..20).filter_map(|exponent| 10_u64.checked_pow(exponent));
        let within = |number: &u64| (self.first..=last).contains(number);
        let ends = [self.first, last];
        let all = || {
            ends.into_iter()
                .chain(powers())
                .chain(powers().map(|power| power - 1))
        };
        let texts = || {
            all()
                .filter(within)
                .map(|number| text(&self.prefix, number))
        };
        let bounds = (
            Bound::Bytes(texts().min().unwrap_or_default()),
            Bound::Bytes(texts().max().unwrap_or_default()),
        );
        self.first = self.next;
        bounds
    }
}

fn text(prefix: &[u8], number: u64) -> Vec<u8> {
    let mut text = prefix.to_vec();
    text.extend_from_slice(number.to_string().as_bytes());
    text
}
