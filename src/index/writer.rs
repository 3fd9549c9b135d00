//! Writes to a metadata table beside those to its data table.

use std::collections::{BTreeMap, BTreeSet};

use arrow::datatypes::{DataType, Schema};
use bytes::Bytes;

use super::change::MetadataChange;
use super::columns::columns_to_index;
use super::definitions::{DEFINITIONS_PATH, definitions};
use super::entries::{self, NewKeys};
use super::layout::{Index, log_name, path};
use super::own_timeline::{
    completed_body, inflight_body, log_stat, put_instant, put_partition_metafile,
};
use super::shard_file::ShardChange;
use super::stats::{Kinds, Range};
use super::value::{StatsVersion, ValueKind};
use crate::codec::hfile::Query;
use crate::commit::WriteClock;
use crate::config::Properties;
use crate::error::{Error, ErrorKind, Result};
use crate::host;
use crate::metadata::partition::{COLUMN_STATS, name_in_keys};
use crate::metadata::{IndexDefinition, MetadataTable, Payload};
use crate::model::{
    Action, FileSlice, InstantTime, PARTITION_METAFILE, PartitionPath, State, TableVersion,
    meta_field,
};
use crate::storage::{Cause, Storage};
use crate::timeline::payload::WriteStat;
use crate::timeline::{MetaClient, Timeline};

/// The metadata table of one data table, to be written to.
///
/// What is promised:
/// 1. it exists only where every partition that the table's properties list is one that is kept here, and none is being built;
/// 2. a delta commit has the data instant's own time, so it is seen only once that one is completed;
/// 3. no file is put over another one.
#[derive(Debug)]
pub struct MetadataWriter {
    pub(super) storage: Storage,
    pub(super) clock: WriteClock,
    pub(super) table: MetadataTable,
    pub(super) indexes: Vec<Index>,
    version: TableVersion,
    definition: Option<IndexDefinition>,
    /// The index definitions as they are to be, where columns came.
    definitions: Option<String>,
    meta_fields: bool,
}

/// Whether an instant of the data table is carried out for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attempt {
    First,
    Again,
}

/// Refuses to write to a table whose indexes would go stale, before any instant is made.
///
/// Errors: `Unsupported` with `partition` when the table's properties list one that is not kept here, or one that is being built.
pub fn require_known_indexes(properties: &Properties) -> Result<()> {
    let listed = |key: &str| -> Vec<String> {
        let text = properties.get(key).map(String::as_str).unwrap_or_default();
        let names = text
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        names.map(str::to_owned).collect()
    };
    if let Some(building) = listed("hoodie.table.metadata.partitions.inflight").first() {
        return Err(Error::unsupported(
            "an index of the table is being built, and a write would miss it",
        )
        .context("partition", building));
    }
    let known = |name: &String| Index::of_folder(name).is_some();
    match listed("hoodie.table.metadata.partitions")
        .into_iter()
        .find(|name| !known(name))
    {
        Some(name) => Err(Error::unsupported(
            "the table has an index that is not kept up to date here",
        )
        .context("partition", name)
        .context("hint", "drop the index in Spark, or write with Spark")),
        None => Ok(()),
    }
}

impl MetadataWriter {
    /// Opens the metadata table of a table; `None` when it has none. `data` was loaded inside the critical section, or nobody
    /// else writes.
    ///
    /// Errors: those of [`require_known_indexes`]; `Unsupported` for a record index that is kept by partition; `Corrupt`; those of
    /// the storage.
    pub async fn open(data: &MetaClient, clock: &WriteClock) -> Result<Option<Self>> {
        require_known_indexes(data.config.properties())?;
        if !MetadataTable::is_there(data) {
            return Ok(None);
        }
        if data.config.version() == TableVersion::Six {
            return Err(Error::unsupported(
                "writing beside a metadata table of table version 6",
            ));
        }
        let table = MetadataTable::load_anew(data).await?;
        let listed: BTreeSet<_> = table.partitions().map(str::to_owned).collect();
        let has = |index: &Index| listed.contains(index.folder());
        let indexes: Vec<_> = Index::ALL.into_iter().filter(has).collect();
        let slices = table
            .slices(&data.storage, Index::RecordIndex.folder())
            .await?;
        let global =
            |(at, slice): (usize, &FileSlice)| slice.file_id == Index::RecordIndex.file_id(at);
        if !slices.iter().enumerate().all(global) {
            return Err(
                Error::unsupported("a record index that is kept by partition")
                    .context("partition", Index::RecordIndex.folder()),
            );
        }
        let all = table.index_definitions(&data.storage).await?;
        let of_stats = |index: &IndexDefinition| index.partition == COLUMN_STATS;
        Ok(Some(Self {
            storage: data.storage.clone(),
            clock: clock.clone(),
            table,
            indexes,
            version: data.config.version(),
            definition: all.into_iter().find(of_stats),
            definitions: None,
            meta_fields: data.config.populate_meta_fields(),
        }))
    }

