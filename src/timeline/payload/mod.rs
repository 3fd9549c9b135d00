//! The bodies of instants: what they hold is decided by their content, since it differs by version and state.
//!
//! What this engine writes has every field that Java writes, by Java's own schemas (the `.avsc` texts beside these files,
//! as Hudi 1.1 puts them into its files) and is read back by the same types.

mod clean;
mod commit;
mod compaction;
mod replace;
mod rollback;
mod savepoint;
mod write;

pub use clean::{ActionInstant, CleanFileInfo, CleanMetadata, CleanedPartition, CleanerPlan};
pub use commit::{CommitMetadata, RuntimeStats, WriteStat};
pub use compaction::{CompactionOperation, CompactionPlan, CompactionStrategy};
pub use replace::{ClusteringGroup, ClusteringPlan, RequestedReplaceMetadata, SliceInfo};
pub use rollback::{
    InstantInfo, RestoreMetadata, RestorePlan, RollbackMetadata, RollbackPlan, RollbackRequest,
    RolledBackPartition,
};
pub use savepoint::{SavepointMetadata, SavepointPartition};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::codec::avro::{Container, is_container};
use crate::error::{Error, Result};

/// The body of an instant's file as JSON: an Avro container file by its own schema, JSON as it is, `None` when empty.
///
/// Errors: `Corrupt`, with the `offset` where it is known.
pub fn parse(bytes: &[u8]) -> Result<Option<Value>> {
    if bytes.is_empty() {
        return Ok(None);
    }
    if is_container(bytes) {
        return Container::read_one(bytes).map(Some);
    }
    if bytes.trim_ascii_start().first() == Some(&b'{') {
        return serde_json::from_slice(bytes).map(Some).map_err(|source| {
            Error::corrupt("an instant's file is not JSON")
                .context("line", source.line())
                .context("column", source.column())
                .with_source(source)
        });
    }
    Err(Error::corrupt("an instant's file is neither Avro nor JSON").context("offset", 0))
}

/// A typed view of a body.
///
/// Errors: `Corrupt` when a part has another type than Hudi gives it.
pub fn typed<T: DeserializeOwned>(body: Value) -> Result<T> {
    serde_json::from_value(body).map_err(|e| {
        Error::corrupt("an instant's file holds other fields than it should").with_source(e)
    })
}

/// A field that may be absent or null, both of which mean its default.
fn lenient<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(from)?.unwrap_or_default())
}

/// Java has null, not an empty list or map, where a write has none of these.
fn null_if_empty<'a, T, S: Serializer>(all: &'a T, serializer: S) -> Result<S::Ok, S::Error>
where
    T: Serialize,
    &'a T: IntoIterator,
{
    match all.into_iter().next() {
        Some(_) => serializer.serialize_some(all),
        None => serializer.serialize_none(),
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
