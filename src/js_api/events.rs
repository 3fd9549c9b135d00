use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;

use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use js_sys::Function;
use serde_json::{Value, json};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;

use crate::storage::{CallScope, Observer, RequestEvent};

/// The events of one call on their way to a JavaScript function, each as one JSON text.
///
/// The engine may report from anywhere, so an event is only queued there; a local task hands it over in its own turn.
/// [`Events::flush`] hands over what is queued, so that a listener has heard all before its call's promise settles.
#[derive(Clone)]
pub(super) struct Events(Option<Rc<Queue>>);

struct Queue {
    listener: Function,
    receiver: RefCell<UnboundedReceiver<Value>>,
}

impl Events {
    /// The scope of a call whose events `listener` hears, if there is one.
    pub(super) fn scope(listener: Option<Function>) -> (CallScope, Self) {
        let Some(listener) = listener else {
            return (CallScope::default(), Self(None));
        };
        let (sender, receiver) = unbounded();
        let queue = Rc::new(Queue {
            listener,
            receiver: RefCell::new(receiver),
        });
        let pumped = Rc::clone(&queue);
        // Events as they come, until the call and its stream are gone.
        spawn_local(async move {
            let next = || poll_fn(|context| pumped.receiver.borrow_mut().poll_next_unpin(context));
            while let Some(event) = next().await {
                pumped.tell(&event);
            }
        });
        let scope = CallScope {
            observer: Some(Arc::new(Reporter(sender))),
            ..CallScope::default()
        };
        (scope, Self(Some(queue)))
    }

    /// Says that a part of the work begins.
    pub(super) fn phase(&self, phase: &str) {
        self.tell(&json!({"type": "phase", "phase": phase}));
    }

    /// Says how many rows have come out so far.
    pub(super) fn rows(&self, rows: usize) {
        self.tell(&json!({"type": "rows", "rows": rows}));
    }

    fn tell(&self, event: &Value) {
        self.flush();
        if let Some(queue) = &self.0 {
            queue.tell(event);
        }
    }

    /// Hands over every event that is queued.
    pub(super) fn flush(&self) {
        let Some(queue) = &self.0 else { return };
        loop {
            // Not borrowed while the listener runs: it may call the engine.
            let next = queue.receiver.borrow_mut().try_recv();
            match next {
                Ok(event) => queue.tell(&event),
                Err(_) => return,
            }
        }
    }
}

impl Queue {
    fn tell(&self, event: &Value) {
        // The JavaScript side catches what a listener throws.
        let _ = self
            .listener
            .call1(&JsValue::UNDEFINED, &event.to_string().into());
    }
}

struct Reporter(UnboundedSender<Value>);

impl Reporter {
    fn send(&self, event: Value) {
        // Nobody listens any more when this fails.
        let _ = self.0.unbounded_send(event);
    }
}

impl Observer for Reporter {
    fn request(&self, event: &RequestEvent) {
        let mut plain = json!({
            "type": "request",
            "method": event.method,
            "path": event.path,
            "status": event.status,
            "bytes": event.bytes,
            "ms": event.millis,
            "source": event.source.as_str(),
            "attempt": event.attempt,
            "cause": event.cause.as_str(),
        });
        if let (Some(start), Some(end), Some(plain)) =
            (event.start, event.end, plain.as_object_mut())
        {
            plain.insert("start".to_owned(), start.into());
            plain.insert("end".to_owned(), end.into());
        }
        self.send(plain);
    }

    fn bytes(&self, loaded: u64) {
        self.send(json!({"type": "bytes", "loaded": loaded}));
    }

    fn phase(&self, phase: &'static str) {
        self.send(json!({"type": "phase", "phase": phase}));
    }

    fn files(&self, done: usize, total: usize) {
        self.send(json!({"type": "files", "done": done, "total": total}));
    }

    fn rows(&self, rows: usize) {
        self.send(json!({"type": "rows", "rows": rows}));
    }

    fn warning(&self, message: &str, path: Option<&str>) {
        let mut plain = json!({"type": "warning", "message": message});
        if let (Some(path), Some(plain)) = (path, plain.as_object_mut()) {
            plain.insert("path".to_owned(), path.into());
        }
        self.send(plain);
    }
}
