use std::collections::BTreeMap;

use super::*;
use crate::error::ErrorKind;

const EVENT: &str = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5";
const COMMIT: &str = "ce9acb64-bde0-424c-9b91-f6ebba25356d";
const OF_PAYLOAD: &str = "00000000-0000-0000-0000-000000000000";
const MODEL: &str = "org.apache.hudi.common.model.";

fn config(version: u8, pairs: &[(&str, &str)]) -> TableConfig {
    let mut properties: BTreeMap<&str, String> = BTreeMap::new();
    let layout = if version == 6 { "1" } else { "2" };
    properties.insert("hoodie.table.name", "t".to_owned());
    properties.insert("hoodie.table.type", "MERGE_ON_READ".to_owned());
    properties.insert("hoodie.table.version", version.to_string());
    properties.insert("hoodie.timeline.layout.version", layout.to_owned());
    properties.insert("hoodie.table.recordkey.fields", "id".to_owned());
    // CRC-32 of ".t".
    properties.insert("hoodie.table.checksum", crc32fast::hash(b".t").to_string());
    for (key, value) in pairs {
        properties.insert(key, (*value).to_owned());
    }
    let lines = properties
        .iter()
        .map(|(key, value)| format!("{key}={value}\n"));
    TableConfig::parse(lines.collect::<String>().as_bytes()).unwrap()
}

fn rules(version: u8, pairs: &[(&str, &str)]) -> MergeRules {
    MergeRules::from_config(&config(version, pairs)).unwrap()
}

fn winners(version: u8, pairs: &[(&str, &str)]) -> (Winner, Winner) {
    let rules = rules(version, pairs);
    (rules.in_logs, rules.over_base)
}

