use super::*;

fn check(line: &str, expected: Option<(&str, &str)>) {
    let found = data_file(line).ok();
    let expected =
        expected.map(|(partition, name)| (PartitionPath::new(partition), name.to_owned()));
    assert_eq!(found, expected, "{line}");
}

#[test]
fn markers_name_their_files_in_partitions_of_any_depth() {
    check("a.parquet.marker.CREATE", Some(("", "a.parquet")));
    check("x/a.parquet.marker.MERGE", Some(("x", "a.parquet")));
    check(
        "y=1/m=2/.f_1.log.1_0-1-2.marker.CREATE",
        Some(("y=1/m=2", ".f_1.log.1_0-1-2")),
    );
    check("x/.f_1.log.1.marker.APPEND", None);
    check("x/a.parquet", None);
}

#[test]
fn absolute_paths_have_one_slash_between_their_parts() {
    let file = |base, partition| absolute(base, &PartitionPath::new(partition), "a.parquet");
    assert_eq!(file("s3a://b/t/", "x/y"), "s3a://b/t/x/y/a.parquet");
    assert_eq!(file("/opt/t", ""), "/opt/t/a.parquet");
}
