//! One stop of each distinct state of the storage, in a folder, beside the rows that must be read there: what `tests/long/stops.test.js` asks
//! Spark about. `HUDI_STOPS_OUT=… cargo test --test write stops_for_spark -- --ignored` leaves them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::LocalBoxFuture;
use hudi_wasm::storage::Storage;
use hudi_wasm::table::{CreateOptions, OpenOptions, Rows, Table, TableSchema, WriteOptions};
use hudi_wasm::timeline::MetaClient;
use object_store::memory::InMemory;
use serde_json::{Value, json};

use crate::compaction::CITIES;
use crate::metadata_services::{before_services, small};
use crate::stops::{STOPS, Stop, Stopping, copy, stopping};
use crate::support::{block_on, expected, get, queries, store, store_of};
use crate::{batch, create, options, paths, rows, schema};

/// What is done to a table, and the rows of before and after.
struct Operation {
    name: &'static str,
    start: Arc<InMemory>,
    /// Rows that are there at every stop.
    kept: Vec<Value>,
    /// The instant that is taken back, and its rows.
    taken: Option<(String, Vec<Value>)>,
    /// Rows that are there once they are committed; their commit time is that of the new instant.
    added: Vec<Value>,
    /// The partition of a city, where the table has any.
    partition: Option<&'static str>,
    /// Whether one state of each kind is enough: reading them all would take too long.
    each_kind: bool,
    /// Whether a state belongs to what is shown here.
    shown: fn(&Kind) -> bool,
    act: fn(Storage, OpenOptions) -> LocalBoxFuture<'static, hudi_wasm::Result<()>>,
}

/// The states in `out`, each once.
struct States {
    out: PathBuf,
    seen: BTreeSet<(&'static str, String)>,
    stops: usize,
}

impl States {
    /// Where the next new state goes. The plans of table services hold it, so it is known before.
    fn next(&self, of: &Operation) -> PathBuf {
        self.out.join(format!("{}_{:03}", of.name, self.seen.len()))
    }

    /// Keeps what a stop left, if nothing like it was there before.
    fn keep(&mut self, of: &Operation, left: &Arc<InMemory>, when: &str) {
        let kind = Kind::of(&of.start, left);
        let folder = self.next(of);
        let state = match of.each_kind {
            true => kind.text(),
            false => normal(left, |_| true),
        };
        if !(of.shown)(&kind) || !self.seen.insert((of.name, state)) {
            return;
        }
        for path in paths(left) {
            let file = folder.join(&path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, get(left, &path)).unwrap();
        }
        std::fs::create_dir_all(&folder).unwrap();
        let mut columns = "id int, name string, price double, ts long".to_owned();
        if of.partition.is_some() {
            columns.push_str(", city string");
        }
        let beside = json!({"operation": of.name, "when": when, "kind": kind.text(), "columns": columns,
                            "partition": of.partition.map_or_else(String::new, |p| format!("{p}rome")), "rows": of.expected(left), "later": of.later(left),
                            "outside": normal(left, |path| !path.starts_with(".hoodie/metadata/"))});
        std::fs::write(folder.with_extension("json"), beside.to_string()).unwrap();
    }

    /// Does an operation over and over, and stops it after each change of the store.
    fn of(&mut self, of: &Operation) {
        self.keep(of, &of.start, "before");
        for stop in STOPS {
            for at in 0.. {
                let left = copy(&of.start);
                let store = Stopping::new(&left, at, stop);
                let options = OpenOptions {
                    canonical_uri: Some(self.next(of).to_str().unwrap().to_owned()),
                    timezone: Some("UTC".to_owned()),
                    ..OpenOptions::default()
                };
                let done = block_on((of.act)(stopping(&store), options));
                self.keep(of, &left, &format!("{stop:?} after {at}: {}", heard(&done)));
                if !store.has_come() {
                    done.unwrap();
                    break;
                }
                self.stops += 1;
            }
        }
    }
}

impl Operation {
    /// The rows that are there, by the completed files alone; none when there is no table.
    fn expected(&self, left: &Arc<InMemory>) -> Option<Vec<Value>> {
        let taken = self.taken.as_ref();
        let taken = taken.filter(|(instant, _)| writes(left).contains(instant));
        self.rows(left, taken.map_or(&[], |(_, rows)| rows))
    }

