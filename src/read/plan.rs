//! Options to slices: what a read will open, decided before any data is asked for.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};

use crate::config::RawFilter;
use crate::error::Result;
use crate::expr::{Filter, FilterValues, Predicate};
use crate::keygen::PartitionColumns;
use crate::merge::MergeRules;
use crate::model::{FileSlice, InstantTime};
use crate::read::SliceTask;
use crate::read::TableInstants;
use crate::schema::{self, SchemaHistory};
use crate::slice::{BaseRequest, Constant, LogRequest, SliceRequest, VisibleInstants};
use crate::timeline::MetaClient;
use crate::view::{self, FileListing, PartitionPruner, SnapshotOptions};

/// What is read of which rows, in the words of the caller.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// All of them must hold.
    pub filters: Vec<RawFilter>,
    /// The columns wanted, in this order; all when absent.
    pub projection: Option<Vec<String>>,
    /// The most rows a batch may have; `None` leaves it to the reader.
    pub batch_rows: Option<usize>,
    /// Stop after so many rows.
    pub limit: Option<u64>,
}

/// A selection bound to a table's schema.
#[derive(Debug, Clone)]
pub struct Bound {
    columns: PartitionColumns,
    predicate: Arc<Predicate>,
    /// The columns read: those wanted, then those that only filters ask for.
    schema: SchemaRef,
    /// How many of them are wanted; all come out.
    wanted: usize,
    batch_rows: Option<usize>,
    limit: Option<u64>,
    history: Option<Arc<SchemaHistory>>,
}

impl Bound {
    /// Binds a selection to the columns that rows are read in.
    ///
    /// Errors: `InvalidArgument` for a filter that no table would take, `Schema` for columns and values that do not fit.
    pub fn new(columns: PartitionColumns, selection: &Selection) -> Result<Self> {
        let filters = filters(&selection.filters)?;
        let read = columns.read_schema();
        let predicate = Arc::new(Predicate::bind(&filters, read)?);
        let wanted = match &selection.projection {
            Some(names) => schema::project(read, names)?,
            None => read.as_ref().clone(),
        };
        let schema = widened(&wanted, read, &predicate)?;
        Ok(Self {
            predicate,
            wanted: wanted.fields().len(),
            schema: Arc::new(schema),
            batch_rows: selection.batch_rows,
            limit: selection.limit,
            history: None,
            columns,
        })
    }

    /// The same over a table whose columns had other names before.
    #[must_use]
    pub fn with_history(self, history: SchemaHistory) -> Self {
        Self {
            history: Some(Arc::new(history)),
            ..self
        }
    }

    /// The same columns under other filters, which must ask for none besides.
    pub(super) fn filtered(&self, raw: &[RawFilter]) -> Result<Self> {
        let predicate = Predicate::bind(&filters(raw)?, self.columns.read_schema())?;
        Ok(Self {
            predicate: Arc::new(predicate),
            ..self.clone()
        })
    }

    /// Which partitions the filters rule out.
    pub fn pruner(&self) -> PartitionPruner {
        PartitionPruner::new(&self.columns, &self.predicate)
    }

    /// The partition columns that the selection is bound with.
    pub fn columns(&self) -> &PartitionColumns {
        &self.columns
    }

    /// The filters, bound to [`PartitionColumns::read_schema`].
    pub fn predicate(&self) -> &Predicate {
        &self.predicate
    }

    /// Whether columns are followed by their numbers, so that a name may have meant another column when a file was written.
    pub fn is_numbered(&self) -> bool {
        self.history.is_some()
    }

    /// The most rows that come out.
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// The schema of what comes out, as a caller sees it.
    pub fn shown_schema(&self) -> Result<SchemaRef> {
        let output = self.request().output_schema()?;
        Ok(self.columns.show_schema(&output))
    }

    /// What to read of each slice; a slice without any file is left out.
    ///
    /// Errors: `Unsupported`, naming `property` and `value`, when a slice has log files and the table merges them by a rule that
    /// is not known.
    pub fn tasks(&self, slices: &[FileSlice], merging: &Merging<'_>) -> Result<Vec<SliceTask>> {
        let with_logs = slices.iter().find_map(|slice| slice.data_logs().next());
        let logs = with_logs.map(|log| {
            self.log_request(merging).map_err(|error| {
                let hint = "readOptimized: true reads the base files alone";
                error.context("path", &log.path).context("hint", hint)
            })
        });
        let logs = logs.transpose()?;
        let tasks = slices.iter().map(|slice| {
            let rows = self.rows(slice)?;
            let has_files = slice.base.is_some() || slice.data_logs().next().is_some();
            Ok(has_files.then(|| SliceTask {
                slice: slice.clone(),
                request: SliceRequest {
                    rows,
                    logs: logs.clone(),
                },
                opened: None,
            }))
        });
        tasks.filter_map(Result::transpose).collect()
    }

