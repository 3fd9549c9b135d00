//! Slices to one stream of batches, in order, with bounded memory.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use arrow::array::RecordBatch;
use futures::future::BoxFuture;
use futures::{FutureExt, Stream, StreamExt};

use crate::error::Result;
use crate::host;
use crate::model::FileSlice;
use crate::slice::{OpenSlice, OpenedFile, SliceReader, SliceRequest, open_slice};
use crate::storage::Storage;

/// Files opened before their turn: as many as the requests that may be under way.
const AHEAD: usize = 6;

/// Bytes of column chunks and log rows that files may hold before their turn, in all; half of the call's memory when that is less.
const AHEAD_BYTES: u64 = 12 << 20;

/// Log files and the rows decoded from them take about so many times the files' bytes.
const DECODED_LOGS: u64 = 3;

/// The host gets its turn when so much time has gone by: below a tenth of a second nobody notices a page standing still.
const TURN_MILLIS: i64 = 80;

/// One slice to be read, and what of it.
#[derive(Debug, Clone)]
pub struct SliceTask {
    /// The slice.
    pub slice: FileSlice,
    /// Columns, filters and constants, and how logs are merged; its own limit holds besides that of the run.
    pub request: SliceRequest,
    /// The base file, where its footer is there already.
    pub opened: Option<OpenedFile>,
}

/// Reads slices in order, at most `limit` rows of them all.
///
/// 1. Batches come in the order of the tasks, and in each file's order.
/// 2. Files are opened ahead of their turn, so that many small ones do not wait for each other; what they hold then is bounded.
/// 3. Dropping the stream ends every request under way. After an error the stream ends.
/// 4. The host gets its turn between batches.
pub fn run(
    storage: &Storage,
    tasks: Vec<SliceTask>,
    limit: Option<u64>,
) -> impl Stream<Item = Result<RecordBatch>> + Send + use<> {
    Run {
        storage: storage.clone(),
        files: (0, tasks.len()),
        tasks: tasks.into(),
        ahead: VecDeque::new(),
        held: Arc::default(),
        window: if limit.is_some() { 1 } else { AHEAD },
        current: None,
        left: limit.unwrap_or(u64::MAX),
        turn: None,
        turn_began: host::now_millis(),
    }
}

struct Run {
    storage: Storage,
    /// How many are read, and how many there are.
    files: (usize, usize),
    tasks: VecDeque<SliceTask>,
    ahead: VecDeque<Ahead>,
    /// Bytes that files hold before their turn.
    held: Arc<AtomicU64>,
    /// How many files may be open before their turn. Under a limit the first file may do, so it grows with each that did not.
    window: usize,
    current: Option<SliceReader>,
    /// Rows still to be given.
    left: u64,
    /// The host's turn, when it has one.
    turn: Option<BoxFuture<'static, ()>>,
    turn_began: i64,
}

/// A file being opened before its turn.
enum Ahead {
    Opening(BoxFuture<'static, Result<Held>>),
    Open(Box<Result<Held>>),
}

/// An open file and its share of [`AHEAD_BYTES`], given back when it is dropped.
struct Held {
    file: OpenSlice,
    shares: [Share; 2],
}

struct Share {
    bytes: u64,
    all: Arc<AtomicU64>,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Share {
    /// A share of `bytes`, unless that is more than is left.
    fn take(bytes: u64, all: &Arc<AtomicU64>, storage: &Storage) -> Option<Self> {
        let half = storage.memory_limit().map(|limit| limit / 2);
        let most = half.unwrap_or(AHEAD_BYTES).min(AHEAD_BYTES);
        let taken = all.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |held| {
            held.checked_add(bytes).filter(|sum| *sum <= most)
        });
        let all = Arc::clone(all);
        taken.ok().map(|_| Self { bytes, all })
    }
}

/// Opens a slice, and fetches its first columns when there is room for them. Room for its logs is there.
async fn open_ahead(storage: Storage, task: SliceTask, logs: Share) -> Result<Held> {
    let held = Arc::clone(&logs.all);
    let mut file = open_slice(&storage, &task.slice, &task.request, task.opened).await?;
    let share = match Share::take(file.first_bytes(), &held, &storage) {
        Some(share) => {
            file.fetch_first().await?;
            share
        }
        None => Share {
            bytes: 0,
            all: held,
        },
    };
    let shares = [logs, share];
    Ok(Held { file, shares })
}

impl Run {
    /// Starts and advances the files whose turn comes later.
    fn advance(&mut self, context: &mut Context<'_>) {
        while self.ahead.len() < self.window
            && let Some(share) = self.share_of_logs()
            && let Some(mut task) = self.tasks.pop_front()
        {
            let limit = task.request.rows.limit.unwrap_or(u64::MAX).min(self.left);
            task.request.rows.limit = (limit < u64::MAX).then_some(limit);
            let opening = open_ahead(self.storage.clone(), task, share);
            self.ahead.push_back(Ahead::Opening(opening.boxed()));
        }
        for ahead in &mut self.ahead {
            if let Ahead::Opening(opening) = ahead
                && let Poll::Ready(open) = opening.poll_unpin(context)
            {
                *ahead = Ahead::Open(Box::new(open));
            }
        }
    }

