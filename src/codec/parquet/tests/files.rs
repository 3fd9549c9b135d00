//! Files of every shape that the writers of Hudi's base files have, written by the Arrow writer: no page has a checksum.

use arrow::array::{
    BooleanArray, Decimal128Array, FixedSizeBinaryBuilder, Float32Array, Float64Array, Int32Array,
    Int32Builder, ListBuilder, MapBuilder, StringBuilder, StructArray,
};
use arrow::datatypes::{DataType, Field};
use parquet::data_type::{ByteArray, ByteArrayType, Int96, Int96Type};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use super::*;

pub(super) const ROWS: usize = 1500;

/// How a file is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) version: WriterVersion,
    pub(super) dictionary: bool,
    /// Delta encodings, streams of bytes and runs of booleans, where a type can have them.
    pub(super) dense: bool,
    pub(super) codec: Compression,
}

impl Shape {
    pub(super) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for (dictionary, dense) in [(true, false), (false, false), (false, true)] {
                for codec in [
                    Compression::UNCOMPRESSED,
                    Compression::SNAPPY,
                    Compression::GZIP(GzipLevel::default()),
                    Compression::LZ4_RAW,
                    Compression::LZ4,
                ] {
                    all.push(Self {
                        version,
                        dictionary,
                        dense,
                        codec,
                    });
                }
            }
        }
        all
    }

    pub(super) fn properties(&self) -> WriterPropertiesBuilder {
        let mut properties = WriterProperties::builder()
            .set_writer_version(self.version)
            .set_dictionary_enabled(self.dictionary)
            .set_compression(self.codec)
            .set_write_batch_size(64)
            .set_data_page_row_count_limit(300);
        let dense = [
            ("flag", Encoding::RLE),
            ("small", Encoding::DELTA_BINARY_PACKED),
            ("large", Encoding::DELTA_BINARY_PACKED),
            ("half", Encoding::BYTE_STREAM_SPLIT),
            ("double", Encoding::BYTE_STREAM_SPLIT),
            ("text", Encoding::DELTA_BYTE_ARRAY),
            ("note", Encoding::DELTA_LENGTH_BYTE_ARRAY),
            ("money", Encoding::DELTA_BYTE_ARRAY),
            ("hash", Encoding::BYTE_STREAM_SPLIT),
        ];
        for (name, encoding) in dense {
            if self.dense {
                properties = properties.set_column_encoding(ColumnPath::from(name), encoding);
            }
        }
        properties
    }
}

/// Flat and nested columns, with and without nulls; values repeat, so that dictionaries are used.
pub(super) fn rows() -> RecordBatch {
    let there = |i: usize, every: usize| !i.is_multiple_of(every);
    let number = |i: usize| i64::try_from(i % 97).unwrap() * 1_000_003 - 17;
    let each = 0..ROWS;
    let flag = each.clone().map(|i| there(i, 7).then_some(i % 3 == 0));
    let small = each.clone().map(|i| there(i, 5).then(|| number(i) as i32));
    let large = each.clone().map(number);
    let half = each
        .clone()
        .map(|i| there(i, 6).then(|| number(i) as f32 / 8.0));
    let double = each.clone().map(|i| number(i) as f64 / 3.0);
    let text = each
        .clone()
        .map(|i| there(i, 4).then(|| format!("prefix {}", i % 91)));
    let note = each.clone().map(|i| "é".repeat(i % 23));
    let money = each
        .clone()
        .map(|i| there(i, 9).then(|| i128::from(number(i)) << 30));
    let money = money.collect::<Decimal128Array>();
    let mut hash = FixedSizeBinaryBuilder::new(5);
    for i in each {
        match there(i, 8) {
            true => hash.append_value([(i % 11) as u8; 5]).unwrap(),
            false => hash.append_null(),
        }
    }
    let id = Int64Array::from_iter_values((0..ROWS).map(|i| i as i64));
    RecordBatch::try_from_iter_with_nullable([
        ("id", Arc::new(id) as ArrayRef, false),
        ("flag", Arc::new(flag.collect::<BooleanArray>()), true),
        ("small", Arc::new(small.collect::<Int32Array>()), true),
        ("large", Arc::new(large.collect::<Int64Array>()), false),
        ("half", Arc::new(half.collect::<Float32Array>()), true),
        ("double", Arc::new(double.collect::<Float64Array>()), false),
        ("text", Arc::new(text.collect::<StringArray>()), true),
        ("note", Arc::new(StringArray::from_iter_values(note)), false),
        (
            "money",
            Arc::new(money.with_precision_and_scale(30, 4).unwrap()),
            true,
        ),
        ("hash", Arc::new(hash.finish()), true),
        ("numbers", lists(), true),
        ("pairs", maps(), true),
        ("inner", structs(), true),
    ])
    .unwrap()
}

fn lists() -> ArrayRef {
    let mut lists = ListBuilder::new(Int32Builder::new());
    for i in 0..ROWS {
        for j in 0..i % 5 {
            lists
                .values()
                .append_option((j != 2).then_some((i % 50 + j) as i32));
        }
        lists.append(i % 13 != 0);
    }
    Arc::new(lists.finish())
}

fn maps() -> ArrayRef {
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for i in 0..ROWS {
        for j in 0..i % 4 {
            maps.keys().append_value(format!("key {j}"));
            maps.values()
                .append_option((i % 3 != 0).then_some(i as i32));
        }
        maps.append(i % 11 != 0).unwrap();
    }
    Arc::new(maps.finish())
}

fn structs() -> ArrayRef {
    let label = (0..ROWS).map(|i| (i % 3 != 0).then(|| format!("label {}", i % 40)));
    let label: ArrayRef = Arc::new(label.collect::<StringArray>());
    let fields = vec![
        Field::new("label", DataType::Utf8, true),
        Field::new("list", lists().data_type().clone(), true),
    ];
    let valid = (0..ROWS).map(|i| i % 17 != 0).collect::<Vec<_>>();
    Arc::new(StructArray::new(
        fields.into(),
        vec![label, lists()],
        Some(valid.into()),
    ))
}

/// Types that Spark writes and the Arrow writer does not: INT96, and a decimal as bytes of any length.
pub(super) fn old_types(shape: Shape) -> Bytes {
    let schema = "message m { optional int96 t; optional binary d (DECIMAL(20, 2)); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = Arc::new(shape.properties().build());
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
    let mut group = file.next_row_group().unwrap();
    let levels: Vec<i16> = (0..ROWS).map(|i| i16::from(i % 4 != 0)).collect();
    let there = (0..ROWS).filter(|i| i % 4 != 0);
    let times = there.clone().map(|i| {
        let mut time = Int96::new();
        time.set_data((i * 1000) as u32, 0, 2_440_588 + (i % 90) as u32);
        time
    });
    let times: Vec<Int96> = times.collect();
    let mut column = group.next_column().unwrap().unwrap();
    let writer = column.typed::<Int96Type>();
    writer.write_batch(&times, Some(&levels), None).unwrap();
    column.close().unwrap();
    let decimals = there.map(|i| ByteArray::from(vec![(i % 120) as u8; i % 9 + 1]));
    let decimals: Vec<ByteArray> = decimals.collect();
    let mut column = group.next_column().unwrap().unwrap();
    let writer = column.typed::<ByteArrayType>();
    writer.write_batch(&decimals, Some(&levels), None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.close().unwrap();
    bytes.into()
}
