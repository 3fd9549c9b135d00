use std::pin::Pin;
use std::task::{Context, Poll};

use arrow::array::RecordBatch;
use futures::Stream;
use futures::stream::{self, BoxStream, StreamExt};

use super::base_file::{OpenedFile, open_file};
use super::base_request::BaseRequest;
use super::base_scan::{Estimate, Scan};
use crate::error::{Result, ResultExt};
use crate::model::BaseFile;
use crate::storage::Storage;

/// The rows of one base file; dropping it ends its requests.
pub struct BaseReader(BoxStream<'static, Result<RecordBatch>>);

impl Stream for BaseReader {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(context)
    }
}

/// A base file whose footer is read and whose columns are not, or only the first ones.
pub struct OpenBase(Scan);

/// Opens a base file to read what `request` says of it: one request for the footer, or two when it is very long.
///
/// Errors: `Corrupt` with path and offset, `Schema` when a column cannot be given in the table's type, `Unsupported`
/// for a codec that is not handled.
pub async fn open_base(
    storage: &Storage,
    file: &BaseFile,
    request: &BaseRequest,
) -> Result<OpenBase> {
    open_file(storage, file).await?.read(request).await
}

impl OpenedFile {
    /// Plans what `request` says of the file; errors as in [`open_base`].
    pub async fn read(self, request: &BaseRequest) -> Result<OpenBase> {
        let path = self.0.path.clone();
        let mut scan = Scan::new(self.0, request).context("path", &path)?;
        scan.find_pages().await.context("path", &path)?;
        scan.ask_filters().await.context("path", &path)?;
        Ok(OpenBase(scan))
    }
}

impl OpenBase {
    /// How many bytes the first row group to be read will hold in memory, at most.
    pub fn first_bytes(&self) -> u64 {
        self.0.first_bytes()
    }

    /// What reading the file takes.
    pub fn estimate(&self) -> Estimate {
        self.0.estimate()
    }

    /// Fetches the first row group to be read, so that its batches come without a wait.
    pub async fn fetch_first(&mut self) -> Result<()> {
        let opened = self.0.open_group().await;
        opened.map(drop).context("path", self.0.path())
    }

    /// The rows.
    ///
    /// Shapes: batches have the request's output columns, in its order and the table's types, and at least one row.
    pub fn batches(self) -> BaseReader {
        let batches = stream::try_unfold(self.0, async |mut scan| {
            let next = scan.next().await;
            let next = next.context("path", scan.path())?;
            Ok(next.map(|batch| (batch, scan)))
        });
        BaseReader(batches.boxed())
    }
}

/// Opens a base file and reads what `request` says: see [`open_base`] and [`OpenBase::batches`].
pub async fn read_base(
    storage: &Storage,
    file: &BaseFile,
    request: &BaseRequest,
) -> Result<BaseReader> {
    Ok(open_base(storage, file, request).await?.batches())
}
