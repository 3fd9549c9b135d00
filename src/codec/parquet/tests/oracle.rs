//! Columns of every type and depth, held against the `parquet` crate's own reader.

use std::sync::Arc;

use arrow::array::Array;
use arrow::datatypes::Schema;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Repetition;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType as ParquetType, DoubleType, FixedLenByteArray,
    FixedLenByteArrayType, FloatType, Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::properties::EnabledStatistics;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnDescriptor;

use super::*;

const ROWS: usize = 700;

/// Every leaf type in a row of its own, in structs, lists and maps; and lists as writers had them before there was a rule.
const SCHEMA: &str = "message m {
  required int64 id;
  optional int32 tiny (INT_8); optional int32 small (UINT_16); optional int32 large (UINT_32); optional int64 huge (UINT_64);
  optional int32 day (DATE); optional int64 at (TIMESTAMP(NANOS, false)); optional int32 time (TIME_MILLIS);
  optional int64 clock (TIME_MICROS); optional int32 price (DECIMAL(7, 2)); optional int64 sum (DECIMAL(17, 3));
  optional fixed_len_byte_array(9) money (DECIMAL(20, 2)); optional fixed_len_byte_array(20) wealth (DECIMAL(45, 5));
  optional binary old_money (DECIMAL(20, 2)); optional binary old_wealth (DECIMAL(50, 2));
  optional fixed_len_byte_array(12) span (INTERVAL); optional fixed_len_byte_array(2) half (FLOAT16);
  optional int96 old_time; optional boolean flag; optional float ratio; optional double exact;
  optional binary text (UTF8); optional binary bytes; optional binary json (JSON); optional fixed_len_byte_array(3) code;
  repeated int32 bare; repeated group pairs { required int64 a; optional binary b (UTF8); }
  optional group two_levels (LIST) { repeated int32 element; }
  optional group of_array (LIST) { repeated group array { optional int32 x; } }
  optional group of_tuple (LIST) { repeated group of_tuple_tuple { required int32 x; } }
  required group lists (LIST) { repeated group list { optional group element (LIST) { repeated group list {
    optional group element { optional int32 x; required binary y (UTF8); repeated double z; } } } } }
  optional group outer { required group inner { optional boolean flag; optional group deep { optional int64 n; optional int96 t; } } }
  optional group map (MAP) { repeated group key_value { required binary key (UTF8); optional group value (LIST) {
    repeated group list { optional group element (MAP) { repeated group key_value { required int32 key; optional double value; } } } } } }
  optional group keys (MAP) { repeated group key_value { optional int64 key; optional group value { required int32 x; optional binary y; } } }
}";

pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// The repetitions of the nodes on the way to a leaf.
type Path = Vec<Repetition>;

fn path_of(root: &parquet::schema::types::Type, parts: &[String]) -> Path {
    let mut path = Path::new();
    let mut at = root;
    for part in parts {
        at = at
            .get_fields()
            .iter()
            .find(|field| field.name() == part)
            .unwrap();
        path.push(at.get_basic_info().repetition());
    }
    path
}

/// The levels of one row of a leaf, decided by the path to each node, so that leaves that share nodes agree.
struct Row<'a> {
    parts: &'a [String],
    path: &'a Path,
    row: usize,
    out: &'a mut Vec<(i16, i16)>,
}

impl Row<'_> {
    /// From a node on, in the element of the lists above that `trail` tells.
    fn levels(&mut self, depth: usize, trail: u64, [repetition, definition]: [i16; 2], lists: i16) {
        let Some(kind) = self.path.get(depth) else {
            self.out.push((repetition, definition));
            return;
        };
        let name = self.parts[..=depth].join(".");
        let seed = name
            .bytes()
            .fold(trail * 31 + self.row as u64, |sum, byte| {
                sum.wrapping_mul(1_099_511_628_211) ^ u64::from(byte)
            });
        let mut numbers = Numbers(seed);
        numbers.below(2);
        match *kind {
            // Some writers call a map's keys optional; none may be null.
            Repetition::OPTIONAL if self.parts[depth] != "key" && numbers.below(5) == 0 => {
                self.out.push((repetition, definition));
            }
            Repetition::OPTIONAL => {
                self.levels(depth + 1, trail, [repetition, definition + 1], lists);
            }
            Repetition::REPEATED => {
                // Some rows have long lists.
                let most = if self.row % 97 == 3 { 40 } else { 4 };
                let count = numbers.below(most);
                if count == 0 {
                    self.out.push((repetition, definition));
                }
                for element in 0..count {
                    let again = if element == 0 { repetition } else { lists + 1 };
                    let trail = trail * 41 + element + 1;
                    self.levels(depth + 1, trail, [again, definition + 1], lists + 1);
                }
            }
            Repetition::REQUIRED => {
                self.levels(depth + 1, trail, [repetition, definition], lists);
            }
        }
    }
}

