use super::*;
use crate::error::ErrorKind;
use crate::model::TimelineLayout;

fn meta(path: &str) -> ObjectMeta {
    ObjectMeta {
        path: path.to_owned(),
        size: 1,
        etag: None,
        modified_millis: None,
    }
}

fn timeline(names: &[&str], version: TableVersion) -> Timeline {
    let files: Vec<_> = names
        .iter()
        .map(|name| meta(&format!(".hoodie/{name}")))
        .collect();
    let layout: TimelineLayout = version.layout();
    Timeline::of_files(&files, layout)
}

/// The groups as `id: instant base|- [logs]; …`, of files in any order.
fn shown(
    names: &[&str],
    instants: &[&str],
    version: TableVersion,
    as_of: Option<&str>,
) -> Vec<String> {
    let timeline = timeline(instants, version);
    let as_of = as_of.map(|text| InstantTime::parse(text).unwrap());
    let groups = |files: Vec<ObjectMeta>| {
        let partition = PartitionPath::new("p");
        file_groups(
            vec![PartitionFiles { partition, files }],
            &timeline,
            version,
            as_of.as_ref(),
        )
        .unwrap()
    };
    let files: Vec<_> = names
        .iter()
        .map(|name| meta(&format!("p/{name}")))
        .collect();
    let backwards = groups(files.iter().rev().cloned().collect());
    let groups = groups(files);
    assert_eq!(groups, backwards, "the order of arrival matters");
    groups.iter().map(show).collect()
}

fn show(group: &FileGroup) -> String {
    let slices = group.slices.iter().map(|slice| {
        assert_eq!(
            (&slice.partition, &slice.file_id),
            (&group.partition, &group.file_id)
        );
        let base = slice
            .base
            .as_ref()
            .map_or("-", |base| base.name.write_token.as_str());
        let logs = slice.logs.iter().map(|log| {
            format!(
                " {}.{}{}",
                &log.name.instant.as_str()[..14],
                log.name.version,
                if log.name.cdc { "c" } else { "" }
            )
        });
        format!(
            "{} {base}{}",
            &slice.instant.as_str()[..14],
            logs.collect::<String>()
        )
    });
    format!(
        "{}: {}",
        group.file_id,
        slices.collect::<Vec<_>>().join("; ")
    )
}

use TableVersion::{Nine, Six};

#[test]
fn only_files_of_committed_instants_make_slices() {
    let names = [
        "f_0-0-1_20260101000000000.parquet", // archived
        "f_0-0-2_20260102000000000.parquet", // completed
        "f_0-0-3_20260103000000000.parquet", // inflight
        "f_0-0-4_20260104000000000.parquet", // rolled back
        "f_0-0-5_20260105000000000.parquet", // on no timeline
        "g_0-0-3_20260103000000000.parquet",
        ".hoodie_partition_metadata",
        "part-0.snappy.parquet",
        "_SUCCESS",
    ];
    let instants = [
        "20260102000000000_20260102000001000.commit",
        "20260103000000000.commit.requested",
        "20260103000000000.inflight",
        "20260104500000000_20260104500001000.rollback",
        "20260106000000000_20260106000001000.commit",
    ];
    let both = "f: 20260101000000 0-0-1; 20260102000000 0-0-2";
    assert_eq!(shown(&names, &instants, Nine, None), [both]);
    assert_eq!(
        shown(&names, &instants, Nine, Some("20260102000000000")),
        [both]
    );
    let first = "f: 20260101000000 0-0-1";
    assert_eq!(
        shown(&names, &instants, Nine, Some("20260101235959999")),
        [first]
    );
    assert!(shown(&names, &instants, Nine, Some("20250101000000000")).is_empty());
}

#[test]
fn a_commit_counts_by_its_request_time_though_it_completed_later() {
    let names = ["f_0-0-1_20260101000000000.parquet"];
    let instants = ["20260101000000000_20260109000000000.commit"];
    let found = shown(&names, &instants, Nine, Some("20260101000000000"));
    assert_eq!(found, ["f: 20260101000000 0-0-1"]);
}

