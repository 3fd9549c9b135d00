//! Java properties text, and the checksum that Hudi keeps in it.

use std::collections::BTreeMap;

use crate::error::{Error, Result};

/// Java properties as a sorted map.
pub type Properties = BTreeMap<String, String>;

/// Reads Java properties text: ISO-8859-1 with `\uXXXX`, escaped separators, continuation lines, comments.
///
/// The last of equal keys wins, as in Java. Time and memory are linear in the input.
///
/// Errors: `Corrupt` with the `line` for a malformed `\u` escape, a lone surrogate, or a last line without an end,
/// which is how a half-written file looks.
///
/// Source: `java.util.Properties.load`.
pub fn parse(bytes: &[u8]) -> Result<Properties> {
    let mut lines = LogicalLines { bytes, line: 0 };
    let mut properties = Properties::new();
    while let Some(text) = lines.next_line()? {
        let (key, value) = split(&text);
        let key = unescape(key).map_err(|e| e.context("line", lines.line))?;
        let value = unescape(value).map_err(|e| e.context("line", lines.line))?;
        properties.insert(key, value);
    }
    Ok(properties)
}

/// The checksum that Hudi keeps under `hoodie.table.checksum`: CRC-32 of `<database>.<table>`.
pub fn checksum(properties: &Properties) -> u32 {
    let of = |key: &str| properties.get(key).map_or("", String::as_str);
    let text = format!("{}.{}", of("hoodie.database.name"), of("hoodie.table.name"));
    crc32fast::hash(text.as_bytes())
}

/// Writes Java properties text: the comments, then a line a property in the order of their keys.
///
/// ISO-8859-1 as Java writes it, so all that is not printable ASCII becomes `\\uXXXX`. Source:
/// `java.util.Properties.store`.
pub fn store(properties: &Properties, comments: &[&str]) -> Vec<u8> {
    let mut text = String::new();
    for comment in comments {
        text.push('#');
        text.push_str(comment);
        text.push('\n');
    }
    for (key, value) in properties {
        escape(key, true, &mut text);
        text.push('=');
        escape(value, false, &mut text);
        text.push('\n');
    }
    text.into_bytes()
}

/// A moment as Java writes it under a properties file's first comment: `Sun Nov 29 20:44:53 UTC 2026`.
pub fn java_date(epoch_millis: i64) -> String {
    let moment = chrono::DateTime::from_timestamp_millis(epoch_millis).unwrap_or_default();
    moment.format("%a %b %d %H:%M:%S UTC %Y").to_string()
}

/// Java escapes every space of a key, and one at the start of a value.
fn escape(text: &str, is_key: bool, out: &mut String) {
    for (at, c) in text.chars().enumerate() {
        match c {
            ' ' if is_key || at == 0 => out.push_str("\\ "),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\u{c}' => out.push_str("\\f"),
            '\\' | '=' | ':' | '#' | '!' => {
                out.push('\\');
                out.push(c);
            }
            ' '..='~' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04X}"));
                }
            }
        }
    }
}

/// Lines after joining continuations; comments and blank lines are passed over.
struct LogicalLines<'a> {
    bytes: &'a [u8],
    /// Number of natural lines taken so far.
    line: usize,
}

impl<'a> LogicalLines<'a> {
    fn next_line(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            let Some(natural) = self.natural()? else {
                return Ok(None);
            };
            let start = trim_start(natural);
            if start.is_empty() || matches!(start.first(), Some(b'#' | b'!')) {
                continue;
            }
            let mut joined = start.to_vec();
            while ends_in_continuation(&joined) {
                joined.pop();
                match self.natural()? {
                    Some(more) => joined.extend_from_slice(trim_start(more)),
                    None => break,
                }
            }
            return Ok(Some(joined));
        }
    }

    fn natural(&mut self) -> Result<Option<&'a [u8]>> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        self.line += 1;
        let Some(end) = self.bytes.iter().position(|b| matches!(b, b'\n' | b'\r')) else {
            return Err(Error::corrupt("properties text stops inside a line")
                .context("line", self.line)
                .context(
                    "hint",
                    "the file seems half written; if it is whole, end its last line",
                ));
        };
        let (line, rest) = self.bytes.split_at(end);
        let step = if rest.starts_with(b"\r\n") { 2 } else { 1 };
        self.bytes = rest.get(step..).unwrap_or_default();
        Ok(Some(line))
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0c)
}

fn trim_start(line: &[u8]) -> &[u8] {
    let at = line
        .iter()
        .position(|b| !is_space(*b))
        .unwrap_or(line.len());
    line.get(at..).unwrap_or_default()
}

fn ends_in_continuation(line: &[u8]) -> bool {
    line.iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1
}

/// Splits at the first unescaped `=`, `:` or space; spaces around one separator go too.
fn split(line: &[u8]) -> (&[u8], &[u8]) {
    let mut escaped = false;
    let end = line.iter().position(|&b| {
        let ends = !escaped && (is_space(b) || matches!(b, b'=' | b':'));
        escaped = b == b'\\' && !escaped;
        ends
    });
    let (key, rest) = line.split_at(end.unwrap_or(line.len()));
    let rest = trim_start(rest);
    match rest.split_first() {
        Some((b'=' | b':', value)) => (key, trim_start(value)),
        _ => (key, rest),
    }
}