    /// A writer beside a table with whatever indexes.
    #[cfg(all(test, not(target_arch = "wasm32")))]
    pub(super) async fn of_any(data: &MetaClient, clock: &WriteClock) -> Self {
        Self {
            storage: data.storage.clone(),
            clock: clock.clone(),
            table: MetadataTable::load_anew(data).await.unwrap(),
            indexes: Vec::new(),
            version: data.config.version(),
            definition: None,
            meta_fields: true,
            definitions: None,
        }
    }

    /// The metadata table's own timeline, as it was when this was opened.
    pub fn timeline(&self) -> &Timeline {
        self.table.timeline()
    }

    /// Whether the keys of new records are wanted.
    pub fn indexes_records(&self) -> bool {
        self.indexes.contains(&Index::RecordIndex)
    }

    /// Whether ranges of columns are wanted.
    pub fn indexes_columns(&self) -> bool {
        self.indexes.contains(&Index::ColumnStats)
    }

    /// Writes the delta commit of a data instant: requested, inflight, a log file for each file group that learns something,
    /// completed. The data instant is pending, and the caller stands in its second critical section.
    ///
    /// Errors: `WriteConflict` when the instant is there already; `Corrupt` and those of the storage. What was written is invisible
    /// as long as the data instant is not completed; see [`rollback_in_metadata`](super::rollback_in_metadata).
    pub async fn commit(&self, instant: &InstantTime, change: &MetadataChange<'_>) -> Result<()> {
        self.write(instant, change, Attempt::First).await
    }

    /// The same of a table service, which may have ended early and goes on under its own instant: its plan is as it was, so what
    /// is there of the delta commit says the same, and a completed one stays.
    ///
    /// Errors: `Corrupt` and those of the storage.
    pub async fn commit_again(
        &self,
        instant: &InstantTime,
        change: &MetadataChange<'_>,
    ) -> Result<()> {
        let there = self.table.timeline().find(instant, &Action::DeltaCommit);
        match there {
            Some(there) if there.is_completed() => Ok(()),
            _ => self.write(instant, change, Attempt::Again).await,
        }
    }

    async fn write(
        &self,
        instant: &InstantTime,
        change: &MetadataChange<'_>,
        attempt: Attempt,
    ) -> Result<()> {
        let put = async |state, completion, body| {
            let (storage, action) = (&self.storage, Action::DeltaCommit);
            let done = put_instant(storage, instant, action, state, completion, body).await;
            match done {
                Err(error)
                    if attempt == Attempt::Again && error.kind() == ErrorKind::WriteConflict =>
                {
                    Ok(())
                }
                done => done,
            }
        };
        let kinds = self.kinds(change.schema);
        let partitions = match self.indexes.contains(&Index::PartitionStats) {
            true => self.partition_stats(change, &kinds).await?,
            false => Vec::new(),
        };
        if let Some(definitions) = &self.definitions {
            let text = definitions.clone().into();
            self.storage.put(DEFINITIONS_PATH, text).await?;
        }
        put(State::Requested, None, Bytes::new()).await?;
        put(State::Inflight, None, inflight_body()?).await?;
        let mut files = LogFiles::new(self, instant);
        if self.indexes_records() {
            self.put_keys(change, &mut files).await?;
        }
        if self.indexes_columns() {
            let groups = self.groups(Index::ColumnStats).await?;
            let shards = entries::column_stats(change, &kinds, groups);
            files.put_all(Index::ColumnStats, shards).await?;
        }
        files.put_all(Index::PartitionStats, partitions).await?;
        files
            .put_all(Index::Files, vec![entries::files(change)])
            .await?;
        let body = completed_body("UPSERT_PREPPED", files.stats)?;
        let newest = self.table.timeline().instants();
        let newest = newest.filter_map(|i| i.completion.clone()).max();
        let newest = newest.max(Some(instant.clone()));
        let completion = self.clock.mint(newest.as_ref()).await?;
        put(State::Completed, Some(completion), body).await
    }

