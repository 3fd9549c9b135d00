//! A file of archived instants: `HoodieLSMTimelineInstant` in Parquet.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, Int32Array, StringArray};
use bytes::Bytes;

use crate::codec::parquet::{Codec, Compressor, FileSchema, FileWriter, Rows, Source};
use crate::error::Result;
use crate::model::Instant;
use crate::schema::parse_avro;

/// As Hudi 1.1 puts it into the footer.
const SCHEMA: &str = include_str!("HoodieLSMTimelineInstant.avsc");

/// One completed instant with what its files held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ArchivedInstant {
    pub(super) instant: Instant,
    /// The completed file.
    pub(super) metadata: Bytes,
    /// The plan, of actions that have one.
    pub(super) plan: Option<Bytes>,
}

/// The bytes of a file; instants are in the order of their request times.
pub(super) fn encode(rows: &[ArchivedInstant]) -> Result<Bytes> {
    let schema = FileSchema::of_avro(&parse_avro(SCHEMA)?)?;
    let texts = |text: &dyn Fn(&ArchivedInstant) -> Option<String>| -> ArrayRef {
        Arc::new(rows.iter().map(text).collect::<StringArray>())
    };
    let columns: [ArrayRef; 6] = [
        texts(&|row| Some(row.instant.time.to_string())),
        texts(&|row| row.instant.completion.as_ref().map(ToString::to_string)),
        texts(&|row| Some(row.instant.action.to_string())),
        Arc::new(BinaryArray::from_iter_values(
            rows.iter().map(|row| &row.metadata),
        )),
        Arc::new(BinaryArray::from_iter(
            rows.iter().map(|row| row.plan.as_ref()),
        )),
        Arc::new(Int32Array::from_iter_values(rows.iter().map(|_| 1))),
    ];
    let mut packer = Compressor::new(Codec::Gzip);
    let mut writer = FileWriter::new(&schema, &[const { Source::Array }; 6])?;
    let all = Rows::<StringArray> {
        arrays: &columns,
        texts: &[],
        count: rows.len(),
    };
    writer.push(&all, &mut packer)?;
    writer.finish_group(&mut packer)?;
    let mut parts = writer.take();
    let keys = [
        ("parquet.avro.schema", SCHEMA),
        ("writer.model.name", "avro"),
    ];
    parts.extend(writer.finish(&keys, &mut packer)?.0);
    Ok(parts.concat().into())
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use arrow::array::{Array, AsArray, RecordBatch};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use parquet::file::metadata::ParquetMetaData;

    use super::*;
    use crate::model::{Action, InstantTime, State};
    use crate::support::files;

    fn read(bytes: Bytes) -> (Arc<ParquetMetaData>, RecordBatch) {
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
        let metadata = Arc::clone(reader.metadata());
        (metadata, reader.build().unwrap().next().unwrap().unwrap())
    }

    fn rows_of(batch: &RecordBatch) -> Vec<ArchivedInstant> {
        let text = |name: &str, at: usize| {
            let column = batch.column_by_name(name).unwrap().as_string::<i32>();
            column.value(at).to_owned()
        };
        let bytes = |name: &str, at: usize| {
            let column = batch.column_by_name(name).unwrap().as_binary::<i32>();
            (!column.is_null(at)).then(|| Bytes::copy_from_slice(column.value(at)))
        };
        let row = |at| ArchivedInstant {
            instant: Instant {
                time: InstantTime::parse(&text("instantTime", at)).unwrap(),
                completion: Some(InstantTime::parse(&text("completionTime", at)).unwrap()),
                action: Action::from_word(&text("action", at)),
                state: State::Completed,
            },
            metadata: bytes("metadata", at).unwrap(),
            plan: bytes("plan", at),
        };
        (0..batch.num_rows()).map(row).collect()
    }

    #[test]
    fn files_of_spark_are_written_again_with_the_same_schema_footer_and_rows() {
        let mut plans = 0;
        let mut seen = 0;
        for table in ["v9_cow_archived", "v9_mor_archived", "v9_cow_savepoint"] {
            let files = files(table).into_iter();
            let history = files.filter(|(path, _)| {
                path.starts_with(".hoodie/timeline/history/") && path.ends_with("_0.parquet")
            });
            for (path, content) in history {
                let (theirs, their_rows) = read(content.into());
                let rows = rows_of(&their_rows);
                plans += rows.iter().filter(|row| row.plan.is_some()).count();
                let (ours, our_rows) = read(encode(&rows).unwrap());
                assert_eq!(our_rows, their_rows, "{path}");
                let (ours, theirs) = (ours.file_metadata(), theirs.file_metadata());
                assert_eq!(ours.schema(), theirs.schema(), "{path}");
                let keys = |of: &parquet::file::metadata::FileMetaData| {
                    let mut keys = of.key_value_metadata().unwrap().clone();
                    keys.sort_by(|a, b| a.key.cmp(&b.key));
                    keys
                };
                assert_eq!(keys(ours), keys(theirs), "{path}");
                seen += 1;
            }
        }
        assert!(seen >= 5 && plans > 0, "{seen} files, {plans} plans");
    }
}
