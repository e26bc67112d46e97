// SPDX-License-Identifier: Apache-2.0
//! [`Keeper`]: the thread that gives memory of expired items back while nobody uses the cache.

use crate::inner::Inner;
use parking_lot::{Condvar, Mutex};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often the thread looks for something to do.
const INTERVAL: Duration = Duration::from_secs(1);

/// The thread of a cache. Ends it when dropped, and waits for its end.
#[derive(Debug)]
pub(crate) struct Keeper {
    ending: Arc<Ending>,
    thread: Option<JoinHandle<()>>,
}

/// Tells the thread to end.
#[derive(Debug, Default)]
struct Ending {
    has_come: Mutex<bool>,
    changed: Condvar,
}

impl Ending {
    /// Waits for the end, up to a time. Returns whether it has come.
    fn within(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut has_come = self.has_come.lock();
        while !*has_come && !self.changed.wait_until(&mut has_come, until).timed_out() {}
        *has_come
    }
}

impl Keeper {
    pub(crate) fn start(inner: Arc<Inner>) -> std::io::Result<Self> {
        let ending = Arc::new(Ending::default());
        let told = Arc::clone(&ending);
        let keep = move || {
            while !told.within(INTERVAL) {
                // A listener may panic. The panic's message was shown, and memory has to come back all the same.
                let _ = catch_unwind(AssertUnwindSafe(|| inner.tend()));
            }
        };
        let thread = std::thread::Builder::new().name("shoebill-cache".to_owned()).spawn(keep)?;
        Ok(Keeper { ending, thread: Some(thread) })
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        *self.ending.has_come.lock() = true;
        self.ending.changed.notify_all();
        let Some(thread) = self.thread.take() else { return };
        // A listener that has the last handle drops it in the thread itself.
        if thread.thread().id() != std::thread::current().id() {
            // Its panics are caught.
            let _ = thread.join();
        }
    }
}
