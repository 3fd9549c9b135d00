//! Schema on read: columns known by number, and what they were called when.
//!
//! ```text
//! .hoodie/.schema/T.schemacommit  {"schemas": [InternalSchema, …]}
//! extra metadata of a commit      "latest_schema": InternalSchema
//! InternalSchema                  {"version_id": 20261129212444635, "type": "record", "fields": [Field, …]}
//! Field                           {"id": 6, "name": "title", "optional": true, "type": "string" | Record | Array | Map}
//! Array                           {"type": "array", "element_id": 7, "element": …}
//! Map                             {"type": "map", "key_id": 8, "key": …, "value_id": 9, "value": …}
//! ```
//!
//! A version is the instant that made it, or 0. A file has the schema of the newest version at or before its own instant.
//!
//! Source: Hudi 1.1 `SerDeHelper`, `InternalSchemaUtils.searchSchema`, `InternalSchemaMerger`.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::Value;

use super::file_names::{FileName, FileNames};
use crate::error::{Error, Result};

/// The fields of one version, by number.
#[derive(Debug, Clone, PartialEq)]
struct Version {
    id: i64,
    fields: Vec<Numbered>,
}

/// A field and those below it.
#[derive(Debug, Clone, PartialEq)]
struct Numbered {
    id: i64,
    name: String,
    inner: Vec<Numbered>,
    /// An element, key or value: it has its name by its place.
    placed: bool,
}

/// What a query's columns were called in files of every time.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaHistory {
    query: Version,
    versions: BTreeMap<i64, HashMap<i64, String>>,
}

#[derive(Deserialize)]
struct VersionJson {
    version_id: i64,
    #[serde(flatten)]
    record: Value,
}

#[derive(Deserialize)]
struct HistoryJson {
    schemas: Vec<VersionJson>,
}

impl SchemaHistory {
    /// A history by the `latest_schema` that holds for the query, and the content of a `.schemacommit`, if there is one.
    ///
    /// Errors: `Corrupt` when either is not of the form above.
    pub fn new(latest: &str, history: Option<&str>) -> Result<Self> {
        let query = version(&parse(latest)?)?;
        let mut versions = BTreeMap::new();
        if let Some(history) = history {
            let history: HistoryJson = parse(history)?;
            for listed in &history.schemas {
                let listed = version(listed)?;
                versions.insert(listed.id, names_by_id(&listed.fields));
            }
        }
        versions.insert(query.id, names_by_id(&query.fields));
        Ok(Self { query, versions })
    }

    /// What the query's columns are called in what an instant wrote.
    ///
    /// Errors: `Corrupt` when the history does not reach back so far, or the instant is no number.
    pub fn names_at(&self, instant: &str) -> Result<FileNames> {
        let time = instant.parse::<i64>().ok();
        let found = time.and_then(|time| self.versions.range(..=time).next_back());
        let Some((version, names)) = found else {
            return Err(
                Error::corrupt("the schema history does not reach back to a file")
                    .context("instant", instant),
            );
        };
        Ok(match *version == self.query.id {
            true => FileNames::default(),
            false => file_names(&self.query.fields, names),
        })
    }
}

fn fault() -> Error {
    Error::corrupt("the schema history is not of the form that Hudi writes")
}

fn parse<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T> {
    serde_json::from_str(json).map_err(|error| fault().with_source(error))
}

fn version(json: &VersionJson) -> Result<Version> {
    Ok(Version {
        id: json.version_id,
        fields: below(&json.record)?,
    })
}

/// The fields below a type.
fn below(kind: &Value) -> Result<Vec<Numbered>> {
    let part = |name: &str, id: &str| -> Result<Numbered> {
        let id = kind.get(id).and_then(Value::as_i64);
        Ok(Numbered {
            id: id.ok_or_else(fault)?,
            name: name.to_owned(),
            inner: below(kind.get(name).ok_or_else(fault)?)?,
            placed: true,
        })
    };
    match kind.get("type").and_then(Value::as_str) {
        // A plain type is a text.
        None if kind.is_string() => Ok(Vec::new()),
        Some("array") => Ok(vec![part("element", "element_id")?]),
        Some("map") => Ok(vec![part("key", "key_id")?, part("value", "value_id")?]),
        Some("record") => {
            let fields = kind.get("fields").and_then(Value::as_array);
            fields.ok_or_else(fault)?.iter().map(field).collect()
        }
        _ => Err(fault()),
    }
}

fn field(json: &Value) -> Result<Numbered> {
    let id = json.get("id").and_then(Value::as_i64);
    let name = json.get("name").and_then(Value::as_str);
    Ok(Numbered {
        id: id.ok_or_else(fault)?,
        name: name.ok_or_else(fault)?.to_owned(),
        inner: below(json.get("type").ok_or_else(fault)?)?,
        placed: false,
    })
}