fn write_leaf<T: ParquetType>(
    group: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>,
    levels: &[(i16, i16)],
    column: &ColumnDescriptor,
    value: impl Fn(u64) -> T::T,
) {
    let mut writer = group.next_column().unwrap().unwrap();
    let definition: Vec<i16> = levels.iter().map(|level| level.1).collect();
    let repetition: Vec<i16> = levels.iter().map(|level| level.0).collect();
    let there = definition
        .iter()
        .filter(|level| **level == column.max_def_level())
        .count();
    let mut numbers = Numbers(7);
    let values: Vec<T::T> = (0..there)
        .map(|_| value(numbers.below(1 << 31) * 5))
        .collect();
    let typed = writer.typed::<T>();
    typed
        .write_batch(&values, Some(&definition), Some(&repetition))
        .unwrap();
    writer.close().unwrap();
}

fn file(properties: WriterPropertiesBuilder, wide: bool) -> Bytes {
    use parquet::basic::Type as Physical;
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let descriptor = parquet::schema::types::SchemaDescriptor::new(Arc::clone(&schema));
    let properties = properties
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    let mut bytes = Vec::new();
    let mut file =
        SerializedFileWriter::new(&mut bytes, Arc::clone(&schema), Arc::new(properties)).unwrap();
    let mut group = file.next_row_group().unwrap();
    let spread = move |n: u64| {
        if wide {
            n.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        } else {
            n % 50
        }
    };
    for column in descriptor.columns() {
        let parts = column.path().parts().to_vec();
        let path = path_of(&schema, &parts);
        let mut all = Vec::new();
        for row in 0..ROWS {
            let mut row = Row {
                parts: &parts,
                path: &path,
                row,
                out: &mut all,
            };
            row.levels(0, 1, [0, 0], 0);
        }
        let length = usize::try_from(column.type_length()).unwrap_or(0);
        let text = move |n: u64| {
            let n = spread(n);
            match n % 7 {
                0 => String::new(),
                few => format!("{}{}", "prefix é ".repeat(few as usize), n % 1000),
            }
        };
        let decimal = column.converted_type() == parquet::basic::ConvertedType::DECIMAL;
        let blob = move |n: u64| match decimal {
            true => spread(n).to_be_bytes()[..(n % 8 + 1) as usize].to_vec(),
            false => text(n).into_bytes(),
        };
        let fixed = move |n: u64| {
            let bytes = spread(n).to_le_bytes();
            let bytes: Vec<u8> = bytes.into_iter().cycle().take(length).collect();
            FixedLenByteArray::from(bytes)
        };
        let group = &mut group;
        match column.physical_type() {
            Physical::BOOLEAN => write_leaf::<BoolType>(group, &all, column, |n| n % 3 == 0),
            Physical::INT32 => write_leaf::<Int32Type>(group, &all, column, |n| spread(n) as i32),
            Physical::INT64 => write_leaf::<Int64Type>(group, &all, column, |n| spread(n) as i64),
            Physical::INT96 => write_leaf::<Int96Type>(group, &all, column, |n| {
                let mut time = Int96::new();
                time.set_data(
                    spread(n) as u32,
                    (n % 20_000) as u32,
                    2_400_000 + (n % 90_000) as u32,
                );
                time
            }),
            Physical::FLOAT => {
                write_leaf::<FloatType>(group, &all, column, |n| spread(n) as f32 / 3.0)
            }
            Physical::DOUBLE => {
                write_leaf::<DoubleType>(group, &all, column, |n| spread(n) as f64 / 3.0)
            }
            Physical::BYTE_ARRAY => {
                write_leaf::<ByteArrayType>(group, &all, column, |n| ByteArray::from(blob(n)));
            }
            Physical::FIXED_LEN_BYTE_ARRAY => {
                write_leaf::<FixedLenByteArrayType>(group, &all, column, fixed);
            }
        }
    }
    group.close().unwrap();
    file.close().unwrap();
    bytes.into()
}

/// As the crate reads it, in the types that are ours: INT96 as microseconds.
pub(super) fn by_the_crate(file: &Bytes, schema: &Schema) -> RecordBatch {
    let options = parquet::arrow::arrow_reader::ArrowReaderOptions::new()
        .with_skip_arrow_metadata(true)
        .with_schema(Arc::new(schema.clone()));
    let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options);
    let reader = reader.unwrap().with_batch_size(ROWS).build().unwrap();
    let batches: Vec<RecordBatch> = reader.map(|batch| batch.unwrap()).collect();
    concat(&batches)
}

