//! What a table's properties say of merging.
//!
//! | properties | rule |
//! |---|---|
//! | `hoodie.record.merge.mode` = `COMMIT_TIME_ORDERING` | the later version wins |
//! | `EVENT_TIME_ORDERING` | the version with the greater ordering value wins, of equal ones the later |
//! | `CUSTOM` with a known payload class | as `payload.rs` says |
//! | no mode, version 8 and later | the strategy's id, else the payload class, else by ordering field or not |
//! | version 6 | the payload class, which is `OverwriteWithLatestAvroPayload` when none is named |
//! | `hoodie.table.partial.update.mode` | how a version is filled from the one it wins over |
//! | `hoodie.record.merge.property.*` | marks of deletes, and of values that are not available |
//!
//! Whatever is not in the table is refused by its name: rows merged by a wrong rule would be wrong without an error.

use super::payload;
use crate::config::{Properties, TableConfig};
use crate::error::{Error, Result};
use crate::model::TableVersion;

const MERGE_MODE: &str = "hoodie.record.merge.mode";
const STRATEGY_ID: &str = "hoodie.record.merge.strategy.id";
/// How version 6 spells [`STRATEGY_ID`].
const OLD_STRATEGY_ID: &str = "hoodie.compaction.record.merger.strategy";
const PAYLOAD_CLASS: &str = "hoodie.compaction.payload.class";
const PARTIAL_MODE: &str = "hoodie.table.partial.update.mode";
const PROPERTY_PREFIX: &str = "hoodie.record.merge.property.";
const DELETE_FIELD: &str = "hoodie.payload.delete.field";
const DELETE_MARKER: &str = "hoodie.payload.delete.marker";
const UNAVAILABLE: &str = "hoodie.write.partial.update.unavailable.value";
/// Another spelling that other readers look for.
const UNAVAILABLE_SHORT: &str = "partial.update.unavailable.value";

const EVENT_TIME_ID: &str = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5";
const COMMIT_TIME_ID: &str = "ce9acb64-bde0-424c-9b91-f6ebba25356d";
const PAYLOAD_ID: &str = "00000000-0000-0000-0000-000000000000";

/// Which of two versions of a row wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Winner {
    /// The one written later.
    Later,
    /// The one with the greater ordering value; of equal ones the later.
    Greater,
}

/// Whether the ordering value of a delete counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeleteOrder {
    /// As that of any version.
    Kept,
    /// Only against log rows before it: releases before 1.0 forget it with the row.
    Forgotten,
    /// Also where arrival decides among rows: 1.0 holds deletes to it whatever the payload class.
    Always,
}

/// Which values of a winning version give way to those of the version it wins over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fill {
    /// Those equal to their column's default, which is null unless the schema says otherwise: `IGNORE_DEFAULTS`.
    Defaults,
    /// Text and bytes equal to this marker: `FILL_UNAVAILABLE`.
    Unavailable(String),
}

/// How the versions of a row are merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeRules {
    /// Columns compared left to right; without one, arrival decides.
    pub(super) ordering: Vec<String>,
    /// Among log rows.
    pub(super) in_logs: Winner,
    /// Of a log row over the base row.
    pub(super) over_base: Winner,
    /// Whether the ordering value that a delete carries counts.
    pub(super) deletes: DeleteOrder,
    /// How winners are filled.
    pub(super) fill: Option<Fill>,
    /// Whether log rows fill each other too, and not just the base row.
    pub(super) fill_in_logs: bool,
    /// Whether a filled version has the meta fields of the later one, whichever won.
    pub(super) meta_of_later: bool,
    /// Whether the ordering column holds `<file>.<position>` as text, compared as two numbers.
    pub(super) sequence: bool,
    /// Whether a table may name an ordering column that it does not have: older releases named `ts` unasked.
    pub(super) may_lack_ordering: bool,
    /// A column and the text that makes a row a delete.
    pub(super) delete_mark: Option<(String, String)>,
    /// Columns that a record key is made of, when it is in no meta field.
    pub(super) key_fields: Option<Vec<String>>,
}

impl MergeRules {
    /// Reads the rules of a table.
    ///
    /// Errors: `Unsupported`, naming `property` and `value`, for a mode, strategy, payload class or partial update mode that is
    /// not known.
    pub fn from_config(config: &TableConfig) -> Result<Self> {
        let properties = config.properties();
        let ordering = config.ordering_fields();
        let ordering: Vec<String> = ordering.into_iter().map(str::to_owned).collect();
        let key_fields = || {
            let fields = config.record_key_fields().into_iter();
            fields.map(str::to_owned).collect()
        };
        let rules = Self {
            key_fields: (!config.populate_meta_fields()).then(key_fields),
            delete_mark: delete_mark(properties)?,
            ..Self::later(ordering)
        };
        match config.version() {
            TableVersion::Six => of_version_6(rules, properties),
            TableVersion::Eight | TableVersion::Nine => of_mode(rules, properties),
        }
    }

    /// The later version wins.
    pub(super) fn later(ordering: Vec<String>) -> Self {
        Self {
            ordering,
            in_logs: Winner::Later,
            over_base: Winner::Later,
            deletes: DeleteOrder::Kept,
            fill: None,
            fill_in_logs: true,
            meta_of_later: false,
            sequence: false,
            may_lack_ordering: false,
            delete_mark: None,
            key_fields: None,
        }
    }

