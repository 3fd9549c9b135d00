use super::*;
use crate::config::PartitionFieldKind;

/// A version 9 table; later lines win, as in Java.
fn text(lines: &str) -> String {
    let table = "hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=9\n\
                 hoodie.timeline.layout.version=2\nhoodie.table.recordkey.fields=id\n";
    let table = format!("{table}{lines}");
    let sum = properties::checksum(&properties::parse(table.as_bytes()).unwrap());
    format!("hoodie.table.checksum={sum}\n{table}")
}

fn parse(lines: &str) -> Result<TableConfig> {
    TableConfig::parse(text(lines).as_bytes())
}

#[test]
fn what_is_not_handled_is_refused_by_name() {
    let check = |lines: &str, code: &str, property: &str| {
        let error = parse(lines).unwrap_err();
        assert_eq!(
            (error.kind().code(), error.get("property")),
            (code, Some(property)),
            "{lines}"
        );
    };
    let version = "hoodie.table.version";
    for number in ["10", "7", "5", "0"] {
        check(&format!("{version}={number}\n"), "UNSUPPORTED", version);
    }
    check("hoodie.table.version=nine\n", "CORRUPT", version);
    check(
        "hoodie.table.base.file.format=LANCE\n",
        "UNSUPPORTED",
        "hoodie.table.base.file.format",
    );
    check(
        "hoodie.table.ro.file.format=ORC\n",
        "UNSUPPORTED",
        "hoodie.table.base.file.format",
    );
    check(
        "hoodie.table.base.file.format=HFILE\n",
        "UNSUPPORTED",
        "hoodie.table.base.file.format",
    );
    check(
        "hoodie.timeline.layout.version=3\n",
        "UNSUPPORTED",
        "hoodie.timeline.layout.version",
    );
    check(
        "hoodie.timeline.layout.version=1\n",
        "UNSUPPORTED",
        "hoodie.timeline.layout.version",
    );
    check(
        "hoodie.bootstrap.base.path=/old\n",
        "UNSUPPORTED",
        "hoodie.bootstrap.base.path",
    );
    check(
        "hoodie.table.format=iceberg\n",
        "UNSUPPORTED",
        "hoodie.table.format",
    );
    check(
        "hoodie.table.type=MERGE\n",
        "UNSUPPORTED",
        "hoodie.table.type",
    );
    check("hoodie.table.type=\n", "CORRUPT", "hoodie.table.type");
    check(
        "hoodie.table.timeline.timezone=CET\n",
        "UNSUPPORTED",
        "hoodie.table.timeline.timezone",
    );
    check(
        "hoodie.table.checksum=1\n",
        "CORRUPT",
        "hoodie.table.checksum",
    );
    check(
        "hoodie.table.checksum=\n",
        "CORRUPT",
        "hoodie.table.checksum",
    );
}

#[test]
fn the_key_generator_is_named_by_class_by_type_or_by_the_fields() {
    let check = |lines: &str, expected: KeyGeneratorType| {
        assert_eq!(*parse(lines).unwrap().keygen(), expected, "{lines}");
    };
    let class = "hoodie.table.keygenerator.class=org.apache.hudi.keygen";
    check(
        &format!("{class}.ComplexAvroKeyGenerator\n"),
        KeyGeneratorType::Complex,
    );
    check(
        &format!("{class}.NonpartitionedKeyGenerator\n"),
        KeyGeneratorType::NonPartition,
    );
    check(
        &format!("{class}.TimestampBasedKeyGenerator\nhoodie.table.keygenerator.type=SIMPLE\n"),
        KeyGeneratorType::Timestamp,
    );
    check(
        "hoodie.table.keygenerator.type=CUSTOM_AVRO\n",
        KeyGeneratorType::Custom,
    );
    check(
        "hoodie.table.keygenerator.type=SPARK_SQL_UUID\n",
        KeyGeneratorType::NonPartition,
    );
    check(
        "hoodie.table.keygenerator.class=my.Keys\n",
        KeyGeneratorType::UserProvided("my.Keys".to_owned()),
    );
    check("", KeyGeneratorType::NonPartition);
    let fields = "hoodie.table.partition.fields=";
    check(&format!("{fields}\n"), KeyGeneratorType::NonPartition);
    check(&format!("{fields}a\n"), KeyGeneratorType::Simple);
    check(&format!("{fields}a,b\n"), KeyGeneratorType::Complex);
    check(
        &format!("{fields}a\nhoodie.table.recordkey.fields=x,y\n"),
        KeyGeneratorType::Complex,
    );
    check(
        &format!("{fields}a\\:SIMPLE,b\\:timestamp\n"),
        KeyGeneratorType::Custom,
    );
}

#[test]
fn partition_fields_say_how_their_path_values_come_about() {
    let check = |lines: &str, expected: &[(&str, PartitionFieldKind)]| {
        let config = parse(lines).unwrap();
        let found: Vec<_> = config
            .partition_fields()
            .iter()
            .map(|f| (f.name.as_str(), f.kind))
            .collect();
        assert_eq!(found, expected, "{lines}");
    };
    let fields = "hoodie.table.partition.fields=";
    check("", &[]);
    check(
        &format!("{fields}a, b.c\n"),
        &[
            ("a", PartitionFieldKind::Simple),
            ("b.c", PartitionFieldKind::Simple),
        ],
    );
    check(
        &format!("{fields}a:SIMPLE,b:timestamp\n"),
        &[
            ("a", PartitionFieldKind::Simple),
            ("b", PartitionFieldKind::Timestamp),
        ],
    );
    check(
        &format!("{fields}ts\nhoodie.table.keygenerator.type=TIMESTAMP\n"),
        &[("ts", PartitionFieldKind::Timestamp)],
    );
    check(
        &format!(
            "{fields}a\nhoodie.table.keygenerator.class=org.apache.hudi.keygen.CustomKeyGenerator\n"
        ),
        &[("a", PartitionFieldKind::Unknown)],
    );
}

#[test]
fn defaults_are_those_of_hudi() {
    let config = parse("").unwrap();
    assert!(config.populate_meta_fields());
    assert!(!config.hive_style() && !config.url_encoded() && !config.drop_partition_columns());
    assert_eq!(config.timeline_zone(), TimelineZone::Local);
    assert_eq!(config.timeline_folder(), ".hoodie/timeline");
    assert_eq!(config.create_schema(), None);
}

#[test]
fn the_older_prefix_of_timestamp_parameters_still_counts() {
    let config = parse("hoodie.deltastreamer.keygen.timebased.output.dateformat=yyyy\n").unwrap();
    assert_eq!(config.keygen_timebased("output.dateformat"), Some("yyyy"));
    assert_eq!(config.keygen_timebased("timezone"), None);
}

#[test]
fn a_flipped_or_cut_file_never_panics_and_a_cut_one_is_never_taken_for_whole() {
    let whole = text(
        "hoodie.table.partition.fields=a\nhoodie.table.create.schema={\"type\"\\:\"record\"}\n",
    );
    let bytes = whole.as_bytes();
    for at in 0..bytes.len() {
        let mut flipped = bytes.to_vec();
        flipped[at] ^= 1 << (at % 8);
        let _ = TableConfig::parse(&flipped);
        if bytes[..at].last() != Some(&b'\n') {
            assert_eq!(
                TableConfig::parse(&bytes[..at]).unwrap_err().kind().code(),
                "CORRUPT",
                "cut at {at}"
            );
        }
    }
}
