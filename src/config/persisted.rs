//! Which options say something of the table itself, which a write must not have otherwise than its file has it.

use super::key::{self, KEYGEN_TIMEBASED_PREFIXES, Key};
use super::properties::Properties;
use crate::error::{Error, Result};

/// The keys of a table that options name too: as the file does, by its older names, and as Spark's writer does.
const KEYS: [(Key, &str); 17] = [
    (key::TABLE_TYPE, "hoodie.datasource.write.table.type"),
    (key::TABLE_VERSION, "hoodie.write.table.version"),
    (
        key::RECORD_KEY_FIELDS,
        "hoodie.datasource.write.recordkey.field",
    ),
    (
        key::PARTITION_FIELDS,
        "hoodie.datasource.write.partitionpath.field",
    ),
    (
        key::ORDERING_FIELDS,
        "hoodie.datasource.write.precombine.field",
    ),
    (MERGE_MODE, "hoodie.write.record.merge.mode"),
    (MERGE_STRATEGY, "hoodie.write.record.merge.strategy.id"),
    (
        key::KEYGEN_CLASS,
        "hoodie.datasource.write.keygenerator.class",
    ),
    (
        key::KEYGEN_TYPE,
        "hoodie.datasource.write.keygenerator.type",
    ),
    (key::TIMELINE_LAYOUT, ""),
    (key::HIVE_STYLE, ""),
    (key::URL_ENCODE, ""),
    (key::DROP_PARTITION_COLUMNS, ""),
    (key::POPULATE_META_FIELDS, ""),
    (key::BASE_FILE_FORMAT, ""),
    (key::LOG_FILE_FORMAT, ""),
    (key::CDC_ENABLED, ""),
];

const MERGE_MODE: Key = Key::new("hoodie.record.merge.mode");
const MERGE_STRATEGY: Key = Key::new("hoodie.record.merge.strategy.id");

/// What only a table's file says, beside what it holds: a write that had it from an option would leave what no reader finds.
const OF_TABLES: [&str; 8] = [
    "hoodie.table.",
    "hoodie.record.merge.",
    "hoodie.timeline.",
    "hoodie.archivelog.folder",
    "hoodie.bootstrap.",
    "hoodie.partition.metafile.",
    "hoodie.database.name",
    "hoodie.compaction.payload.class",
];

/// What begins so and is an option of a writer all the same.
const OF_WRITERS: &str = "hoodie.table.services.";

/// Refuses options of a write that describe another table than `stored`, the text of its file, does.
///
/// Errors: `InvalidArgument` with `option`, `stored` and `given`.
pub fn refuse_other_table(stored: &Properties, options: &Properties) -> Result<()> {
    refuse(
        stored,
        options,
        "a write takes this from hoodie.properties, and the option says something else",
        "write without this option; it serves reads alone",
    )
}

/// Refuses options of a creation that describe another table than the one that is to be made: they would be lost.
///
/// Errors: `InvalidArgument` with `option`, `stored` and `given`.
pub fn refuse_other_new_table(new: &Properties, options: &Properties) -> Result<()> {
    refuse(
        new,
        options,
        "a new table does not get this from hudiOptions",
        "leave it out, or say it by an option of create() itself, such as tableType, recordKeyFields or recordMergeMode",
    )
}

fn refuse(
    stored: &Properties,
    options: &Properties,
    message: &'static str,
    hint: &'static str,
) -> Result<()> {
    for (name, given) in options {
        let has = match known(name) {
            Some(key) if is_class_of_type(key, stored, given) => continue,
            Some(key) => key.get(stored),
            None if is_of_table(name, stored) => stored.get(name).map(|v| v.trim()),
            None => continue,
        };
        let default = known(name).and_then(|key| key.default);
        let given = Some(given.trim()).filter(|given| !given.is_empty());
        if !is_same(
            has.unwrap_or_default(),
            given.or(default).unwrap_or_default(),
            name,
        ) {
            return Err(Error::invalid_argument(message)
                .context("option", name)
                .context("stored", has.unwrap_or("(none)"))
                .context("given", given.unwrap_or("(none)"))
                .context("hint", hint));
        }
    }
    Ok(())
}

fn known(name: &str) -> Option<Key> {
    let names = |(key, of_writer): &&(Key, &str)| {
        key.name == name || key.aliases.contains(&name) || *of_writer == name
    };
    KEYS.iter().find(names).map(|(key, _)| *key)
}

fn is_of_table(name: &str, stored: &Properties) -> bool {
    let mut of_tables = OF_TABLES.iter().chain(&KEYGEN_TIMEBASED_PREFIXES);
    let begins = of_tables.any(|start| name.starts_with(start));
    stored.contains_key(name) || (begins && !name.starts_with(OF_WRITERS))
}

