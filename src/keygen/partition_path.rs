//! A partition's path split into one text per field.

use crate::config::PartitionFieldKind;
use crate::model::{NULL_PARTITION, PartitionPath, decode_value};

/// What a path holds for one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathText {
    /// The name of null.
    Null,
    /// The value's text, decoded, and surely so.
    Sure(String),
    /// The reading that Spark makes; another one is possible, so nothing may be concluded from it.
    Likely(String),
    /// The path does not tell which folders are this field's.
    Unknown,
}

/// How a table writes its partition paths.
#[derive(Debug, Clone)]
pub(super) struct PathStyle {
    pub(super) hive_style: bool,
    pub(super) url_encoded: bool,
    /// How many folders a timestamp field takes: one more than its format has slashes. `None` when that is not known.
    pub(super) timestamp_folders: Option<usize>,
}

impl PathStyle {
    /// One text per field.
    ///
    /// A lone plain field is the whole path, slashes included. Of several fields each has as many folders as its
    /// kind needs; when the path has more or fewer, a value holds slashes and nothing is known of any of them.
    pub(super) fn split(
        &self,
        fields: &[(&str, PartitionFieldKind)],
        path: &PartitionPath,
    ) -> Vec<PathText> {
        if let [(name, kind)] = fields {
            return vec![self.lone(name, *kind, path.as_str())];
        }
        let segments: Vec<&str> = path.segments().collect();
        let texts = self.split_several(fields, &segments);
        texts.unwrap_or_else(|| vec![PathText::Unknown; fields.len()])
    }

    fn lone(&self, name: &str, kind: PartitionFieldKind, path: &str) -> PathText {
        match self.text(name, path) {
            // Hudi 1.2 can write the date 2024-01-03 as 2024/01/03, and no property tells.
            PathText::Sure(text) if kind == PartitionFieldKind::Simple && is_slashed_date(path) => {
                PathText::Likely(text)
            }
            text => text,
        }
    }

    fn split_several(
        &self,
        fields: &[(&str, PartitionFieldKind)],
        segments: &[&str],
    ) -> Option<Vec<PathText>> {
        let untold = |(_, kind): &(&str, PartitionFieldKind)| *kind == PartitionFieldKind::Unknown;
        if fields.iter().any(untold) {
            return self.split_evenly(fields, segments);
        }
        let mut rest = segments;
        let mut texts = Vec::with_capacity(fields.len());
        for (name, kind) in fields {
            let (mine, others) = rest.split_at_checked(self.folders(*kind)?)?;
            let first = mine.first()?;
            if self.hive_style && hive_value(name, first).is_none() {
                return None;
            }
            texts.push(self.text(name, &mine.join("/")));
            rest = others;
        }
        rest.is_empty().then_some(texts)
    }

    /// One folder a field, where the table does not tell the fields' kinds.
    fn split_evenly(
        &self,
        fields: &[(&str, PartitionFieldKind)],
        segments: &[&str],
    ) -> Option<Vec<PathText>> {
        let texts = fields.iter().zip(segments);
        let texts = texts.map(|((name, _), folder)| match self.text(name, folder) {
            PathText::Sure(text) => PathText::Likely(text),
            text => text,
        });
        (fields.len() == segments.len()).then(|| texts.collect())
    }

    fn folders(&self, kind: PartitionFieldKind) -> Option<usize> {
        match kind {
            PartitionFieldKind::Simple => Some(1),
            PartitionFieldKind::Timestamp if self.url_encoded => Some(1),
            PartitionFieldKind::Timestamp => self.timestamp_folders,
            PartitionFieldKind::Unknown => None,
        }
    }

    /// The text of the folders that are one field's.
    pub(super) fn text(&self, name: &str, folders: &str) -> PathText {
        let (raw, sure) = match (hive_value(name, folders), self.hive_style) {
            (Some(value), hive_style) => (value, hive_style),
            (None, hive_style) => (folders, !hive_style),
        };
        if raw == NULL_PARTITION {
            return PathText::Null;
        }
        let text = match self.url_encoded {
            true => decode_value(raw),
            false => raw.to_owned(),
        };
        match sure {
            true => PathText::Sure(text),
            false => PathText::Likely(text),
        }
    }
}

fn hive_value<'a>(name: &str, folder: &'a str) -> Option<&'a str> {
    folder.strip_prefix(name)?.strip_prefix('=')
}

fn is_slashed_date(path: &str) -> bool {
    let value = path.rsplit_once('=').map_or(path, |(_, value)| value);
    let parts: Vec<&str> = value.split('/').collect();
    let digits = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    parts.len() == 3 && parts.iter().all(digits)
}

#[cfg(test)]
mod tests {
    use super::PartitionFieldKind::{Simple, Timestamp, Unknown as UnknownKind};
    use super::PathText::{Likely, Null, Sure, Unknown};
    use super::*;

    const PLAIN: PathStyle = PathStyle {
        hive_style: false,
        url_encoded: false,
        timestamp_folders: Some(1),
    };
    const HIVE: PathStyle = PathStyle {
        hive_style: true,
        ..PLAIN
    };

