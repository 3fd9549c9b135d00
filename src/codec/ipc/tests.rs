use std::sync::Arc;

use arrow::array::{Array, ArrayRef, DictionaryArray, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Int8Type, Schema, UnionFields, UnionMode};
use arrow::ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};

use super::{IpcFile, IpcStream, schema_of};
use crate::error::Error;

fn batch(from: i64) -> RecordBatch {
    let words: DictionaryArray<Int8Type> = ["a", "b", "a"].into_iter().map(Some).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from_iter_values(from..from + 3))),
        (
            "name",
            Arc::new(StringArray::from(vec![Some("x"), None, Some("ü")])),
        ),
        ("word", Arc::new(words)),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn stream(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches
        .iter()
        .for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

fn file(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches
        .iter()
        .for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

fn read_stream(pieces: impl Iterator<Item = Vec<u8>>) -> Result<Vec<RecordBatch>, Error> {
    let (mut stream, mut all) = (IpcStream::new(), Vec::new());
    for piece in pieces {
        all.extend(stream.push(piece)?);
    }
    stream.finish()?;
    Ok(all)
}

#[test]
fn a_stream_reads_the_same_in_pieces_of_any_size() {
    let written = [batch(0), batch(10)];
    let bytes = stream(&written);
    for size in [1, 3, 64, bytes.len()] {
        let read = read_stream(bytes.chunks(size).map(<[u8]>::to_vec)).unwrap();
        assert_eq!(read, written, "{size}");
    }
}

#[test]
fn a_file_reads_the_same_and_names_its_schema() {
    let written = [batch(0), batch(10)];
    let bytes = file(&written);
    let read: Vec<_> = IpcFile::parse(bytes.clone())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(read, written);
    let schema = written[0].schema();
    for bytes in [bytes, stream(&written)] {
        assert_eq!(&schema_of(bytes).unwrap(), schema.as_ref());
    }
}

#[test]
fn what_is_added_to_a_dictionary_stands_behind_it() {
    let words = |values: &[Option<&str>]| -> RecordBatch {
        let values = StringArray::from(values.to_vec());
        let keys = (0..values.len()).rev().map(|key| i8::try_from(key).ok());
        let column = DictionaryArray::<Int8Type>::new(keys.collect(), Arc::new(values));
        RecordBatch::try_from_iter([("word", Arc::new(column) as ArrayRef)]).unwrap()
    };
    let few = words(&[Some("a"), None]);
    let more = words(&[Some("a"), None, Some("b"), Some(""), Some("ü")]);
    let options = IpcWriteOptions::default().with_dictionary_handling(DictionaryHandling::Delta);
    let mut writer =
        StreamWriter::try_new_with_options(Vec::new(), &few.schema(), options).unwrap();
    for batch in [&few, &more] {
        writer.write(batch).unwrap();
    }
    let bytes = writer.into_inner().unwrap();
    assert_eq!(
        bytes.windows(4).filter(|four| *four == [0xff; 4]).count(),
        6,
        "a schema, two dictionaries, two batches and the end"
    );
    let read = read_stream(std::iter::once(bytes)).unwrap();
    assert_eq!(read, [few, more]);
}

#[test]
fn a_stream_or_a_file_that_is_cut_is_refused_wherever_it_is_not_whole() {
    let written = [batch(0)];
    let bytes = stream(&written);
    let mut whole = Vec::new();
    for cut in 1..bytes.len() {
        match read_stream(std::iter::once(bytes[..cut].to_vec())) {
            Ok(batches) => whole.push((cut, batches.len())),
            Err(error) => assert_eq!(error.kind().code(), "INVALID_ARGUMENT", "{cut}"),
        }
    }
    // Behind the schema, the dictionary and the batch: a stream may end without the mark of its end.
    assert_eq!(
        whole.iter().map(|(_, rows)| *rows).collect::<Vec<_>>(),
        [0, 0, 1]
    );
    let bytes = file(&written);
    for cut in 0..bytes.len() {
        let error = IpcFile::parse(bytes[..cut].to_vec()).unwrap_err();
        assert_eq!(error.kind().code(), "INVALID_ARGUMENT", "{cut}");
    }
}

#[test]
fn bytes_behind_the_end_of_a_stream_are_refused() {
    let twice = [stream(&[batch(0)]), stream(&[batch(3)])].concat();
    let error = read_stream(std::iter::once(twice)).unwrap_err();
    assert_eq!(error.kind().code(), "INVALID_ARGUMENT");
}

#[test]
fn text_that_is_no_utf_8_is_refused() {
    let mut bytes = stream(&[batch(0)]);
    let at = bytes.windows(2).position(|pair| pair == "ü".as_bytes());
    bytes[at.unwrap()] = 0xff;
    let error = read_stream(std::iter::once(bytes)).unwrap_err();
    assert_eq!(error.kind().code(), "INVALID_ARGUMENT");
}

#[test]
fn columns_of_a_type_that_is_not_taken_are_named() {
    let inner = UnionFields::from_fields([Field::new("i", DataType::Int32, true)]);
    let union = DataType::Union(inner, UnionMode::Dense);
    let list = DataType::new_list(union, true);
    let schema = Schema::new(vec![Field::new("u", list, true)]);
    let writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
    let error = schema_of(writer.into_inner().unwrap()).unwrap_err();
    assert_eq!(error.kind().code(), "SCHEMA");
    assert_eq!(error.get("field"), Some("u.item"));
}

#[test]
fn a_batch_of_more_rows_than_its_bytes_could_hold_is_refused() {
    use arrow::array::{Int32Array, RunArray};
    let runs = |rows: i32| -> Result<Vec<RecordBatch>, Error> {
        let ends = Int32Array::from(vec![rows]);
        let run = RunArray::try_new(&ends, &StringArray::from(vec!["x"])).unwrap();
        let batch = RecordBatch::try_from_iter([("r", Arc::new(run) as ArrayRef)]).unwrap();
        read_stream(std::iter::once(stream(&[batch])))
    };
    assert_eq!(runs(1 << 24).unwrap()[0].num_rows(), 1 << 24);
    assert_eq!(runs(i32::MAX).unwrap_err().kind().code(), "LIMIT_EXCEEDED");
}
