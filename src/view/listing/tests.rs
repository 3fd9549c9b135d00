use std::sync::Arc;

use object_store::memory::InMemory;

use super::*;
use crate::storage::{ListingFacts, StorageOptions};
use crate::support::{block_on, put, store};

/// A table without content but for the names of its files.
fn named(paths: &[String]) -> Storage {
    let memory = InMemory::new();
    for path in paths {
        put(&memory, path, Vec::new());
    }
    Storage::new(Arc::new(memory), StorageOptions::default())
}

fn paths(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn list(storage: Storage, partitioned: bool) -> Vec<(String, Vec<String>)> {
    let listing = DirectoryListing::new(storage, partitioned);
    let found = block_on(listing.load(&PartitionPruner::none())).unwrap();
    let names = |files: Vec<ObjectMeta>| files.into_iter().map(|file| file.path).collect();
    found
        .into_iter()
        .map(|p| (p.partition.to_string(), names(p.files)))
        .collect()
}

#[test]
fn folders_with_a_metafile_are_partitions_at_any_depth() {
    let storage = named(&paths(&[
        ".hoodie/hoodie.properties",
        ".hoodie/metadata/files/.hoodie_partition_metadata",
        ".hoodie/metadata/files/files-0000-0_0-0-0_20260101000000000.hfile",
        "a/.hoodie_partition_metadata",
        "a/1.parquet",
        "a/b/.hoodie_partition_metadata.parquet",
        "a/b/2.parquet",
        "2024/01/03/.hoodie_partition_metadata.orc",
        "2024/01/03/3.parquet",
        "2024/01/stray.parquet",
        "stray/4.parquet",
        "5.parquet",
        ".hoodiex/.hoodie_partition_metadata",
    ]));
    let expected = [
        (".hoodiex", vec![]),
        ("2024/01/03", vec!["2024/01/03/3.parquet"]),
        ("a", vec!["a/1.parquet"]),
        ("a/b", vec!["a/b/2.parquet"]),
    ];
    let expected: Vec<_> = expected
        .iter()
        .map(|(p, files)| ((*p).to_owned(), paths(files)))
        .collect();
    assert_eq!(list(storage, true), expected);
}

#[test]
fn a_table_without_partitions_is_its_own_folder() {
    let storage = named(&paths(&[
        ".hoodie/hoodie.properties",
        ".hoodie_partition_metadata",
        "1.parquet",
        "stray/2.parquet",
    ]));
    let expected = (
        String::new(),
        paths(&[".hoodie_partition_metadata", "1.parquet"]),
    );
    assert_eq!(list(storage, false), [expected]);
}

#[test]
fn very_many_folders_are_listed_flat_with_the_same_outcome() {
    let mut names = paths(&[
        ".hoodie/hoodie.properties",
        ".hoodie_partition_metadata_not",
    ]);
    let mut expected = Vec::new();
    let odd = [
        "!",
        "#",
        "%25",
        "+",
        "-",
        ".a",
        ".hoodie.x",
        ".hoodie0",
        ".hoodiez",
        "0",
        "~",
        "é",
    ]
    .map(str::to_owned);
    for folder in (0..100).map(|i| format!("day={i:03}")).chain(odd) {
        names.push(format!("{folder}/.hoodie_partition_metadata"));
        names.push(format!("{folder}/f.parquet"));
        expected.push((folder.clone(), vec![format!("{folder}/f.parquet")]));
    }
    expected.sort();
    assert_eq!(list(named(&names), true), expected);
}

#[test]
fn every_partition_that_spark_made_is_found() {
    for (name, count, first) in [
        ("v9_cow_partition_types", 13, "region=100%25/day=2024-02-29"),
        ("v9_cow_timestamp_keygen", 5, "1969/12/31"),
        ("v9_cow_custom_keygen", 5, "region=eu/happened=2024-03-02"),
        ("v9_cow_nonhive_multi", 4, "apac/kyoto"),
        ("v6_cow_legacy", 2, "ams"),
    ] {
        let found = list(Storage::new(store(name), StorageOptions::default()), true);
        assert_eq!((found.len(), found[0].0.as_str()), (count, first), "{name}");
        assert!(found.iter().all(|(_, files)| !files.is_empty()));
    }
}

#[test]
fn where_dot_names_are_hidden_a_folder_with_a_base_file_is_a_partition() {
    let memory = InMemory::new();
    for path in [
        "a/f1-0_0-1-2_20260101000000000.parquet",
        "a/b/notes.txt",
        "c/d/f2-0_0-1-2_20260101000000000.parquet",
    ] {
        put(&memory, path, Vec::new());
    }
    let options = StorageOptions {
        listing: ListingFacts {
            dot_names_hidden: true,
            ..ListingFacts::default()
        },
        ..StorageOptions::default()
    };
    let found = list(Storage::new(Arc::new(memory), options), true);
    let partitions: Vec<&str> = found
        .iter()
        .map(|(partition, _)| partition.as_str())
        .collect();
    assert_eq!(partitions, ["a", "c/d"]);
}
