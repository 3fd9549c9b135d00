use super::pack::Packer;
use super::trailer::TRAILER_SIZE;
use crate::codec::bytes::compare;
use crate::error::{Error, Result};

/// Uncompressed bytes that a data block may have: Hudi's `hoodie.hfile.block.size`.
const BLOCK_SIZE: usize = 1 << 20;

/// Bytes that one checksum stands for.
const BYTES_A_CHECKSUM: usize = 16 << 10;

/// What an entry takes beside key and value: two lengths, the rest of its structured key, and the MVCC version.
const AROUND: usize = 4 + 4 + 2 + 1 + 8 + 1 + 1;

/// Behind the row of a structured key: no family, the latest timestamp, "put".
const KEY_END: [u8; 10] = [0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 4];

/// Readers built on HBase make an object of this class.
const COMPARATOR: &str = "org.apache.hudi.io.storage.HoodieHBaseKVComparator";

/// The name of the meta block that holds a bloom filter.
const BLOOM: &str = "bloomFilter";

/// What a base file has beside its entries, and a log block has not.
#[derive(Debug, Clone)]
pub struct BaseFileExtras {
    /// Hudi's serialised bloom filter over the keys, as text.
    pub bloom_filter: String,
    /// `SIMPLE` or `DYNAMIC_V0`.
    pub bloom_type: &'static str,
}

/// Writes an HFile as Hudi 1.1's own writer does: gzip, one level of index, null checksums.
///
/// Only the compressed blocks are held. Entries come in the order of their keys' bytes, each key once.
#[derive(Debug)]
pub struct HFileWriter {
    out: Vec<u8>,
    packer: Packer,
    schema: String,
    block: Vec<u8>,
    first_key: Vec<u8>,
    /// The newest key, which is looked for at its place in the block as long as that has entries.
    last_key: Vec<u8>,
    last_place: (usize, usize),
    min_key: Vec<u8>,
    index: Vec<u8>,
    blocks: u32,
    last_block: usize,
    entries: u64,
    key_bytes: u64,
    value_bytes: u64,
    uncompressed: u64,
}

impl HFileWriter {
    /// A file whose values are of this Avro schema.
    pub fn new(schema: &str) -> Self {
        Self {
            out: Vec::new(),
            packer: Packer::new(),
            schema: schema.to_owned(),
            block: Vec::new(),
            first_key: Vec::new(),
            last_key: Vec::new(),
            last_place: (0, 0),
            min_key: Vec::new(),
            index: Vec::new(),
            blocks: 0,
            last_block: 0,
            entries: 0,
            key_bytes: 0,
            value_bytes: 0,
            uncompressed: 0,
        }
    }

    /// Keys so far.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Adds an entry.
    ///
    /// Errors: `Internal` for a key that is not greater than the one before; `InvalidArgument` for one longer than the
    /// format's 65,535 bytes.
    pub fn add(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if self.entries > 0 && compare(key, self.last()).is_le() {
            return Err(Error::internal("the keys of an HFile must rise"));
        }
        self.put(key, value)
    }

    /// Adds another value of the key that was added last, as Java has them of a key that was written twice.
    ///
    /// Errors: `Internal` when there was none.
    pub fn add_to_last(&mut self, value: &[u8]) -> Result<()> {
        if self.entries == 0 {
            return Err(Error::internal("there is no last key in an empty HFile"));
        }
        let key = self.last_key.clone();
        self.put(&key, value)
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let length = u16::try_from(key.len()).map_err(|_| {
            Error::invalid_argument("a record key is longer than the metadata table can hold")
                .context("bytes", key.len())
        })?;
        let size = AROUND + key.len() + value.len();
        if !self.block.is_empty() && self.block.len() + size > BLOCK_SIZE {
            self.flush()?;
        }
        if self.block.is_empty() {
            self.first_key = key.to_vec();
        }
        if self.entries == 0 {
            self.min_key = key.to_vec();
        }
        // Both lengths fit: values are records of some bytes, keys were checked.
        let [a, b, c, d] = (key.len() as u32 + 12).to_be_bytes();
        let [e, f, g, h] = (value.len() as u32).to_be_bytes();
        let [i, j] = length.to_be_bytes();
        // Copies cost by their number: a metadata table has many small entries.
        self.block.reserve(size);
        self.block
            .extend_from_slice(&[a, b, c, d, e, f, g, h, i, j]);
        let at = self.block.len();
        self.last_place = (at, at + key.len());
        self.block.extend_from_slice(key);
        self.block.extend_from_slice(&KEY_END);
        self.block.extend_from_slice(value);
        self.block.push(0);
        self.entries += 1;
        self.key_bytes += key.len() as u64;
        self.value_bytes += value.len() as u64;
        Ok(())
    }