/// A generator may be named by its class where the file has its type, and the other way round.
fn is_class_of_type(key: Key, stored: &Properties, given: &str) -> bool {
    if key.name != key::KEYGEN_CLASS.name && key.name != key::KEYGEN_TYPE.name {
        return false;
    }
    let mut named = stored.clone();
    named.remove(key::KEYGEN_CLASS.name);
    named.insert(key.name.to_owned(), given.to_owned());
    super::keygen::of_table(&named) == super::keygen::of_table(stored)
}

/// Lists with and without blanks, truths in any case; Spark's writer may leave out the kinds of partition fields.
fn is_same(stored: &str, given: &str, name: &str) -> bool {
    let truth =
        |text: &str| text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false");
    if truth(stored) && truth(given) {
        return stored.eq_ignore_ascii_case(given);
    }
    let plain = |item: &'_ str| -> String {
        let item = item.trim();
        match name {
            "hoodie.datasource.write.partitionpath.field" => {
                item.split(':').next().unwrap_or(item).to_owned()
            }
            _ => item.to_owned(),
        }
    };
    stored.split(',').map(plain).eq(given.split(',').map(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn properties(pairs: &[(&str, &str)]) -> Properties {
        let pairs = pairs.iter();
        pairs.map(|(k, v)| (k.to_string(), v.to_string())).collect()
    }

    fn stored() -> Properties {
        properties(&[
            ("hoodie.table.type", "COPY_ON_WRITE"),
            ("hoodie.table.version", "9"),
            ("hoodie.table.recordkey.fields", "id,city"),
            ("hoodie.table.partition.fields", "day:TIMESTAMP"),
            ("hoodie.table.ordering.fields", "ts"),
            ("hoodie.table.keygenerator.type", "SIMPLE"),
            ("hoodie.record.merge.mode", "EVENT_TIME_ORDERING"),
            ("hoodie.keygen.timebased.timezone", "UTC"),
        ])
    }

    #[test]
    fn an_option_that_describes_another_table_is_refused_by_name_with_both_values() {
        for (name, given, has) in [
            ("hoodie.table.type", "MERGE_ON_READ", "COPY_ON_WRITE"),
            (
                "hoodie.datasource.write.table.type",
                "MERGE_ON_READ",
                "COPY_ON_WRITE",
            ),
            ("hoodie.table.version", "8", "9"),
            ("hoodie.write.table.version", "8", "9"),
            ("hoodie.table.recordkey.fields", "city,id", "id,city"),
            ("hoodie.datasource.write.recordkey.field", "id", "id,city"),
            ("hoodie.table.partition.fields", "", "day:TIMESTAMP"),
            (
                "hoodie.table.partition.fields",
                "day:SIMPLE",
                "day:TIMESTAMP",
            ),
            ("hoodie.table.ordering.fields", "price", "ts"),
            ("hoodie.table.precombine.field", "price", "ts"),
            ("hoodie.table.keygenerator.type", "COMPLEX", "SIMPLE"),
            (
                "hoodie.record.merge.mode",
                "COMMIT_TIME_ORDERING",
                "EVENT_TIME_ORDERING",
            ),
            ("hoodie.keygen.timebased.timezone", "CET", "UTC"),
            (
                "hoodie.keygen.timebased.output.dateformat",
                "yyyy",
                "(none)",
            ),
            (
                "hoodie.datasource.write.hive_style_partitioning",
                "true",
                "false",
            ),
            ("hoodie.populate.meta.fields", "false", "true"),
            ("hoodie.table.metadata.partitions", "files", "(none)"),
            ("hoodie.timeline.path", "other", "(none)"),
        ] {
            let error = refuse_other_table(&stored(), &properties(&[(name, given)])).unwrap_err();
            assert_eq!(error.kind().code(), "INVALID_ARGUMENT");
            assert_eq!(
                (error.get("option"), error.get("stored")),
                (Some(name), Some(has))
            );
            let said = if given.is_empty() { "(none)" } else { given };
            assert_eq!(error.get("given"), Some(said), "{name}");
        }
    }

    #[test]
    fn the_same_table_in_other_words_and_what_tunes_a_write_are_taken() {
        for (name, given) in [
            ("hoodie.table.type", "COPY_ON_WRITE"),
            ("hoodie.table.recordkey.fields", "id, city"),
            ("hoodie.datasource.write.partitionpath.field", "day"),
            ("hoodie.table.precombine.field", "ts"),
            ("hoodie.populate.meta.fields", "TRUE"),
            ("hoodie.datasource.write.hive_style_partitioning", ""),
            (
                "hoodie.datasource.write.keygenerator.class",
                "org.apache.hudi.keygen.SimpleKeyGenerator",
            ),
            ("hoodie.table.services.enabled", "false"),
            ("hoodie.parquet.max.file.size", "1"),
            ("hoodie.keep.max.commits", "3"),
            ("hoodie.metadata.compact.max.delta.commits", "2"),
            ("hoodie.metadata.enable", "true"),
        ] {
            refuse_other_table(&stored(), &properties(&[(name, given)])).unwrap();
        }
    }
}
