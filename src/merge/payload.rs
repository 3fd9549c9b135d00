//! Payload classes, which decide merging before table version 9, as rules.
//!
//! A payload has two methods: one merges two log rows, the other a log row with the base row. From 1.0 on readers call the
//! second for both; before, for table version 6, log rows are merged by the first, which picks by ordering value in every
//! class that does not say otherwise. Deletes are not the payload's: 0.15 holds them against earlier log rows by their ordering
//! value, 1.0 against the base row too, whatever the class. Releases differ on tables of older versions; a table is merged as by
//! the release that writes its version, which `v6_mor_payload_*` and `v8_mor_payload_*` of `tests/data` hold.
//!
//! | class | log row over base row |
//! |---|---|
//! | `OverwriteWithLatestAvroPayload` | the log row |
//! | `DefaultHoodieRecordPayload`, `EventTimeAvroPayload` | the greater ordering value |
//! | `OverwriteNonDefaultsWithLatestAvroPayload` | the log row, its defaults filled from the base row |
//! | `PartialUpdateAvroPayload` | the greater ordering value, its nulls filled from the other; meta fields of the log row |
//! | `AWSDmsAvroPayload` | the log row, a delete where `Op` is `D` |
//! | `PostgresDebeziumAvroPayload` | the greater `_event_lsn`, unavailable values filled; a delete where `_change_operation_type` is `d` |
//! | `MySqlDebeziumAvroPayload` | the greater `_event_seq`, binlog file and position; deletes as above |

use super::rules::{DeleteOrder, Fill, MergeRules, Winner};
use crate::model::TableVersion;

pub(super) const OVERWRITE_WITH_LATEST: &str =
    "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload";

const PACKAGE: &str = "org.apache.hudi.common.model.";
const OPERATION_OF_DEBEZIUM: &str = "_change_operation_type";
const UNAVAILABLE_OF_DEBEZIUM: &str = "__debezium_unavailable_value";

/// The rules of a class in a table of version 6 or 8; `None` for a class that is not known.
pub(super) fn rules(rules: MergeRules, version: TableVersion, class: &str) -> Option<MergeRules> {
    let mark = |field: &str, marker: &str| {
        let own = rules.delete_mark.clone();
        own.or_else(|| Some((field.to_owned(), marker.to_owned())))
    };
    let name = class.strip_prefix(PACKAGE)?;
    // From 1.0 on these three stand for merge modes, and no method of theirs is called.
    let is_mode = matches!(
        name,
        "OverwriteWithLatestAvroPayload" | "DefaultHoodieRecordPayload" | "EventTimeAvroPayload"
    );
    let rules = match name {
        "OverwriteWithLatestAvroPayload" => rules,
        "DefaultHoodieRecordPayload" | "EventTimeAvroPayload" => rules.with_winner(Winner::Greater),
        "OverwriteNonDefaultsWithLatestAvroPayload" => MergeRules {
            fill: Some(Fill::Defaults),
            fill_in_logs: version != TableVersion::Six,
            ..rules
        },
        "PartialUpdateAvroPayload" => MergeRules {
            fill: Some(Fill::Defaults),
            meta_of_later: true,
            ..rules.with_winner(Winner::Greater)
        },
        "AWSDmsAvroPayload" => MergeRules {
            delete_mark: mark("Op", "D"),
            ..rules
        },
        "debezium.PostgresDebeziumAvroPayload" => MergeRules {
            ordering: vec!["_event_lsn".to_owned()],
            fill: Some(Fill::Unavailable(UNAVAILABLE_OF_DEBEZIUM.to_owned())),
            fill_in_logs: version != TableVersion::Six,
            delete_mark: mark(OPERATION_OF_DEBEZIUM, "d"),
            ..rules.with_winner(Winner::Greater)
        },
        "debezium.MySqlDebeziumAvroPayload" => MergeRules {
            ordering: vec!["_event_seq".to_owned()],
            sequence: true,
            delete_mark: mark(OPERATION_OF_DEBEZIUM, "d"),
            ..rules.with_winner(Winner::Greater)
        },
        _ => return None,
    };
    Some(match version {
        TableVersion::Six => MergeRules {
            in_logs: Winner::Greater,
            may_lack_ordering: true,
            deletes: DeleteOrder::Forgotten,
            ..rules
        },
        TableVersion::Eight | TableVersion::Nine if is_mode => rules,
        TableVersion::Eight | TableVersion::Nine => MergeRules {
            deletes: DeleteOrder::Always,
            ..rules
        },
    })
}
