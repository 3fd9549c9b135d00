//! What a new table is to be, as the keys of `hoodie.properties`.

use std::collections::{BTreeMap, BTreeSet};

use arrow::datatypes::{DataType, Schema};
use serde::Deserialize;

use crate::commit::TableLock;
use crate::config::{Properties, key, refuse_other_new_table};
use crate::error::{Error, Result};
use crate::model::{TableType, TableVersion};
use crate::schema::unknown_column;

/// What `HudiTable.create` takes, beside the schema.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CreateOptions {
    /// The table's name: letters, digits and what else Spark takes.
    pub table_name: String,
    /// `COPY_ON_WRITE` (default) or `MERGE_ON_READ`.
    pub table_type: Option<String>,
    /// 9 (default) or 8.
    pub table_version: Option<u32>,
    /// Record key fields; none makes keys of instant, task and row.
    pub record_key_fields: Vec<String>,
    /// Partition fields in path order; none makes a table without partitions.
    pub partition_fields: Vec<String>,
    /// Ordering fields, compared left to right; version 8 takes one.
    pub ordering_fields: Vec<String>,
    /// `COMMIT_TIME_ORDERING`, `EVENT_TIME_ORDERING` (default with ordering fields) or `CUSTOM`.
    pub record_merge_mode: Option<String>,
    /// The type of the key generator: default by the fields, as Hudi infers it.
    pub key_generator: Option<String>,
    /// The database.
    pub database_name: Option<String>,
    /// Folders that read `field=value`.
    pub hive_style_partitioning: bool,
    /// Percent-encoded partition values.
    pub url_encode_partitioning: bool,
    /// Whether rows get the `_hoodie_*` columns; they do by default.
    pub populate_meta_fields: Option<bool>,
    /// Partitions of the metadata table: all that this engine maintains by default.
    pub metadata: MetadataChoice,
    /// What change logs hold; none by default.
    pub cdc: CdcChoice,
    /// `error` (default) or `open`.
    pub if_exists: Option<String>,
    /// For [`OpenOptions`](super::OpenOptions).
    pub timezone: Option<String>,
    /// For [`OpenOptions`](super::OpenOptions).
    pub canonical_uri: Option<String>,
    /// What keeps writers apart beyond this process; no option of JavaScript.
    #[serde(skip)]
    pub lock: Option<TableLock>,
    /// `hoodie.*` keys; those of key generators and mergers become the table's, others that describe a table are refused unless they say the same.
    pub hudi_options: BTreeMap<String, String>,
}

/// Which partitions the metadata table gets.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum MetadataChoice {
    /// `false`: no metadata table. `true` is the default.
    On(bool),
    /// These.
    Partitions(Vec<String>),
    /// Nothing was said.
    #[default]
    Default,
}

/// What change logs hold.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum CdcChoice {
    /// `OP_KEY_ONLY`, `DATA_BEFORE` or `DATA_BEFORE_AFTER`.
    Mode(String),
    /// `false`: nothing.
    Off(bool),
    /// Nothing was said.
    #[default]
    Default,
}

/// Partitions of the metadata table that this engine maintains, in the order in which Spark builds them.
pub(super) const MAINTAINED: [&str; 4] =
    ["files", "column_stats", "record_index", "partition_stats"];

/// Prefixes of options that belong to the table rather than to a call.
const KEPT: [&str; 4] = [
    "hoodie.keygen.timebased.",
    "hoodie.record.merge.",
    "hoodie.compaction.payload.class",
    "hoodie.table.partition_extractor_class",
];

const EVENT_TIME: (&str, &str) = (
    "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5",
    "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
);
const COMMIT_TIME: (&str, &str) = (
    "ce9acb64-bde0-424c-9b91-f6ebba25356d",
    "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload",
);