    /// The rows once the next write has gone on with what was planned.
    fn later(&self, left: &Arc<InMemory>) -> Option<Vec<Value>> {
        let all = paths(left);
        match all.iter().any(|path| path.contains(".rollback.")) {
            true => self.rows(left, &[]),
            false => self.expected(left),
        }
    }

    fn rows(&self, left: &Arc<InMemory>, taken: &[Value]) -> Option<Vec<Value>> {
        let all = paths(left);
        let properties = |path: &String| path.starts_with(".hoodie/hoodie.properties");
        if !all.iter().any(properties) {
            return None;
        }
        let mut rows = self.kept.clone();
        let (before, now) = (writes(&self.start), writes(left));
        rows.extend(taken.iter().cloned());
        for instant in now.difference(&before) {
            rows.extend(self.added.iter().map(|row| at(row, instant)));
        }
        Some(rows)
    }
}

/// What the caller was told.
fn heard(done: &hudi_wasm::Result<()>) -> &'static str {
    done.as_ref()
        .map_or_else(|error| error.kind().code(), |()| "done")
}

/// A row of the columns of most fixtures, as `crate::batch` makes it of an id and a city, without its commit time.
fn row(id: i32, city: &str) -> Value {
    json!({"_hoodie_record_key": id.to_string(), "_hoodie_partition_path": city, "id": id, "name": format!("n{id}"),
           "price": format!("{id}.5"), "ts": id * 10, "city": city})
}

fn at(row: &Value, instant: &str) -> Value {
    let mut row = row.clone();
    row["_hoodie_commit_time"] = json!(instant);
    row
}

/// The times of the active timeline's completed writes.
fn writes(store: &Arc<InMemory>) -> BTreeSet<String> {
    let all = paths(store);
    let names = all
        .iter()
        .filter_map(|path| path.strip_prefix(".hoodie/timeline/"));
    let completed = names.filter(|name| name.contains('_') && name.ends_with("commit"));
    completed
        .filter_map(|name| Some(name.split_once('_')?.0.to_owned()))
        .collect()
}

/// What is in a store, with random names and lengths left out and instants by their rank, and what the properties say.
fn normal(store: &Arc<InMemory>, counts: fn(&str) -> bool) -> String {
    let mut all = paths(store);
    all.retain(|path| counts(path));
    let mut instants = BTreeSet::new();
    for path in &all {
        instants.extend(numbers(path).filter(|n| n.len() >= 17).map(str::to_owned));
    }
    let rank: BTreeMap<_, _> = (0..)
        .zip(&instants)
        .map(|(at, time)| (time.as_str(), at))
        .collect();
    let mut names: Vec<_> = all.iter().map(|path| normal_path(path, &rank)).collect();
    for path in [
        ".hoodie/hoodie.properties",
        ".hoodie/hoodie.properties.backup",
    ] {
        if all.iter().any(|one| one == path) {
            let text = String::from_utf8(get(store, path)).unwrap();
            names.extend(
                text.lines()
                    .filter(|line| !line.starts_with('#'))
                    .map(str::to_owned),
            );
        }
    }
    names.sort();
    names.join("\n")
}

/// The runs of digits of a path.
fn numbers(path: &str) -> impl Iterator<Item = &str> {
    path.split(|c: char| !c.is_ascii_digit())
        .filter(|n| !n.is_empty())
}

/// A path with `U` for a random id and the rank of each instant.
fn normal_path(path: &str, rank: &BTreeMap<&str, usize>) -> String {
    let mut text = path.to_owned();
    for (time, at) in rank.iter().rev() {
        text = text.replace(time, &format!("T{at}"));
    }
    let is_random = |word: &str| {
        word.len() >= 36 && word.chars().filter(|c| *c == '-').count() >= 4 && {
            word.chars()
                .take(36)
                .all(|c| c.is_ascii_hexdigit() || c == '-')
        }
    };
    let words = text.split_inclusive(['/', '_', '.']);
    words
        .map(|word| if is_random(word) { "U_" } else { word })
        .collect()
}

