use super::*;
use crate::model::TimelineLayout;
use crate::storage::ObjectMeta;

fn timeline(names: &str) -> Timeline {
    let file = |name: &str| ObjectMeta {
        path: format!("202601010000000{name}"),
        size: 1,
        etag: None,
        modified_millis: None,
    };
    let files: Vec<_> = names.split_whitespace().map(file).collect();
    Timeline::of_files(&files, TimelineLayout::One)
}

#[track_caller]
fn check(names: &str, retained: usize, expected: Option<&str>) {
    let timeline = timeline(names);
    let found = earliest_to_retain(&timeline, retained);
    let found = found.map(|instant| instant.time.as_str().trim_start_matches("202601010000000"));
    assert_eq!(found, expected);
}

#[test]
fn so_many_writes_from_the_end_are_retained_and_what_a_pending_one_needs() {
    let three = "10.commit 20.commit 30.commit";
    check(three, 3, None);
    check(three, 2, Some("20"));
    check(three, 1, Some("30"));
    check(&format!("{three} 40.inflight"), 1, Some("30"));
    check(&format!("{three} 15.inflight"), 1, Some("15"));
    check(&format!("{three} 05.compaction.requested"), 1, Some("05"));
    check(
        &format!("{three} 05.clean.requested 15.rollback"),
        1,
        Some("30"),
    );
}

/// A pending log compaction holds no commit back; the logs that it is to read begin at its base instant.
#[test]
fn slices_that_a_pending_compaction_begins_at_stay() {
    let time = |at: &str| InstantTime::parse(&format!("202601010000000{at}")).unwrap();
    let slice = |at: &str| FileSlice {
        partition: PartitionPath::new("p"),
        file_id: "f".to_owned(),
        instant: time(at),
        base: None,
        logs: Vec::new(),
    };
    let group = FileGroup {
        partition: PartitionPath::new("p"),
        file_id: "f".to_owned(),
        slices: ["10", "20", "30", "40"].map(slice).into(),
    };
    let removed = |compacting: &[(&str, &str)]| {
        let of = |(file, at): &(&str, &str)| {
            let group = (PartitionPath::new("p"), (*file).to_owned());
            (group, time(at))
        };
        let needed = Needed {
            saved: BTreeSet::new(),
            compacting: compacting.iter().map(of).collect(),
        };
        let old = old_slices(&group, &time("40"), &needed).into_iter();
        old.map(|slice| slice.instant.to_string())
            .collect::<Vec<_>>()
    };
    // The newest before the first retained instant is 30.
    let both = [time("10").to_string(), time("20").to_string()];
    assert_eq!(removed(&[]), both);
    assert_eq!(removed(&[("g", "20")]), both);
    assert_eq!(removed(&[("f", "20")]), both[..1]);
}

/// By Hudi's rule, on four commits of Spark: the newest slice of each group and the one before the retained commit stay.
#[cfg(not(target_arch = "wasm32"))]
#[test]
fn a_slice_is_cleaned_with_its_change_logs() {
    use crate::support::{block_on, store};
    block_on(async {
        let (meta, _) = crate::commit::support::open(&store("v9_cow_cdc"), &[]).await;
        let plan = plan(&meta, 1, "/t").await.unwrap().unwrap();
        let removed = plan.file_paths_to_be_deleted_per_partition.into_iter();
        let removed = removed.map(|(partition, files)| {
            let paths = files.into_iter().filter_map(|file| file.file_path);
            (partition, paths.collect::<BTreeSet<_>>())
        });
        let expected = [
            (
                "city=ams",
                [
                    ".4c0f7187-e5c7-4a4d-bd5d-02411451878d-0_20261129205821981.log.1_1-4814-7559.cdc",
                    "4c0f7187-e5c7-4a4d-bd5d-02411451878d-0_1-4790-7525_20261129205818171.parquet",
                    "4c0f7187-e5c7-4a4d-bd5d-02411451878d-0_1-4814-7559_20261129205821981.parquet",
                ],
            ),
            (
                "city=bru",
                [
                    ".df2c5a10-5c64-4fda-9f3f-08421b824afd-0_20261129205821981.log.1_0-4814-7558.cdc",
                    "df2c5a10-5c64-4fda-9f3f-08421b824afd-0_0-4790-7524_20261129205818171.parquet",
                    "df2c5a10-5c64-4fda-9f3f-08421b824afd-0_0-4814-7558_20261129205821981.parquet",
                ],
            ),
        ];
        let expected = expected.map(|(partition, names)| {
            let paths = names.map(|name| format!("/t/{partition}/{name}"));
            (partition.to_owned(), BTreeSet::from(paths))
        });
        assert_eq!(
            removed.collect::<BTreeMap<_, _>>(),
            BTreeMap::from(expected)
        );
    });
}