/// The names of a version at every depth.
fn names_by_id(fields: &[Numbered]) -> HashMap<i64, String> {
    let mut names = HashMap::new();
    let mut left: Vec<&Numbered> = fields.iter().collect();
    while let Some(field) = left.pop() {
        names.insert(field.id, field.name.clone());
        left.extend(&field.inner);
    }
    names
}

fn file_names(fields: &[Numbered], names: &HashMap<i64, String>) -> FileNames {
    let changed = fields.iter().filter_map(|field| {
        let inner = file_names(&field.inner, names);
        let name = match field.placed {
            true => Some(&field.name),
            false => names.get(&field.id),
        };
        let same = name == Some(&field.name) && inner.is_same();
        let name = name.cloned();
        (!same).then(|| (field.name.clone(), FileName { name, inner }))
    });
    FileNames::new(changed.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn version(id: i64, fields: &str) -> String {
        format!(r#"{{"max_column_id":9,"version_id":{id},"type":"record","fields":[{fields}]}}"#)
    }

    fn plain(id: i64, name: &str) -> String {
        format!(r#"{{"id":{id},"name":"{name}","optional":true,"type":"string","doc":""}}"#)
    }

    fn history(versions: &[String]) -> SchemaHistory {
        let all = format!(r#"{{"schemas":[{}]}}"#, versions.join(","));
        SchemaHistory::new(versions.first().unwrap(), Some(&all)).unwrap()
    }

    #[test]
    fn a_file_has_the_names_of_the_version_before_it() {
        let history = history(&[
            version(300, &[plain(1, "title"), plain(3, "gone")].join(",")),
            version(200, &plain(1, "title")),
            version(0, &[plain(1, "name"), plain(2, "gone")].join(",")),
        ]);
        let check = |instant: &str, title: Option<&str>, gone: Option<&str>| {
            let names = history.names_at(instant).unwrap();
            assert_eq!(
                (names.of("title"), names.of("gone")),
                (title, gone),
                "{instant}"
            );
            assert_eq!(names.of("_hoodie_record_key"), Some("_hoodie_record_key"));
        };
        check("199", Some("name"), None);
        check("200", Some("title"), None);
        check("299", Some("title"), None);
        check("300", Some("title"), Some("gone"));
        assert!(history.names_at("301").unwrap().is_same());
    }

    #[test]
    fn fields_are_followed_through_structs_lists_and_maps() {
        let nested = |a: &str, b: &str, c: &str| {
            format!(
                r#"{{"id":1,"name":"s","type":{{"type":"record","fields":[{}]}}}},
                {{"id":3,"name":"l","type":{{"type":"array","element_id":4,"element":{{"type":"record","fields":[{}]}}}}}},
                {{"id":6,"name":"m","type":{{"type":"map","key_id":7,"key":"string","value_id":8,"value":{{"type":"record","fields":[{}]}}}}}}"#,
                plain(2, a),
                plain(5, b),
                plain(9, c)
            )
        };
        let history = history(&[
            version(5, &nested("a2", "b", "c2")),
            version(0, &nested("a", "b", "c")),
        ]);
        let names = history.names_at("1").unwrap();
        let path = |parts: &[&str]| {
            let parts: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
            names.path(&parts).map(|path| path.join("."))
        };
        assert_eq!(path(&["s", "a2"]).as_deref(), Some("s.a"));
        assert!(names.inner("l").is_same());
        assert_eq!(path(&["m", "value", "c2"]).as_deref(), Some("m.value.c"));
        assert_eq!(path(&["m", "key"]).as_deref(), Some("m.key"));
        assert_eq!(path(&["other", "x"]).as_deref(), Some("other.x"));
    }

    #[test]
    fn files_before_the_history_and_other_texts_are_corrupt() {
        let latest = version(300, &plain(1, "a"));
        let alone = SchemaHistory::new(&latest, None).unwrap();
        assert!(alone.names_at("300").unwrap().is_same());
        let error = alone.names_at("299").unwrap_err();
        assert_eq!(
            (error.kind(), error.get("instant")),
            (ErrorKind::Corrupt, Some("299"))
        );
        for text in [
            "",
            "{}",
            "[]",
            r#"{"version_id":1}"#,
            r#"{"version_id":1,"type":"record","fields":[{"id":1,"name":"a"}]}"#,
        ] {
            assert_eq!(
                SchemaHistory::new(text, None).unwrap_err().kind(),
                ErrorKind::Corrupt,
                "{text}"
            );
            assert_eq!(
                SchemaHistory::new(&latest, Some(text)).unwrap_err().kind(),
                ErrorKind::Corrupt,
                "{text}"
            );
        }
    }
}
