//! Options of one call, as JavaScript hands them over: one JSON object in the words of `js/index.d.ts`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::{Error, Result};

/// The keys of `HudiReadConfig`.
pub mod read_key {
    /// `snapshot`, `incremental` or `cdc`.
    pub const QUERY_TYPE: &str = "hoodie.read.query.type";
    /// The time a snapshot is read as of.
    pub const AS_OF: &str = "hoodie.read.as.of.timestamp";
    /// The start of a range, excluded.
    pub const START: &str = "hoodie.read.start.timestamp";
    /// The end of a range, included.
    pub const END: &str = "hoodie.read.end.timestamp";
    /// Rows a batch of a stream.
    pub const BATCH_SIZE: &str = "hoodie.read.stream.batch_size";
    /// `false` leaves the metadata table aside; also a key of the open options.
    pub const METADATA_ENABLE: &str = "hoodie.metadata.enable";
    /// `false` asks no statistics and indexes; also a key of the open options.
    pub const DATA_SKIPPING: &str = "hoodie.enable.data.skipping";
    /// Spark's: `BUCKET` says that the table's file groups are buckets of its record keys; also a key of the open options, as are
    /// those below.
    pub const INDEX_TYPE: &str = "hoodie.index.type";
    /// How many buckets a partition has.
    pub const BUCKETS: &str = "hoodie.bucket.index.num.buckets";
    /// The key fields that buckets are made of; all when absent.
    pub const BUCKET_FIELDS: &str = "hoodie.bucket.index.hash.field";
    /// `SIMPLE`, which alone is used, or `CONSISTENT_HASHING`.
    pub const BUCKET_ENGINE: &str = "hoodie.index.bucket.engine";
    /// Other numbers of buckets in some partitions; then buckets are not used.
    pub const BUCKETS_BY_PARTITION: &str = "hoodie.bucket.index.partition.expressions";
    /// `false` rules out nothing by buckets.
    pub const BUCKET_PRUNING: &str = "hoodie.bucket.index.query.pruning";
    /// `true` reads base files only.
    pub const READ_OPTIMIZED: &str = "hoodie.read.use.read_optimized.mode";
    /// Spark's: `false` takes columns of older files by name, also where the table's history says that they were renamed.
    pub const SCHEMA_ON_READ: &str = "hoodie.schema.on.read.enable";
    /// Spark's: `true` reads the newest snapshot where an incremental read lacks cleaned files.
    pub const FALLBACK: &str = "hoodie.datasource.read.incr.fallback.fulltablescan.enable";
}

/// File groups that are buckets of record keys: Hudi's simple bucket index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketIndex {
    /// Buckets of each partition.
    pub buckets: u32,
    /// The key fields that are hashed; `None` for all of them.
    pub fields: Option<Vec<String>>,
}

/// Rows a batch of a stream when nothing is asked, as in hudi-rs.
pub const DEFAULT_BATCH_SIZE: usize = 1024;

/// What is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QueryType {
    /// The rows as of one instant.
    #[default]
    Snapshot,
    /// The latest state of the rows changed in a range.
    Incremental,
    /// Every change in a range, with its images.
    Cdc,
}

impl QueryType {
    fn parse(text: &str) -> Result<Self> {
        match text.to_ascii_lowercase().as_str() {
            "snapshot" => Ok(Self::Snapshot),
            "incremental" => Ok(Self::Incremental),
            "cdc" => Ok(Self::Cdc),
            _ => Err(Error::invalid_argument("unknown query type")
                .context("queryType", text)
                .context("hint", "one of 'snapshot', 'incremental' and 'cdc'")),
        }
    }
}

/// A time as it was given; the timeline knows how to turn it into an instant.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TimeValue {
    /// Text in one of the forms of `TimestampInput`.
    Text(String),
    /// A JavaScript `Date`: milliseconds since 1970 in UTC.
    Millis(i64),
}

/// One filter as it was given, its operator and values still text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RawFilter {
    /// The column, or a path into a struct: `a.b`.
    pub field: String,
    /// The operator in any letter case.
    pub operator: String,
    /// No value for `IS NULL`, one or more for `IN`, else one.
    #[serde(default)]
    pub values: Vec<String>,
}

