//! Records that Spark wrote, decoded and written again.

use arrow::datatypes::{DataType, TimeUnit, i256};
use serde_json::Value;

use super::*;
use crate::codec::avro::{WireSchema, read_datum};
use crate::codec::hfile::scan_all;
use crate::codec::log_format::frames;
use crate::expr::Scalar;
use crate::index::value::{Bound, StatsVersion, ValueKind};
use crate::support;

/// Values of all HFile log blocks below a folder of the metadata table, with the schema they were written by.
fn values(table: &str, partition: &str) -> Vec<(String, bytes::Bytes)> {
    let folder = format!(".hoodie/metadata/{partition}/");
    let mut found = Vec::new();
    for (path, content) in support::files(table) {
        if !path.starts_with(&folder) || !path.contains(".log.") {
            continue;
        }
        for (code, schema, content) in frames(&content) {
            if code == 4 {
                let entries = scan_all(&content.into()).unwrap();
                found.extend(
                    entries
                        .into_iter()
                        .map(|entry| (schema.clone(), entry.value)),
                );
            }
        }
    }
    found
}

/// Runs `check` over every record of a partition in the tables that Hudi 1.1 wrote; gives how many there were.
fn each(partition: &str, mut check: impl FnMut(&Value, &[u8])) -> usize {
    let ours = WireSchema::parse(writer_schema().as_bytes()).unwrap();
    let mut count = 0;
    for table in support::tables() {
        if !table.starts_with("v9_") || table.ends_with("_by_1_2") {
            continue;
        }
        for (schema, value) in values(&table, partition) {
            // A table that was upgraded has records of an older schema.
            if schema != writer_schema() {
                continue;
            }
            check(&read_datum(&ours, &value).unwrap(), &value);
            count += 1;
        }
    }
    count
}

fn text<'a>(part: &'a Value, field: &str) -> &'a str {
    part[field].as_str().unwrap()
}

#[test]
fn lists_of_files_and_partitions_are_written_as_spark_wrote_them() {
    let schema = WireSchema::parse(writer_schema().as_bytes()).unwrap();
    let checked = each("files", |record, bytes| {
        let listed = record["filesystemMetadata"].as_object();
        let names: Names<'_> = listed
            .into_iter()
            .flatten()
            .map(|(name, info)| {
                let entry = FileEntry {
                    size: info["size"].as_u64().unwrap(),
                    deleted: info["isDeleted"].as_bool().unwrap(),
                };
                (name.as_str(), entry)
            })
            .collect();
        let mut out = Vec::new();
        match record["type"].as_i64() {
            Some(PARTITION_LIST) => put_partition_list(&names, &mut out),
            _ => put_file_list(&names, &mut out),
        }
        // Java's map has an order of its own.
        assert_eq!(out.len(), bytes.len());
        assert_eq!(&read_datum(&schema, &out).unwrap(), record);
    });
    assert!(checked > 500, "{checked}");
}

#[test]
fn places_of_records_are_written_as_spark_wrote_them() {
    let checked = each("record_index", |record, bytes| {
        let part = &record["recordIndexMetadata"];
        let (high, low) = (&part["fileIdHighBits"], &part["fileIdLowBits"]);
        let hex = format!(
            "{:016x}{:016x}",
            high.as_i64().unwrap(),
            low.as_i64().unwrap()
        );
        let [a, b, c, d, e] = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &hex[range]);
        let file_id = match part["fileIndex"].as_i64().unwrap() {
            _ if part["fileIdEncoding"] == 1 => text(part, "fileId").to_owned(),
            -1 => format!("{a}-{b}-{c}-{d}-{e}"),
            index => format!("{a}-{b}-{c}-{d}-{e}-{index}"),
        };
        let mut out = Vec::new();
        let instant = part["instantTime"].as_i64().unwrap();
        put_location(text(part, "partitionName"), &file_id, instant, &mut out);
        assert_eq!(out, bytes);
    });
    assert!(checked > 100, "{checked}");
}

/// A column type of the ordinal that Spark wrote.
fn type_of(ordinal: i64, more: Option<&str>) -> DataType {
    let zone = Some("UTC".into());
    match ordinal {
        2 => DataType::Boolean,
        3 => DataType::Int32,
        4 => DataType::Int64,
        5 => DataType::Float32,
        6 => DataType::Float64,
        7 => DataType::Utf8,
        8 => DataType::Binary,
        10 => {
            let (precision, scale) = more.unwrap().split_once(',').unwrap();
            DataType::Decimal128(precision.parse().unwrap(), scale.parse().unwrap())
        }
        12 => DataType::Date32,
        15 => DataType::Timestamp(TimeUnit::Millisecond, zone),
        16 => DataType::Timestamp(TimeUnit::Microsecond, zone),
        19 => DataType::Timestamp(TimeUnit::Microsecond, None),
        other => panic!("ordinal {other}"),
    }
}

