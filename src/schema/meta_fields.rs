//! The `_hoodie_*` columns of a table, added to a schema and taken away.
//!
//! A commit's schema is without them, a parquet footer's and a log block's with them; a table with
//! `hoodie.populate.meta.fields=false` is read without them, whatever its files hold.

use std::ops::Range;

use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::model::meta_field::{META_FIELDS, is_meta_field};

/// The schema with the five meta fields first, each nullable text; those it has already move to the front.
pub fn add_meta_fields(schema: &Schema) -> Schema {
    let meta = META_FIELDS
        .iter()
        .map(|name| FieldRef::new(Field::new(*name, DataType::Utf8, true)));
    let rest = schema
        .fields()
        .iter()
        .filter(|field| !META_FIELDS.contains(&field.name().as_str()));
    Schema::new_with_metadata(
        meta.chain(rest.cloned()).collect::<Vec<_>>(),
        schema.metadata().clone(),
    )
}

/// The schema without the meta fields, `_hoodie_operation` among them.
pub fn strip_meta_fields(schema: &Schema) -> Schema {
    let rest = schema
        .fields()
        .iter()
        .filter(|field| !is_meta_field(field.name()));
    Schema::new_with_metadata(rest.cloned().collect::<Vec<_>>(), schema.metadata().clone())
}

/// As [`add_meta_fields`], over Avro JSON: all other text stays as it is.
pub fn add_meta_fields_avro(json: &str) -> Result<String> {
    let meta = META_FIELDS.map(|name| {
        format!(r#"{{"name":"{name}","type":["null","string"],"doc":"","default":null}}"#)
    });
    rewrite_fields(json, |name| !META_FIELDS.contains(&name), &meta)
}

/// As [`strip_meta_fields`], over Avro JSON: all other text stays as it is.
pub fn strip_meta_fields_avro(json: &str) -> Result<String> {
    rewrite_fields(json, |name| !is_meta_field(name), &[])
}

/// The record of `json` with the fields of another record behind its own; all other text stays as it is.
pub fn join_fields_avro(json: &str, more: &str) -> Result<String> {
    let broken = || Error::schema("the table's Avro schema is not a record with fields");
    let (all, items) = field_ranges(json).ok_or_else(broken)?;
    let (added, _) = field_ranges(more).ok_or_else(broken)?;
    let before = json.get(..all.end).ok_or_else(broken)?.trim_end();
    let after = json.get(all.end..).ok_or_else(broken)?;
    let added = more.get(added).ok_or_else(broken)?;
    let comma = if items.is_empty() { "" } else { "," };
    Ok(format!("{before}{comma}{added}{after}"))
}

fn rewrite_fields(json: &str, keep: impl Fn(&str) -> bool, first: &[String]) -> Result<String> {
    let broken = || Error::schema("the table's Avro schema is not a record with fields");
    let (all, items) = field_ranges(json).ok_or_else(broken)?;
    let mut fields = first.to_vec();
    for item in items {
        let item = json.get(item).ok_or_else(broken)?;
        let value: Value = serde_json::from_str(item).map_err(|e| broken().with_source(e))?;
        let name = value
            .get("name")
            .and_then(Value::as_str)
            .ok_or_else(broken)?;
        if keep(name) {
            fields.push(item.trim().to_owned());
        }
    }
    let before = json.get(..all.start).ok_or_else(broken)?;
    let after = json.get(all.end..).ok_or_else(broken)?;
    Ok(format!("{before}{}{after}", fields.join(",")))
}

/// Where the array under the outermost `"fields"` lies between its brackets, and each of its items.
fn field_ranges(json: &str) -> Option<(Range<usize>, Vec<Range<usize>>)> {
    let (mut depth, mut key, mut array) = (0_usize, None, None);
    let (mut items, mut start) = (Vec::new(), 0);
    let mut bytes = json.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => {
                let end = string_end(&mut bytes)?;
                if depth == 1 {
                    key = json.get(at + 1..end);
                }
            }
            b'[' | b'{' => {
                depth += 1;
                if byte == b'[' && depth == 2 && key == Some("fields") {
                    array = Some(at + 1);
                    start = at + 1;
                }
            }
            b',' if depth == 2 && array.is_some() => {
                items.push(start..at);
                start = at + 1;
            }
            b']' | b'}' => {
                if let Some(array) = array.filter(|_| depth == 2) {
                    if !json.get(start..at)?.trim().is_empty() {
                        items.push(start..at);
                    }
                    return Some((array..at, items));
                }
                depth = depth.checked_sub(1)?;
            }
            _ => {}
        }
    }
    None
}

