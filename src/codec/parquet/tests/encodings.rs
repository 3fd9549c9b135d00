//! Each encoding of the format is read, in both versions of pages.

use arrow::array::{Decimal128Array, Float64Array, Int32Array};

use super::*;

fn check(column: ArrayRef, encodings: &[Encoding]) {
    let batch = RecordBatch::try_from_iter([("c", column)]).unwrap();
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for encoding in encodings {
            let properties = WriterProperties::builder()
                .set_writer_version(version)
                .set_dictionary_enabled(false)
                .set_compression(Compression::GZIP(GzipLevel::default()))
                .set_encoding(*encoding);
            let file = written(&batch, properties);
            let footer = footer_of(&file).unwrap();
            let chunk = footer.metadata().row_group(0).column(0);
            assert!(chunk.encodings_mask().is_set(*encoding));
            let read = concat(&read(&footer, &file, 0).unwrap());
            assert_eq!(read.columns(), batch.columns(), "{encoding} {version:?}");
        }
    }
}

#[test]
fn numbers() {
    let delta = [
        Encoding::PLAIN,
        Encoding::DELTA_BINARY_PACKED,
        Encoding::BYTE_STREAM_SPLIT,
    ];
    let odd = |i: i64| (i % 7 != 0).then_some(i * i - 1000);
    check(Arc::new((0..3000).map(odd).collect::<Int64Array>()), &delta);
    let small = |i| odd(i).map(|v| i32::try_from(v).unwrap());
    check(
        Arc::new((0..3000).map(small).collect::<Int32Array>()),
        &delta,
    );
    let split = [Encoding::PLAIN, Encoding::BYTE_STREAM_SPLIT];
    let half = |i| odd(i).map(|v| v as f64 / 2.0);
    check(
        Arc::new((0..3000).map(half).collect::<Float64Array>()),
        &split,
    );
}

#[test]
fn text_and_decimals_as_bytes() {
    let text = (0..3000).map(|i| (i % 5 != 0).then(|| format!("prefix {i}")));
    let delta = [
        Encoding::PLAIN,
        Encoding::DELTA_LENGTH_BYTE_ARRAY,
        Encoding::DELTA_BYTE_ARRAY,
    ];
    check(Arc::new(text.collect::<StringArray>()), &delta);
    let decimals = (0..3000).map(|i| (i % 5 != 0).then_some(i128::from(i) * -1_000_000_007));
    let decimals = decimals.collect::<Decimal128Array>();
    let decimals = decimals.with_precision_and_scale(30, 4).unwrap();
    check(
        Arc::new(decimals),
        &[Encoding::PLAIN, Encoding::DELTA_BYTE_ARRAY],
    );
}
