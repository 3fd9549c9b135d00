//! The bodies of instants: what they hold is decided by their content, since it differs by version and state.

mod clean;
mod commit;
mod compaction;
mod replace;
mod rollback;
mod savepoint;

pub use clean::{CleanMetadata, CleanedPartition};
pub use commit::{CommitMetadata, WriteStat};
pub use compaction::{CompactionOperation, CompactionPlan};
pub use replace::{ClusteringGroup, ClusteringPlan, RequestedReplaceMetadata, SliceInfo};
pub use rollback::{InstantInfo, RestoreMetadata, RestorePlan, RollbackMetadata, RollbackPlan};
pub use savepoint::{SavepointMetadata, SavepointPartition};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
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
