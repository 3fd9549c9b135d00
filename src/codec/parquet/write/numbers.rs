//! Columns of numbers.

use super::bound::{Bound, Bounds};
use super::dictionary::hash_bits;
use super::encoder::Store;

/// A number as Parquet stores it.
pub(super) trait Number: Copy + Default + PartialOrd {
    /// Its bytes, the lowest first.
    type Bytes: AsRef<[u8]>;

    fn bytes(self) -> Self::Bytes;

    /// Different for different values, and for the two zeros.
    fn bits(self) -> u64;

    fn is_nan(self) -> bool;

    /// Whether this is the negative zero and the other the positive one, which are equal.
    fn is_below(self, other: Self) -> bool {
        self.bits() != 0 && other.bits() == 0 && other == self
    }

    /// The bounds as statistics hold them.
    fn bounds(min: Self, max: Self) -> Bounds;
}

macro_rules! number {
    ($t:ty, $size:literal, $bits:expr, $nan:expr, $bounds:expr) => {
        impl Number for $t {
            type Bytes = [u8; $size];

            fn bytes(self) -> [u8; $size] {
                self.to_le_bytes()
            }

            fn bits(self) -> u64 {
                $bits(self)
            }

            fn is_nan(self) -> bool {
                $nan(self)
            }

            fn bounds(min: Self, max: Self) -> Bounds {
                $bounds(min, max)
            }
        }
    };
}

number!(
    i32,
    4,
    |v: i32| u64::from(v.cast_unsigned()),
    |_| false,
    |a, b| { (Bound::Int(a), Bound::Int(b)) }
);
number!(i64, 8, i64::cast_unsigned, |_| false, |a, b| {
    (Bound::Long(a), Bound::Long(b))
});
number!(
    f32,
    4,
    |v: f32| u64::from(v.to_bits()),
    f32::is_nan,
    |a, b| (Bound::Float(a), Bound::Float(b))
);
number!(f64, 8, f64::to_bits, f64::is_nan, |a, b| {
    (Bound::Double(a), Bound::Double(b))
});

/// Distinct numbers.
#[derive(Debug, Default)]
pub(super) struct NumberStore<T>(Vec<T>);

impl<T: Number> NumberStore<T> {
    fn at(&self, number: u32) -> T {
        self.0.get(number as usize).copied().unwrap_or_default()
    }
}

impl<T: Number> Store for NumberStore<T> {
    type Item<'a> = T;

    fn same(&self, number: u32, item: T) -> bool {
        self.at(number).bits() == item.bits()
    }

    fn keep(&mut self, item: T) -> usize {
        self.0.push(item);
        size_of::<T>()
    }

    fn hash(item: T) -> u64 {
        hash_bits(item.bits())
    }

    fn hash_at(&self, number: u32) -> u64 {
        hash_bits(self.at(number).bits())
    }

    fn put_at(&self, number: u32, out: &mut Vec<u8>) {
        out.extend_from_slice(self.at(number).bytes().as_ref());
    }

    fn put<'a>(&self, items: impl Iterator<Item = Self::Item<'a>>, out: &mut Vec<u8>) {
        for item in items {
            out.extend_from_slice(item.bytes().as_ref());
        }
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

/// The least and the greatest of a page's numbers.
#[derive(Debug, Default)]
pub(super) struct Range<T> {
    range: Option<(T, T)>,
    nan: bool,
}

impl<T: Number> Range<T> {
    pub(super) fn see(&mut self, values: &[T]) {
        let Some(first) = values.first() else {
            return;
        };
        let (mut min, mut max) = (*first, *first);
        for value in values {
            min = if *value < min { *value } else { min };
            max = if *value > max { *value } else { max };
            self.nan |= value.is_nan();
        }
        let (min, max) = (zeros(min, values).0, zeros(max, values).1);
        let (low, high) = self.range.unwrap_or((min, max));
        let lower = min < low || min.is_below(low);
        let higher = max > high || high.is_below(max);
        self.range = Some((
            if lower { min } else { low },
            if higher { max } else { high },
        ));
    }

    /// What was seen since the last call, and whether a NaN was: it has no place in an order, so there are no bounds with it.
    pub(super) fn take(&mut self) -> (Option<Bounds>, bool) {
        let nan = std::mem::take(&mut self.nan);
        let range = self.range.take();
        let bounds = range.filter(|_| !nan).map(|(min, max)| T::bounds(min, max));
        (bounds, nan)
    }
}

/// The lesser and the greater of the zeros among `values` when the bound is zero: Java orders them, and `<` does not.
fn zeros<T: Number>(bound: T, values: &[T]) -> (T, T) {
    if bound != T::default() {
        return (bound, bound);
    }
    let (mut low, mut high) = (bound, bound);
    for value in values.iter().filter(|value| **value == bound) {
        low = if value.is_below(low) { *value } else { low };
        high = if high.is_below(*value) { *value } else { high };
    }
    (low, high)
}
