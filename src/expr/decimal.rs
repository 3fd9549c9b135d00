//! Decimal numbers from text, at a scale.

use std::cmp::Ordering;

use arrow::datatypes::i256;

/// A number beside those of 256 bits, or one of them rounded down with whether nothing was lost.
pub(super) enum Placed {
    /// Less than every number that a column holds.
    Below,
    /// The unscaled number, rounded down, and whether it is the number itself.
    At(i256, bool),
    /// Greater than every number that a column holds.
    Above,
}

/// `[+-]digits[.digits][e[+-]digits]`, as the unscaled number at `scale`. None when the text is no number.
pub(super) fn parse_decimal(text: &str, scale: i8) -> Option<Placed> {
    let (negative, text) = match text.strip_prefix(['+', '-']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
        None => (text, 0),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: Vec<u8> = whole.bytes().chain(part.bytes()).collect();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // Digits before the point of the unscaled number; the rest is a fraction of it.
    let kept = i64::try_from(whole.len()).ok()? + exponent + i64::from(scale);
    Some(place(&digits, kept, negative))
}

fn place(digits: &[u8], kept: i64, negative: bool) -> Placed {
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    let significant = digits.get(zeros..).unwrap_or_default();
    let kept = kept - i64::try_from(zeros).unwrap_or(i64::MAX);
    let beyond = if negative {
        Placed::Below
    } else {
        Placed::Above
    };
    if significant.is_empty() {
        return Placed::At(i256::ZERO, true);
    }
    // 10^77 and above lie outside 256 bits.
    let kept = match usize::try_from(kept) {
        Ok(kept) if kept > 77 => return beyond,
        Ok(kept) => kept,
        Err(_) => 0,
    };
    let (held, lost) = significant
        .split_at_checked(kept)
        .unwrap_or((significant, &[]));
    let mut padded = held
        .iter()
        .copied()
        .chain(std::iter::repeat(b'0'))
        .take(kept);
    let ten = i256::from_i128(10);
    let sum = padded.try_fold(i256::ZERO, |sum: i256, digit| {
        sum.checked_mul(ten)?
            .checked_add(i256::from_i128(i128::from(digit - b'0')))
    });
    let Some(sum) = sum else { return beyond };
    let exact = lost.iter().all(|digit| *digit == b'0');
    match (negative, exact) {
        (false, _) => Placed::At(sum, exact),
        (true, true) => Placed::At(sum.wrapping_neg(), true),
        (true, false) => Placed::At(sum.wrapping_neg().wrapping_sub(i256::ONE), false),
    }
}

/// An exponent, brought to ±1,000,000 when it is further out, where every column ends anyway.
fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let far = digits.trim_start_matches('0');
    let size = if far.len() > 6 {
        1_000_000
    } else {
        far.parse().unwrap_or(0)
    };
    Some(match text.starts_with('-') {
        true => -size,
        false => size,
    })
}

impl Placed {
    /// Brings what lies outside a column's own range to its ends' far sides.
    pub(super) fn within(self, least: i256, greatest: i256) -> Self {
        match self {
            Self::At(value, _) if value.cmp(&greatest) == Ordering::Greater => Self::Above,
            Self::At(value, _) if value.cmp(&least) == Ordering::Less => Self::Below,
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, scale: i8, expected: &str) {
        let placed = match parse_decimal(text, scale) {
            None => "none".to_owned(),
            Some(Placed::Below) => "below".to_owned(),
            Some(Placed::Above) => "above".to_owned(),
            Some(Placed::At(value, true)) => value.to_string(),
            Some(Placed::At(value, false)) => format!("{value}+"),
        };
        assert_eq!(placed, expected, "{text} at {scale}");
    }

    #[test]
    fn text_is_placed_at_the_scale_of_the_column() {
        check("1.5", 2, "150");
        check("-0.0001", 4, "-1");
        check("0", 4, "0");
        check("-0.0", 4, "0");
        check(".5", 1, "5");
        check("5.", 1, "50");
        check("+12", 0, "12");
        check("1e3", 2, "100000");
        check("1.25E-1", 3, "125");
        check("007", 0, "7");
        check(
            "0.00000000000000000000000000000000000000000000000000000000000000000000000000000000000001",
            86,
            "1",
        );
    }

    #[test]
    fn more_digits_than_the_scale_round_down_and_say_so() {
        check("1.005", 2, "100+");
        check("-1.005", 2, "-101+");
        check("0.001", 2, "0+");
        check("-0.001", 2, "-1+");
        check("1.500", 1, "15");
        check("1e-1000000000000", 2, "0+");
    }

    #[test]
    fn numbers_beyond_256_bits_lie_above_or_below() {
        check("1e76", 0, &format!("1{}", "0".repeat(76)));
        check("1e77", 0, "above");
        check("-1e99999999999999999999", 0, "below");
        check("0e99999999999999999999", 0, "0");
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [
            "", "-", ".", "e5", "1e", "1e+", "1.2.3", "0x10", "NaN", "Infinity", " 1", "1 ", "1,5",
            "१",
        ] {
            check(text, 2, "none");
        }
    }
}
