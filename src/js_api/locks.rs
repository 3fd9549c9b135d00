//! Locks that reach over all tabs of an origin, by a function of JavaScript.

use std::cell::RefCell;
use std::sync::Arc;

use async_trait::async_trait;
use js_sys::{Function, Object, Promise, Reflect};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::AbortController;

use super::error::from_js;
use crate::commit::{HeldLock, InProcessLocks, LockProvider, TableLock};
use crate::error::Result;
use crate::host::{self, Kept};

thread_local! {
    static ACQUIRE: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// Takes the host's locks: `acquire(key, { signal })` gives a promise of the function that releases the lock.
#[wasm_bindgen(js_name = _locks)]
pub fn locks(acquire: Function) {
    ACQUIRE.with_borrow_mut(|kept| *kept = Some(acquire));
}

/// The lock of a table: over all tabs where the host has such locks, else inside this process. `within` says that nothing but the
/// tabs of this origin reaches the table's place.
pub(super) fn lock_of(key: &str, within: bool) -> TableLock {
    match (ACQUIRE.with_borrow(Option::is_some), within) {
        (true, true) => TableLock::new(Arc::new(HostLocks), key).over_all(),
        (true, false) => TableLock::new(Arc::new(HostLocks), key),
        (false, _) => TableLock::new(Arc::new(InProcessLocks), key),
    }
}

struct HostLocks;

#[async_trait]
impl LockProvider for HostLocks {
    async fn acquire(&self, key: &str) -> Result<Box<dyn HeldLock>> {
        let release = acquire(key.to_owned()).await?;
        Ok(Box::new(HostLock(release)))
    }
}

fn acquire(key: String) -> impl Future<Output = Result<Kept>> + Send {
    let controller = AbortController::new().ok();
    let options = Object::new();
    if let Some(controller) = &controller {
        // It fails for frozen objects only.
        let _ = Reflect::set(&options, &"signal".into(), &controller.signal());
    }
    let acquire = ACQUIRE.with_borrow(Clone::clone);
    let work = async move {
        let acquire = acquire.ok_or(JsValue::UNDEFINED)?;
        let asked = acquire.call2(&JsValue::UNDEFINED, &key.into(), &options)?;
        host::settled(Promise::resolve(&asked)).await.map(Kept::new)
    };
    let work = async move { work.await.map_err(|thrown: JsValue| from_js(&thrown)) };
    let local = host::run_local(work, move || {
        if let Some(controller) = controller {
            controller.abort();
        }
    });
    async move { local.await? }
}

struct HostLock(Kept);

impl HeldLock for HostLock {}

impl Drop for HostLock {
    fn drop(&mut self) {
        if let Some(release) = self.0.get().dyn_ref::<Function>() {
            // The function of our own JavaScript does not throw.
            let _ = release.call0(&JsValue::UNDEFINED);
        }
    }
}
