//! A metadata table made for a table without files, in Java's sequence.

use std::collections::BTreeMap;

use arrow::datatypes::Schema;
use bytes::Bytes;

use super::columns::columns_to_index;
use super::definitions::{DEFINITIONS_PATH, definitions};
use super::layout::{Index, base_name, log_name, path};
use super::own_timeline::{base_stat, completed_body, put_instant, put_partition_metafile};
use super::record::{Names, put_partition_list, writer_schema};
use super::shard_file::{base_file, empty_log_file};
use super::value::StatsVersion;
use crate::commit::WriteClock;
use crate::config::{Properties, TableConfig, key, properties};
use crate::error::Result;
use crate::host;
use crate::metadata::partition::{ALL_PARTITIONS, FILES, FOLDER};
use crate::model::{Action, InOrder, InstantTime, State, TableVersion};
use crate::storage::{Cause, Storage};

/// The token of files that no task wrote.
const NO_TASK: &str = "0-0-0";

/// Java's settings of the number of file groups.
const STATS_GROUPS: &str = "hoodie.metadata.index.column.stats.file.group.count";
const PARTITION_STATS_GROUPS: &str = "hoodie.metadata.index.partition.stats.file.group.count";
const RECORD_INDEX_GROUPS: [&str; 2] = [
    "hoodie.metadata.global.record.level.index.min.filegroup.count",
    "hoodie.metadata.record.index.min.filegroup.count",
];

/// What a new metadata table is to have.
#[derive(Debug, Clone)]
pub struct NewMetadataTable<'a> {
    /// The indexes beside `files`. Statistics of partitions are kept only where there are partitions, and only beside those of files.
    pub indexes: &'a [Index],
    /// The table's columns, without meta columns or with them.
    pub schema: &'a Schema,
    /// The table's settings of indexes: which columns, how many file groups.
    pub options: &'a Properties,
}

/// What the data table's properties must say once its metadata table is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bootstrapped {
    /// `hoodie.table.metadata.partitions`, sorted.
    pub partitions: Vec<String>,
    /// `hoodie.table.index.defs.path`, where there are definitions.
    pub definitions: Option<String>,
}

impl Bootstrapped {
    /// Writes it into a table's properties.
    pub fn put(&self, table: &mut Properties) {
        let mut set = |name: &str, value: &str| table.insert(name.to_owned(), value.to_owned());
        set(
            "hoodie.table.metadata.partitions",
            &self.partitions.join(","),
        );
        set("hoodie.table.metadata.partitions.inflight", "");
        if let Some(path) = &self.definitions {
            set("hoodie.table.index.defs.path", path);
        }
    }
}

/// Makes the metadata table of a table that has no file yet. Whatever lies at its place is removed first: a table whose
/// properties do not name a metadata table has none.
///
/// Errors: those of the storage; the table's properties do not name it then.
pub async fn bootstrap(
    storage: &Storage,
    config: &TableConfig,
    clock: &WriteClock,
    new: &NewMetadataTable<'_>,
) -> Result<Bootstrapped> {
    for file in storage.list_all(FOLDER, None, Cause::Write).await? {
        storage.delete(&file.path).await?;
    }
    let version = match config.version() {
        TableVersion::Nine => StatsVersion::Two,
        _ => StatsVersion::One,
    };
    let text = own_properties(config);
    let path_of = format!("{FOLDER}/.hoodie/hoodie.properties");
    storage.put(&path_of, text).await?;
    let indexes = indexes_of(config, new.indexes);
    let columns = indexes.contains(&Index::ColumnStats).then(|| {
        columns_to_index(
            new.schema,
            config.populate_meta_fields(),
            version,
            new.options,
        )
    });
    let record_index = indexes.contains(&Index::RecordIndex);
    let definitions = definitions(columns.as_deref(), record_index, version);
    for (number, index) in indexes.iter().enumerate() {
        let instant = InstantTime::parse(&format!("{number:017}"))?;
        let groups = groups(*index, new.options);
        build(storage, clock, (*index, groups), &instant, version).await?;
    }
    let definitions = match definitions {
        Some(text) => {
            storage.put(DEFINITIONS_PATH, text.into()).await?;
            Some(DEFINITIONS_PATH.to_owned())
        }
        None => None,
    };
    let mut partitions: Vec<_> = indexes
        .iter()
        .map(|index| index.folder().to_owned())
        .collect();
    partitions.in_order();
    Ok(Bootstrapped {
        partitions,
        definitions,
    })
}

