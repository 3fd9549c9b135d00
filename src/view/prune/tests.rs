use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::{DataType, Field, Schema};
use chrono::{DateTime, TimeDelta};

use super::*;
use crate::config::{TableConfig, properties};
use crate::expr::{Filter, Operator};
use crate::model::{NULL_PARTITION, encode_value};

const HIVE: &str = "hoodie.datasource.write.hive_style_partitioning=true\n";
const ENCODED: &str = "hoodie.datasource.write.partitionpath.urlencode=true\n";

fn config(fields: &str, lines: &str) -> TableConfig {
    let table = format!(
        "hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=9\n\
         hoodie.timeline.layout.version=2\nhoodie.table.recordkey.fields=id\n\
         hoodie.table.partition.fields={fields}\n{lines}"
    );
    let sum = properties::checksum(&properties::parse(table.as_bytes()).unwrap());
    TableConfig::parse(format!("hoodie.table.checksum={sum}\n{table}").as_bytes()).unwrap()
}

/// One row: its partition's path as a writer makes it, and the partition columns as the file holds them.
struct Row {
    path: String,
    values: Vec<Option<String>>,
}

/// A table of such rows, and the texts that its filters compare with.
struct Table {
    config: TableConfig,
    types: Vec<(&'static str, DataType)>,
    rows: Vec<Row>,
}

impl Table {
    fn columns(&self) -> PartitionColumns {
        let id = Field::new("id", DataType::Int32, true);
        let partition = self.types.iter();
        let partition =
            partition.map(|(name, data_type)| Field::new(*name, data_type.clone(), true));
        let fields: Vec<_> = std::iter::once(id).chain(partition).collect();
        PartitionColumns::new(&self.config, &Schema::new(fields), None).unwrap()
    }

    /// What a reader gives of one row: the file's values, but for those that the path decides.
    fn batch(&self, columns: &PartitionColumns, row: &Row) -> RecordBatch {
        let mut arrays: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(vec![1]))];
        for ((_, data_type), value) in self.types.iter().zip(&row.values) {
            let text: ArrayRef = Arc::new(StringArray::from(vec![value.as_deref()]));
            let array = cast(&text, data_type).unwrap();
            assert_eq!(
                array.is_null(0),
                value.is_none(),
                "{value:?} as {data_type}"
            );
            arrays.push(array);
        }
        for value in columns.values(&PartitionPath::new(&row.path)).unwrap() {
            let at = columns.read_schema().index_of(&value.name).unwrap();
            arrays[at] = value.value;
        }
        RecordBatch::try_new(Arc::clone(columns.read_schema()), arrays).unwrap()
    }

    /// Every filter of the grid, against the mask over all rows. Gives how many partitions were ruled out, of how many.
    fn check(&self, literals: &[&str]) -> (usize, usize) {
        let columns = self.columns();
        let rows = self
            .rows
            .iter()
            .map(|row| (row.path.as_str(), self.batch(&columns, row)));
        let rows: Vec<_> = rows.collect();
        let (mut pruned, mut all) = (0, 0);
        for filters in self.grid(literals) {
            let Ok(predicate) = Predicate::bind(&filters, columns.read_schema()) else {
                continue;
            };
            let pruner = PartitionPruner::new(&columns, &predicate);
            for (path, _) in &rows {
                let partition = PartitionPath::new(path);
                let same = rows
                    .iter()
                    .filter(|(other, _)| other == path)
                    .map(|(_, batch)| batch);
                let batch = concat_batches(columns.read_schema(), same).unwrap();
                let matches = predicate.mask(&batch).unwrap().true_count() > 0;
                let keeps = pruner.keeps(&partition);
                let top = partition.segments().next().unwrap();
                assert!(
                    keeps || !matches,
                    "{filters:?} rules out {path}, which has rows"
                );
                assert!(
                    pruner.keeps_below(top) || !matches,
                    "{filters:?} rules out {top} above {path}"
                );
                all += 1;
                pruned += usize::from(!keeps);
            }
        }
        assert!(all > 0);
        (pruned, all)
    }

    fn grid(&self, literals: &[&str]) -> Vec<Vec<Filter>> {
        let mut single = Vec::new();
        for (name, _) in &self.types {
            for operator in Operator::ALL {
                match operator {
                    Operator::IsNull | Operator::IsNotNull => {
                        single.push(Filter::new(name, operator, Vec::new()).unwrap());
                    }
                    Operator::In | Operator::NotIn => {
                        for pair in literals.windows(2) {
                            let pair = pair.iter().map(|text| (*text).to_owned()).collect();
                            single.push(Filter::new(name, operator, pair).unwrap());
                        }
                    }
                    _ => single.extend(literals.iter().map(|text| {
                        Filter::new(name, operator, vec![(*text).to_owned()]).unwrap()
                    })),
                }
            }
        }
        let pairs = single.iter().zip(single.iter().rev());
        let pairs: Vec<_> = pairs.map(|(a, b)| vec![a.clone(), b.clone()]).collect();
        single
            .into_iter()
            .map(|filter| vec![filter])
            .chain(pairs)
            .collect()
    }
}

