use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use futures::future::AbortHandle;
use futures::{Stream as FuturesStream, StreamExt};
use js_sys::{Array, Promise, Uint8Array};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::call::{Slot, abortable};
use super::events::Events;
use super::{error, ipc};
use crate::error::{Error, Result};

/// Batches as the engine yields them.
pub(super) type Batches = Pin<Box<dyn FuturesStream<Item = Result<RecordBatch>> + Send>>;

/// The record batches of one read, one at a time.
#[wasm_bindgen]
pub struct Stream {
    schema: SchemaRef,
    batches: Slot<Batches>,
    running: RefCell<Option<AbortHandle>>,
    metrics: Box<dyn Fn() -> String>,
    events: Events,
    rows: Rc<Cell<usize>>,
}

#[wasm_bindgen]
impl Stream {
    /// An IPC stream without batches; its last eight bytes are the end-of-stream marker.
    pub fn schema(&self) -> std::result::Result<Uint8Array, JsValue> {
        ipc::schema_stream(&self.schema).map_err(|error| error::to_js(&error))
    }

    /// `[rows, ipc]` of the next batch, each an IPC stream of its own, or `undefined` at the end. One at a time.
    pub fn next(&self) -> Promise {
        let (handle, registration) = AbortHandle::new_pair();
        self.running.replace(Some(handle));
        let slot = Rc::clone(&self.batches);
        let taken = self.batches.borrow_mut().take();
        let events = self.events.clone();
        let told = events.clone();
        let rows_before = Rc::clone(&self.rows);
        let future = async move {
            let mut batches = taken.ok_or_else(|| Error::disposed("the stream is over"))?;
            let Some(batch) = batches.next().await else {
                return Ok(JsValue::UNDEFINED);
            };
            let batch = batch?;
            slot.replace(Some(batches));
            rows_before.set(rows_before.get() + batch.num_rows());
            told.rows(rows_before.get());
            let rows = JsValue::from_f64(batch.num_rows() as f64);
            Ok(Array::of2(&rows, &ipc::batch_stream(&batch)?.into()).into())
        };
        abortable(registration, future, move || events.flush())
    }

    /// What the read has cost so far: `ReadMetrics` as JSON text, without `wasmBytes`.
    pub fn metrics(&self) -> String {
        (self.metrics)()
    }

    /// Ends the read and every request under way.
    pub fn cancel(&self) {
        drop(self.batches.borrow_mut().take());
        if let Some(handle) = self.running.borrow_mut().take() {
            handle.abort();
        }
    }
}

impl Stream {
    /// Wraps a read of the engine and the events of its call.
    pub(super) fn new(
        schema: SchemaRef,
        batches: Batches,
        metrics: Box<dyn Fn() -> String>,
        events: Events,
    ) -> Self {
        Self {
            schema,
            batches: Rc::new(RefCell::new(Some(batches))),
            running: RefCell::new(None),
            metrics,
            events,
            rows: Rc::default(),
        }
    }
}