/// The indexes of a table, in the order in which they are built.
fn indexes_of(config: &TableConfig, wanted: &[Index]) -> Vec<Index> {
    let has = |index: &Index| match index {
        Index::Files => true,
        Index::PartitionStats => {
            config.is_partitioned()
                && wanted.contains(index)
                && wanted.contains(&Index::ColumnStats)
        }
        other => wanted.contains(other),
    };
    Index::ALL.into_iter().filter(has).collect()
}

fn groups(index: Index, options: &Properties) -> usize {
    let (names, default): (&[&str], usize) = match index {
        Index::Files => (&[], 1),
        Index::ColumnStats => (&[STATS_GROUPS], 2),
        Index::PartitionStats => (&[PARTITION_STATS_GROUPS], 1),
        Index::RecordIndex => (&RECORD_INDEX_GROUPS, 10),
    };
    let given = names
        .iter()
        .find_map(|name| options.get(*name)?.trim().parse().ok());
    given
        .filter(|count| (1..10_000).contains(count))
        .unwrap_or(default)
}

/// Builds one partition: requested and inflight, a log file a group, the base file of `files`, completed.
async fn build(
    storage: &Storage,
    clock: &WriteClock,
    (index, groups): (Index, usize),
    instant: &InstantTime,
    version: StatsVersion,
) -> Result<()> {
    let put = |state, completion, body| {
        put_instant(
            storage,
            instant,
            Action::DeltaCommit,
            state,
            completion,
            body,
        )
    };
    let empty = Bytes::from(empty_log_file(instant)?);
    for group in 0..groups {
        let name = log_name(&index.file_id(group), instant, NO_TASK);
        storage
            .put(&path(index.folder(), &name), empty.clone())
            .await?;
    }
    put(State::Requested, None, Bytes::new()).await?;
    put(State::Inflight, None, Bytes::new()).await?;
    let mut stats = BTreeMap::new();
    if index == Index::Files {
        let file_id = index.file_id(0);
        let name = base_name(&file_id, instant, NO_TASK);
        put_partition_metafile(storage, FILES, instant, host::now_millis()).await?;
        let bytes = files_base()?;
        let size = bytes.len() as u64;
        storage.put(&path(FILES, &name), bytes.into()).await?;
        stats.insert(
            FILES.to_owned(),
            vec![base_stat(FILES, &file_id, &name, size, 1)],
        );
    }
    // Hudi 1.0 has the one word, later ones the other.
    let operation = match version {
        StatsVersion::One => "BULK_INSERT",
        StatsVersion::Two => "BULK_INSERT_PREPPED",
    };
    let body = completed_body(operation, stats)?;
    let completion = clock.mint(None).await?;
    put(State::Completed, Some(completion), body).await
}

/// The first base file of `files`: a list of no partitions.
fn files_base() -> Result<Vec<u8>> {
    let mut record = Vec::new();
    put_partition_list(&Names::new(), &mut record);
    let records = [(ALL_PARTITIONS.as_bytes(), record.as_slice())];
    base_file(&writer_schema(), records.into_iter())
}

/// The metadata table's own properties.
fn own_properties(config: &TableConfig) -> Bytes {
    let version = config.version().number().to_string();
    let name = format!("{}_metadata", config.table_name());
    let mut own: Properties = [
        ("hoodie.archivelog.folder", "history"),
        (
            "hoodie.compaction.payload.class",
            "org.apache.hudi.metadata.HoodieMetadataPayload",
        ),
        ("hoodie.datasource.write.drop.partition.columns", "false"),
        ("hoodie.populate.meta.fields", "false"),
        ("hoodie.record.merge.mode", "CUSTOM"),
        (
            "hoodie.record.merge.strategy.id",
            "00000000-0000-0000-0000-000000000000",
        ),
        ("hoodie.table.base.file.format", "HFILE"),
        ("hoodie.table.initial.version", &version),
        ("hoodie.table.keygenerator.type", "HOODIE_TABLE_METADATA"),
        ("hoodie.table.name", &name),
        ("hoodie.table.recordkey.fields", "key"),
        ("hoodie.table.type", "MERGE_ON_READ"),
        ("hoodie.table.version", &version),
        ("hoodie.timeline.history.path", "history"),
        ("hoodie.timeline.layout.version", "2"),
        ("hoodie.timeline.path", "timeline"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .into();
    let sum = properties::checksum(&own).to_string();
    own.insert(key::TABLE_CHECKSUM.name.to_owned(), sum);
    let now = host::now_millis();
    let moment = chrono::DateTime::from_timestamp_millis(now).unwrap_or_default();
    let first = format!(
        "Properties saved on {}",
        moment.format("%Y-%m-%dT%H:%M:%S%.3fZ")
    );
    properties::store(&own, &[&first, &properties::java_date(now)]).into()
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
