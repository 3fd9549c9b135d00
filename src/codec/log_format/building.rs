//! Log files for tests, by the layout of the format.

/// The number of each header key.
pub(crate) mod key {
    pub(crate) const INSTANT: u32 = 0;
    pub(crate) const TARGET: u32 = 1;
    pub(crate) const SCHEMA: u32 = 2;
    pub(crate) const COMMAND: u32 = 3;
    pub(crate) const COMPACTED: u32 = 4;
}

/// The number of each type of block.
pub(crate) mod code {
    pub(crate) const COMMAND: u32 = 0;
    pub(crate) const DELETE: u32 = 1;
    pub(crate) const AVRO: u32 = 3;
    pub(crate) const CDC: u32 = 6;
}

/// One block.
pub(crate) fn block(code: u32, header: &[(u32, &str)], content: &[u8]) -> Vec<u8> {
    let mut inner = 1u32.to_be_bytes().to_vec();
    inner.extend(code.to_be_bytes());
    inner.extend((header.len() as u32).to_be_bytes());
    for (key, value) in header {
        inner.extend(key.to_be_bytes());
        inner.extend((value.len() as u32).to_be_bytes());
        inner.extend(value.as_bytes());
    }
    inner.extend((content.len() as u64).to_be_bytes());
    inner.extend(content);
    inner.extend(0u32.to_be_bytes());
    let length = inner.len() as u64 + 8;
    let mut block = b"#HUDI#".to_vec();
    block.extend(length.to_be_bytes());
    block.extend(inner);
    block.extend((length + 6).to_be_bytes());
    block
}

/// A data block of an instant.
pub(crate) fn data(instant: &str, content: &[u8]) -> Vec<u8> {
    let header = [(key::INSTANT, instant), (key::SCHEMA, "{}")];
    block(code::AVRO, &header, content)
}

/// A command block of an instant that rolls another back.
pub(crate) fn rollback(instant: &str, target: &str) -> Vec<u8> {
    let header = [
        (key::INSTANT, instant),
        (key::COMMAND, "0"),
        (key::TARGET, target),
    ];
    block(code::COMMAND, &header, &[])
}

/// The blocks of a log file, read by nothing but the layout: code, schema (empty without one) and content.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn frames(mut file: &[u8]) -> Vec<(u32, String, Vec<u8>)> {
    let u32_at =
        |bytes: &[u8], at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    let u64_at =
        |bytes: &[u8], at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap());
    let mut found = Vec::new();
    while !file.is_empty() {
        assert_eq!(&file[..6], b"#HUDI#");
        let length = usize::try_from(u64_at(file, 6)).unwrap();
        let block = &file[14..14 + length];
        let (mut at, mut schema) = (12, String::new());
        for _ in 0..u32_at(block, 8) {
            let (code, size) = (u32_at(block, at), u32_at(block, at + 4) as usize);
            at += 8 + size;
            if code == key::SCHEMA {
                schema = String::from_utf8(block[at - size..at].to_vec()).unwrap();
            }
        }
        let size = usize::try_from(u64_at(block, at)).unwrap();
        found.push((
            u32_at(block, 4),
            schema,
            block[at + 8..at + 8 + size].to_vec(),
        ));
        file = &file[14 + length..];
    }
    found
}