fn scalar_of(value: &Value, data_type: &DataType) -> Option<Scalar> {
    let value = value.get("value")?;
    let latin1 = |text: &str| text.chars().map(|c| c as u8).collect::<Vec<_>>();
    Some(match data_type {
        DataType::Boolean => Scalar::Boolean(value.as_bool()?),
        // JSON has no NaN, which Java writes as the greatest value of a log file.
        DataType::Float32 | DataType::Float64 => Scalar::Float(value.as_f64().unwrap_or(f64::NAN)),
        DataType::Utf8 => Scalar::Bytes(value.as_str()?.into()),
        DataType::Binary => Scalar::Bytes(latin1(value.as_str()?)),
        DataType::Decimal128(..) => {
            let bytes = latin1(value.as_str()?);
            let negative = bytes[0] & 0x80 != 0;
            let mut whole = [if negative { 0xff } else { 0 }; 32];
            whole[32 - bytes.len()..].copy_from_slice(&bytes);
            Scalar::Decimal(i256::from_be_bytes(whole))
        }
        _ => Scalar::Int(value.as_i64()?),
    })
}

fn rewritten_stats(of: StatsOf, record: &Value) -> Option<Vec<u8>> {
    let part = &record["ColumnStatsMetadata"];
    let value_type = &part["valueType"];
    let ordinal = value_type["typeOrdinal"].as_i64()?;
    // A log file without rows has no type, and only Java writes those.
    if ordinal <= 1 {
        return None;
    }
    let data_type = type_of(ordinal, value_type["additionalInfo"].as_str());
    let kind = ValueKind::of(&data_type, StatsVersion::Two).unwrap();
    let count = |field: &str| part[field].as_u64().unwrap();
    let counts = Counts {
        values: count("valueCount"),
        nulls: count("nullCount"),
        size: count("totalSize"),
        uncompressed: count("totalUncompressedSize"),
    };
    let scalars = ["minValue", "maxValue"].map(|field| scalar_of(&part[field], &data_type));
    let mut out = Vec::new();
    let bounds = |out: &mut Vec<u8>| {
        for scalar in &scalars {
            kind.put(scalar.as_ref().map_or(Bound::Null, Bound::Value), out);
        }
    };
    let (name, column) = (text(part, "fileName"), text(part, "columnName"));
    put_stats(
        of,
        name,
        column,
        counts,
        bounds,
        |out| kind.put_type(out),
        &mut out,
    );
    Some(out)
}

#[test]
fn statistics_are_written_as_spark_wrote_them() {
    for (partition, of, least) in [
        ("column_stats", StatsOf::File, 1500),
        ("partition_stats", StatsOf::Partition, 600),
    ] {
        let mut written = 0;
        each(partition, |record, bytes| {
            if let Some(out) = rewritten_stats(of, record) {
                assert_eq!(out, bytes, "{record}");
                written += 1;
            }
        });
        assert!(written > least, "{partition}: {written}");
    }
}

#[test]
fn ids_that_are_no_uuid_are_kept_as_text() {
    let check = |id: &str, expected| assert_eq!(uuid_and_index(id).is_some(), expected, "{id}");
    check("5fa27133-7a82-4124-9a6b-8a94c18ff8ef-0", true);
    check("5fa27133-7a82-4124-9a6b-8a94c18ff8ef", true);
    check("5fa27133-7a82-4124-9a6b-8a94c18ff8ef-00", false);
    check("5fa27133-7a82-4124-9a6b-8a94c18ff8ef-", false);
    check("5FA27133-7a82-4124-9a6b-8a94c18ff8ef-0", false);
    check("5fa271337-a82-4124-9a6b-8a94c18ff8ef-0", false);
    check("files-0000-0", false);
    check("ключ", false);
}

#[test]
fn deletes_are_written_as_spark_wrote_them() {
    let mut checked = 0;
    for table in support::tables() {
        for (path, content) in support::files(&table) {
            let Some(inside) = path.strip_prefix(".hoodie/metadata/") else {
                continue;
            };
            let partition = inside.split('/').next().unwrap();
            if !inside.contains(".log.") || !table.starts_with("v9_") {
                continue;
            }
            for (code, _, content) in frames(&content) {
                if code == 1 {
                    let keys = crate::codec::log_block::deletes(&content).unwrap();
                    let keys = keys.iter().map(|delete| delete.key.as_str());
                    assert_eq!(
                        delete_block(keys, partition).unwrap(),
                        content,
                        "{table} {path}"
                    );
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 100, "{checked}");
}
