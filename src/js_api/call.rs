use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::{AbortHandle, AbortRegistration, Abortable};
use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::future_to_promise;

use super::error;
use crate::error::{Error, Result};

/// Ends the one call it is given to: its future is dropped, which aborts every request under way.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Cancel {
    handle: AbortHandle,
    registration: RefCell<Option<AbortRegistration>>,
    sealed: Arc<AtomicBool>,
}

#[wasm_bindgen]
impl Cancel {
    /// For one call.
    #[wasm_bindgen(constructor)]
    #[allow(clippy::new_without_default, reason = "only JavaScript makes one")]
    pub fn new() -> Self {
        let (handle, registration) = AbortHandle::new_pair();
        Self {
            handle,
            registration: RefCell::new(Some(registration)),
            sealed: Arc::default(),
        }
    }

    /// Ends the call, and whether it does: a write that is about to be visible goes on to its end. Without effect when the
    /// call is over.
    pub fn cancel(&self) -> bool {
        let sealed = self.sealed.load(Ordering::Relaxed);
        if !sealed {
            self.handle.abort();
        }
        !sealed
    }
}

impl Cancel {
    /// Set it, and the call is no longer ended.
    pub(super) fn sealed(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.sealed)
    }

    fn take(&self) -> Option<AbortRegistration> {
        self.registration.borrow_mut().take()
    }
}

/// Runs a call to its end, or until `cancel` ends it; `after` runs just before the promise settles.
pub(super) fn promise<F, A>(cancel: &Cancel, future: F, after: A) -> Promise
where
    F: Future<Output = Result<JsValue>> + 'static,
    A: FnOnce() + 'static,
{
    match cancel.take() {
        Some(registration) => abortable(registration, future, after),
        None => Promise::reject(&error::to_js(&Error::internal(
            "a Cancel was given to two calls",
        ))),
    }
}

/// As [`promise`], for a call whose end somebody else holds.
pub(super) fn abortable<F, A>(registration: AbortRegistration, future: F, after: A) -> Promise
where
    F: Future<Output = Result<JsValue>> + 'static,
    A: FnOnce() + 'static,
{
    future_to_promise(async move {
        let ended = Abortable::new(future, registration).await;
        after();
        match ended {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(error::to_js(&error)),
            Err(_) => Err(error::to_js(&Error::aborted("the call was ended"))),
        }
    })
}

/// A value that one call at a time takes out and puts back.
pub(super) type Slot<T> = Rc<RefCell<Option<T>>>;
