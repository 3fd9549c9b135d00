use super::block::{BlockKind, HeaderKey};
use crate::error::{Error, Result};

/// The number of a block's kind in its frame.
const fn code(kind: BlockKind) -> u32 {
    match kind {
        BlockKind::Command => 0,
        BlockKind::Delete => 1,
        BlockKind::Corrupt => 2,
        BlockKind::AvroData => 3,
        BlockKind::HFileData => 4,
        BlockKind::ParquetData => 5,
        BlockKind::Cdc => 6,
    }
}

/// Appends a block of an instant to a log file's bytes. `schema` is the Avro JSON of its records; blocks without records of
/// their own may have none.
///
/// Errors: `LimitExceeded` for a block that Java could not count in 31 bits.
pub fn write_block(
    kind: BlockKind,
    instant: &str,
    schema: Option<&str>,
    content: &[u8],
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut header = Vec::new();
    header.extend((1 + u32::from(schema.is_some())).to_be_bytes());
    let mut put = |key: HeaderKey, value: &str| -> Result<()> {
        let length = u32::try_from(value.len()).map_err(|_| too_large(value.len()))?;
        header.extend((key as u32).to_be_bytes());
        header.extend(length.to_be_bytes());
        header.extend(value.as_bytes());
        Ok(())
    };
    if let Some(schema) = schema {
        put(HeaderKey::Schema, schema)?;
    }
    put(HeaderKey::InstantTime, instant)?;
    // Version, kind, header, length of the content, content, an empty footer, the pointer back.
    let length = 4 + 4 + header.len() + 8 + content.len() + 4 + 8;
    if i32::try_from(length).is_err() {
        return Err(too_large(length));
    }
    out.reserve(length + 14);
    out.extend(b"#HUDI#");
    out.extend((length as u64).to_be_bytes());
    out.extend(1_u32.to_be_bytes());
    out.extend(code(kind).to_be_bytes());
    out.extend(header);
    out.extend((content.len() as u64).to_be_bytes());
    out.extend(content);
    out.extend(0_u32.to_be_bytes());
    out.extend((length as u64 + 6).to_be_bytes());
    Ok(())
}

fn too_large(bytes: usize) -> Error {
    Error::limit_exceeded("a log block is larger than Hudi can read").context("bytes", bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::log_format::building;

    #[test]
    fn a_block_has_the_layout_of_the_format() {
        let mut out = Vec::new();
        write_block(BlockKind::AvroData, "t1", Some("{}"), b"content", &mut out).unwrap();
        let header = [
            (building::key::SCHEMA, "{}"),
            (building::key::INSTANT, "t1"),
        ];
        assert_eq!(
            out,
            building::block(building::code::AVRO, &header, b"content")
        );
    }

    #[test]
    fn kinds_have_the_numbers_that_they_are_read_by() {
        for number in 0..=6 {
            assert_eq!(code(BlockKind::from_code(number).unwrap()), number);
        }
    }
}