/// A path as Spark's writer makes it: null and empty become the null name.
fn path(fields: &[&str], values: &[Option<&str>], hive: bool, encoded: bool) -> String {
    let folders = fields.iter().zip(values).map(|(field, value)| {
        let value = match value {
            None | Some("") => NULL_PARTITION.to_owned(),
            Some(value) if encoded => encode_value(value),
            Some(value) => (*value).to_owned(),
        };
        if hive {
            format!("{field}={value}")
        } else {
            value
        }
    });
    folders.collect::<Vec<_>>().join("/")
}

const TEXTS: &[&str] = &[
    "",
    "1",
    "10",
    "100",
    "a",
    "a b",
    "a/b",
    "a/b/c",
    "a0",
    "a:b",
    "b",
    "k=v",
    "50%",
    "100%25",
    "a+b&c",
    "region=a",
    "2024/01/03",
    "2024-01-03",
    "2024",
    "default",
    "__HIVE_DEFAULT_PARTITION__x",
    "münchen 日本",
];

/// Hive style or not, encoded or not, and the properties of each.
fn styles() -> [(bool, bool, String); 4] {
    [(false, false), (false, true), (true, false), (true, true)].map(|(hive, encoded)| {
        let complex = "hoodie.table.keygenerator.type=COMPLEX\n";
        let hive_line = if hive { HIVE } else { "" };
        let encoded_line = if encoded { ENCODED } else { "" };
        (hive, encoded, format!("{complex}{hive_line}{encoded_line}"))
    })
}

fn owned(values: &[Option<&str>]) -> Vec<Option<String>> {
    values
        .iter()
        .map(|value| value.map(str::to_owned))
        .collect()
}

#[test]
fn texts_of_one_field_are_ruled_out_only_where_no_row_passes() {
    for (hive, encoded, lines) in styles() {
        let values = TEXTS.iter().copied().map(Some).chain([None]);
        let rows = values.map(|value| Row {
            path: path(&["region"], &[value], hive, encoded),
            values: owned(&[value]),
        });
        let table = Table {
            config: config("region", &lines),
            types: vec![("region", DataType::Utf8)],
            rows: rows.collect(),
        };
        let (pruned, all) = table.check(TEXTS);
        assert!(
            pruned > all / 2,
            "{pruned} of {all}, hive {hive}, encoded {encoded}"
        );
    }
}

#[test]
fn two_fields_are_ruled_out_only_where_no_row_passes() {
    let days = [Some("2024-02-29"), Some("1969-12-31"), None];
    for (hive, encoded, lines) in styles() {
        let mut rows = Vec::new();
        for region in TEXTS.iter().copied().map(Some).chain([None]) {
            for day in days {
                rows.push(Row {
                    path: path(&["region", "day"], &[region, day], hive, encoded),
                    values: owned(&[region, day]),
                });
            }
        }
        let table = Table {
            config: config("region,day", &lines),
            types: vec![("region", DataType::Utf8), ("day", DataType::Date32)],
            rows,
        };
        let literals = [
            "a",
            "a/b",
            "2024-02-29",
            "1969-12-31",
            "2024-12-31",
            "",
            "default",
        ];
        let (pruned, all) = table.check(&literals);
        assert!(
            pruned > all / 3,
            "{pruned} of {all}, hive {hive}, encoded {encoded}"
        );
    }
}

/// A table with one partition for each value of one column.
fn typed(data_type: DataType, values: &[Option<&str>]) -> Table {
    let rows = values.iter().map(|value| Row {
        path: path(&["p"], &[*value], true, false),
        values: owned(&[*value]),
    });
    Table {
        config: config("p", HIVE),
        types: vec![("p", data_type)],
        rows: rows.collect(),
    }
}

#[test]
fn values_of_every_type_are_ruled_out_only_where_no_row_passes() {
    let ints = ["-1", "0", "1", "10", "100", "2020"];
    let cases: [(DataType, Vec<&str>); 6] = [
        (DataType::Int32, ints.to_vec()),
        (DataType::Int64, ints.to_vec()),
        (DataType::Boolean, vec!["true", "false"]),
        (
            DataType::Date32,
            vec!["1969-12-31", "1970-01-01", "2024-02-29"],
        ),
        (
            DataType::Decimal128(10, 2),
            vec!["-1.50", "0.00", "1.50", "12345678.90"],
        ),
        (
            DataType::Float64,
            vec!["-1.5", "0.0", "1.1", "1.0E20", "NaN", "Infinity"],
        ),
    ];
    for (data_type, texts) in cases {
        let values: Vec<_> = texts.iter().copied().map(Some).chain([None]).collect();
        let (pruned, all) = typed(data_type.clone(), &values).check(&texts);
        assert!(pruned * 3 > all, "{pruned} of {all} of {data_type}");
    }
}