/// Where an operation stands: what is new beside the start.
#[derive(Debug, Default, PartialEq, Eq)]
struct Kind {
    /// `ACTION STATE` of each new instant of the table.
    table: BTreeMap<String, String>,
    /// The same of its metadata table.
    metadata: BTreeMap<String, String>,
    /// What became of data files, the history and the properties.
    more: Vec<&'static str>,
}

impl Kind {
    fn of(start: &Arc<InMemory>, left: &Arc<InMemory>) -> Self {
        let (before, now) = (paths(start), paths(left));
        let before: BTreeSet<_> = before.iter().collect();
        let now: BTreeSet<_> = now.iter().collect();
        let mut kind = Self::default();
        for path in now.difference(&before) {
            for (prefix, all) in [
                (".hoodie/timeline/", &mut kind.table),
                (".hoodie/metadata/.hoodie/timeline/", &mut kind.metadata),
            ] {
                let name = path.strip_prefix(prefix).unwrap_or_default();
                let Some((time, rest)) = name.split_once(['_', '.']) else {
                    continue;
                };
                if rest.contains('/') || !time.starts_with(|c: char| c.is_ascii_digit()) {
                    continue;
                }
                let completed = name.contains('_');
                let action = rest.split('.').find(|part| part.parse::<u64>().is_err());
                // A commit's is named by its state alone.
                let action = action
                    .filter(|word| *word != "inflight")
                    .unwrap_or("commit");
                let state = match (completed, name.ends_with("inflight")) {
                    (true, _) => "completed",
                    (_, true) => "inflight",
                    _ => "requested",
                };
                // In the order of the alphabet: a, inflight, requested.
                let known = all.entry(time.to_owned()).or_default();
                let farther = known.is_empty()
                    || state == "completed"
                    || (state == "inflight" && known.ends_with("requested"));
                if farther {
                    *known = format!("{action} {state}");
                }
            }
        }
        let data = |path: &String| !path.starts_with(".hoodie") && path.ends_with(".parquet");
        let new: Vec<_> = now.difference(&before).collect();
        let gone: Vec<_> = before.difference(&now).collect();
        let any = |all: &[&&String], part: &str| all.iter().any(|path| path.contains(part));
        let more = [
            (new.iter().any(|path| data(path)), "data files"),
            (gone.iter().any(|path| data(path)), "data files gone"),
            (any(&gone, ".hoodie/timeline/2"), "instants gone"),
            (any(&new, "/history/manifest_"), "history"),
            (any(&new, "properties.backup"), "properties changing"),
            (any(&new, "hoodie/hoodie.properties"), "properties"),
            (any(&new, ".hoodie/.temp/2"), "markers"),
        ];
        kind.more = more
            .into_iter()
            .filter_map(|(so, what)| so.then_some(what))
            .collect();
        kind
    }

    /// In words, without times.
    fn text(&self) -> String {
        let table = self.table.values().cloned();
        let metadata = self.metadata.values().map(|one| format!("metadata {one}"));
        let more = self.more.iter().map(|one| (*one).to_owned());
        let all: Vec<_> = table.chain(metadata).chain(more).collect();
        all.join(", ")
    }
}

fn everything(_: &Kind) -> bool {
    true
}

/// Whether the rows of a write are there; what comes before is stopped by another operation.
fn committed(kind: &Kind) -> bool {
    let mut all = kind.table.values();
    all.any(|one| one.ends_with("commit completed"))
}

/// Options of a writer that comes after the time that a heartbeat may be old.
fn late(more: &[(&str, &str)]) -> WriteOptions {
    let beats = [("hoodie.client.heartbeat.interval_in_ms", "0")];
    WriteOptions {
        hudi_options: beats
            .iter()
            .chain(more)
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect(),
        ..WriteOptions::default()
    }
}

fn shape(kind: &str) -> Value {
    json!({"tableName": "stops", "recordKeyFields": ["id"], "orderingFields": ["ts"], "partitionFields": ["city"],
           "tableType": kind})
}

fn one(id: i32, city: &str) -> Rows {
    rows(vec![batch(&[(id, city)])])
}

/// A table with a row a commit, and those rows.
fn table_of(kind: &str, all: &[(i32, &str)]) -> (Arc<InMemory>, Vec<Value>) {
    let start = store_of([]);
    let mut found = Vec::new();
    block_on(async {
        let mut table = create(&start, shape(kind)).await.unwrap();
        for &(id, city) in all {
            let done = table.append(one(id, city), late(&[])).await.unwrap();
            found.push(at(&row(id, city), done.instant.unwrap().time.as_str()));
            table = done.table;
        }
    });
    (start, found)
}

