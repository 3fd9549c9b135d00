//! The content of one log block: rows, deletes, positions.
//!
//! The framing around it (magic, lengths, headers) is another file's matter; here a block's bytes become values. All integers
//! of the framing are big-endian.
//!
//! | content | is |
//! |---|---|
//! | Avro data, CDC | [`AvroRows`]: `version i32 \| rows i32 \| rows × (length i32 \| datum)`, by the header's `SCHEMA` |
//! | Parquet data | a whole Parquet file |
//! | HFile data | a whole HFile of record keys and Avro datums |
//! | deletes | [`deletes`]: `version i32 \| length i32 \| HoodieDeleteRecordList`, before version 3 objects by Kryo |
//! | `RECORD_POSITIONS` of a header | [`positions`]: base64 of a 64-bit Roaring bitmap |
//!
//! Source: Hudi 1.1 `HoodieAvroDataBlock`, `HoodieParquetDataBlock`, `HoodieHFileDataBlock`, `HoodieDeleteBlock`, `LogReaderUtils`.

mod avro_rows;
mod deletes;
mod kryo;
mod positions;
mod reader;

pub use avro_rows::AvroRows;
pub use deletes::{DELETE_DECIMAL_SCALE, DeleteKey, deletes};
pub use positions::positions;
pub use reader::{BlockReader, Reader};

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
