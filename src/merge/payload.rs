//! Payload classes, which decide merging before table version 9, as rules.
//!
//! A payload has two methods: one merges two log rows, the other a log row with the base row. From 1.0 on readers call the
//! second for both; before, for table version 6, log rows are merged by the first, which picks by ordering value in every
//! class that does not say otherwise.
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
    let rules = match class.strip_prefix(PACKAGE)? {
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
            deletes: DeleteOrder::Ignored,
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
            deletes: match rules.deletes {
                DeleteOrder::Kept => DeleteOrder::Forgotten,
                other => other,
            },
            ..rules
        },
        TableVersion::Eight | TableVersion::Nine => rules,
    })
}