    /// How log files are merged.
    fn log_request(&self, merging: &Merging<'_>) -> Result<Arc<LogRequest>> {
        Ok(Arc::new(LogRequest {
            rules: Arc::new(MergeRules::from_config(&merging.meta.config)?),
            table: Arc::clone(self.columns.read_schema()),
            visible: merging.visible(),
            strict: merging.strict,
            alone: merging.members.is_some(),
            history: self.history.clone(),
        }))
    }

    /// The rows of one slice.
    fn rows(&self, slice: &FileSlice) -> Result<BaseRequest> {
        let mut request = self.request();
        if let Some(history) = &self.history {
            let written = slice
                .base
                .as_ref()
                .map_or(&slice.instant, |base| &base.name.instant);
            request.names = history.names_at(&written.to_string())?;
        }
        for value in self.columns.values(&slice.partition)? {
            if self.schema.index_of(&value.name).is_ok() {
                request.constants.push(Constant {
                    name: value.name,
                    value: value.value,
                });
            }
        }
        Ok(request)
    }

    fn request(&self) -> BaseRequest {
        let output = (self.wanted < self.schema.fields().len()).then(|| (0..self.wanted).collect());
        BaseRequest {
            output,
            predicate: Arc::clone(&self.predicate),
            batch_rows: self.batch_rows,
            ..BaseRequest::all(Arc::clone(&self.schema))
        }
    }
}

/// What is to be seen of log files.
#[derive(Clone)]
pub struct Merging<'a> {
    /// The table.
    pub meta: &'a MetaClient,
    /// The requested time of the last instant to see; `None` for the latest state.
    pub as_of: Option<&'a InstantTime>,
    /// The only instants to see; `None` for all.
    pub members: Option<Arc<BTreeSet<InstantTime>>>,
    /// Whether a damaged span of a log file is an error.
    pub strict: bool,
}

impl Merging<'_> {
    /// Which blocks count, by their instants: in files that version 6 wrote, also before an upgrade, blocks of instants that never
    /// completed lie beside others.
    fn visible(&self) -> Arc<dyn VisibleInstants> {
        let instants = TableInstants::new(self.meta, self.as_of);
        Arc::new(instants.among(self.members.clone()))
    }
}

/// The filters of a call, checked for what no table would take.
fn filters(raw: &[RawFilter]) -> Result<Vec<Filter>> {
    let parse =
        |f: &RawFilter| Filter::parse(&f.field, &f.operator, FilterValues::List(f.values.clone()));
    raw.iter().map(parse).collect()
}

/// The wanted columns, then those that only filters ask for.
fn widened(wanted: &Schema, read: &Schema, predicate: &Predicate) -> Result<Schema> {
    let mut fields: Vec<_> = wanted.fields().iter().cloned().collect();
    for name in predicate.columns() {
        if wanted.index_of(name).is_err() {
            let found = read.fields().iter().find(|field| field.name() == name);
            let found = found.ok_or_else(|| schema::unknown_column(read, name))?;
            fields.push(Arc::clone(found));
        }
    }
    Ok(Schema::new_with_metadata(fields, read.metadata().clone()))
}

/// The slices that a snapshot reads, and those that the filters rule out by their partition.
#[derive(Debug, Clone, Default)]
pub struct Slices {
    /// To be read, by partition and file id.
    pub kept: Vec<FileSlice>,
    /// Known and ruled out; empty unless they were asked for, since their folders are not listed.
    pub pruned: Vec<FileSlice>,
    /// Ruled out by what the metadata table knows, each with the word for what did.
    pub skipped: Vec<(FileSlice, &'static str)>,
}

impl Slices {
    /// Moves the slices that `keeps` does not keep from kept to skipped.
    pub fn retain(&mut self, by: &'static str, keeps: impl Fn(&FileSlice) -> bool) {
        let all = std::mem::take(&mut self.kept);
        let (kept, gone) = all.into_iter().partition(keeps);
        self.kept = kept;
        let gone: Vec<FileSlice> = gone;
        self.skipped
            .extend(gone.into_iter().map(|slice| (slice, by)));
    }

    /// How many slices are known and not read.
    pub fn left_out(&self) -> usize {
        self.pruned.len() + self.skipped.len()
    }
}

/// The slices of a snapshot as of a time or of now.
///
/// `all` lists ruled-out partitions too, to tell of them.
pub async fn snapshot_slices(
    meta: &MetaClient,
    listing: &dyn FileListing,
    pruner: &PartitionPruner,
    as_of: Option<&InstantTime>,
    read_optimized: bool,
    all: bool,
) -> Result<Slices> {
    let none = PartitionPruner::none();
    let options = SnapshotOptions {
        as_of,
        read_optimized,
    };
    let listed = if all { &none } else { pruner };
    let slices = view::snapshot(meta, listing, listed, options).await?;
    let (kept, pruned) = slices
        .into_iter()
        .partition(|slice| pruner.keeps(&slice.partition));
    Ok(Slices {
        kept,
        pruned,
        skipped: Vec::new(),
    })
}
