// SPDX-License-Identifier: Apache-2.0
//! Numbers that are kept elsewhere, and copied into metrics when these are read.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

type Copy = dyn Fn() + Send + Sync;

static SOURCES: Mutex<Vec<Weak<Copy>>> = Mutex::new(Vec::new());

/// While it lives, updates [`Total`](crate::Total)s and [`Level`](crate::Level)s just before the text forms
/// read all metrics. So their values are of the same moment as those of the metrics that are
/// counted in place, and cost nothing while nobody reads.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
///
/// metrics::totals! {
///     /// Pings, counted by the service itself.
///     static PING: "example_pings_total";
/// }
/// let pings = Arc::new(AtomicU64::new(0));
/// let source = metrics::Source::new({
///     let pings = Arc::clone(&pings);
///     move || PING.set(pings.load(Relaxed))
/// });
/// pings.store(3, Relaxed);
/// assert!(metrics::json(&metrics::Window::default()).contains("\"example_pings_total\":3"));
/// drop(source);
/// ```
#[must_use = "a source that is dropped copies nothing any more"]
pub struct Source(#[expect(dead_code, reason = "kept alive")] Arc<Copy>);

impl Source {
    /// Registers `copy`, which is called before each reading, on the thread that reads. It should take
    /// microseconds, and must not read all metrics itself.
    pub fn new(copy: impl Fn() + Send + Sync + 'static) -> Self {
        let copy: Arc<Copy> = Arc::new(copy);
        sources().push(Arc::downgrade(&copy));
        Source(copy)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Source").finish_non_exhaustive()
    }
}

/// Lets all sources copy. The text forms do so by themselves; [`value`](crate::value) does not.
pub fn refresh() {
    let present: Vec<_> = {
        let mut sources = sources();
        sources.retain(|source| source.strong_count() > 0);
        sources.iter().filter_map(Weak::upgrade).collect()
    };
    for copy in present {
        copy();
    }
}

fn sources() -> MutexGuard<'static, Vec<Weak<Copy>>> {
    SOURCES.lock().unwrap_or_else(PoisonError::into_inner)
}
