//! The values of a column: numbers of a dictionary while that pays, then plain.
//!
//! Java's rule with one more: what hardly repeats among the first thousand values is written plain at once.

use super::dictionary::{Found, Numbering};
use super::hybrid;

/// The encodings that pages name.
pub(super) const PLAIN: i32 = 0;
pub(super) const PLAIN_DICTIONARY: i32 = 2;
pub(super) const DELTA_BYTE_ARRAY: i32 = 7;
pub(super) const RLE: i32 = 3;

/// The distinct values of a dictionary, and how a value is written.
pub(super) trait Store {
    /// One value.
    type Item<'a>: Copy;

    fn same(&self, number: u32, item: Self::Item<'_>) -> bool;

    /// Adds a value and returns the bytes that it takes in a dictionary page.
    fn keep(&mut self, item: Self::Item<'_>) -> usize;

    fn hash(item: Self::Item<'_>) -> u64;

    fn hash_at(&self, number: u32) -> u64;

    fn put_at(&self, number: u32, out: &mut Vec<u8>);

    fn put<'a>(&self, items: impl Iterator<Item = Self::Item<'a>>, out: &mut Vec<u8>);

    fn clear(&mut self);
}

/// A column's values, page by page.
#[derive(Debug)]
pub(super) struct Encoder<S> {
    store: S,
    numbering: Numbering,
    /// Whether values are numbered.
    active: bool,
    /// Whether a page of this chunk is written by numbers.
    used: bool,
    indexes: Vec<u32>,
    plain: Vec<u8>,
    /// Bytes that the page would take written plain, before it is.
    plain_size: usize,
}

impl<S: Store> Encoder<S> {
    pub(super) fn new(store: S) -> Self {
        Self {
            store,
            numbering: Numbering::default(),
            active: true,
            used: false,
            indexes: Vec::new(),
            plain: Vec::new(),
            plain_size: 0,
        }
    }

    /// Adds values that take `size` bytes written plain.
    pub(super) fn push<'a>(
        &mut self,
        items: impl Iterator<Item = S::Item<'a>> + Clone,
        size: usize,
    ) {
        self.plain_size += size;
        if !self.active || !self.number(items.clone()) {
            self.plain.reserve(size);
            self.store.put(items, &mut self.plain);
        }
    }

    /// Numbers all of `items`, or none of them.
    fn number<'a>(&mut self, items: impl Iterator<Item = S::Item<'a>>) -> bool {
        let before = self.indexes.len();
        for item in items {
            let store = &mut self.store;
            let number = match self.numbering.find(S::hash(item), |n| store.same(n, item)) {
                Found::At(number) => number,
                Found::Free(place) => {
                    let bytes = store.keep(item);
                    self.numbering.add(place, bytes, |n| store.hash_at(n))
                }
                Found::Crowded => {
                    self.indexes.truncate(before);
                    self.give_up();
                    return false;
                }
            };
            self.indexes.push(number);
        }
        self.numbering.seen += self.indexes.len() - before;
        if self.numbering.is_useless() {
            self.give_up();
        }
        true
    }

    /// Writes the page's numbers as values. The dictionary stays for the pages before.
    fn give_up(&mut self) {
        self.plain.reserve(self.plain_size);
        for number in self.indexes.drain(..) {
            self.store.put_at(number, &mut self.plain);
        }
        self.active = false;
    }

    /// About the bytes of the page.
    pub(super) fn page_size(&self) -> usize {
        self.plain.len() + self.indexes.len() * usize::from(self.width()).div_ceil(8)
    }

    pub(super) fn memory(&self) -> usize {
        let numbering = if self.active || self.used {
            self.numbering.memory()
        } else {
            0
        };
        self.plain.capacity() + self.indexes.capacity() * 4 + numbering
    }

    fn width(&self) -> u8 {
        hybrid::width_of(self.numbering.count.saturating_sub(1))
    }

    /// Appends the page's values and returns their encoding.
    pub(super) fn finish_page(&mut self, out: &mut Vec<u8>) -> i32 {
        let encoding = self.encode(out);
        self.plain.clear();
        self.indexes.clear();
        self.plain_size = 0;
        encoding
    }

    fn encode(&mut self, out: &mut Vec<u8>) -> i32 {
        if self.active {
            let before = out.len();
            let width = self.width();
            out.push(width);
            hybrid::put(out, width, &self.indexes);
            let pays = !self
                .numbering
                .does_not_pay(out.len() - before, self.plain_size);
            if pays || self.used || self.indexes.is_empty() {
                self.used = true;
                return PLAIN_DICTIONARY;
            }
            out.truncate(before);
            self.give_up();
        }
        out.extend_from_slice(&self.plain);
        PLAIN
    }

    /// The dictionary page and how many values it has, when a page is written by numbers. Ends the chunk: the next one begins
    /// with an empty dictionary, or with none when it was given up.
    pub(super) fn finish_chunk(&mut self) -> Option<(Vec<u8>, u32)> {
        let page = self.used.then(|| {
            let mut page = Vec::with_capacity(self.numbering.bytes);
            for number in 0..self.numbering.count {
                self.store.put_at(number, &mut page);
            }
            (page, self.numbering.count)
        });
        self.used = false;
        self.store.clear();
        self.numbering = Numbering::default();
        page
    }
}
