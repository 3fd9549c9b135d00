//! A partition's path, as the store has it.

use std::fmt;

/// The folder's name for a null value, whatever the column's type.
pub const NULL_PARTITION: &str = "__HIVE_DEFAULT_PARTITION__";

/// The folder's name for a null value in tables of old releases.
pub const OLD_NULL_PARTITION: &str = "default";

/// The file that makes a folder a partition; also with a base file's extension.
pub const PARTITION_METAFILE: &str = ".hoodie_partition_metadata";

/// A partition's path relative to the table: `""` when the table is not partitioned, `year=2020/flag=true` in hive
/// style, `eu/rome` otherwise. Values stay encoded as the writer encoded them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PartitionPath(String);

impl PartitionPath {
    /// Takes a path; slashes at its ends are dropped.
    pub fn new(path: impl AsRef<str>) -> Self {
        Self(path.as_ref().trim_matches('/').to_owned())
    }

    /// The path as stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the table's own folder.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The folders of the path; none for the table's own folder.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|segment| !segment.is_empty())
    }

    /// The path of a file in this partition, relative to the table.
    pub fn file_path(&self, name: &str) -> String {
        if self.is_root() {
            return name.to_owned();
        }
        format!("{}/{name}", self.0)
    }

    /// Whether this is `other` or a folder below it. Whole folders count: `1` holds `1/a` and not `10`.
    pub fn starts_with(&self, other: &Self) -> bool {
        if other.is_root() {
            return true;
        }
        match self.0.strip_prefix(&other.0) {
            Some(rest) => rest.is_empty() || rest.starts_with('/'),
            None => false,
        }
    }
}

impl fmt::Display for PartitionPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for PartitionPath {
    fn from(path: &str) -> Self {
        Self::new(path)
    }
}

/// Whether a file's name is that of a partition's metafile, of any of its three forms.
pub fn is_partition_metafile(name: &str) -> bool {
    match name.strip_prefix(PARTITION_METAFILE) {
        Some(rest) => matches!(rest, "" | ".parquet" | ".orc"),
        None => false,
    }
}

/// Percent-encodes one value as writers do with `hoodie.datasource.write.partitionpath.urlencode`: control
/// characters, DEL and ``"#%'*/:=?\{[]^`` become upper-case `%XX`; all others stay, non-ASCII ones too.
pub fn encode_value(value: &str) -> String {
    let mut encoded = String::with_capacity(value.len());
    for c in value.chars() {
        let escaped = c < ' ' || c == '\u{7f}' || "\"#%'*/:=?\\{[]^".contains(c);
        if escaped {
            encoded.push_str(&format!("%{:02X}", u32::from(c)));
        } else {
            encoded.push(c);
        }
    }
    encoded
}

/// Undoes [`encode_value`]: each `%XX` is the character of that number; a `%` without two hex digits stays.
pub fn decode_value(value: &str) -> String {
    let mut decoded = String::with_capacity(value.len());
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('%') {
        decoded.push_str(before);
        match decode_escape(after) {
            Some((c, tail)) => {
                decoded.push(c);
                rest = tail;
            }
            None => {
                decoded.push('%');
                rest = after;
            }
        }
    }
    decoded.push_str(rest);
    decoded
}

fn decode_escape(after: &str) -> Option<(char, &str)> {
    let (digits, tail) = after.split_at_checked(2)?;
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let code = u8::from_str_radix(digits, 16).ok()?;
    Some((char::from(code), tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_not_a_prefix_of_its_namesakes() {
        let check = |path: &str, of: &str, expected| {
            let found = PartitionPath::new(path).starts_with(&PartitionPath::new(of));
            assert_eq!(found, expected, "{path} below {of}");
        };
        check("1", "1", true);
        check("1/a", "1", true);
        check("10", "1", false);
        check("100/a", "1", false);
        check("10", "", true);
        check("1", "1/a", false);
    }

    #[test]
    fn values_are_encoded_as_spark_wrote_them_and_decode_back() {
        // Folders of a table that Spark wrote.
        for (value, encoded) in [
            ("100%", "100%25"),
            ("a/b", "a%2Fb"),
            ("a:b", "a%3Ab"),
            ("k=v", "k%3Dv"),
            ("a b", "a b"),
            ("a+b&c", "a+b&c"),
            ("münchen 日本", "münchen 日本"),
            ("__HIVE_DEFAULT_PARTITION__x", "__HIVE_DEFAULT_PARTITION__x"),
        ] {
            assert_eq!(encode_value(value), encoded);
            assert_eq!(decode_value(encoded), value);
        }
        assert_eq!(
            encode_value("\t\u{7f}\"#%'*/:=?\\{[]^}<>|~!$&+,;@` "),
            "%09%7F%22%23%25%27%2A%2F%3A%3D%3F%5C%7B%5B%5D%5E}<>|~!$&+,;@` "
        );
    }

    #[test]
    fn a_percent_sign_that_encodes_nothing_stays() {
        for text in ["%", "50%", "%2", "%zz", "%é", "a%+1b"] {
            assert_eq!(decode_value(text), text);
        }
        assert_eq!(decode_value("%%41"), "%A");
    }

    #[test]
    fn the_three_metafiles_make_a_partition() {
        for (name, expected) in [
            (".hoodie_partition_metadata", true),
            (".hoodie_partition_metadata.parquet", true),
            (".hoodie_partition_metadata.orc", true),
            (".hoodie_partition_metadata.crc", false),
            ("..hoodie_partition_metadata.crc", false),
            (".hoodie_partition_metadata_0", false),
        ] {
            assert_eq!(is_partition_metafile(name), expected, "{name}");
        }
    }

    #[test]
    fn paths_are_joined_without_a_leading_slash() {
        assert_eq!(PartitionPath::new("").file_path("a"), "a");
        assert_eq!(PartitionPath::new("/x=1/y=2/").file_path("a"), "x=1/y=2/a");
        assert_eq!(PartitionPath::new("x/y").segments().count(), 2);
        assert_eq!(PartitionPath::new("").segments().count(), 0);
    }
}
