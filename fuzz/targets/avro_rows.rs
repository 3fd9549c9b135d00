//! Any bytes as a schema and the content of an Avro block that was written by it: the text up to the first zero byte is the
//! schema, the rest the content.
#![no_main]

use std::sync::Arc;

use bytes::Bytes;
use hudi_wasm::codec::log_block::BlockReader;
use hudi_wasm::schema::{parse_avro, to_arrow};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let end = data
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(data.len());
    let (schema, content) = data.split_at(end);
    let Ok(schema) = std::str::from_utf8(schema) else {
        return;
    };
    let Ok(writer) = parse_avro(schema) else {
        return;
    };
    let Ok(reader) = to_arrow(&writer) else {
        return;
    };
    let content = Bytes::copy_from_slice(content.get(1..).unwrap_or_default());
    if let Ok(reader) = BlockReader::avro(content, &writer, &Arc::new(reader)) {
        let _ = reader.all(256);
    }
});
