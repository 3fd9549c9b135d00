//! Floating-point numbers as Java writes them.

/// `Double.toString`.
pub fn double(out: &mut String, value: f64) {
    let shortest = format!("{value:e}");
    written(out, &two_digits(shortest, || format!("{value:.1e}")));
}

/// `Float.toString`.
pub fn float(out: &mut String, value: f32) {
    let shortest = format!("{value:e}");
    written(out, &two_digits(shortest, || format!("{value:.1e}")));
}

/// Java takes at least two digits, and of those the nearest.
fn two_digits(shortest: String, two: impl Fn() -> String) -> String {
    match shortest.contains('.') || !shortest.contains('e') {
        true => shortest,
        false => two(),
    }
}

/// Plain between a thousandth and ten million, else with an exponent. The text is Rust's `-d.dde-d`.
fn written(out: &mut String, text: &str) {
    let Some((mantissa, exponent)) = text.split_once('e') else {
        out.push_str(match text {
            "NaN" => "NaN",
            "-inf" => "-Infinity",
            _ => "Infinity",
        });
        return;
    };
    let magnitude = mantissa.strip_prefix('-').unwrap_or(mantissa);
    if magnitude.len() < mantissa.len() {
        out.push('-');
    }
    let digits: String = magnitude.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_end_matches('0');
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (whole, fraction, exponent) = match exponent {
        _ if digits.is_empty() => ("0".to_owned(), String::new(), None),
        0..=6 => {
            let places = exponent.unsigned_abs() as usize + 1;
            let whole: String = digits.chars().take(places).collect();
            let fraction = digits.chars().skip(places).collect();
            (format!("{whole:0<places$}"), fraction, None)
        }
        -3..=-1 => {
            let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
            ("0".to_owned(), format!("{zeros}{digits}"), None)
        }
        _ => {
            let whole: String = digits.chars().take(1).collect();
            (whole, digits.chars().skip(1).collect(), Some(exponent))
        }
    };
    out.push_str(&whole);
    out.push('.');
    out.push_str(if fraction.is_empty() { "0" } else { &fraction });
    if let Some(exponent) = exponent {
        out.push_str(&format!("E{exponent}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_java_prints_them() {
        let check = |value: f64, expected: &str| {
            let mut out = String::new();
            double(&mut out, value);
            assert_eq!(out, expected);
        };
        for (value, expected) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-12.5, "-12.5"),
            (0.001, "0.001"),
            (0.00123, "0.00123"),
            (0.0001, "1.0E-4"),
            (1_234_567.0, "1234567.0"),
            (9_999_999.5, "9999999.5"),
            (10_000_000.0, "1.0E7"),
            (1e23, "1.0E23"),
            (1.0 / 3.0, "0.3333333333333333"),
            (f64::MAX, "1.7976931348623157E308"),
            (5e-324, "4.9E-324"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            check(value, expected);
        }
        for (value, expected) in [
            (f32::MIN, "-3.4028235E38"),
            (1e-45, "1.4E-45"),
            (0.1, "0.1"),
            (100.0, "100.0"),
        ] {
            let mut out = String::new();
            float(&mut out, value);
            assert_eq!(out, expected);
        }
    }
}
