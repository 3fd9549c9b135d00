//! What opening and asking costs, and stores that show a file before its content.

use super::store::Watched;
use super::support::{self, store};
use super::{open, time};
use hudi_wasm::timeline::table_schema;

#[test]
fn a_table_opens_with_two_requests_and_one_of_version_6_with_three() {
    let properties = "GET .hoodie/hoodie.properties";
    let timeline = "LIST .hoodie/timeline";
    for (name, expected) in [
        ("v9_cow_simple", vec![properties, timeline]),
        ("v6_cow_parts", vec![properties, timeline, "LIST .hoodie"]),
    ] {
        let store = Watched::new(store(name));
        open(store.clone()).unwrap();
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
