//! At most so many requests in flight.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use futures::channel::oneshot;

/// Gives out permits in the order they were asked for.
#[derive(Debug)]
pub(super) struct Gate(Mutex<State>);

#[derive(Debug)]
struct State {
    free: usize,
    waiting: VecDeque<oneshot::Sender<Permit>>,
}

/// The right to have one request in flight; given back when dropped.
#[derive(Debug)]
pub(super) struct Permit(Option<Arc<Gate>>);

impl Gate {
    pub(super) fn new(permits: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State {
            free: permits.max(1),
            waiting: VecDeque::new(),
        })))
    }

    pub(super) async fn enter(self: &Arc<Self>) -> Permit {
        loop {
            let receiver = {
                let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                if state.free > 0 {
                    state.free -= 1;
                    return Permit(Some(Arc::clone(self)));
                }
                let (sender, receiver) = oneshot::channel();
                state.waiting.push_back(sender);
                receiver
            };
            // The sender leaves the queue only with a permit in it, so the loop is for form.
            if let Ok(permit) = receiver.await {
                return permit;
            }
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let Some(gate) = self.0.take() else { return };
        // A loop, not the drop of the refused permit: a thousand cancelled waiters must not nest.
        loop {
            let next = {
                let mut state = gate.0.lock().unwrap_or_else(PoisonError::into_inner);
                match state.waiting.pop_front() {
                    Some(next) => next,
                    None => {
                        state.free += 1;
                        return;
                    }
                }
            };
            match next.send(Permit(Some(Arc::clone(&gate)))) {
                Ok(()) => return,
                Err(mut refused) => refused.0 = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[test]
    fn the_next_waiter_gets_the_permit_and_cancelled_ones_are_passed_over() {
        let gate = Gate::new(1);
        let first = gate.enter().now_or_never().expect("free");
        let mut cancelled: Vec<_> = (0..5000).map(|_| Box::pin(gate.enter())).collect();
        for waiter in &mut cancelled {
            assert!(waiter.now_or_never().is_none());
        }
        let mut last = Box::pin(gate.enter());
        assert!((&mut last).now_or_never().is_none());
        drop(cancelled);
        drop(first);
        let permit = last.now_or_never().expect("passed on");
        assert!(gate.enter().now_or_never().is_none());
        drop(permit);
        assert!(gate.enter().now_or_never().is_some());
    }

    #[test]
    fn a_permit_sent_to_a_waiter_that_is_dropped_unread_is_not_lost() {
        let gate = Gate::new(1);
        let first = gate.enter().now_or_never();
        let mut waiter = Box::pin(gate.enter());
        assert!((&mut waiter).now_or_never().is_none());
        drop(first);
        drop(waiter);
        assert!(gate.enter().now_or_never().is_some());
    }
}