async fn append(
    storage: Storage,
    options: OpenOptions,
    added: Rows,
    how: WriteOptions,
) -> hudi_wasm::Result<()> {
    let table = Table::open(storage, options).await?;
    table.append(added, how).await.map(|_| ())
}

fn create_stops() -> Operation {
    Operation {
        name: "create",
        start: store_of([]),
        kept: Vec::new(),
        taken: None,
        added: Vec::new(),
        partition: Some(""),
        each_kind: false,
        shown: everything,
        act: |storage, at| {
            Box::pin(async move {
                let mut shape = shape("COPY_ON_WRITE");
                shape["canonicalUri"] = json!(at.canonical_uri);
                let how: CreateOptions = options(shape);
                let columns = TableSchema::Arrow(schema().as_ref().clone());
                Table::create(storage, &columns, how).await.map(|_| ())
            })
        },
    }
}

fn append_stops(name: &'static str, kind: &str) -> Operation {
    let (start, kept) = table_of(kind, &[(1, "rome"), (2, "oslo")]);
    Operation {
        name,
        start,
        kept,
        taken: None,
        added: vec![row(3, "rome"), row(4, "bern")],
        partition: Some(""),
        each_kind: false,
        shown: everything,
        act: |storage, at| {
            let added = rows(vec![batch(&[(3, "rome"), (4, "bern")])]);
            Box::pin(append(storage, at, added, late(&[])))
        },
    }
}

/// Compactions of the metadata table, while the append that runs one is yet to begin.
fn compaction_stops() -> Operation {
    let (start, kept) = table_of("COPY_ON_WRITE", &[(1, "rome"), (2, "oslo"), (3, "rome")]);
    Operation {
        name: "compaction",
        start,
        kept,
        taken: None,
        added: vec![row(4, "rome")],
        partition: Some(""),
        each_kind: false,
        shown: |kind| kind.table.is_empty() || committed(kind),
        act: |storage, at| {
            let often = late(&[("hoodie.metadata.compact.max.delta.commits", "1")]);
            Box::pin(append(storage, at, one(4, "rome"), often))
        },
    }
}

/// The metadata table cleaned, compacted and archived as an append begins.
fn metadata_service_stops() -> Operation {
    let (start, number) = block_on(before_services("COPY_ON_WRITE", 9));
    let instants = block_on(async {
        let meta = MetaClient::load(crate::storage(&start)).await.unwrap();
        let archived = meta.archived_writes(None).await.unwrap();
        let all = archived.iter().chain(meta.timeline.completed_writes());
        all.map(|one| one.time.to_string()).collect::<Vec<_>>()
    });
    let city = |id: i32| CITIES[id as usize % CITIES.len()];
    let kept = (0..2 * number).map(|id| at(&row(id, city(id)), &instants[id as usize / 2]));
    Operation {
        name: "metadata_services",
        start,
        kept: kept.collect(),
        taken: None,
        added: vec![row(1000, "rome")],
        partition: Some(""),
        each_kind: true,
        // The append that follows is stopped elsewhere, with its own services.
        shown: |kind| kind.table.is_empty(),
        act: |storage, at| Box::pin(append(storage, at, one(1000, "rome"), small(None))),
    }
}

/// A table of Spark with old versions of files, which an append cleans, and archives where its metadata table was compacted.
fn service_stops(name: &'static str, table: &str, partition: Option<&'static str>) -> Operation {
    let recorded = expected(table);
    let snapshot = &queries(&recorded, "snapshot")[0];
    let mut added = row(1001, "paris");
    added["_hoodie_partition_path"] =
        json!(partition.map_or_else(String::new, |p| format!("{p}paris")));
    if partition.is_none() {
        added.as_object_mut().unwrap().remove("city");
    }
    Operation {
        name,
        start: store(table),
        kept: snapshot["rows"].as_array().unwrap().clone(),
        taken: None,
        added: vec![added],
        partition,
        each_kind: false,
        shown: committed,
        act: |storage, at| {
            let keep = late(&[
                ("hoodie.keep.min.commits", "1"),
                ("hoodie.keep.max.commits", "2"),
                ("hoodie.clean.commits.retained", "1"),
            ]);
            Box::pin(async move {
                let table = Table::open(storage, at).await?;
                let schema = table.schema(false).await?;
                let all = batch(&[(1001, "paris")]);
                let columns = schema.fields().iter();
                let columns: Vec<_> = columns
                    .map(|field| all.schema().index_of(field.name()).unwrap())
                    .collect();
                let added = rows(vec![all.project(&columns).unwrap()]);
                table.append(added, keep).await.map(|_| ())
            })
        },
    }
}