    fn last(&self) -> &[u8] {
        let (start, end) = self.last_place;
        match self.block.get(start..end) {
            Some(key) if !self.block.is_empty() => key,
            _ => &self.last_key,
        }
    }

    fn flush(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        self.last_key = self.last().to_vec();
        self.uncompressed += self.block.len() as u64;
        let at = self.out.len();
        let size = put_block(b"DATABLK*", &self.block, &mut self.packer, &mut self.out)?;
        self.block.clear();
        let key = structured(&self.first_key);
        put_index_entry(at, size, &key, &mut self.index);
        self.blocks += 1;
        self.last_block = at;
        Ok(())
    }

    /// The file's bytes. `now_millis` is its creation time; `extras` are what makes it a base file.
    pub fn finish(mut self, now_millis: i64, extras: Option<&BaseFileExtras>) -> Result<Vec<u8>> {
        self.flush()?;
        let mut meta_index = Vec::new();
        if let Some(extras) = extras {
            let at = self.out.len();
            let size = self.put_block(b"METABLKc", extras.bloom_filter.as_bytes())?;
            put_index_entry(at, size, BLOOM.as_bytes(), &mut meta_index);
        }
        let load_on_open = self.out.len();
        let index = std::mem::take(&mut self.index);
        self.put_block(b"IDXROOT2", &index)?;
        self.put_block(b"IDXROOT2", &meta_index)?;
        let file_info = self.out.len();
        let info = self.info(now_millis, extras);
        self.put_block(b"FILEINF2", &info)?;
        self.put_trailer(file_info, load_on_open, extras.is_some());
        Ok(self.out)
    }

    fn put_block(&mut self, magic: &[u8; 8], data: &[u8]) -> Result<usize> {
        put_block(magic, data, &mut self.packer, &mut self.out)
    }

    /// The file info, in the order of Java's map.
    fn info(&self, now_millis: i64, extras: Option<&BaseFileExtras>) -> Vec<u8> {
        let average = |bytes: u64| bytes.checked_div(self.entries).unwrap_or(0) as u32;
        let last_key = match self.entries {
            0 => Vec::new(),
            _ => structured(&self.last_key),
        };
        let mut message = Vec::new();
        let mut put = |name: &str, value: &[u8]| {
            let mut entry = Vec::new();
            put_field(1, name.as_bytes(), &mut entry);
            put_field(2, value, &mut entry);
            put_field(1, &entry, &mut message);
        };
        put("schema", self.schema.as_bytes());
        if let Some(extras) = extras {
            put("bloomFilterTypeCode", extras.bloom_type.as_bytes());
        }
        put("hfile.LASTKEY", &last_key);
        put(
            "hfile.AVG_VALUE_LEN",
            &average(self.value_bytes).to_be_bytes(),
        );
        if extras.is_some() {
            put("minRecordKey", &self.min_key);
        }
        put("hfile.AVG_KEY_LEN", &average(self.key_bytes).to_be_bytes());
        if extras.is_some() {
            put("maxRecordKey", &self.last_key);
        }
        put("KEY_VALUE_VERSION", &1_u32.to_be_bytes());
        put("MAX_MEMSTORE_TS_KEY", &0_u64.to_be_bytes());
        put("hfile.CREATE_TIME_TS", &now_millis.to_be_bytes());
        let mut info = b"PBUF".to_vec();
        put_varint(message.len() as u64, &mut info);
        info.extend(message);
        info
    }

    fn put_trailer(&mut self, file_info: usize, load_on_open: usize, has_bloom: bool) {
        let (first, last) = match self.blocks {
            // As in Java: there is no data block.
            0 => (u64::MAX, 0),
            _ => (0, self.last_block as u64),
        };
        let mut message = Vec::new();
        let mut put = |field: u64, value: u64| {
            put_varint(field << 3, &mut message);
            put_varint(value, &mut message);
        };
        put(1, file_info as u64);
        put(2, load_on_open as u64);
        put(3, self.uncompressed);
        put(5, u64::from(self.blocks));
        put(6, u64::from(has_bloom));
        put(7, self.entries);
        put(8, 1);
        put(9, first);
        put(10, last);
        put_field(11, COMPARATOR.as_bytes(), &mut message);
        put_varint(12 << 3, &mut message);
        // 1 is gzip.
        put_varint(1, &mut message);
        let start = self.out.len();
        self.out.extend(b"TRABLK\"$");
        put_varint(message.len() as u64, &mut self.out);
        self.out.extend(message);
        self.out.resize(start + TRAILER_SIZE as usize - 4, 0);
        self.out.extend([0, 0, 0, 3]);
    }
}

