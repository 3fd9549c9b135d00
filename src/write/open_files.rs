//! The files that rows go to, within a budget of memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StringArray};

use super::append_options::AppendOptions;
use super::base_file::{BaseFile, Format};
use super::key_state::KeyState;
use super::target::FileTarget;
use super::written::WrittenFile;
use crate::codec::parquet::Compressor;
use crate::error::{Error, Result};
use crate::host::turn;
use crate::index::RecordKeys;
use crate::model::{InOrder, InstantTime, PartitionPath};

/// Rows that go to a file between two looks at its size.
const STEP: usize = 16 << 10;

/// One open file a partition, and those that are done.
pub(super) struct OpenFiles {
    format: Arc<Format>,
    options: AppendOptions,
    target: Arc<dyn FileTarget>,
    packer: Compressor,
    open: BTreeMap<u32, BaseFile>,
    keys: KeyState,
    done: Vec<(u32, WrittenFile)>,
}

impl OpenFiles {
    /// No file yet. With `unique_keys` a key that comes twice is an error.
    pub(super) fn new(
        format: Format,
        options: AppendOptions,
        target: Arc<dyn FileTarget>,
        unique_keys: bool,
    ) -> Self {
        Self {
            format: Arc::new(format),
            packer: Compressor::new(options.codec),
            open: BTreeMap::new(),
            keys: KeyState::new(options.global_keys, unique_keys),
            done: Vec::new(),
            options,
            target,
        }
    }

    /// For another instant and target; no file may have been begun.
    pub(super) fn bind(&mut self, instant: &InstantTime, target: Arc<dyn FileTarget>) {
        let format = Format {
            instant: instant.clone(),
            ..self.format.as_ref().clone()
        };
        (self.format, self.target) = (Arc::new(format), target);
    }

    /// Puts rows into the file of their partition.
    ///
    /// Errors: `InvalidArgument` for a key that came before; `LimitExceeded`; those of the target.
    pub(super) async fn push(
        &mut self,
        partition: u32,
        path: &PartitionPath,
        columns: &[ArrayRef],
        keys: Option<&StringArray>,
        rows: usize,
    ) -> Result<()> {
        let mut start = 0;
        while start < rows {
            let count = STEP.min(rows - start);
            let columns: Vec<ArrayRef> = columns.iter().map(|c| c.slice(start, count)).collect();
            let keys = keys.map(|keys| keys.slice(start, count));
            self.step(partition, path, &columns, keys.as_ref(), count)
                .await?;
            start += count;
            turn().await;
        }
        Ok(())
    }

    async fn step(
        &mut self,
        partition: u32,
        path: &PartitionPath,
        columns: &[ArrayRef],
        keys: Option<&StringArray>,
        rows: usize,
    ) -> Result<()> {
        if !self.open.contains_key(&partition) {
            let file = self.begin(partition, path).await?;
            self.open.insert(partition, file);
        }
        let Some(file) = self.open.get(&partition) else {
            return Err(Error::internal("a file that was opened is gone"));
        };
        let number = file.number;
        if let Some(keys) = keys {
            self.add_keys(number, keys).await?;
        }
        let Some(file) = self.open.get_mut(&partition) else {
            return Err(Error::internal("a file that was opened is gone"));
        };
        let texts = keys.filter(|_| self.format.meta_fields);
        file.push(columns, texts, rows, &mut self.packer)?;
        if file.size() >= self.options.max_file_size {
            self.finish_file(partition).await?;
        }
        self.keep_within_budget().await
    }

    /// Keeps the keys of rows, none of which came before.
    async fn add_keys(&mut self, file: u32, keys: &StringArray) -> Result<()> {
        if self.keys.add_rising(file, keys.iter().flatten())? {
            return Ok(());
        }
        while self.keys.catch_up() {
            turn().await;
        }
        for key in keys.iter().flatten() {
            if !self.keys.add(file, key)? {
                return Err(
                    Error::invalid_argument("a record key comes twice in one call")
                        .context("key", key)
                        .context("hint", "give each key once, or keep the latest row of each"),
                );
            }
        }
        Ok(())
    }

    async fn begin(&mut self, partition: u32, path: &PartitionPath) -> Result<BaseFile> {
        let number = self.keys.begin_file(partition);
        let name = BaseFile::name(&self.format, number)?;
        let opened = self.target.open(path, &name.to_string()).await?;
        BaseFile::begin(&self.format, number, path.clone(), name, opened)
    }

    /// Sends or ends the largest files until what is left fits.
    async fn keep_within_budget(&mut self) -> Result<()> {
        let part = self.options.part;
        // Nothing but memory would end the only file then.
        let one_file = self.options.max_file_size == u64::MAX;
        loop {
            let open: usize = self.open.values().map(|file| file.memory(part)).sum();
            let budget = self.budget()?;
            let largest = self.open.iter().max_by_key(|(_, file)| file.memory(part));
            let Some((partition, _)) = largest.filter(|_| open > budget) else {
                return Ok(());
            };
            let partition = *partition;
            match self.open.get_mut(&partition) {
                Some(file) if file.buffered() as u64 >= part || one_file => {
                    file.flush(&mut self.packer).await?;
                    if one_file {
                        return Ok(());
                    }
                }
                _ => self.finish_file(partition).await?,
            }
        }
    }

    /// Bytes that open files may hold now.
    fn budget(&self) -> Result<usize> {
        let Some(limit) = self.options.memory_limit else {
            return Ok(self.options.buffer);
        };
        let keys = self.keys.memory();
        let left = limit.saturating_sub(keys);
        // Below this a file is sent in pieces that no longer compress.
        if left < LEAST_BUFFER {
            return Err(Error::limit_exceeded(
                "the keys of one call take more memory than allowed",
            )
            .context("limit", limit)
            .context("hint", "write in several calls, or raise memoryLimit"));
        }
        Ok(left.min(self.options.buffer))
    }

    async fn finish_file(&mut self, partition: u32) -> Result<()> {
        let Some(file) = self.open.remove(&partition) else {
            return Ok(());
        };
        let (number, rows) = (file.number, file.rows);
        let counted = self
            .format
            .auto_keys
            .then(|| self.format.counted_keys(number, rows));
        let keys = counted.as_ref().or(self.keys.keys(number));
        let written = file.finish(&self.format, keys, &mut self.packer).await?;
        self.done.push((number, written));
        Ok(())
    }

    /// Ends all files and reports them in the order in which they were begun.
    pub(super) async fn finish(mut self) -> Result<Vec<WrittenFile>> {
        let open: Vec<u32> = self.open.keys().copied().collect();
        for partition in open {
            if let Err(error) = self.finish_file(partition).await {
                self.abort().await;
                return Err(error);
            }
        }
        self.done.in_order_by(|(a, _), (b, _)| a.cmp(b));
        let (keys, format) = (&mut self.keys, &self.format);
        let wanted = self.options.keep_keys;
        let done = self.done.into_iter().map(|(number, mut written)| {
            let rows = usize::try_from(written.stat.num_writes).unwrap_or(0);
            written.keys = match (wanted, format.auto_keys) {
                (false, _) => RecordKeys::default(),
                (true, true) => format.counted_keys(number, rows),
                (true, false) => keys.take(number),
            };
            written
        });
        Ok(done.collect())
    }

    /// Gives up the files that are open.
    pub(super) async fn abort(self) {
        for file in self.open.into_values() {
            file.abort().await;
        }
    }
}

const LEAST_BUFFER: usize = 4 << 20;