    fn sure(text: &str) -> PathText {
        Sure(text.to_owned())
    }

    fn likely(text: &str) -> PathText {
        Likely(text.to_owned())
    }

    fn check(
        style: &PathStyle,
        fields: &[(&str, PartitionFieldKind)],
        path: &str,
        expected: &[PathText],
    ) {
        let found = style.split(fields, &PartitionPath::new(path));
        assert_eq!(found, expected, "{path}");
    }

    #[test]
    fn one_folder_is_one_field() {
        let two = [("region", Simple), ("city", Simple)];
        check(&PLAIN, &two, "eu/rome", &[sure("eu"), sure("rome")]);
        check(
            &HIVE,
            &two,
            "region=eu/city=rome",
            &[sure("eu"), sure("rome")],
        );
        check(&HIVE, &two, "region=/city=a b", &[sure(""), sure("a b")]);
        check(
            &HIVE,
            &two,
            "region=k=v/city=50%",
            &[sure("k=v"), sure("50%")],
        );
        check(&PLAIN, &[("city", Simple)], "ams", &[sure("ams")]);
        check(&PLAIN, &[], "", &[]);
    }

    #[test]
    fn encoded_values_are_decoded_and_others_are_not() {
        let encoded = PathStyle {
            url_encoded: true,
            ..HIVE
        };
        let fields = [("region", Simple), ("day", Simple)];
        let day = sure("2024-02-29");
        for (folder, value) in [
            ("a%2Fb", "a/b"),
            ("100%25", "100%"),
            ("k%3Dv", "k=v"),
            ("münchen 日本", "münchen 日本"),
        ] {
            let path = format!("region={folder}/day=2024-02-29");
            check(&encoded, &fields, &path, &[sure(value), day.clone()]);
            check(&HIVE, &fields, &path, &[sure(folder), day.clone()]);
        }
    }

    #[test]
    fn the_null_name_is_null_and_its_namesakes_are_not() {
        let fields = [("region", Simple), ("day", Simple)];
        check(
            &HIVE,
            &fields,
            "region=__HIVE_DEFAULT_PARTITION__/day=__HIVE_DEFAULT_PARTITION__x",
            &[Null, sure("__HIVE_DEFAULT_PARTITION__x")],
        );
        check(
            &PLAIN,
            &fields,
            "eu/__HIVE_DEFAULT_PARTITION__",
            &[sure("eu"), Null],
        );
    }

    #[test]
    fn a_slash_in_a_value_hides_which_folder_is_whose() {
        let two = [("a", Simple), ("b", Simple)];
        check(&PLAIN, &two, "x/y/z", &[Unknown, Unknown]);
        check(&HIVE, &two, "a=x/y/b=z", &[Unknown, Unknown]);
        check(&HIVE, &two, "a=x/y", &[Unknown, Unknown]);
        check(&PLAIN, &two, "x", &[Unknown, Unknown]);
        check(&PLAIN, &[("a", Simple)], "x/y/z", &[sure("x/y/z")]);
        check(&HIVE, &[("a", Simple)], "a=x/y", &[sure("x/y")]);
    }

    #[test]
    fn a_date_in_three_folders_may_be_one_with_dashes() {
        check(
            &PLAIN,
            &[("day", Simple)],
            "2024/01/03",
            &[likely("2024/01/03")],
        );
        check(
            &HIVE,
            &[("day", Simple)],
            "day=2024/01/03",
            &[likely("2024/01/03")],
        );
    }

    #[test]
    fn folders_named_against_the_table_style_are_only_likely() {
        check(&PLAIN, &[("city", Simple)], "city=ams", &[likely("ams")]);
        check(&HIVE, &[("city", Simple)], "ams", &[likely("ams")]);
    }

    #[test]
    fn a_timestamp_field_takes_as_many_folders_as_its_format() {
        let days = PathStyle {
            timestamp_folders: Some(3),
            ..PLAIN
        };
        let fields = [("region", Simple), ("happened", Timestamp)];
        check(
            &days,
            &fields,
            "us/2024/03/01",
            &[sure("us"), sure("2024/03/01")],
        );
        check(&days, &fields, "us/2024", &[Unknown, Unknown]);
        let hive = PathStyle {
            hive_style: true,
            ..days.clone()
        };
        check(
            &hive,
            &fields,
            "region=us/happened=2024/03/01",
            &[sure("us"), sure("2024/03/01")],
        );
        let unknown = PathStyle {
            timestamp_folders: None,
            ..PLAIN
        };
        check(&unknown, &fields, "us/2024", &[Unknown, Unknown]);
        check(
            &unknown,
            &[("happened", Timestamp)],
            "2024/03/01",
            &[sure("2024/03/01")],
        );
        let mixed = [("region", Simple), ("other", UnknownKind)];
        check(&PLAIN, &mixed, "us/x", &[likely("us"), likely("x")]);
        check(&PLAIN, &mixed, "us/x/y", &[Unknown, Unknown]);
    }
}