fn unescape(raw: &[u8]) -> Result<String> {
    let mut units: Vec<u16> = Vec::with_capacity(raw.len());
    let mut bytes = raw.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            units.push(u16::from(byte));
            continue;
        }
        match bytes.next() {
            Some(b't') => units.push(9),
            Some(b'n') => units.push(10),
            Some(b'f') => units.push(12),
            Some(b'r') => units.push(13),
            Some(b'u') => units.push(hex4(&mut bytes)?),
            Some(other) => units.push(u16::from(other)),
            None => {}
        }
    }
    String::from_utf16(&units)
        .map_err(|_| Error::corrupt("properties text holds half of a surrogate pair"))
}

fn hex4(bytes: &mut impl Iterator<Item = u8>) -> Result<u16> {
    let mut unit = 0u32;
    for _ in 0..4 {
        let digit = bytes.next().and_then(|b| char::from(b).to_digit(16));
        let digit = digit.ok_or_else(|| Error::corrupt("malformed \\uXXXX in properties text"))?;
        unit = unit * 16 + digit;
    }
    u16::try_from(unit).map_err(|_| Error::corrupt("malformed \\uXXXX in properties text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let properties = parse(text.as_bytes()).unwrap();
        let found: Vec<_> = properties
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_str()))
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn separators_comments_and_escapes_read_as_in_java() {
        check("a=b\n", &[("a", "b")]);
        check("  a : b \r\n", &[("a", "b ")]);
        check("a b=c\n", &[("a", "b=c")]);
        check("#x=1\n!y=2\n\n \t\nk\n", &[("k", "")]);
        check("a\\:b\\=c\\ d=e\\:f\\\\\n", &[("a:b=c d", "e:f\\")]);
        check("k=\\tx\\ny\\z\n", &[("k", "\tx\nyz")]);
        check("k=one\\\n   two\\\r\n\tthree\n", &[("k", "onetwothree")]);
        check("k=even\\\\\nl=1\n", &[("k", "even\\"), ("l", "1")]);
        check("k=1\nk=2\n", &[("k", "2")]);
        check("k=\\u00e9\\uD83D\\uDE00\n", &[("k", "é😀")]);
        check("", &[]);
    }

    #[test]
    fn bytes_beyond_ascii_are_latin_1() {
        let properties = parse(b"k=\xe9\n").unwrap();
        assert_eq!(properties.get("k").map(String::as_str), Some("é"));
    }

    #[test]
    fn damaged_text_is_corrupt_and_names_the_line() {
        for (text, line) in [
            ("a=1\nk=\\u12", "2"),
            ("k=\\u12g4\n", "1"),
            ("a=1\nk=\\ud83d\n", "2"),
            ("a=1", "1"),
        ] {
            let error = parse(text.as_bytes()).unwrap_err();
            assert_eq!(
                (error.kind().code(), error.get("line")),
                ("CORRUPT", Some(line)),
                "{text:?}"
            );
        }
    }

    #[test]
    fn what_is_written_is_escaped_as_in_java_and_read_back() {
        let pairs = [
            ("a key", " value: of=it"),
            ("b#!", "\\tab\tand\nline"),
            ("c", "é😀 ~\u{7f}"),
            ("d", ""),
        ];
        let properties: Properties = pairs
            .iter()
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .collect();
        let text = store(&properties, &["first", "second"]);
        let expected = "#first\n#second\na\\ key=\\ value\\: of\\=it\nb\\#\\!=\\\\tab\\tand\\nline\n\
                        c=\\u00E9\\uD83D\\uDE00 ~\\u007F\nd=\n";
        assert_eq!(String::from_utf8(text.clone()).unwrap(), expected);
        assert_eq!(parse(&text).unwrap(), properties);
    }

    // The comment of v9_cow_simple's properties, beside `Updated at 2026-11-29T20:44:53.918154083Z`.
    #[test]
    fn dates_are_javas() {
        assert_eq!(java_date(1_795_985_093_918), "Sun Nov 29 20:44:53 UTC 2026");
    }

    #[cfg(not(target_arch = "wasm32"))]
    #[test]
    fn the_lines_of_spark_are_written_again() {
        for table in crate::support::tables() {
            let files = crate::support::files(&table).into_iter();
            for (path, text) in files.filter(|(path, _)| path.ends_with("/hoodie.properties")) {
                let lines = |text: &[u8]| {
                    let text = String::from_utf8(text.to_vec()).unwrap();
                    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
                    lines.retain(|line| !line.starts_with('#'));
                    lines.sort();
                    lines
                };
                let written = store(&parse(&text).unwrap(), &[]);
                assert_eq!(lines(&written), lines(&text), "{table} {path}");
            }
        }
    }

    #[test]
    fn the_checksum_is_that_of_a_table_written_by_spark() {
        let text = "hoodie.database.name=\nhoodie.table.name=v6_cow_parts\n";
        assert_eq!(checksum(&parse(text.as_bytes()).unwrap()), 302_740_059);
    }
}