    /// Room for the log rows of the next slice; none while there is not enough, unless it is the slice's turn.
    fn share_of_logs(&self) -> Option<Share> {
        let logs = self.tasks.front()?.slice.data_logs();
        let bytes = logs.fold(0, |sum: u64, log| sum.saturating_add(log.size));
        let its_turn = self.ahead.is_empty() && self.current.is_none();
        let bytes = bytes.saturating_mul(DECODED_LOGS);
        Share::take(bytes, &self.held, &self.storage).or_else(|| {
            let all = Arc::clone(&self.held);
            its_turn.then_some(Share { bytes: 0, all })
        })
    }

    /// Cuts a batch to the rows that may still be given, and counts them.
    fn count(&mut self, batch: RecordBatch) -> RecordBatch {
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        let rows = batch.num_rows().min(left);
        self.left -= rows as u64;
        batch.slice(0, rows)
    }

    /// Ends the stream and every request under way.
    fn stop(&mut self) {
        self.tasks.clear();
        self.ahead.clear();
        self.current = None;
    }

    /// The next batch, without a thought for the host.
    fn poll_batch(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<RecordBatch>>> {
        loop {
            self.advance(context);
            if let Some(current) = &mut self.current {
                match current.poll_next_unpin(context) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Some(batch)) => return Poll::Ready(Some(batch)),
                    Poll::Ready(None) => {
                        self.current = None;
                        self.files.0 += 1;
                        self.storage.tell_files(self.files.0, self.files.1);
                        self.window = (self.window * 2).min(AHEAD);
                        self.advance(context);
                    }
                }
            }
            match self.ahead.pop_front() {
                None => return Poll::Ready(None),
                Some(Ahead::Open(open)) => match *open {
                    Err(error) => return Poll::Ready(Some(Err(error))),
                    Ok(Held { file, shares }) => {
                        drop(shares);
                        self.current = Some(file.batches());
                    }
                },
                Some(opening) => {
                    self.ahead.push_front(opening);
                    return Poll::Pending;
                }
            }
        }
    }
}

impl Stream for Run {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if this.left == 0 {
            this.stop();
            return Poll::Ready(None);
        }
        if this.turn.is_none() && host::now_millis() - this.turn_began >= TURN_MILLIS {
            this.turn = Some(host::turn().boxed());
        }
        if let Some(turn) = &mut this.turn {
            if turn.poll_unpin(context).is_pending() {
                this.advance(context);
                return Poll::Pending;
            }
            this.turn = None;
            this.turn_began = host::now_millis();
        }
        let polled = this.poll_batch(context);
        match polled {
            Poll::Ready(Some(Ok(batch))) => Poll::Ready(Some(Ok(this.count(batch)))),
            Poll::Ready(Some(Err(error))) => {
                this.stop();
                Poll::Ready(Some(Err(error)))
            }
            // Waiting for bytes is the host's turn as well.
            Poll::Pending => {
                this.turn_began = host::now_millis();
                Poll::Pending
            }
            Poll::Ready(None) => Poll::Ready(None),
        }
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
