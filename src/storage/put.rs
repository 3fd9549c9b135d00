//! Whole objects written and removed.

use bytes::Bytes;
use object_store::{ObjectStoreExt, PutMode, PutOptions};

use super::Storage;
use super::classify::classify;
use crate::error::{ErrorKind, Result};

/// What became of a put that was to find nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutOutcome {
    /// The object is there and is ours.
    Created,
    /// Another object was there before.
    Exists,
}

impl Storage {
    /// Puts an object, over whatever is there.
    pub async fn put(&self, path: &str, bytes: Bytes) -> Result<()> {
        let location = self.location(path)?;
        let put = self.shared.store.put(&location, bytes.into()).await;
        put.map_err(|e| classify(e, path).error)?;
        Ok(())
    }

    /// Puts an object where there is none.
    pub async fn put_if_absent(&self, path: &str, bytes: Bytes) -> Result<PutOutcome> {
        let location = self.location(path)?;
        let options = PutOptions::from(PutMode::Create);
        let put = self.shared.store.put_opts(&location, bytes.into(), options);
        match put.await.map_err(|e| classify(e, path).error) {
            Ok(_) => Ok(PutOutcome::Created),
            Err(error) if error.kind() == ErrorKind::PreconditionFailed => Ok(PutOutcome::Exists),
            Err(error) => Err(error),
        }
    }

    /// Removes an object; one that is gone already is fine.
    pub async fn delete(&self, path: &str) -> Result<()> {
        let location = self.location(path)?;
        let deleted = self.shared.store.delete(&location).await;
        match deleted.map_err(|e| classify(e, path).error) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}