/// The options of one read.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReadOptions {
    /// All of them must hold.
    pub filters: Vec<RawFilter>,
    /// The columns wanted, in this order; all when absent.
    pub projection: Option<Vec<String>>,
    /// At most so many rows come out.
    pub limit: Option<u64>,
    /// Whether batches have the rows asked for; an eager read leaves their size to the engine.
    pub streaming: bool,
    /// Damaged log spans are an error.
    pub strict_logs: bool,
    /// The metadata table and the store are both asked for files, and must agree.
    pub check_listing: bool,
    /// The `hoodie.read.*` keys of this read; the named options win over them.
    pub hudi_options: BTreeMap<String, String>,
    query_type: Option<String>,
    as_of: Option<TimeValue>,
    start: Option<TimeValue>,
    end: Option<TimeValue>,
    batch_size: Option<usize>,
    cdc_images: Option<String>,
    read_optimized: Option<bool>,
}

impl ReadOptions {
    /// Reads the JSON text that the JavaScript side makes.
    pub fn from_json(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|e| {
            Error::invalid_argument("the read options do not have the expected shape")
                .with_source(e)
        })
    }

    /// What is read: the named option, else `hoodie.read.query.type`, else a snapshot.
    pub fn query_type(&self) -> Result<QueryType> {
        match self
            .query_type
            .as_ref()
            .or(self.option(read_key::QUERY_TYPE))
        {
            Some(text) => QueryType::parse(text),
            None => Ok(QueryType::Snapshot),
        }
    }

    /// The time of a snapshot, when one is asked for.
    pub fn as_of(&self) -> Option<TimeValue> {
        self.time(&self.as_of, read_key::AS_OF)
    }

    /// The start of a range, excluded.
    pub fn start(&self) -> Option<TimeValue> {
        self.time(&self.start, read_key::START)
    }

    /// The end of a range, included.
    pub fn end(&self) -> Option<TimeValue> {
        self.time(&self.end, read_key::END)
    }

    /// Rows a batch of a stream; 0 is `InvalidArgument`. An eager read takes batches as they come, so `None` there.
    pub fn batch_rows(&self) -> Result<Option<usize>> {
        let key = read_key::BATCH_SIZE;
        let asked = match (self.batch_size, self.option(key)) {
            (Some(rows), _) => Some(rows),
            (None, Some(text)) => Some(text.trim().parse().map_err(|_| {
                Error::invalid_argument("the batch size is not a whole number").context(key, text)
            })?),
            (None, None) => None,
        };
        match asked {
            Some(0) => {
                Err(Error::invalid_argument("a batch of 0 rows holds nothing")
                    .context("batchSize", 0))
            }
            _ if !self.streaming => Ok(None),
            rows => Ok(Some(rows.unwrap_or(DEFAULT_BATCH_SIZE))),
        }
    }

    /// Whether log files are left out.
    pub fn read_optimized(&self) -> Result<bool> {
        if let Some(on) = self.read_optimized {
            return Ok(on);
        }
        self.flag(read_key::READ_OPTIMIZED, false)
    }

    /// Whether images of changes are structs; JSON text otherwise.
    pub fn structs_as_images(&self) -> Result<bool> {
        match self.cdc_images.as_deref() {
            None | Some("json") => Ok(false),
            Some("struct") => Ok(true),
            Some(other) => Err(Error::invalid_argument("unknown form of images")
                .context("cdcImages", other)
                .context("hint", "one of 'json' and 'struct'")),
        }
    }

    /// Whether an incremental read whose files are cleaned takes the newest snapshot's rows instead, as Spark does.
    pub fn full_scan_fallback(&self) -> Result<bool> {
        self.flag(read_key::FALLBACK, false)
    }

    /// Whether columns are followed through renames where the table has a history of its schema. Unlike Spark it is on unless
    /// it is switched off: without it a renamed column of older rows is null.
    pub fn schema_on_read(&self) -> Result<bool> {
        self.flag(read_key::SCHEMA_ON_READ, true)
    }

    fn flag(&self, key: &'static str, unset: bool) -> Result<bool> {
        let text = self.option(key).map(|text| text.to_ascii_lowercase());
        match text.as_deref() {
            None => Ok(unset),
            Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(other) => {
                Err(Error::invalid_argument("neither true nor false").context(key, other))
            }
        }
    }

    /// Whether the metadata table may be used, when the read says so.
    pub fn metadata_enabled(&self) -> Result<Option<bool>> {
        metadata_enabled(&self.hudi_options)
    }

    /// Whether statistics and indexes may rule files out: `false` never, `true` also where that costs more than it saves.
    /// The read's own word counts before that of the table's `properties`.
    pub fn data_skipping(&self, properties: &BTreeMap<String, String>) -> Result<Option<bool>> {
        match switch(&self.hudi_options, read_key::DATA_SKIPPING)? {
            None => switch(properties, read_key::DATA_SKIPPING),
            on => Ok(on),
        }
    }

    /// The bucket index that the read or the table's `properties` say there is.
    ///
    /// Errors: `InvalidArgument` for a number of buckets that is none.
    pub fn bucket_index(
        &self,
        properties: &BTreeMap<String, String>,
    ) -> Result<Option<BucketIndex>> {
        let said = |key: &str| {
            let text = self.option(key).or_else(|| properties.get(key));
            text.map(|text| text.trim()).filter(|text| !text.is_empty())
        };
        let is = |key: &str, word: &str| said(key).map(|text| text.eq_ignore_ascii_case(word));
        let used = is(read_key::INDEX_TYPE, "BUCKET") == Some(true)
            && is(read_key::BUCKET_ENGINE, "SIMPLE").unwrap_or(true)
            && is(read_key::BUCKET_PRUNING, "false") != Some(true)
            && said(read_key::BUCKETS_BY_PARTITION).is_none();
        // The number that Java takes when none is said is not surely that of whoever wrote.
        let (true, Some(buckets)) = (used, said(read_key::BUCKETS)) else {
            return Ok(None);
        };
        let count = buckets.parse().ok().filter(|count: &u32| *count > 0);
        let count = count.ok_or_else(|| {
            Error::invalid_argument("not a number of buckets").context(read_key::BUCKETS, buckets)
        })?;
        let fields = said(read_key::BUCKET_FIELDS);
        let fields = fields.map(|list| list.split(',').map(|field| field.trim().to_owned()));
        Ok(Some(BucketIndex {
            buckets: count,
            fields: fields.map(Iterator::collect),
        }))
    }

    fn option(&self, key: &str) -> Option<&String> {
        self.hudi_options.get(key)
    }

    fn time(&self, named: &Option<TimeValue>, key: &str) -> Option<TimeValue> {
        let from_key = || self.option(key).cloned().map(TimeValue::Text);
        named.clone().or_else(from_key)
    }
}