    /// The same with another winner, in logs and over the base.
    pub(super) fn with_winner(self, winner: Winner) -> Self {
        Self {
            in_logs: winner,
            over_base: winner,
            ..self
        }
    }

    /// Whether ordering values decide anything.
    pub(super) fn compares(&self) -> bool {
        let greater = self.in_logs == Winner::Greater || self.over_base == Winner::Greater;
        (greater || self.deletes == DeleteOrder::Always) && !self.ordering.is_empty()
    }
}

pub(super) fn refused(message: &str, property: &str, value: &str) -> Error {
    Error::unsupported(message)
        .context("property", property)
        .context("value", value)
}

fn value<'a>(properties: &'a Properties, key: &str) -> Option<&'a str> {
    let value = properties.get(key)?.trim();
    Some(value).filter(|value| !value.is_empty())
}

/// A parameter of merging: as the table keeps it, else as a caller gives it.
fn parameter<'a>(properties: &'a Properties, key: &str) -> Option<&'a str> {
    value(properties, &format!("{PROPERTY_PREFIX}{key}")).or(value(properties, key))
}

fn delete_mark(properties: &Properties) -> Result<Option<(String, String)>> {
    let field = parameter(properties, DELETE_FIELD);
    match (field, parameter(properties, DELETE_MARKER)) {
        (Some(field), Some(marker)) => Ok(Some((field.to_owned(), marker.to_owned()))),
        (None, None) => Ok(None),
        (Some(one), None) => Err(refused(
            "a field that marks deletes without the marker",
            DELETE_FIELD,
            one,
        )),
        (None, Some(one)) => Err(refused(
            "a marker of deletes without its field",
            DELETE_MARKER,
            one,
        )),
    }
}

/// Version 6 knows no mode: the payload class decides, beside the one strategy that stands for payload classes.
fn of_version_6(rules: MergeRules, properties: &Properties) -> Result<MergeRules> {
    let id = value(properties, OLD_STRATEGY_ID).or(value(properties, STRATEGY_ID));
    match id {
        None | Some(EVENT_TIME_ID | PAYLOAD_ID) => {}
        Some(other) => return Err(refused("merge strategy", OLD_STRATEGY_ID, other)),
    }
    let class = value(properties, PAYLOAD_CLASS).unwrap_or(payload::OVERWRITE_WITH_LATEST);
    payload::rules(rules, TableVersion::Six, class)
        .ok_or_else(|| refused("payload class", PAYLOAD_CLASS, class))
}

fn of_mode(rules: MergeRules, properties: &Properties) -> Result<MergeRules> {
    let class = value(properties, PAYLOAD_CLASS);
    let id = value(properties, STRATEGY_ID);
    let rules = match value(properties, MERGE_MODE) {
        Some("COMMIT_TIME_ORDERING") => agreed(rules, Winner::Later, COMMIT_TIME_ID, id)?,
        Some("EVENT_TIME_ORDERING") => agreed(rules, Winner::Greater, EVENT_TIME_ID, id)?,
        Some("CUSTOM") => custom(rules, class, id)?,
        Some(other) => return Err(refused("merge mode", MERGE_MODE, other)),
        None => match id {
            Some(EVENT_TIME_ID) => rules.with_winner(Winner::Greater),
            Some(COMMIT_TIME_ID) => rules.with_winner(Winner::Later),
            None if class.is_none() && rules.ordering.is_empty() => rules,
            None if class.is_none() => rules.with_winner(Winner::Greater),
            _ => custom(rules, class, id)?,
        },
    };
    partial(rules, properties)
}

/// A built-in mode with a foreign strategy is a table that contradicts itself.
fn agreed(rules: MergeRules, winner: Winner, own: &str, id: Option<&str>) -> Result<MergeRules> {
    match id {
        Some(id) if id != own => {
            let message = "merge strategy that is not the merge mode's";
            Err(refused(message, STRATEGY_ID, id))
        }
        _ => Ok(rules.with_winner(winner)),
    }
}

fn custom(rules: MergeRules, class: Option<&str>, id: Option<&str>) -> Result<MergeRules> {
    match (class, id) {
        (Some(class), None | Some(PAYLOAD_ID)) => {
            let known = payload::rules(rules, TableVersion::Eight, class);
            known.ok_or_else(|| refused("payload class", PAYLOAD_CLASS, class))
        }
        (_, Some(id)) => Err(refused("merge strategy", STRATEGY_ID, id)),
        (None, None) => Err(refused(
            "merge mode without a strategy",
            MERGE_MODE,
            "CUSTOM",
        )),
    }
}

fn partial(rules: MergeRules, properties: &Properties) -> Result<MergeRules> {
    let fill = match value(properties, PARTIAL_MODE) {
        None | Some("KEEP_VALUES") => return Ok(rules),
        Some("IGNORE_DEFAULTS") => Fill::Defaults,
        Some(mode @ "FILL_UNAVAILABLE") => {
            let marker = parameter(properties, UNAVAILABLE);
            let marker = marker.or(parameter(properties, UNAVAILABLE_SHORT));
            let Some(marker) = marker else {
                let message = "partial update mode without the marker of unavailable values";
                return Err(refused(message, PARTIAL_MODE, mode));
            };
            Fill::Unavailable(marker.to_owned())
        }
        Some(other) => return Err(refused("partial update mode", PARTIAL_MODE, other)),
    };
    Ok(MergeRules {
        fill: Some(fill),
        ..rules
    })
}

#[cfg(test)]
mod tests;
