mod damage;
mod filters;
mod reading;
mod spark;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use futures::TryStreamExt;
use object_store::memory::InMemory;

use super::*;
use crate::error::Result;
use crate::expr::{Filter, Predicate};
use crate::model::{BaseFile, BaseFileName};
use crate::schema::{parse_avro, to_arrow};
use crate::storage::{CallScope, Storage, StorageOptions};
use crate::support::{self, watched::Watched};

/// A storage over files in memory, whose metrics begin at zero.
fn storage_of(store: &Arc<InMemory>) -> Storage {
    let store = Arc::clone(store);
    Storage::new(store, StorageOptions::default()).for_call(CallScope::default())
}

/// The newest base file of each file group; enough of a view for tables without replaced groups and failed writes.
fn newest_files(table: &str) -> Vec<BaseFile> {
    let mut newest: BTreeMap<String, BaseFile> = BTreeMap::new();
    for (path, content) in support::files(table) {
        let name = BaseFileName::parse(path.rsplit('/').next().unwrap_or(&path));
        let Some(name) = name.filter(|_| !path.starts_with(".hoodie/")) else {
            continue;
        };
        let size = content.len() as u64;
        let known = newest.get(&name.file_id);
        if known.is_none_or(|known| known.name.instant < name.instant) {
            newest.insert(name.file_id.clone(), BaseFile { name, path, size });
        }
    }
    newest.into_values().collect()
}

/// The schema that Hudi's Avro writer left in the footer of a table's newest file.
fn schema_of(table: &str) -> SchemaRef {
    let storage = storage_of(&support::store(table));
    let files = newest_files(table);
    let newest = files
        .iter()
        .max_by_key(|file| file.name.instant.clone())
        .unwrap();
    let footer = support::block_on(open_footer(&storage, &newest.path, newest.size)).unwrap();
    let avro = footer.keys().avro_schema.as_deref().unwrap();
    Arc::new(to_arrow(&parse_avro(avro).unwrap()).unwrap())
}

fn read(storage: &Storage, file: &BaseFile, request: &BaseRequest) -> Result<Vec<RecordBatch>> {
    support::block_on(async {
        let reader = read_base(storage, file, request).await?;
        reader.try_collect().await
    })
}

fn filtered(schema: &SchemaRef, filters: &[Filter]) -> BaseRequest {
    BaseRequest {
        predicate: Arc::new(Predicate::bind(filters, schema).unwrap()),
        ..BaseRequest::all(Arc::clone(schema))
    }
}