#[test]
fn logs_of_version_6_lie_under_their_base_instant() {
    // v6_mor_parts, partition bru.
    let names = [
        ".2e425033-0_20261129203640896.log.1_0-39-52",
        ".2e425033-0_20261129203640896.log.2_0-75-94",
        ".2e425033-0_20261129203640896.log.10_0-107-132",
        "2e425033-0_0-12-15_20261129203640896.parquet",
        "a2bff8c2-0_1-107-133_20261129203659156.parquet",
    ];
    let instants = [
        "20261129203640896.deltacommit",
        "20261129203652383.deltacommit",
        "20261129203659156.deltacommit",
    ];
    let found = shown(&names, &instants, Six, None);
    let logs = "20261129203640.1 20261129203640.2 20261129203640.10";
    assert_eq!(
        found,
        [
            format!("2e425033-0: 20261129203640 0-12-15 {logs}"),
            "a2bff8c2-0: 20261129203659 1-107-133".to_owned(),
        ]
    );
    assert!(shown(&names, &instants, Six, Some("20261129203640895")).is_empty());
}

#[test]
fn in_version_6_logs_of_a_pending_compaction_go_on_with_the_slice_before() {
    let names = [
        "f_0-0-1_20260101000000000.parquet",
        ".f_20260101000000000.log.1_0-0-1",
        ".f_20260103000000000.log.1_0-0-1",
    ];
    let mut instants = vec![
        "20260101000000000.deltacommit",
        "20260102000000000.deltacommit",
        "20260103000000000.compaction.requested",
        "20260104000000000.deltacommit",
    ];
    let pending = "f: 20260101000000 0-0-1 20260101000000.1 20260103000000.1";
    assert_eq!(shown(&names, &instants, Six, None), [pending]);
    // The compaction has made its file, and is not completed yet.
    let mut names = names.to_vec();
    names.push("f_9-9-9_20260103000000000.parquet");
    instants.push("20260103000000000.compaction.inflight");
    assert_eq!(shown(&names, &instants, Six, None), [pending]);
    instants.push("20260103000000000.commit");
    assert_eq!(
        shown(&names, &instants, Six, None),
        ["f: 20260101000000 0-0-1 20260101000000.1; 20260103000000 9-9-9 20260103000000.1"]
    );
    // Before the compaction was requested its logs were not there.
    assert_eq!(
        shown(&names, &instants, Six, Some("20260102000000000")),
        ["f: 20260101000000 0-0-1 20260101000000.1"]
    );
}

#[test]
fn in_version_6_a_group_of_logs_under_an_instant_that_never_completed_is_none() {
    let names = [
        ".f_20260102000000000.log.1_0-0-1",
        ".g_20260101000000000.log.1_0-0-1",
    ];
    let instants = [
        "20260101000000000.deltacommit",
        "20260102000000000.deltacommit.inflight",
    ];
    assert_eq!(
        shown(&names, &instants, Six, None),
        ["g: 20260101000000 - 20260101000000.1"]
    );
}

