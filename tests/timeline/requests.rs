//! What opening and asking costs, and stores that show a file before its content.

use super::support::watched::Watched;
use super::support::{self, store};
use super::{open, time};
use hudi_wasm::storage::{Storage, StorageOptions};
use hudi_wasm::timeline::{MetaClient, table_schema};

#[test]
fn a_table_of_any_version_opens_with_two_requests_in_one_round() {
    for name in ["v9_cow_simple", "v6_cow_parts"] {
        let store = Watched::new(store(name));
        open(store.clone()).unwrap();
        let mut asked = store.requests();
        assert!(asked.iter().all(|asked| asked.round == 1), "{asked:?}");
        asked.sort_by(|a, b| a.what.cmp(&b.what));
        let asked: Vec<_> = asked.iter().map(|asked| asked.what.as_str()).collect();
        let expected = ["GET .hoodie/hoodie.properties", "LIST .hoodie"];
        assert_eq!(asked, expected, "{name}");
    }
}

/// A host that shows its folders one by one, as a directory's page does.
#[test]
fn where_folders_are_listed_one_by_one_the_timeline_alone_is_listed() {
    let properties = "GET .hoodie/hoodie.properties";
    let timeline = "LIST .hoodie/timeline";
    for (name, expected) in [
        ("v9_cow_simple", vec![properties, timeline]),
        ("v6_cow_parts", vec![properties, timeline, "LIST .hoodie"]),
    ] {
        let store = Watched::new(store(name));
        let options = StorageOptions {
            lists_flat: false,
            ..StorageOptions::default()
        };
        let storage = Storage::new(store.clone(), options);
        support::block_on(MetaClient::load(storage)).unwrap();
        let mut asked = store.asked();
        asked.get_mut(..2).unwrap().sort();
        assert_eq!(asked, expected, "{name}");
    }
}

#[test]
fn questions_are_asked_when_needed_and_once() {
    let store = Watched::new(store("v9_cow_overwrite"));
    let meta = open(store.clone()).unwrap();
    store.asked();
    support::block_on(meta.check_as_of(None)).unwrap();
    assert_eq!(store.asked(), Vec::<String>::new());
    support::block_on(meta.check_as_of(Some(&time("20261129205042266")))).unwrap();
    assert_eq!(
        store.asked(),
        Vec::<String>::new(),
        "nothing was cleaned and nothing is pending"
    );
    support::block_on(table_schema::load(&meta, None)).unwrap();
    assert_eq!(store.asked().len(), 1);
    support::block_on(meta.replaced_file_groups()).unwrap();
    assert_eq!(store.asked().len(), 3);
    support::block_on(meta.replaced_file_groups()).unwrap();
    assert_eq!(store.asked(), Vec::<String>::new());
}

#[test]
fn a_file_that_is_empty_at_first_is_asked_for_again() {
    let store = Watched::new(store("v9_cow_simple"));
    let meta = open(store.clone()).unwrap();
    let newest = meta.timeline.latest_commit().unwrap();
    let path = &meta.timeline.file(newest, newest.state).unwrap().path;
    store.empty_at_first(path, 1);
    assert!(
        support::block_on(meta.commit_metadata(newest))
            .unwrap()
            .is_some()
    );
    store.empty_at_first(path, 100);
    let meta = open(store).unwrap();
    let newest = meta.timeline.latest_commit().unwrap();
    let answer = support::block_on(meta.commit_metadata(newest));
    assert_eq!(answer.unwrap(), None);
}
