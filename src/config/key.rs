//! The keys of `hoodie.properties` that this engine reads.

use super::properties::Properties;

/// A key of `hoodie.properties`: its name, the older names that still count, and the value of an absent key.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// The name that current releases write.
    pub name: &'static str,
    /// Older names, tried in order when the name is absent.
    pub aliases: &'static [&'static str],
    /// What an absent key means; `None` when that is a fact of its own.
    pub default: Option<&'static str>,
}

impl Key {
    pub(super) const fn new(name: &'static str) -> Self {
        Self {
            name,
            aliases: &[],
            default: None,
        }
    }

    const fn or(name: &'static str, default: &'static str) -> Self {
        Self {
            name,
            aliases: &[],
            default: Some(default),
        }
    }

    const fn also(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// The value, trimmed: of the name, else of an alias, else the default. An empty value counts as absent, since
    /// Hudi writes empty values for "none".
    pub fn get<'a>(&self, properties: &'a Properties) -> Option<&'a str>
    where
        'static: 'a,
    {
        let names = std::iter::once(&self.name).chain(self.aliases);
        let mut values = names.filter_map(|name| properties.get(*name));
        let value = values.find_map(|v| Some(v.trim()).filter(|v| !v.is_empty()));
        value.or(self.default)
    }

    /// The items of a comma list, trimmed, empty ones left out.
    pub fn list<'a>(&self, properties: &'a Properties) -> Vec<&'a str> {
        let items = self.get(properties).unwrap_or_default().split(',');
        items
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .collect()
    }

    /// Whether the value is `true` in any case, as Java reads booleans.
    pub fn is_true(&self, properties: &Properties) -> bool {
        self.get(properties)
            .is_some_and(|v| v.eq_ignore_ascii_case("true"))
    }
}

macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident = $key:expr;)*) => {
        $($(#[$doc])* pub const $name: Key = $key;)*
    };
}

keys! {
    /// The table's name.
    TABLE_NAME = Key::new("hoodie.table.name");
    /// The database, empty when none.
    DATABASE_NAME = Key::new("hoodie.database.name");
    /// `COPY_ON_WRITE` or `MERGE_ON_READ`.
    TABLE_TYPE = Key::new("hoodie.table.type");
    /// The table version.
    TABLE_VERSION = Key::new("hoodie.table.version");
    /// 1 or 2.
    TIMELINE_LAYOUT = Key::new("hoodie.timeline.layout.version");
    /// Folder of the active timeline below `.hoodie`, layout 2.
    TIMELINE_PATH = Key::or("hoodie.timeline.path", "timeline");
    /// Folder of the archived timeline below the timeline folder, layout 2.
    TIMELINE_HISTORY_PATH = Key::or("hoodie.timeline.history.path", "history");
    /// Folder of the archived timeline below `.hoodie`, layout 1.
    ARCHIVE_FOLDER = Key::or("hoodie.archivelog.folder", "archived");
    /// Zone in which instants are written.
    TIMELINE_TIMEZONE = Key::or("hoodie.table.timeline.timezone", "LOCAL");
    /// CRC-32 of database and name.
    TABLE_CHECKSUM = Key::new("hoodie.table.checksum");
    /// Record key fields, comma list; absent when keys are generated.
    RECORD_KEY_FIELDS = Key::new("hoodie.table.recordkey.fields");
    /// Partition fields, comma list, each perhaps `field:SIMPLE` or `field:TIMESTAMP`.
    PARTITION_FIELDS = Key::new("hoodie.table.partition.fields");
    /// Ordering fields, comma list; versions 6 and 8 know one, under the older name.
    ORDERING_FIELDS = Key::new("hoodie.table.ordering.fields").also(&["hoodie.table.precombine.field"]);
    /// The key generator by class; it wins over the type.
    KEYGEN_CLASS = Key::new("hoodie.table.keygenerator.class");
    /// The key generator by type.
    KEYGEN_TYPE = Key::new("hoodie.table.keygenerator.type");
    /// Whether folders read `field=value`.
    HIVE_STYLE = Key::or("hoodie.datasource.write.hive_style_partitioning", "false");
    /// Whether partition values are percent-encoded.
    URL_ENCODE = Key::or("hoodie.datasource.write.partitionpath.urlencode", "false");
    /// Whether files lack the partition columns.
    DROP_PARTITION_COLUMNS = Key::or("hoodie.datasource.write.drop.partition.columns", "false");
    /// Whether the `_hoodie_*` columns are filled.
    POPULATE_META_FIELDS = Key::or("hoodie.populate.meta.fields", "true");
    /// Format of base files.
    BASE_FILE_FORMAT = Key::or("hoodie.table.base.file.format", "PARQUET").also(&["hoodie.table.ro.file.format"]);
    /// Format of log files.
    LOG_FILE_FORMAT = Key::or("hoodie.table.log.file.format", "HOODIE_LOG").also(&["hoodie.table.rt.file.format"]);
    /// Whether base files of several formats may lie side by side.
    MULTIPLE_BASE_FORMATS = Key::or("hoodie.table.multiple.base.file.formats.enable", "false");
    /// Pluggable table format.
    TABLE_FORMAT = Key::or("hoodie.table.format", "native");
    /// Avro JSON of the columns at creation.
    CREATE_SCHEMA = Key::new("hoodie.table.create.schema");
    /// Whether partition metafiles are written in the base format.
    METAFILE_BASE_FORMAT = Key::or("hoodie.partition.metafile.use.base.format", "false");
    /// Class by which Hive sync splits partition paths.
    PARTITION_EXTRACTOR = Key::new("hoodie.table.partition_extractor_class");
    /// Base path of a bootstrapped table.
    BOOTSTRAP_BASE_PATH = Key::new("hoodie.bootstrap.base.path");
    /// Complete partitions of the metadata table.
    METADATA_PARTITIONS = Key::new("hoodie.table.metadata.partitions");
    /// Whether changes are captured.
    CDC_ENABLED = Key::or("hoodie.table.cdc.enabled", "false");
}

/// Prefixes under which the parameters of the timestamp key generator are kept, newest first.
pub const KEYGEN_TIMEBASED_PREFIXES: [&str; 2] = [
    "hoodie.keygen.timebased.",
    "hoodie.deltastreamer.keygen.timebased.",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_win_over_aliases_and_empty_values_count_as_absent() {
        let check = |pairs: &[(&str, &str)], key: Key, expected: Option<&str>| {
            let properties = pairs
                .iter()
                .map(|(k, v)| (k.to_string(), v.to_string()))
                .collect();
            assert_eq!(key.get(&properties), expected);
        };
        let (new, old) = (
            ("hoodie.table.ordering.fields", "a,b"),
            ("hoodie.table.precombine.field", "c"),
        );
        check(&[new, old], ORDERING_FIELDS, Some("a,b"));
        check(&[old], ORDERING_FIELDS, Some("c"));
        check(
            &[("hoodie.table.ordering.fields", " "), old],
            ORDERING_FIELDS,
            Some("c"),
        );
        check(&[], ORDERING_FIELDS, None);
        check(
            &[("hoodie.table.base.file.format", "")],
            BASE_FILE_FORMAT,
            Some("PARQUET"),
        );
    }
}