fn shapes() -> Vec<(String, WriterPropertiesBuilder)> {
    let mut shapes = Vec::new();
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for (dictionary, dense) in [(true, false), (false, false), (false, true)] {
            let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
            let descriptor = parquet::schema::types::SchemaDescriptor::new(schema);
            let mut properties = WriterProperties::builder()
                .set_writer_version(version)
                .set_dictionary_enabled(dictionary)
                .set_write_batch_size(50)
                .set_data_page_row_count_limit(130);
            for (at, column) in descriptor.columns().iter().enumerate().filter(|_| dense) {
                use parquet::basic::Type as Physical;
                let choices: &[Encoding] = match column.physical_type() {
                    Physical::BOOLEAN => &[Encoding::RLE],
                    Physical::INT32 | Physical::INT64 => {
                        &[Encoding::DELTA_BINARY_PACKED, Encoding::BYTE_STREAM_SPLIT]
                    }
                    Physical::INT96 => &[Encoding::PLAIN],
                    Physical::FLOAT | Physical::DOUBLE => &[Encoding::BYTE_STREAM_SPLIT],
                    Physical::BYTE_ARRAY => &[
                        Encoding::DELTA_LENGTH_BYTE_ARRAY,
                        Encoding::DELTA_BYTE_ARRAY,
                    ],
                    Physical::FIXED_LEN_BYTE_ARRAY => {
                        &[Encoding::BYTE_STREAM_SPLIT, Encoding::DELTA_BYTE_ARRAY]
                    }
                };
                let encoding = choices[at % choices.len()];
                properties = properties.set_column_encoding(column.path().clone(), encoding);
            }
            let name = format!("{version:?}, dictionary {dictionary}, dense {dense}");
            shapes.push((name, properties));
        }
    }
    shapes
}

#[test]
fn every_type_and_depth_is_read_as_the_crate_reads_it() {
    for (name, properties) in shapes() {
        for wide in [false, true] {
            let file = file(properties.clone(), wide);
            let footer = footer_of(&file).unwrap();
            assert_eq!(footer.arrow().schema().fields().len(), 34);
            let expected = by_the_crate(&file, footer.arrow().schema());
            let read = read(&footer, &file, 0).unwrap();
            for (at, field) in expected.schema().fields().iter().enumerate() {
                let ours = concat(&read);
                let (ours, theirs) = (ours.column(at), expected.column(at));
                assert_eq!(ours, theirs, "{name}, wide {wide}: {}", field.name());
                ours.to_data().validate_full().unwrap();
            }
        }
    }
}

#[test]
fn some_rows_of_nested_columns_are_those_rows() {
    for (name, properties) in shapes() {
        let file = file(properties, true);
        let footer = footer_of(&file).unwrap();
        let whole = concat(&read(&footer, &file, 0).unwrap());
        let ranges = [0..1, 5..6, 129..131, 260..400, 650..651, 699..700];
        let rows = ranges
            .iter()
            .map(|range| whole.slice(range.start, range.len()));
        let expected = concat(&rows.collect::<Vec<_>>());
        let request = GroupRequest {
            group: 0,
            columns: all_columns(&footer),
            filter: None,
            selection: Some(RowSelection::from_consecutive_ranges(
                ranges.into_iter(),
                ROWS,
            )),
            limit: None,
        };
        let some = concat(&read_group(&footer, request, &file, 0).unwrap());
        assert_eq!(some.columns(), expected.columns(), "{name}");
    }
}

/// A page of version 1 of a list of numbers: repetition levels, definition levels of 0 to 3, values.
fn page_of_lists(repetition: &[u8], definition: &[u8], values: &[i32]) -> Vec<u8> {
    // One group of eight packed levels.
    let packed = |levels: &[u8], width: usize| {
        let bits = levels
            .iter()
            .rev()
            .fold(0_u32, |bits, level| bits << width | u32::from(*level));
        let mut section = vec![3];
        section.extend_from_slice(&bits.to_le_bytes()[..width]);
        [&(section.len() as u32).to_le_bytes()[..], &section].concat()
    };
    let values: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let body = [packed(repetition, 1), packed(definition, 2), values].concat();
    let mut page = Vec::new();
    for value in [0, body.len() as i64, body.len() as i64] {
        page.push(0x15);
        page.extend(zigzag(value));
    }
    // `data_page_header { values, PLAIN, RLE, RLE }` and the header's end.
    page.extend([
        0x2c,
        0x15,
        2 * repetition.len() as u8,
        0x15,
        0,
        0x15,
        6,
        0x15,
        6,
        0,
        0,
    ]);
    page.extend(body);
    page
}

/// A column of lists of numbers in pages of version 1.
struct Lists {
    footer: Footer,
    chunk: Arc<super::super::pages::Chunk>,
    bytes: super::super::chunk_bytes::ChunkBytes,
    rows: usize,
}