/// What `hoodie.metadata.enable` says among these properties, if it is there.
///
/// Errors: `InvalidArgument` for what is neither true nor false.
pub fn metadata_enabled(properties: &BTreeMap<String, String>) -> Result<Option<bool>> {
    switch(properties, read_key::METADATA_ENABLE)
}

fn switch(properties: &BTreeMap<String, String>, key: &'static str) -> Result<Option<bool>> {
    let text = properties
        .get(key)
        .map(|text| text.trim().to_ascii_lowercase());
    match text.as_deref() {
        None => Ok(None),
        Some("true") => Ok(Some(true)),
        Some("false") => Ok(Some(false)),
        Some(other) => Err(Error::invalid_argument("neither true nor false").context(key, other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(json: &str) -> ReadOptions {
        ReadOptions::from_json(json).unwrap()
    }

    #[test]
    fn a_named_option_wins_over_its_key() {
        let both = r#"{"streaming": true, "batchSize": 7, "asOf": {"millis": 5}, "hudiOptions":
            {"hoodie.read.stream.batch_size": "9", "hoodie.read.as.of.timestamp": "2024"}}"#;
        assert_eq!(options(both).batch_rows().unwrap(), Some(7));
        assert_eq!(options(both).as_of(), Some(TimeValue::Millis(5)));
        let key = r#"{"streaming": true, "hudiOptions": {"hoodie.read.stream.batch_size": "9", "hoodie.read.use.read_optimized.mode": "TRUE"}}"#;
        assert_eq!(options(key).batch_rows().unwrap(), Some(9));
        assert!(options(key).read_optimized().unwrap());
    }

    #[test]
    fn nothing_asked_is_a_snapshot_in_batches_of_1024() {
        let none = options(r#"{"streaming": true}"#);
        assert_eq!(none.query_type().unwrap(), QueryType::Snapshot);
        assert_eq!(none.batch_rows().unwrap(), Some(1024));
        assert_eq!(none.as_of(), None);
    }

    #[test]
    fn values_no_read_would_take_are_invalid_arguments() {
        use crate::error::ErrorKind::InvalidArgument;
        let zero = options(r#"{"batchSize": 0}"#).batch_rows().unwrap_err();
        let kind = options(r#"{"queryType": "latest"}"#)
            .query_type()
            .unwrap_err();
        let mode = options(r#"{"hudiOptions": {"hoodie.read.use.read_optimized.mode": "1"}}"#);
        for error in [
            zero,
            kind,
            mode.read_optimized().unwrap_err(),
            ReadOptions::from_json("[").unwrap_err(),
        ] {
            assert_eq!(error.kind(), InvalidArgument);
        }
    }
}
