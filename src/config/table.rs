use std::sync::Arc;

use super::key::{self, KEYGEN_TIMEBASED_PREFIXES, Key};
use super::keygen::{self, KeyGeneratorType, PartitionField};
use super::properties::{self, Properties};
use crate::error::{Error, Result};
use crate::model::{BaseFormat, TableType, TableVersion};

/// In which zone the instants of a table are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimelineZone {
    /// The wall clock of whichever machine wrote: not known from the table.
    Local,
    /// UTC.
    Utc,
}

/// `hoodie.properties`, checked and typed.
///
/// What is promised of every value:
/// 1. the checksum was there and matched;
/// 2. version, timeline layout, formats and table type are ones that this engine handles.
#[derive(Debug, Clone)]
pub struct TableConfig {
    properties: Properties,
    /// Those of the file, where the caller's stand over them.
    stored: Option<Arc<Properties>>,
    table_type: TableType,
    version: TableVersion,
    base_format: BaseFormat,
    timeline_zone: TimelineZone,
    keygen: KeyGeneratorType,
    partition_fields: Vec<PartitionField>,
}

impl TableConfig {
    /// Reads and checks the text of a properties file.
    ///
    /// Errors: `Corrupt` when the text does not parse, lacks a key that every table has, or fails its checksum;
    /// `Unsupported`, naming `property` and `value`, for a version, format or feature that is not handled.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let properties = properties::parse(bytes)?;
        version(&properties)?;
        check_sum(&properties)?;
        Self::typed(properties)
    }

    /// The same table with keys of the caller over those of its file, for a table whose file lacks or misstates one.
    ///
    /// Errors: `InvalidArgument` for another table version, since the timeline is read by the file's; `Unsupported` as in
    /// [`TableConfig::parse`].
    pub fn with(&self, options: &Properties) -> Result<Self> {
        let mut properties = self.properties.clone();
        properties.extend(options.clone());
        let stored = self.stored.clone();
        let stored = stored.unwrap_or_else(|| Arc::new(self.properties.clone()));
        let config = Self {
            stored: Some(stored),
            ..Self::typed(properties)?
        };
        if config.version != self.version {
            return Err(Error::invalid_argument(
                "the version of a table cannot be chosen by an option",
            )
            .context("property", "hoodie.table.version")
            .context("value", config.version.number()));
        }
        Ok(config)
    }

    fn typed(properties: Properties) -> Result<Self> {
        let version = version(&properties)?;
        check_features(&properties, version)?;
        let table_type = table_type(&properties)?;
        let timeline_zone = timeline_zone(&properties)?;
        let keygen = keygen::of_table(&properties);
        let base_format = base_format(&properties, &keygen)?;
        let partition_fields = keygen::partition_fields(&properties, &keygen);
        Ok(Self {
            properties,
            stored: None,
            table_type,
            version,
            base_format,
            timeline_zone,
            keygen,
            partition_fields,
        })
    }

    /// The table's name; empty when the file has none.
    pub fn table_name(&self) -> &str {
        key::TABLE_NAME.get(&self.properties).unwrap_or_default()
    }

    /// The database, when the table names one.
    pub fn database_name(&self) -> Option<&str> {
        key::DATABASE_NAME.get(&self.properties)
    }

    /// Copy on write or merge on read.
    pub fn table_type(&self) -> TableType {
        self.table_type
    }

    /// The table version.
    pub fn version(&self) -> TableVersion {
        self.version
    }

    /// Format of base files.
    pub fn base_format(&self) -> BaseFormat {
        self.base_format
    }

    /// In which zone instants are written.
    pub fn timeline_zone(&self) -> TimelineZone {
        self.timeline_zone
    }

    /// The key generator: as named, else inferred as Hudi does.
    pub fn keygen(&self) -> &KeyGeneratorType {
        &self.keygen
    }

    /// The partition fields in path order; empty for a table without partitions.
    pub fn partition_fields(&self) -> &[PartitionField] {
        &self.partition_fields
    }

    /// Whether the table has partitions.
    pub fn is_partitioned(&self) -> bool {
        !self.partition_fields.is_empty()
    }

    /// The record key fields; empty when keys are generated.
    pub fn record_key_fields(&self) -> Vec<&str> {
        key::RECORD_KEY_FIELDS.list(&self.properties)
    }

    /// The ordering fields, compared left to right; the newer key counts before the older one.
    pub fn ordering_fields(&self) -> Vec<&str> {
        key::ORDERING_FIELDS.list(&self.properties)
    }

    /// Whether folders read `field=value`.
    pub fn hive_style(&self) -> bool {
        key::HIVE_STYLE.is_true(&self.properties)
    }

    /// Whether partition values in paths are percent-encoded.
    pub fn url_encoded(&self) -> bool {
        key::URL_ENCODE.is_true(&self.properties)
    }

    /// Whether base files lack the partition columns.
    pub fn drop_partition_columns(&self) -> bool {
        key::DROP_PARTITION_COLUMNS.is_true(&self.properties)
    }

    /// Whether base files hold filled `_hoodie_*` columns.
    pub fn populate_meta_fields(&self) -> bool {
        key::POPULATE_META_FIELDS.is_true(&self.properties)
    }

    /// Whether changes are captured.
    pub fn cdc_enabled(&self) -> bool {
        key::CDC_ENABLED.is_true(&self.properties)
    }

    /// Whether partition metafiles may be named after the base format (`.hoodie_partition_metadata.parquet`).
    pub fn metafile_uses_base_format(&self) -> bool {
        key::METAFILE_BASE_FORMAT.is_true(&self.properties)
    }

    /// Avro JSON of the columns at creation; unions may be reversed against commit schemas.
    pub fn create_schema(&self) -> Option<&str> {
        key::CREATE_SCHEMA.get(&self.properties)
    }

    /// Complete partitions of the metadata table; empty when it is off.
    pub fn metadata_partitions(&self) -> Vec<&str> {
        key::METADATA_PARTITIONS.list(&self.properties)
    }

    /// Class by which Hive sync splits partition paths, when the table names one.
    pub fn partition_extractor(&self) -> Option<&str> {
        key::PARTITION_EXTRACTOR.get(&self.properties)
    }

    /// A parameter of the timestamp key generator by its short name, such as `output.dateformat`.
    pub fn keygen_timebased(&self, name: &str) -> Option<&str> {
        let mut values = KEYGEN_TIMEBASED_PREFIXES
            .iter()
            .filter_map(|prefix| self.properties.get(&format!("{prefix}{name}")));
        values.find_map(|v| Some(v.trim()).filter(|v| !v.is_empty()))
    }

    /// Folder of the active timeline, relative to the table.
    pub fn timeline_folder(&self) -> String {
        match self.version {
            TableVersion::Six => ".hoodie".to_owned(),
            TableVersion::Eight | TableVersion::Nine => {
                let folder = key::TIMELINE_PATH
                    .get(&self.properties)
                    .unwrap_or("timeline");
                format!(".hoodie/{folder}")
            }
        }
    }

    /// Folder of the archived timeline, relative to the table. `hoodie.archivelog.folder` is not what versions 8 and
    /// later use, whatever it says.
    pub fn archive_folder(&self) -> String {
        match self.version {
            TableVersion::Six => {
                let folder = key::ARCHIVE_FOLDER
                    .get(&self.properties)
                    .unwrap_or("archived");
                format!(".hoodie/{folder}")
            }
            TableVersion::Eight | TableVersion::Nine => {
                let folder = key::TIMELINE_HISTORY_PATH
                    .get(&self.properties)
                    .unwrap_or("history");
                format!("{}/{folder}", self.timeline_folder())
            }
        }
    }

    /// Every property of the file, whatever the caller said of the table.
    pub fn stored(&self) -> &Properties {
        self.stored.as_deref().unwrap_or(&self.properties)
    }

    /// Every property, those of the caller over those of the file.
    pub fn properties(&self) -> &Properties {
        &self.properties
    }
}