/// The newest completed write taken back.
fn rollback_stops(name: &'static str, kind: &str) -> Operation {
    let (start, mut kept) = table_of(kind, &[(1, "rome"), (2, "rome"), (3, "bern")]);
    let taken = vec![kept.pop().unwrap()];
    let newest = writes(&start).pop_last().unwrap();
    Operation {
        name,
        start,
        kept,
        taken: Some((newest, taken)),
        added: Vec::new(),
        partition: Some(""),
        each_kind: false,
        shown: everything,
        act: |storage, at| {
            Box::pin(async move {
                let meta = MetaClient::load(storage.clone()).await?;
                let newest = meta.timeline.completed_writes().last().unwrap();
                let newest = newest.time.to_string();
                let table = Table::open(storage, at).await?;
                table.rollback(&newest, late(&[])).await.map(|_| ())
            })
        },
    }
}

/// A write that failed when only its completed file was to come, taken back by the next one.
fn failed_stops() -> Operation {
    let (start, kept) = table_of("COPY_ON_WRITE", &[(1, "rome")]);
    let writing = |left: &Arc<InMemory>, at: usize| {
        let store = Stopping::new(left, at, Stop::Refused);
        block_on(append(
            stopping(&store),
            OpenOptions::default(),
            one(2, "rome"),
            late(&[]),
        ))
    };
    let completed = |left: &Arc<InMemory>| writes(left).len() == 2;
    let last = (0..).find(|at| {
        let left = copy(&start);
        let _ = writing(&left, *at);
        completed(&left)
    });
    let failed = copy(&start);
    writing(&failed, last.unwrap() - 1).unwrap_err();
    Operation {
        name: "failed_rollback",
        start: failed,
        kept,
        taken: None,
        added: vec![row(3, "rome")],
        partition: Some(""),
        each_kind: false,
        // The append that follows is stopped elsewhere.
        shown: |kind| !kind.text().contains("commit"),
        act: |storage, at| Box::pin(append(storage, at, one(3, "rome"), late(&[]))),
    }
}

#[test]
#[ignore = "for Spark: tests/long/stops.test.js"]
fn a_stop_of_every_state_is_written_into_a_folder() {
    let here = tempfile::tempdir().unwrap();
    let out = std::env::var("HUDI_STOPS_OUT").map_or(here.path().to_owned(), Into::into);
    let mut states = States {
        out: out.clone(),
        seen: BTreeSet::new(),
        stops: 0,
    };
    let all = [
        create_stops(),
        append_stops("append_cow", "COPY_ON_WRITE"),
        append_stops("append_mor", "MERGE_ON_READ"),
        compaction_stops(),
        metadata_service_stops(),
        service_stops("clean", "v9_cow_hive_parts", Some("city=")),
        service_stops("clean_and_archive", "v9_cow_archived", None),
        rollback_stops("rollback_cow", "COPY_ON_WRITE"),
        rollback_stops("rollback_mor", "MERGE_ON_READ"),
        failed_stops(),
    ];
    for operation in &all {
        let (stops, seen) = (states.stops, states.seen.len());
        states.of(operation);
        let (stops, seen) = (states.stops - stops, states.seen.len() - seen);
        println!("{}: {stops} stops, {seen} states", operation.name);
        assert!(stops > 5 && seen > 5, "{}: {stops}, {seen}", operation.name);
    }
    println!("{} stops, {} states", states.stops, states.seen.len());
    let counts = json!({"stops": states.stops, "states": states.seen.len()});
    std::fs::write(out.join("counts.json"), counts.to_string()).unwrap();
}