#[test]
fn logs_of_version_9_belong_to_the_newest_base_at_their_completion() {
    let names = [
        "f_0-0-1_20260101000000000.parquet",
        ".f_20260102000000000.log.1_0-0-2",
        // Requested before the compaction and completed after it was requested: not in its plan.
        ".f_20260103000000000.log.1_0-0-3",
        "f_0-0-4_20260104000000000.parquet",
        ".f_20260105000000000.log.2_0-0-5",
        ".f_20260105000000000.log.1_0-0-5",
        ".f_20260106000000000.log.1_0-0-6", // inflight
        ".g_20260105000000000.log.1_0-0-5",
        ".g_20260102000000000.log.1_0-0-5",
    ];
    let instants = [
        "20260101000000000_20260101000001000.deltacommit",
        "20260102000000000_20260102000001000.deltacommit",
        "20260103000000000_20260104000000001.deltacommit",
        "20260104000000000_20260104000009000.commit",
        "20260105000000000_20260105000001000.deltacommit",
        "20260106000000000.deltacommit.inflight",
    ];
    assert_eq!(
        shown(&names, &instants, Nine, None),
        [
            "f: 20260101000000 0-0-1 20260102000000.1; \
             20260104000000 0-0-4 20260103000000.1 20260105000000.1 20260105000000.2",
            "g: 20260102000000 - 20260102000000.1 20260105000000.1",
        ]
    );
    // As of the log's request the compaction was not there, so the log counts over the older base.
    assert_eq!(
        shown(&names, &instants, Nine, Some("20260103000000000")),
        [
            "f: 20260101000000 0-0-1 20260102000000.1 20260103000000.1",
            "g: 20260102000000 - 20260102000000.1",
        ]
    );
}

#[test]
fn a_log_whose_completion_nobody_asked_for_lies_where_its_request_does() {
    let names = [
        "f_0-0-1_20260101000000000.parquet",
        ".f_20260102000000000.log.1_0-0-2",
        "f_0-0-3_20260103000000000.parquet",
    ];
    let instants = ["20260104000000000_20260104000001000.deltacommit"];
    assert_eq!(
        shown(&names, &instants, Nine, None),
        ["f: 20260101000000 0-0-1 20260102000000.1; 20260103000000 0-0-3"]
    );
}

#[test]
fn change_logs_are_kept_beside_a_base_and_make_no_slice_alone() {
    // v9_mor_cdc, partition ams: the last log holds changes that the compaction wrote.
    let names = [
        ".6b5b8ef1-0_20261129205956935.log.1_1-5198-8117",
        ".6b5b8ef1-0_20261129210009600.log.1_1-5275-8227.cdc",
        "6b5b8ef1-0_1-5174-8083_20261129205953406.parquet",
        "6b5b8ef1-0_1-5275-8227_20261129210009600.parquet",
        ".alone-0_20261129205956935.log.1_0-0-0.cdc",
    ];
    let instants = [
        "20261129205953406_20261129205956752.deltacommit",
        "20261129205956935_20261129210000539.deltacommit",
        "20261129210009600_20261129210016713.commit",
    ];
    assert_eq!(
        shown(&names, &instants, Nine, None),
        ["6b5b8ef1-0: 20261129205953 1-5174-8083 20261129205956.1; \
          20261129210009 1-5275-8227 20261129210009.1c"]
    );
}

#[test]
fn of_two_files_of_one_instant_the_last_name_counts() {
    let names = [
        "f_1-0-1_20260101000000000.parquet",
        "f_0-0-1_20260101000000000.parquet",
    ];
    let instants = ["20260101000000000_20260101000001000.commit"];
    assert_eq!(
        shown(&names, &instants, Nine, None),
        ["f: 20260101000000 1-0-1"]
    );
}

#[test]
fn a_log_of_a_newer_table_version_is_refused_once_it_is_committed() {
    let instants = ["20260101000000000_20260101000001000.deltacommit"];
    let timeline = timeline(&instants, Nine);
    let groups = |name: &str| {
        let files = vec![meta(name)];
        let partition = PartitionPath::default();
        file_groups(
            vec![PartitionFiles { partition, files }],
            &timeline,
            Nine,
            None,
        )
    };
    let name = "f_0-0-1_20260101000000000_1.log.parquet";
    let error = groups(name).unwrap_err();
    assert_eq!(
        (error.kind(), error.get("path")),
        (ErrorKind::Unsupported, Some(name))
    );
    assert!(
        groups("f_0-0-1_20260102000000000_1.log.parquet")
            .unwrap()
            .is_empty()
    );
}