fn unsupported(message: &str, key: Key, value: &str) -> Error {
    Error::unsupported(message)
        .context("property", key.name)
        .context("value", value)
}

fn version(properties: &Properties) -> Result<TableVersion> {
    let text = key::TABLE_VERSION.get(properties);
    let text = text.ok_or_else(|| missing(key::TABLE_VERSION))?;
    let refuse =
        |message, hint| Err(unsupported(message, key::TABLE_VERSION, text).context("hint", hint));
    match text.parse::<u32>() {
        Ok(6) => Ok(TableVersion::Six),
        Ok(8) => Ok(TableVersion::Eight),
        Ok(9) => Ok(TableVersion::Nine),
        Ok(0..=5) => refuse(
            "table version older than 6",
            "upgrade the table with Hudi 0.14 or later",
        ),
        Ok(7) => refuse(
            "table version 7 exists only while an upgrade runs",
            "finish the upgrade to version 8",
        ),
        Ok(_) => refuse(
            "table version newer than 9",
            "a newer release of this library may read it",
        ),
        Err(_) => Err(Error::corrupt("table version is not a number")
            .context("property", key::TABLE_VERSION.name)
            .context("value", text)),
    }
}

fn missing(key: Key) -> Error {
    Error::corrupt("hoodie.properties lacks a key that every table has")
        .context("property", key.name)
}

