//! The least and the greatest value of a page or chunk.

use std::cmp::Ordering;

use super::file_schema::Meaning;
use crate::codec::avro::unscaled;
use crate::expr::Scalar;

/// One value, as statistics store it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Bound {
    Boolean(bool),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    /// By unsigned bytes.
    Bytes(Vec<u8>),
    /// Big-endian two's complement.
    Decimal(Vec<u8>),
}

/// Minimum and maximum.
pub(super) type Bounds = (Bound, Bound);

/// Java leaves out statistics that are longer than this together.
const LONGEST: usize = 4096;

/// Bytes of a bound in a page index.
const INDEXED: usize = 64;

impl Bound {
    pub(super) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Boolean(a), Self::Boolean(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Long(a), Self::Long(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => a.total_cmp(b),
            (Self::Double(a), Self::Double(b)) => a.total_cmp(b),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            (Self::Decimal(a), Self::Decimal(b)) => order_decimals(a, b),
            _ => Ordering::Equal,
        }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Boolean(value) => vec![u8::from(*value)],
            Self::Int(value) => value.to_le_bytes().to_vec(),
            Self::Long(value) => value.to_le_bytes().to_vec(),
            Self::Float(value) => value.to_le_bytes().to_vec(),
            Self::Double(value) => value.to_le_bytes().to_vec(),
            Self::Bytes(value) | Self::Decimal(value) => value.clone(),
        }
    }

    fn scalar(&self) -> Scalar {
        match self {
            Self::Boolean(value) => Scalar::Boolean(*value),
            Self::Int(value) => Scalar::Int(i64::from(*value)),
            Self::Long(value) => Scalar::Int(*value),
            Self::Float(value) => Scalar::Float(f64::from(*value)),
            Self::Double(value) => Scalar::Float(*value),
            Self::Bytes(value) => Scalar::Bytes(value.clone()),
            Self::Decimal(value) => Scalar::Decimal(unscaled(value).unwrap_or_default()),
        }
    }
}

/// Two's complement of one length, or of two.
pub(super) fn order_decimals(a: &[u8], b: &[u8]) -> Ordering {
    if a.len() != b.len() {
        return unscaled(a).cmp(&unscaled(b));
    }
    let signed = |bytes: &[u8]| bytes.first().map(|first| first.cast_signed());
    signed(a).cmp(&signed(b)).then_with(|| a.cmp(b))
}

/// Widens `all` by `more`.
pub(super) fn widen(all: &mut Option<Bounds>, more: Bounds) {
    let Some((min, max)) = all else {
        *all = Some(more);
        return;
    };
    if more.0.order(min).is_lt() {
        *min = more.0;
    }
    if more.1.order(max).is_gt() {
        *max = more.1;
    }
}

/// The bounds of a chunk as a footer holds them; none where Java would leave them out.
pub(super) fn in_footer(bounds: &Option<Bounds>) -> Option<(Vec<u8>, Vec<u8>)> {
    let (min, max) = bounds.as_ref()?;
    let (min, max) = (min.bytes(), max.bytes());
    (min.len() + max.len() < LONGEST).then_some((min, max))
}

/// As [`in_footer`], as values.
pub(super) fn as_scalars(bounds: &Option<Bounds>) -> Option<(Scalar, Scalar)> {
    in_footer(bounds)?;
    let (min, max) = bounds.as_ref()?;
    Some((min.scalar(), max.scalar()))
}

/// A page's bounds in a page index: long ones are cut, the greater one rounded up. Source: parquet-mr `BinaryTruncator`.
pub(super) fn in_index(bounds: &Bounds, meaning: Meaning) -> (Vec<u8>, Vec<u8>) {
    let (min, max) = (bounds.0.bytes(), bounds.1.bytes());
    let text = matches!(meaning, Meaning::Text | Meaning::Enum);
    match bounds {
        (Bound::Bytes(_), _) => (cut(&min, text).to_vec(), cut_up(&max, text).unwrap_or(max)),
        // A zero may be either zero.
        (Bound::Float(low), Bound::Float(high)) => {
            let low = if *low == 0.0 { -0.0 } else { *low };
            let high = if *high == 0.0 { 0.0 } else { *high };
            (low.to_le_bytes().to_vec(), high.to_le_bytes().to_vec())
        }
        (Bound::Double(low), Bound::Double(high)) => {
            let low = if *low == 0.0 { -0.0 } else { *low };
            let high = if *high == 0.0 { 0.0 } else { *high };
            (low.to_le_bytes().to_vec(), high.to_le_bytes().to_vec())
        }
        _ => (min, max),
    }
}

fn cut(bytes: &[u8], text: bool) -> &[u8] {
    if bytes.len() <= INDEXED {
        return bytes;
    }
    let continues = |at: usize| text && bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let mut end = INDEXED;
    while end > 0 && continues(end) {
        end -= 1;
    }
    bytes.get(..end).unwrap_or(bytes)
}

/// The front of `bytes`, made greater than all that begin so; none when there is no such text.
fn cut_up(bytes: &[u8], text: bool) -> Option<Vec<u8>> {
    let front = cut(bytes, text);
    if front.len() == bytes.len() {
        return Some(front.to_vec());
    }
    if !text {
        let mut front = front.to_vec();
        while let Some(last) = front.pop() {
            if last < 0xff {
                front.push(last + 1);
                return Some(front);
            }
        }
        return None;
    }
    let mut front: Vec<char> = std::str::from_utf8(front).ok()?.chars().collect();
    while let Some(last) = front.pop() {
        // The number after the last before the surrogates is none of a character.
        let next = match last {
            '\u{d7ff}' => Some('\u{e000}'),
            _ => char::from_u32(u32::from(last) + 1),
        };
        if let Some(next) = next {
            front.push(next);
            return Some(front.into_iter().collect::<String>().into_bytes());
        }
    }
    None
}

/// What statistics make of a column's bytes.
pub(super) fn bound_of_bytes(meaning: Meaning, value: &[u8]) -> Bound {
    match meaning {
        Meaning::Decimal { .. } => Bound::Decimal(value.to_vec()),
        _ => Bound::Bytes(value.to_vec()),
    }
}
