//! The fixtures themselves: every table of `tests/data` unpacks and has its answers beside it.
#![cfg(not(target_arch = "wasm32"))]

mod support;

#[test]
fn every_table_has_its_properties_and_its_answers() {
    let tables = support::tables();
    assert_eq!(support::cow_tables().len(), 63);
    for name in &tables {
        let expected = support::expected(name);
        assert_eq!(expected["table"], name.as_str());
        assert!(
            !support::queries(&expected, "snapshot").is_empty(),
            "{name}"
        );
        let store = support::store(name);
        let properties = support::get(&store, ".hoodie/hoodie.properties");
        assert!(properties.starts_with(b"#"), "{name}");
    }
}

#[test]
fn the_page_of_the_fixtures_names_every_table() {
    let page = std::fs::read_to_string(support::data_folder().with_file_name("README.md")).unwrap();
    for name in support::tables() {
        assert!(
            page.contains(&format!("| {name} |")),
            "{name} is not in tests/README.md"
        );
    }
}