/// A file without its checksum may be the first half of a file, so it counts as damaged too.
fn check_sum(properties: &Properties) -> Result<()> {
    let text = key::TABLE_CHECKSUM
        .get(properties)
        .ok_or_else(|| missing(key::TABLE_CHECKSUM))?;
    if text.parse::<u32>() == Ok(properties::checksum(properties)) {
        return Ok(());
    }
    Err(
        Error::corrupt("hoodie.properties does not match its checksum")
            .context("property", key::TABLE_CHECKSUM.name)
            .context("value", text),
    )
}

fn check_features(properties: &Properties, version: TableVersion) -> Result<()> {
    let layout = key::TIMELINE_LAYOUT
        .get(properties)
        .ok_or_else(|| missing(key::TIMELINE_LAYOUT))?;
    if layout.parse() != Ok(version.layout().number()) {
        let message = format!("timeline layout of a table of version {version}");
        return Err(unsupported(&message, key::TIMELINE_LAYOUT, layout));
    }
    let must_be = |key: Key, handled: &str, message: &str| match key.get(properties) {
        Some(value) if !value.eq_ignore_ascii_case(handled) => {
            Err(unsupported(message, key, value))
        }
        _ => Ok(()),
    };
    must_be(key::TABLE_FORMAT, "native", "pluggable table format")?;
    must_be(key::LOG_FILE_FORMAT, "HOODIE_LOG", "log file format")?;
    must_be(
        key::MULTIPLE_BASE_FORMATS,
        "false",
        "table with base files of several formats",
    )?;
    match key::BOOTSTRAP_BASE_PATH.get(properties) {
        Some(path) => Err(unsupported(
            "bootstrapped table",
            key::BOOTSTRAP_BASE_PATH,
            path,
        )),
        None => Ok(()),
    }
}

fn table_type(properties: &Properties) -> Result<TableType> {
    match key::TABLE_TYPE.get(properties) {
        Some("COPY_ON_WRITE") => Ok(TableType::CopyOnWrite),
        Some("MERGE_ON_READ") => Ok(TableType::MergeOnRead),
        Some(other) => Err(unsupported("table type", key::TABLE_TYPE, other)),
        None => Err(missing(key::TABLE_TYPE)),
    }
}

fn timeline_zone(properties: &Properties) -> Result<TimelineZone> {
    let text = key::TIMELINE_TIMEZONE.get(properties).unwrap_or("LOCAL");
    match text.to_ascii_uppercase().as_str() {
        "LOCAL" => Ok(TimelineZone::Local),
        "UTC" => Ok(TimelineZone::Utc),
        _ => Err(unsupported("timeline zone", key::TIMELINE_TIMEZONE, text)),
    }
}

fn base_format(properties: &Properties, keygen: &KeyGeneratorType) -> Result<BaseFormat> {
    let text = key::BASE_FILE_FORMAT.get(properties).unwrap_or("PARQUET");
    match text.to_ascii_uppercase().as_str() {
        "PARQUET" => Ok(BaseFormat::Parquet),
        "HFILE" if *keygen == KeyGeneratorType::MetadataTable => Ok(BaseFormat::HFile),
        _ => Err(unsupported("base file format", key::BASE_FILE_FORMAT, text)),
    }
}

#[cfg(test)]
mod tests;