    /// Keeps statistics of columns that come with the next commit too, as many as are kept by default. `schema` has all columns
    /// of the table.
    ///
    /// Errors: `Unsupported` where the index definitions are not the ones that Hudi makes by itself.
    pub async fn add_columns(&mut self, names: &[String], schema: &Schema) -> Result<()> {
        if !self.indexes_columns() {
            return Ok(());
        }
        let version = self.stats_version();
        let Some(definition) = &mut self.definition else {
            // The rule of the version takes them by itself.
            return Ok(());
        };
        let by_rule = columns_to_index(schema, self.meta_fields, version, &Properties::new());
        let mut columns = definition.columns.clone();
        for name in names {
            let room = columns.len() < by_rule.len();
            if room && by_rule.contains(name) && !columns.contains(name) {
                columns.push(name.clone());
            }
        }
        if columns.len() == definition.columns.len() {
            return Ok(());
        }
        let keys = self.indexes.contains(&Index::RecordIndex);
        let known = definitions(Some(&definition.columns), keys, version).unwrap_or_default();
        let found = self.storage.get(DEFINITIONS_PATH, Cause::Write).await?;
        let json = |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).ok();
        if json(&found) != json(known.as_bytes()) {
            return Err(Error::unsupported(
                "new columns beside index definitions that this engine would not make",
            )
            .context("path", DEFINITIONS_PATH)
            .context("hint", "add the columns with Spark"));
        }
        self.definitions = definitions(Some(&columns), keys, version);
        definition.columns = columns;
        Ok(())
    }

    async fn groups(&self, index: Index) -> Result<usize> {
        Ok(self
            .table
            .slices(&self.storage, index.folder())
            .await?
            .len())
    }

    /// One log file a shard of the record index that gets keys, one after the other.
    async fn put_keys(&self, change: &MetadataChange<'_>, files: &mut LogFiles<'_>) -> Result<()> {
        let instant = files.instant;
        let millis = self.clock.epoch_millis(instant);
        let millis = millis.ok_or_else(|| {
            Error::internal("an instant of this clock is no moment").context("instant", instant)
        })?;
        let groups = self.groups(Index::RecordIndex).await?;
        let mut keys = NewKeys::of(change, millis, groups)?;
        for group in 0..groups {
            if !keys.is_empty(group) {
                let (bytes, records) = keys.log_file(group, instant)?;
                files
                    .put(Index::RecordIndex, group, bytes, (records, 0))
                    .await?;
                host::turn().await;
            }
        }
        Ok(())
    }

    fn stats_version(&self) -> StatsVersion {
        match &self.definition {
            Some(definition) if definition.hashes_value => StatsVersion::Two,
            Some(_) => StatsVersion::One,
            None if self.version == TableVersion::Nine => StatsVersion::Two,
            None => StatsVersion::One,
        }
    }

    /// How the indexed columns are kept, by the index definition or else by the rule of the version.
    fn kinds(&self, schema: &Schema) -> Kinds {
        let version = self.stats_version();
        let columns = match &self.definition {
            Some(definition) => definition.columns.clone(),
            None => columns_to_index(schema, self.meta_fields, version, &Properties::new()),
        };
        let kind = |column: String| {
            let data_type = match schema.field_with_name(&column) {
                Ok(field) => field.data_type(),
                Err(_) if meta_field::is_meta_field(&column) => &DataType::Utf8,
                Err(_) => return None,
            };
            Some((column, ValueKind::of(data_type, version)?))
        };
        columns.into_iter().filter_map(kind).collect()
    }

    /// The ranges of the partitions that got files: what was known and what came. Where files are there and nothing is known of a
    /// column, they are of before the column came, as Spark takes them too: they hold nulls alone. A partition with files of which
    /// nothing at all is known stays without, since a range of the new files alone would leave rows out.
    async fn partition_stats(
        &self,
        change: &MetadataChange<'_>,
        kinds: &Kinds,
    ) -> Result<Vec<ShardChange>> {
        let groups = self.groups(Index::PartitionStats).await?;
        let mut shards = vec![ShardChange::default(); groups];
        let new = entries::new_ranges(change, kinds);
        if new.is_empty() {
            return Ok(shards);
        }
        let partitions: Vec<&PartitionPath> = new.keys().copied().collect();
        let columns: Vec<&str> = kinds.keys().map(String::as_str).collect();
        let stats = Index::PartitionStats.folder();
        let known = self
            .table
            .stats(&self.storage, stats, &columns, &partitions)
            .await?;
        let with_files = self.partitions_with_files(&partitions).await?;
        for (partition, ranges) in new {
            let known = |column: &str| known.as_ref()?.of_file(partition, "", column);
            let rows = columns.iter().find_map(|column| known(column)?.value_count);
            for (column, range) in ranges {
                let known = known(column);
                let range = match (known, kinds.get(column)) {
                    (Some(known), Some(kind)) => Range::of_record(known, kind).with(range),
                    _ if with_files.contains(partition) => match rows {
                        Some(rows) => Range::of_nulls(rows).with(range),
                        None => continue,
                    },
                    _ => range,
                };
                entries::put_partition_stats(&mut shards, partition, column, &range, kinds);
            }
        }
        Ok(shards)
    }

    async fn partitions_with_files(
        &self,
        partitions: &[&PartitionPath],
    ) -> Result<BTreeSet<PartitionPath>> {
        let keys = partitions
            .iter()
            .map(|partition| name_in_keys(partition).to_owned());
        let query = Query::keys(keys.collect::<Vec<_>>());
        let mut found = BTreeSet::new();
        for shard in self
            .table
            .shards(&self.storage, Index::Files.folder())
            .await?
        {
            for (key, payload) in shard.find(&self.storage, &query).await? {
                let live = |names: &BTreeMap<_, crate::metadata::FileEntry>| {
                    names.values().any(|entry| !entry.deleted)
                };
                if matches!(&payload, Payload::Files(names) if live(names)) {
                    let of_key = |partition: &&&PartitionPath| {
                        name_in_keys(partition).as_bytes() == key.as_ref()
                    };
                    found.extend(partitions.iter().find(of_key).map(|p| (*p).clone()));
                }
            }
        }
        Ok(found)
    }
}