/// Moves past a string whose opening quote has been read, to the offset of its closing one.
fn string_end(bytes: &mut impl Iterator<Item = (usize, u8)>) -> Option<usize> {
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next()?;
            }
            b'"' => return Some(at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{parse_avro, to_arrow};

    const PLAIN: &str = r#"{ "type" : "record", "name": "fields", "doc":"a \"fields\":[ b", "x-fields": [[1],2],
        "fields" : [ {"name":"id","type":["null","string"],"default":null} ,
        {"name":"é","type":{"type":"record","name":"s","fields":[{"name":"_hoodie_record_key","type":"int"}]}}], "after": 1}"#;

    fn names(json: &str) -> Vec<String> {
        let schema = to_arrow(&parse_avro(json).unwrap()).unwrap();
        schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }

    #[test]
    fn meta_fields_come_first_and_go_again() {
        let with = add_meta_fields_avro(PLAIN).unwrap();
        let mut expected: Vec<&str> = META_FIELDS.to_vec();
        expected.extend(["id", "é"]);
        assert_eq!(names(&with), expected);
        assert_eq!(names(&strip_meta_fields_avro(&with).unwrap()), ["id", "é"]);
        assert_eq!(add_meta_fields_avro(&with).unwrap(), with);
    }

    #[test]
    fn other_text_stays_as_it_is() {
        let with = add_meta_fields_avro(PLAIN).unwrap();
        assert!(
            with.starts_with(PLAIN.split_at(PLAIN.find(r#" {"name":"id""#).unwrap()).0),
            "{with}"
        );
        assert!(
            with.ends_with(
                r#""fields":[{"name":"_hoodie_record_key","type":"int"}]}}], "after": 1}"#
            ),
            "{with}"
        );
    }

    #[test]
    fn arrow_and_avro_agree() {
        let schema = to_arrow(&parse_avro(PLAIN).unwrap()).unwrap();
        let with = to_arrow(&parse_avro(&add_meta_fields_avro(PLAIN).unwrap()).unwrap()).unwrap();
        assert_eq!(add_meta_fields(&schema), with);
        assert_eq!(add_meta_fields(&with), with);
        assert_eq!(strip_meta_fields(&with), schema);
    }

    #[test]
    fn the_operation_field_goes_with_the_others() {
        let json = r#"{"type":"record","name":"r","fields":[{"name":"_hoodie_operation","type":"string"},{"name":"_hoodie_is_deleted","type":"boolean"}]}"#;
        assert_eq!(
            names(&strip_meta_fields_avro(json).unwrap()),
            ["_hoodie_is_deleted"]
        );
        let empty = r#"{"type":"record","name":"r","fields":[]}"#;
        assert_eq!(names(&add_meta_fields_avro(empty).unwrap()), META_FIELDS);
    }

    #[test]
    fn every_cut_of_a_schema_is_an_error() {
        let end = PLAIN.rfind(']').unwrap();
        for cut in (0..end).filter(|cut| PLAIN.is_char_boundary(*cut)) {
            assert!(add_meta_fields_avro(&PLAIN[..cut]).is_err(), "{cut}");
        }
        assert!(add_meta_fields_avro(r#"{"fields":3}"#).is_err());
        assert!(add_meta_fields_avro(r#"{"fields":[3]}"#).is_err());
    }
}