impl Lists {
    fn of(pages: &[Vec<u8>], values: usize, rows: usize) -> Self {
        let bytes = pages.concat();
        let mut builder = arrow::array::ListBuilder::new(arrow::array::Int32Builder::new());
        builder.append(true);
        let list: ArrayRef = Arc::new(builder.finish());
        let template = RecordBatch::try_from_iter_with_nullable([("c", list, true)]).unwrap();
        let file = written(&template, WriterProperties::builder());
        let footer = footer_of(&file).unwrap();
        let facts = footer
            .metadata()
            .row_group(0)
            .column(0)
            .clone()
            .into_builder();
        let facts = facts
            .set_dictionary_page_offset(None)
            .set_data_page_offset(40)
            .set_total_compressed_size(bytes.len() as i64)
            .set_num_values(values as i64)
            .set_compression(Compression::UNCOMPRESSED);
        let chunk = super::super::pages::Chunk::new(facts.build().unwrap(), None);
        let mut there = super::super::chunk_bytes::ChunkBytes::default();
        there.add(40, bytes.into());
        Self {
            footer,
            chunk: Arc::new(chunk),
            bytes: there,
            rows,
        }
    }

    fn open(&self) -> super::super::nested::NestedColumn {
        let chunk = || Arc::clone(&self.chunk);
        let rows = self.rows as u64;
        let pages =
            super::super::page_reader::ChunkPages::new(chunk(), self.bytes.clone(), None, rows);
        let arrow = self.footer.arrow();
        let data_type = arrow.schema().field(0).data_type().clone();
        let of = &arrow.parquet_schema().root_schema().get_fields()[0];
        super::super::nested::NestedColumn::new(of, &data_type, vec![(chunk(), pages)]).unwrap()
    }

    fn some(&self, rows: Range<usize>) -> super::super::rows::Rows {
        let all = RowSelection::from_consecutive_ranges([rows].into_iter(), self.rows);
        super::super::rows::Rows::of(&all)
    }
}

/// Only pages of version 1 may part a row; the Arrow writer never does.
#[test]
fn a_row_goes_on_in_the_next_page() {
    use arrow::datatypes::Int32Type;

    // [1, null, 3 | 4], null | [], [5 | 6], and a last row that ends with its page.
    let pages = [
        page_of_lists(&[0, 1, 1], &[3, 2, 3], &[1, 3]),
        page_of_lists(&[1, 0], &[3, 0], &[4]),
        page_of_lists(&[0, 0], &[1, 3], &[5]),
        page_of_lists(&[1, 0], &[3, 3], &[6, 7]),
    ];
    let lists = Lists::of(&pages, 9, 5);
    let expected = arrow::array::ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![Some(1), None, Some(3), Some(4)]),
        None,
        Some(vec![]),
        Some(vec![Some(5), Some(6)]),
        Some(vec![Some(7)]),
    ]);
    assert_eq!(
        lists.open().read(&lists.some(0..5)).unwrap().to_data(),
        expected.to_data()
    );
    for first in 0..5 {
        for last in first..5 {
            let mut column = lists.open();
            for row in [first, last]
                .into_iter()
                .take(1 + usize::from(last > first))
            {
                let read = column.read(&lists.some(row..row + 1)).unwrap();
                assert_eq!(
                    read.to_data(),
                    expected.slice(row, 1).to_data(),
                    "{first} {last}"
                );
            }
        }
    }
}

/// Definition levels: 0 a null list, 1 an empty one, 2 a null in it, 3 a number.
#[test]
fn levels_that_contradict_each_other_are_corrupt() {
    let damaged: [(&str, &[u8], &[u8], usize); 7] = [
        ("a null list that goes on", &[0, 1, 0], &[0, 3, 3], 2),
        ("an empty list that goes on", &[0, 1, 0], &[1, 3, 3], 2),
        (
            "a list that goes on as a null one",
            &[0, 1, 0],
            &[3, 0, 3],
            2,
        ),
        (
            "a list that goes on as an empty one",
            &[0, 1, 0],
            &[3, 1, 3],
            2,
        ),
        ("no row begins", &[1, 0, 0], &[3, 3, 3], 2),
        ("a row too many", &[0, 0, 0], &[3, 3, 3], 2),
        ("a row too few", &[0, 1, 1], &[3, 3, 3], 2),
    ];
    for (what, repetition, definition, rows) in damaged {
        let numbers = definition.iter().filter(|level| **level == 3);
        let values: Vec<i32> = numbers.map(|_| 7).collect();
        let page = page_of_lists(repetition, definition, &values);
        let lists = Lists::of(&[page], 3, rows);
        let read = lists.open().read(&lists.some(0..rows));
        let error = read.err().unwrap_or_else(|| panic!("{what} is read"));
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}");
    }
}