#[test]
fn a_filter_on_1_does_not_take_10_for_it() {
    for data_type in [DataType::Utf8, DataType::Int32] {
        let table = typed(data_type, &[Some("1"), Some("10"), Some("100")]);
        let columns = table.columns();
        let filter = Filter::new("p", Operator::Eq, vec!["1".to_owned()]).unwrap();
        let predicate = Predicate::bind(&[filter], columns.read_schema()).unwrap();
        let pruner = PartitionPruner::new(&columns, &predicate);
        let kept = ["p=1", "p=10", "p=100"].map(|path| pruner.keeps(&path.into()));
        assert_eq!(kept, [true, false, false]);
        assert_eq!(
            ["p=1", "p=10", "p=100"].map(|top| pruner.keeps_below(top)),
            kept
        );
    }
}

#[test]
fn a_slashed_date_whose_file_has_dashes_is_kept() {
    for data_type in [DataType::Utf8, DataType::Date32] {
        for lines in ["", HIVE, ENCODED] {
            let days = ["2024-01-03", "2024-11-30"];
            let prefix = if lines == HIVE { "p=" } else { "" };
            let rows = days.map(|day| Row {
                path: format!("{prefix}{}", day.replace('-', "/")),
                values: owned(&[Some(day)]),
            });
            let table = Table {
                config: config("p", lines),
                types: vec![("p", data_type.clone())],
                rows: rows.into(),
            };
            table.check(&["2024-01-03", "2024-11-30", "2024-05-05", "2024"]);
        }
    }
}

#[test]
fn the_old_null_folder_is_null_for_what_holds_no_text() {
    let null_as_default = |data_type: DataType, values: &[Option<&str>]| Table {
        rows: values
            .iter()
            .map(|value| Row {
                path: "p=default".to_owned(),
                values: owned(&[*value]),
            })
            .collect(),
        ..typed(data_type, &[])
    };
    let (pruned, all) = null_as_default(DataType::Int32, &[None]).check(&["1", "2"]);
    assert!(pruned > all / 2, "{pruned} of {all}");
    null_as_default(DataType::Date32, &[None]).check(&["1970-01-01", "2024-02-29"]);
    let texts = [None, Some("default"), Some("")];
    null_as_default(DataType::Utf8, &texts).check(&["default", "", "a"]);
}

#[test]
fn a_timestamp_path_is_ruled_out_only_where_no_value_of_it_passes() {
    let moments = [
        -86_400_001,
        -1000,
        -1,
        0,
        1,
        86_399_999,
        86_400_000,
        1_700_000_000_000,
        1_700_043_200_000,
        1_704_124_800_000_i64,
    ];
    for (kind, per_milli) in [("EPOCHMILLISECONDS", 1), ("EPOCHMICROSECONDS", 1000)] {
        for (zone, hours) in [
            ("UTC", 0),
            ("GMT+8:00", 8),
            ("Asia/Shanghai", 8),
            ("America/Bogota", -5),
        ] {
            for (output, pattern) in [
                ("yyyy/MM/dd", "%Y/%m/%d"),
                ("yyyyMMddHH", "%Y%m%d%H"),
                ("MM-dd", "%m-%d"),
            ] {
                let lines = format!(
                    "hoodie.table.keygenerator.type=TIMESTAMP\n\
                     hoodie.keygen.timebased.timestamp.type={kind}\n\
                     hoodie.keygen.timebased.output.dateformat={output}\n\
                     hoodie.keygen.timebased.timezone={zone}\n"
                );
                // Java cuts microseconds to milliseconds towards zero, as Rust's division does.
                let values = moments
                    .iter()
                    .flat_map(|m| [m * per_milli, m * per_milli - per_milli / 2]);
                let rows = values.map(|value| {
                    let moment = DateTime::from_timestamp_millis(value / per_milli).unwrap();
                    let local = moment + TimeDelta::hours(hours);
                    Row {
                        path: local.format(pattern).to_string(),
                        values: vec![Some(value.to_string())],
                    }
                });
                let table = Table {
                    config: config("happened", &lines),
                    types: vec![("happened", DataType::Int64)],
                    rows: rows.collect(),
                };
                let literals: Vec<String> = table
                    .rows
                    .iter()
                    .flat_map(|row| row.values.clone())
                    .flatten()
                    .collect();
                let literals: Vec<&str> = literals.iter().map(String::as_str).collect();
                let (pruned, all) = table.check(&literals);
                let useful = output != "MM-dd";
                assert_eq!(
                    pruned > all / 4,
                    useful,
                    "{pruned} of {all}: {kind} {zone} {output}"
                );
            }
        }
    }
}