/// The log files of one delta commit, as they are written.
struct LogFiles<'a> {
    writer: &'a MetadataWriter,
    instant: &'a InstantTime,
    stats: BTreeMap<String, Vec<WriteStat>>,
    count: usize,
}

impl<'a> LogFiles<'a> {
    fn new(writer: &'a MetadataWriter, instant: &'a InstantTime) -> Self {
        Self {
            writer,
            instant,
            stats: BTreeMap::new(),
            count: 0,
        }
    }

    async fn put_all(&mut self, index: Index, shards: Vec<ShardChange>) -> Result<()> {
        for (group, shard) in shards.into_iter().enumerate() {
            if !shard.is_empty() {
                let bytes = shard.log_file(index.folder(), self.instant)?;
                let counts = (shard.records.len() as u64, shard.deletes.len() as u64);
                self.put(index, group, bytes, counts).await?;
            }
        }
        Ok(())
    }

    async fn put(
        &mut self,
        index: Index,
        group: usize,
        bytes: Vec<u8>,
        counts: (u64, u64),
    ) -> Result<()> {
        let (storage, folder) = (&self.writer.storage, index.folder());
        if !self.stats.contains_key(folder) {
            let metafile = path(folder, PARTITION_METAFILE);
            let known = storage.get_if_present(&metafile, Cause::Write).await?;
            if known.is_none() {
                put_partition_metafile(storage, folder, self.instant, host::now_millis()).await?;
            }
        }
        let file_id = index.file_id(group);
        let name = log_name(&file_id, self.instant, &format!("{}-0-0", self.count));
        let size = bytes.len() as u64;
        storage.put(&path(folder, &name), bytes.into()).await?;
        let stat = log_stat(folder, &file_id, &name, self.instant, size, counts);
        self.stats.entry(folder.to_owned()).or_default().push(stat);
        self.count += 1;
        Ok(())
    }
}