fn check_refused(version: u8, pairs: &[(&str, &str)], property: &str, value: &str) {
    let error = MergeRules::from_config(&config(version, pairs)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{pairs:?}");
    assert_eq!(error.get("property"), Some(property), "{pairs:?}");
    assert_eq!(error.get("value"), Some(value), "{pairs:?}");
}

#[test]
fn a_mode_decides_from_version_8_on() {
    let both = |winner| (winner, winner);
    for version in [8, 9] {
        let mode = |mode| winners(version, &[(MERGE_MODE, mode)]);
        assert_eq!(mode("COMMIT_TIME_ORDERING"), both(Winner::Later));
        assert_eq!(mode("EVENT_TIME_ORDERING"), both(Winner::Greater));
        let with_id = [(MERGE_MODE, "EVENT_TIME_ORDERING"), (STRATEGY_ID, EVENT)];
        assert_eq!(winners(version, &with_id), both(Winner::Greater));
    }
}

#[test]
fn without_a_mode_the_strategy_decides_then_the_class_then_the_ordering_field() {
    let both = |winner| (winner, winner);
    let default = format!("{MODEL}DefaultHoodieRecordPayload");
    let overwrite = format!("{MODEL}OverwriteWithLatestAvroPayload");
    let ordering = ("hoodie.table.precombine.field", "ts");
    assert_eq!(winners(8, &[]), both(Winner::Later));
    assert_eq!(winners(8, &[ordering]), both(Winner::Greater));
    assert_eq!(
        winners(8, &[(PAYLOAD_CLASS, &default)]),
        both(Winner::Greater)
    );
    assert_eq!(
        winners(8, &[(PAYLOAD_CLASS, &overwrite), ordering]),
        both(Winner::Later)
    );
    let id_wins = [(PAYLOAD_CLASS, default.as_str()), (STRATEGY_ID, COMMIT)];
    assert_eq!(winners(8, &id_wins), both(Winner::Later));
}

#[test]
fn version_6_goes_by_its_payload_class_and_picks_among_log_rows_by_ordering() {
    let default = format!("{MODEL}DefaultHoodieRecordPayload");
    let overwrite = format!("{MODEL}OverwriteWithLatestAvroPayload");
    let usual = (OLD_STRATEGY_ID, EVENT);
    let of_latest = (Winner::Greater, Winner::Later);
    assert_eq!(winners(6, &[(PAYLOAD_CLASS, &overwrite), usual]), of_latest);
    assert_eq!(winners(6, &[]), of_latest);
    let of_default = (Winner::Greater, Winner::Greater);
    assert_eq!(winners(6, &[(PAYLOAD_CLASS, &default), usual]), of_default);
}

#[test]
fn several_ordering_fields_are_several_columns_and_the_newer_key_counts() {
    let both = [
        (MERGE_MODE, "EVENT_TIME_ORDERING"),
        ("hoodie.table.ordering.fields", "ts, seq"),
        ("hoodie.table.precombine.field", "old"),
    ];
    assert_eq!(rules(9, &both).ordering, ["ts", "seq"]);
    let old = [("hoodie.table.precombine.field", "old")];
    assert_eq!(rules(6, &old).ordering, ["old"]);
}

#[test]
fn a_partial_update_mode_is_honoured_with_its_marker() {
    let mode = |mode| vec![(MERGE_MODE, "COMMIT_TIME_ORDERING"), (PARTIAL_MODE, mode)];
    assert_eq!(
        rules(9, &mode("IGNORE_DEFAULTS")).fill,
        Some(Fill::Defaults)
    );
    let mut marked = mode("FILL_UNAVAILABLE");
    for key in [UNAVAILABLE, UNAVAILABLE_SHORT] {
        let key = format!("{PROPERTY_PREFIX}{key}");
        let mut marked = marked.clone();
        marked.push((key.as_str(), "__gone__"));
        let fill = rules(9, &marked).fill;
        assert_eq!(fill, Some(Fill::Unavailable("__gone__".to_owned())));
    }
    check_refused(9, &marked, PARTIAL_MODE, "FILL_UNAVAILABLE");
    marked.pop();
    check_refused(9, &mode("FILL_UNCHANGED"), PARTIAL_MODE, "FILL_UNCHANGED");
}

#[test]
fn what_is_not_known_is_refused_by_its_name() {
    let mine = "com.example.MyPayload";
    check_refused(6, &[(PAYLOAD_CLASS, mine)], PAYLOAD_CLASS, mine);
    let custom = (MERGE_MODE, "CUSTOM");
    let by_class = [custom, (PAYLOAD_CLASS, mine), (STRATEGY_ID, OF_PAYLOAD)];
    check_refused(9, &by_class, PAYLOAD_CLASS, mine);
    let id = "1897ef5f-18bc-4557-939c-9d6a8afd1519";
    check_refused(9, &[custom, (STRATEGY_ID, id)], STRATEGY_ID, id);
    check_refused(8, &[(STRATEGY_ID, id)], STRATEGY_ID, id);
    check_refused(6, &[(OLD_STRATEGY_ID, id)], OLD_STRATEGY_ID, id);
    check_refused(9, &[(MERGE_MODE, "NEW")], MERGE_MODE, "NEW");
    check_refused(9, &[custom], MERGE_MODE, "CUSTOM");
    let against = [(MERGE_MODE, "COMMIT_TIME_ORDERING"), (STRATEGY_ID, EVENT)];
    check_refused(9, &against, STRATEGY_ID, EVENT);
    let field = format!("{PROPERTY_PREFIX}{DELETE_FIELD}");
    check_refused(9, &[(&field, "op")], DELETE_FIELD, "op");
}

#[test]
fn a_custom_table_of_version_8_goes_by_its_known_class() {
    let of = |class: &str| {
        let class = format!("{MODEL}{class}");
        let pairs = [
            (MERGE_MODE, "CUSTOM"),
            (PAYLOAD_CLASS, class.as_str()),
            (STRATEGY_ID, OF_PAYLOAD),
        ];
        rules(8, &pairs)
    };
    let dms = of("AWSDmsAvroPayload");
    assert_eq!(dms.delete_mark, Some(("Op".to_owned(), "D".to_owned())));
    assert_eq!(dms.over_base, Winner::Later);
    let filled = of("OverwriteNonDefaultsWithLatestAvroPayload");
    assert_eq!(
        (filled.over_base, filled.fill),
        (Winner::Later, Some(Fill::Defaults))
    );
    let partial = of("PartialUpdateAvroPayload");
    assert_eq!(
        (partial.over_base, partial.fill),
        (Winner::Greater, Some(Fill::Defaults))
    );
    let postgres = of("debezium.PostgresDebeziumAvroPayload");
    assert_eq!(postgres.ordering, ["_event_lsn"]);
    assert_eq!(
        postgres.fill,
        Some(Fill::Unavailable("__debezium_unavailable_value".to_owned()))
    );
    let mysql = of("debezium.MySqlDebeziumAvroPayload");
    assert!(mysql.sequence && mysql.delete_mark == postgres.delete_mark);
}