impl CreateOptions {
    /// The properties of the new table: the keys that Spark's data frames write, with instants in UTC, and the schema,
    /// since there is no commit yet that could hold it.
    ///
    /// Errors: `InvalidArgument` for options that no table would have, `Schema` for fields that the schema lacks,
    /// `Unsupported`.
    pub(super) fn properties(&self, schema: &Schema, avro: &str) -> Result<Properties> {
        let version = self.version()?;
        self.check_name()?;
        self.check_fields(schema)?;
        let mut table = Properties::new();
        let mut put = |key: &str, value: &str| table.insert(key.to_owned(), value.to_owned());
        let flag = |on: bool| if on { "true" } else { "false" };
        put("hoodie.table.name", &self.table_name);
        put("hoodie.table.type", self.kind()?.as_str());
        put("hoodie.table.version", &version.number().to_string());
        put(
            "hoodie.table.initial.version",
            &version.number().to_string(),
        );
        put("hoodie.timeline.layout.version", "2");
        put("hoodie.timeline.path", "timeline");
        put("hoodie.timeline.history.path", "history");
        put("hoodie.archivelog.folder", "history");
        put("hoodie.table.timeline.timezone", "UTC");
        put("hoodie.table.base.file.format", "PARQUET");
        put("hoodie.table.multiple.base.file.formats.enable", "false");
        put("hoodie.partition.metafile.use.base.format", "false");
        put("hoodie.datasource.write.drop.partition.columns", "false");
        let hive = flag(self.hive_style_partitioning);
        put("hoodie.datasource.write.hive_style_partitioning", hive);
        let encode = flag(self.url_encode_partitioning);
        put("hoodie.datasource.write.partitionpath.urlencode", encode);
        put(
            "hoodie.populate.meta.fields",
            flag(self.populate_meta_fields != Some(false)),
        );
        put("hoodie.table.keygenerator.type", &self.keygen()?);
        put(
            "hoodie.table.partition.fields",
            &self.partition_fields.join(","),
        );
        put("hoodie.table.create.schema", avro);
        if !self.record_key_fields.is_empty() {
            put(
                "hoodie.table.recordkey.fields",
                &self.record_key_fields.join(","),
            );
        }
        if let Some(name) = self
            .database_name
            .as_deref()
            .filter(|name| !name.is_empty())
        {
            put("hoodie.database.name", name);
        }
        if version == TableVersion::Nine {
            put("hoodie.table.format", "native");
        }
        let cdc = self.cdc_mode()?;
        put("hoodie.table.cdc.enabled", flag(cdc.is_some()));
        if let Some(mode) = cdc {
            put("hoodie.table.cdc.supplemental.logging.mode", mode);
        }
        self.ordering(version, &mut table)?;
        for (key, value) in &self.hudi_options {
            if KEPT.iter().any(|kept| key.starts_with(kept)) {
                // What the options of their own say is not said otherwise here.
                table.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        refuse_other_new_table(&table, &self.hudi_options)?;
        Ok(table)
    }

    /// The partitions that the metadata table is to have; none when there is to be none.
    ///
    /// Errors: `Unsupported` for one that this engine does not maintain.
    pub(super) fn metadata_partitions(&self) -> Result<Vec<&str>> {
        let off = self.hudi_options.get("hoodie.metadata.enable");
        if off.is_some_and(|on| on.eq_ignore_ascii_case("false")) {
            return Ok(Vec::new());
        }
        let asked: BTreeSet<&str> = match &self.metadata {
            MetadataChoice::On(false) => return Ok(Vec::new()),
            MetadataChoice::On(true) | MetadataChoice::Default => MAINTAINED.into(),
            MetadataChoice::Partitions(asked) if asked.is_empty() => return Ok(Vec::new()),
            MetadataChoice::Partitions(asked) => asked.iter().map(String::as_str).collect(),
        };
        if let Some(other) = asked.iter().find(|name| !MAINTAINED.contains(name)) {
            return Err(Error::unsupported(
                "this partition of the metadata table is not maintained",
            )
            .context("partition", other)
            .context("hint", format!("one of {}", MAINTAINED.join(", "))));
        }
        // Every other partition needs the listing; statistics of a table without partitions are those of its files.
        let wanted = |name: &&str| {
            (asked.contains(name) || *name == "files")
                && (*name != "partition_stats" || !self.partition_fields.is_empty())
        };
        Ok(MAINTAINED.into_iter().filter(wanted).collect())
    }

    /// Whether a table that is there is to be opened.
    pub(super) fn opens_existing(&self) -> Result<bool> {
        match self.if_exists.as_deref() {
            None | Some("error") => Ok(false),
            Some("open") => Ok(true),
            Some(other) => Err(invalid("ifExists", other, "error or open")),
        }
    }

    fn version(&self) -> Result<TableVersion> {
        match self.table_version {
            None | Some(9) => Ok(TableVersion::Nine),
            Some(8) => Ok(TableVersion::Eight),
            Some(other) => Err(invalid("tableVersion", &other.to_string(), "8 or 9")),
        }
    }

    fn kind(&self) -> Result<TableType> {
        match self.table_type.as_deref() {
            None | Some("COPY_ON_WRITE") => Ok(TableType::CopyOnWrite),
            Some("MERGE_ON_READ") => Ok(TableType::MergeOnRead),
            Some(other) => Err(invalid(
                "tableType",
                other,
                "COPY_ON_WRITE or MERGE_ON_READ",
            )),
        }
    }

    fn check_name(&self) -> Result<()> {
        let name = self.table_name.trim();
        match name.is_empty() || name != self.table_name || name.contains(['/', '\\']) {
            true => Err(invalid(
                "tableName",
                &self.table_name,
                "a name without slashes",
            )),
            false => Ok(()),
        }
    }

    fn check_fields(&self, schema: &Schema) -> Result<()> {
        let partitions = self.partition_fields.iter();
        // The custom generator says the kind of each field behind a colon.
        let partitions = partitions.map(|f| f.split_once(':').map_or(f.as_str(), |(name, _)| name));
        let partitions: Vec<&str> = partitions.collect();
        let names = |fields: &'_ [String]| -> Vec<String> { fields.to_vec() };
        let lists = [
            ("recordKeyFields", names(&self.record_key_fields)),
            ("orderingFields", names(&self.ordering_fields)),
            (
                "partitionFields",
                partitions.iter().map(|s| s.to_string()).collect(),
            ),
        ];
        for (option, fields) in lists {
            let mut seen = BTreeSet::new();
            for field in &fields {
                check_column(schema, field)?;
                if !seen.insert(field) {
                    return Err(invalid(option, field, "each field once"));
                }
            }
        }
        Ok(())
    }

    fn keygen(&self) -> Result<String> {
        let (keys, partitions) = (self.record_key_fields.len(), &self.partition_fields);
        let inferred = match partitions.as_slice() {
            [] => "NON_PARTITION",
            [first, ..] if first.contains(':') => "CUSTOM",
            [_] if keys <= 1 => "SIMPLE",
            _ => "COMPLEX",
        };
        let chosen = self.key_generator.as_deref().unwrap_or(inferred);
        let fits = match chosen {
            "NON_PARTITION" => partitions.is_empty(),
            "SIMPLE" => partitions.len() == 1 && keys <= 1,
            "TIMESTAMP" => partitions.len() == 1,
            "COMPLEX" => true,
            "CUSTOM" => partitions.iter().all(|f| f.contains(':')),
            _ => false,
        };
        match fits {
            true => Ok(chosen.to_owned()),
            false => Err(invalid(
                "keyGenerator",
                chosen,
                "NON_PARTITION, SIMPLE, COMPLEX, TIMESTAMP or CUSTOM (with field:SIMPLE), as the fields allow",
            )),
        }
    }

    fn cdc_mode(&self) -> Result<Option<&str>> {
        match &self.cdc {
            CdcChoice::Default | CdcChoice::Off(false) => Ok(None),
            CdcChoice::Mode(mode)
                if matches!(
                    mode.as_str(),
                    "OP_KEY_ONLY" | "DATA_BEFORE" | "DATA_BEFORE_AFTER"
                ) =>
            {
                Ok(Some(mode))
            }
            CdcChoice::Mode(other) => Err(invalid(
                "cdc",
                other,
                "false, OP_KEY_ONLY, DATA_BEFORE or DATA_BEFORE_AFTER",
            )),
            CdcChoice::Off(true) => Err(invalid("cdc", "true", "false or a mode")),
        }
    }

    /// The ordering fields and how rows of one key are merged; version 8 names the class and the strategy too.
    fn ordering(&self, version: TableVersion, table: &mut Properties) -> Result<()> {
        let fields = self.ordering_fields.join(",");
        let inferred = match self.ordering_fields.is_empty() {
            true => "COMMIT_TIME_ORDERING",
            false => "EVENT_TIME_ORDERING",
        };
        let mode = self.record_merge_mode.as_deref().unwrap_or(inferred);
        let strategy = match mode {
            "COMMIT_TIME_ORDERING" => Some(COMMIT_TIME),
            "EVENT_TIME_ORDERING" if !fields.is_empty() => Some(EVENT_TIME),
            "EVENT_TIME_ORDERING" => {
                return Err(invalid("recordMergeMode", mode, "orderingFields with it"));
            }
            "CUSTOM" => {
                let id = "hoodie.record.merge.strategy.id";
                if !self.hudi_options.contains_key(id) {
                    return Err(invalid("recordMergeMode", mode, &format!("{id} with it")));
                }
                None
            }
            _ => {
                let modes = "COMMIT_TIME_ORDERING, EVENT_TIME_ORDERING or CUSTOM";
                return Err(invalid("recordMergeMode", mode, modes));
            }
        };
        let mut put = |key: &str, value: &str| table.insert(key.to_owned(), value.to_owned());
        put("hoodie.record.merge.mode", mode);
        if version == TableVersion::Eight {
            if self.ordering_fields.len() > 1 {
                return Err(invalid("orderingFields", &fields, "one field in version 8"));
            }
            if let Some((id, class)) = strategy {
                put("hoodie.record.merge.strategy.id", id);
                put("hoodie.compaction.payload.class", class);
            }
            if !fields.is_empty() {
                put("hoodie.table.precombine.field", &fields);
            }
        } else if !fields.is_empty() {
            put(key::ORDERING_FIELDS.name, &fields);
        }
        Ok(())
    }
}

/// A column, perhaps one inside of records (`a.b`).
fn check_column(schema: &Schema, path: &str) -> Result<()> {
    let mut fields = schema.fields();
    let mut names = path.split('.').peekable();
    while let Some(name) = names.next() {
        let found = fields.iter().find(|field| field.name() == name);
        let field = found.ok_or_else(|| unknown_column(schema, path))?;
        match (field.data_type(), names.peek()) {
            (DataType::Struct(inner), Some(_)) => fields = inner,
            (_, Some(_)) => return Err(unknown_column(schema, path)),
            (_, None) => {}
        }
    }
    Ok(())
}

fn invalid(option: &'static str, value: &str, hint: &str) -> Error {
    Error::invalid_argument("a new table cannot have this")
        .context("option", option)
        .context("value", value)
        .context("hint", hint)
}
