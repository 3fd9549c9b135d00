//! Dates written as text, as a timestamp key generator of type `DATE_STRING` makes paths of them.
//!
//! Joda takes more spellings than are taken here: what is not spelled just as the pattern says is no path rather than another one.

use chrono::NaiveDate;

use super::timestamp::{Part, Token, offset, pattern, print};
use crate::config::TableConfig;

/// How a table's generator reads dates and writes paths, when its properties tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimestampText {
    inputs: Vec<Vec<Input>>,
    output: Vec<Token>,
    /// Seconds east of UTC of a date that tells no offset itself.
    input_offset: Option<i64>,
    output_offset: i64,
}

/// One part of an input pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    Token(Token),
    /// `Z`, as in +0130; `ZZ`, as in +01:30.
    Offset {
        colon: bool,
    },
}

impl TimestampText {
    /// `None` for other types of generators, patterns of anything but numbers of fixed width, quoted text and offsets, and zones
    /// whose rules are not known here.
    pub fn of(config: &TableConfig) -> Option<Self> {
        let get = |key| config.keygen_timebased(key);
        if !get("timestamp.type")?.eq_ignore_ascii_case("DATE_STRING") {
            return None;
        }
        // Hudi asks `timezone` first, for both sides.
        let zone = |side: &'static str| {
            let zone = get("timezone").or_else(|| get(side))?.trim();
            (!zone.is_empty()).then_some(zone)
        };
        let input_offset = match zone("input.timezone") {
            Some(zone) => Some(offset(zone)?),
            None => None,
        };
        if get("input.dateformat.list.delimiter.regex").is_some_and(|regex| regex != ",") {
            return None;
        }
        let inputs = get("input.dateformat")?.split(',').map(str::trim);
        let inputs: Vec<Vec<Input>> = inputs.map(input).collect::<Option<_>>()?;
        let tells = |input: &Vec<Input>| input.iter().any(|i| matches!(i, Input::Offset { .. }));
        (input_offset.is_some() || inputs.iter().all(tells)).then_some(Self {
            inputs,
            output: pattern(get("output.dateformat")?)?,
            input_offset,
            output_offset: offset(zone("output.timezone")?)?,
        })
    }

    /// The path's text for a date; none for one that is not spelled as the patterns say.
    pub fn write(&self, date: &str) -> Option<String> {
        let mut read = self
            .inputs
            .iter()
            .filter_map(|input| self.read(input, date));
        print(&self.output, read.next()?, self.output_offset)
    }

    /// Milliseconds since 1970.
    fn read(&self, input: &[Input], date: &str) -> Option<i64> {
        // What a pattern leaves out is that of 1970-01-01.
        let (mut values, mut rest) = ([1970_u32, 1, 1, 0, 0, 0, 0], date);
        let mut east = self.input_offset;
        for part in input {
            match part {
                Input::Token(Token::Literal(c)) => rest = rest.strip_prefix(*c)?,
                Input::Token(Token::Part(part, width)) => {
                    let (digits, after) = rest.split_at_checked(*width)?;
                    *values.get_mut(*part as usize)? = number(digits)?;
                    rest = after;
                }
                Input::Offset { colon } => {
                    let (sign, after) = rest.split_at_checked(1)?;
                    let (hours, after) = after.split_at_checked(2)?;
                    let after = if *colon {
                        after.strip_prefix(':')?
                    } else {
                        after
                    };
                    let (minutes, after) = after.split_at_checked(2)?;
                    let (hours, minutes) = (number(hours)?, number(minutes)?);
                    let seconds = i64::from(hours * 3600 + minutes * 60);
                    east = Some(match sign {
                        _ if hours > 18 || minutes > 59 => return None,
                        "+" => seconds,
                        "-" => -seconds,
                        _ => return None,
                    });
                    rest = after;
                }
            }
        }
        if !rest.is_empty() {
            return None;
        }
        let [year, month, day, hour, minute, second, milli] = values;
        let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
        let clock = date.and_hms_milli_opt(hour, minute, second, milli)?;
        Some(clock.and_utc().timestamp_millis() - east? * 1000)
    }
}

fn number(digits: &str) -> Option<u32> {
    let plain = digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}

/// A Joda pattern to read by. The year must be among what it tells, for Joda else takes one that is not said here.
fn input(text: &str) -> Option<Vec<Input>> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        if let Some(quoted) = rest.strip_prefix('\'') {
            let (literal, after) = quoted.split_once('\'')?;
            // Two quotes in turn stand for one.
            if literal.is_empty() || after.starts_with('\'') {
                return None;
            }
            parts.extend(literal.chars().map(|c| Input::Token(Token::Literal(c))));
            rest = after;
            continue;
        }
        let run = rest.chars().take_while(|c| *c == first).count();
        let (part, after) = rest.split_at_checked(run * first.len_utf8())?;
        match part {
            "Z" => parts.push(Input::Offset { colon: false }),
            "ZZ" => parts.push(Input::Offset { colon: true }),
            _ => parts.extend(pattern(part)?.into_iter().map(Input::Token)),
        }
        rest = after;
    }
    let year = |part: &Input| matches!(part, Input::Token(Token::Part(Part::Year, _)));
    parts.iter().any(year).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(inputs: &str, zone: Option<&str>, output: &str, output_zone: &str) -> TimestampText {
        TimestampText {
            inputs: inputs.split(',').map(|one| input(one).unwrap()).collect(),
            output: pattern(output).unwrap(),
            input_offset: zone.and_then(offset),
            output_offset: offset(output_zone).unwrap(),
        }
    }

    #[test]
    fn dates_are_written_to_the_paths_where_spark_has_them() {
        // Rows of v9_cow_timestamp_keygen_string.
        let format = format("yyyy-MM-dd'T'HH:mm:ssZ", None, "yyyyMMddHH", "UTC");
        for (date, path) in [
            ("2024-03-01T23:30:00+0000", "2024030123"),
            ("2024-03-02T23:30:00+0100", "2024030222"),
            ("2024-03-03T23:30:00+0200", "2024030321"),
            ("2024-03-04T23:30:00+0300", "2024030420"),
        ] {
            assert_eq!(format.write(date).as_deref(), Some(path));
        }
    }

    #[test]
    fn a_date_that_is_spelled_otherwise_is_no_path() {
        let spelled = format(
            "yyyy-MM-dd HH:mm,yyyyMMddZZ",
            Some("GMT+8:00"),
            "yyyy/MM/dd",
            "UTC",
        );
        // Eight hours east it is still the day before in UTC.
        assert_eq!(
            spelled.write("2024-03-01 07:59").as_deref(),
            Some("2024/02/29")
        );
        assert_eq!(
            spelled.write("20240301-01:30").as_deref(),
            Some("2024/03/01")
        );
        for date in [
            "",
            "2024-3-01 07:59",
            "2024-03-01 07:59 ",
            "2024-02-30 00:00",
            "20240301+0130",
            "20240301",
            "+024-03-01 07:59",
        ] {
            assert_eq!(spelled.write(date), None, "{date}");
        }
        for unknown in [
            "yy-MM-dd",
            "EEE yyyy",
            "yyyy''",
            "MM-dd",
            "yyyy-MM-dd'T",
            "yyyy z",
        ] {
            assert_eq!(input(unknown), None, "{unknown}");
        }
    }
}
