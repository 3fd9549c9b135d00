//! Typed bodies to the bytes of instant files.

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::codec::avro::write_container;
use crate::error::{Error, Result};

/// A body as an Avro container file of one record, as Hudi writes it.
pub(super) fn to_avro<T: Serialize>(schema: &str, body: &T) -> Result<Bytes> {
    let record = to_value(body)?;
    Ok(write_container(schema.trim_end(), &[record])?.into())
}

pub(super) fn to_value<T: Serialize>(body: &T) -> Result<Value> {
    serde_json::to_value(body)
        .map_err(|source| Error::internal("an instant's body is no JSON").with_source(source))
}

/// The fields of an object; none for another value.
pub(super) fn object(value: &Value) -> &Map<String, Value> {
    static NONE: std::sync::OnceLock<Map<String, Value>> = std::sync::OnceLock::new();
    match value {
        Value::Object(fields) => fields,
        _ => NONE.get_or_init(Map::new),
    }
}