/// A key as indexes and the file info have it: its length before it.
fn structured(row: &[u8]) -> Vec<u8> {
    // Keys are checked when they are added.
    let mut key = (row.len() as u16).to_be_bytes().to_vec();
    key.extend(row);
    key
}

/// Appends a block; gives its size in the file.
fn put_block(
    magic: &[u8; 8],
    data: &[u8],
    packer: &mut Packer,
    out: &mut Vec<u8>,
) -> Result<usize> {
    let start = out.len();
    out.extend(magic);
    out.extend([0; 8]);
    out.extend((-1_i64).to_be_bytes());
    out.push(0);
    out.extend((BYTES_A_CHECKSUM as u32).to_be_bytes());
    out.extend([0; 4]);
    let packed = packer.pack(data, out);
    packed.map_err(|e| Error::internal("gzip failed in memory").with_source(e))?;
    let with_header = out.len() - start;
    out.resize(out.len() + with_header.div_ceil(BYTES_A_CHECKSUM) * 4, 0);
    let size = out.len() - start;
    let mut set = |at: usize, number: usize| -> Result<()> {
        let number = u32::try_from(number)
            .map_err(|_| Error::limit_exceeded("a block of the metadata table is too large"))?;
        if let Some(slot) = out.get_mut(start + at..start + at + 4) {
            slot.copy_from_slice(&number.to_be_bytes());
        }
        Ok(())
    };
    set(8, size - super::block::HEADER)?;
    set(12, data.len())?;
    set(29, with_header)?;
    Ok(size)
}

fn put_index_entry(at: usize, size: usize, key: &[u8], index: &mut Vec<u8>) {
    index.extend((at as u64).to_be_bytes());
    // The size was checked when the block was put.
    index.extend((size as u32).to_be_bytes());
    put_vint(key.len(), index);
    index.extend(key);
}

/// Hadoop's VInt of a length, which is never negative.
fn put_vint(length: usize, out: &mut Vec<u8>) {
    if let Ok(small @ 0..=127) = u8::try_from(length) {
        return out.push(small);
    }
    let bytes = (length as u64).to_be_bytes();
    let skipped = bytes.iter().take_while(|byte| **byte == 0).count();
    let count = bytes.len() - skipped;
    // -112 less the count of bytes, as a byte.
    out.push(0x90 - count as u8);
    out.extend(bytes.into_iter().skip(skipped));
}

fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value > 0x7f {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A protobuf field of bytes.
fn put_field(field: u64, bytes: &[u8], out: &mut Vec<u8>) {
    put_varint(field << 3 | 2, out);
    put_varint(bytes.len() as u64, out);
    out.extend(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::hfile::{HFile, Opening, scan_all};

    #[test]
    fn lengths_are_written_as_hadoop_reads_them() {
        let check = |length: usize, expected: &[u8]| {
            let mut out = Vec::new();
            put_vint(length, &mut out);
            assert_eq!(out, expected, "{length}");
        };
        check(0, &[0]);
        check(127, &[0x7f]);
        check(128, &[0x8f, 0x80]);
        check(131, &[0x8f, 0x83]);
        check(256, &[0x8e, 1, 0]);
    }

    #[test]
    fn ten_thousand_keys_in_many_blocks_come_back() {
        let mut writer = HFileWriter::new("{}");
        let value = |i: u32| vec![i as u8; 400];
        for i in 0..10_000 {
            writer
                .add(format!("k{i:05}").as_bytes(), &value(i))
                .unwrap();
        }
        let bytes = bytes::Bytes::from(writer.finish(0, None).unwrap());
        let found = scan_all(&bytes).unwrap();
        assert_eq!(found.len(), 10_000);
        for (i, entry) in found.iter().enumerate() {
            assert_eq!(entry.key, format!("k{i:05}"));
            assert_eq!(entry.value, value(i as u32));
        }
        let Opening::Open(file) = HFile::open(bytes.len() as u64, &bytes).unwrap() else {
            panic!("not open");
        };
        assert_eq!(file.info().schema.as_deref(), Some("{}"));
    }

    #[test]
    fn a_file_without_keys_is_read_as_one() {
        let bytes = HFileWriter::new("{}").finish(0, None).unwrap();
        assert!(scan_all(&bytes.into()).unwrap().is_empty());
    }

    #[test]
    fn keys_that_do_not_rise_and_keys_too_long_are_refused() {
        let mut writer = HFileWriter::new("{}");
        writer.add(b"b", b"").unwrap();
        assert_eq!(writer.add(b"b", b"").unwrap_err().kind().code(), "INTERNAL");
        let error = writer.add(&[b'c'; 65_536], b"").unwrap_err();
        assert_eq!(error.kind().code(), "INVALID_ARGUMENT");
    }
}
