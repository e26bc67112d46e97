// SPDX-License-Identifier: Apache-2.0
//! Numbers that only grow.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::slot::Slot;

/// Events since the process started. Any thread may bump it; none waits for another.
///
/// Declare it with [`counters!`](crate::counters). Meant for statics: a counter takes a place in
/// every thread's block on its first bump and keeps it for good. There are 1024 such places for
/// counters and gauges together; one past that still counts right, in an atomic all threads share.
///
/// ```
/// metrics::counters! {
///     /// Connections accepted.
///     static TCP_ACCEPT: "tcp_accept";
/// }
/// TCP_ACCEPT.increment();
/// TCP_ACCEPT.add(2);
/// assert_eq!(TCP_ACCEPT.value(), 3);
/// ```
#[derive(Debug)]
pub struct Counter {
    slot: Slot,
}

impl Counter {
    /// A counter at zero.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "made for statics, which need a const")]
    pub const fn new() -> Self {
        Self { slot: Slot::new() }
    }

    /// Adds one. Costs a relaxed load and store on a cell only this thread writes.
    #[inline]
    pub fn increment(&self) {
        self.slot.add(1);
    }

    /// Adds `n`, at the cost of [`increment`](Self::increment). Wraps past `u64::MAX`.
    #[inline]
    pub fn add(&self, n: u64) {
        self.slot.add(n);
    }

    /// The sum over all threads, those that have ended included. Costs a load per thread.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.slot.sum()
    }
}

#[doc(hidden)]
impl metriken_core::Metric for Counter {
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn value(&self) -> Option<metriken_core::Value<'_>> {
        Some(metriken_core::Value::Counter(self.value()))
    }
}

/// A counter that is kept elsewhere (by the kernel, by a crate below) and copied in by one thread.
///
/// Declare it with [`totals!`](crate::totals). It lies in cache lines of its own, so setting it
/// disturbs no reader of its neighbours.
///
/// ```
/// metrics::totals! {
///     /// Log lines dropped because the ring was full.
///     static LOG_DROPPED: "log_dropped";
/// }
/// LOG_DROPPED.set(7);
/// assert_eq!(LOG_DROPPED.value(), 7);
/// ```
#[derive(Debug)]
#[repr(align(128))]
pub struct Total {
    value: AtomicU64,
}

impl Total {
    /// A total of zero.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "made for statics, which need a const")]
    pub const fn new() -> Self {
        Self { value: AtomicU64::new(0) }
    }

    /// Replaces the total. The caller sees to it that it never goes down.
    #[inline]
    pub fn set(&self, value: u64) {
        self.value.store(value, Relaxed);
    }

    /// What was last set.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.value.load(Relaxed)
    }
}

#[doc(hidden)]
impl metriken_core::Metric for Total {
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn value(&self) -> Option<metriken_core::Value<'_>> {
        Some(metriken_core::Value::Counter(self.value()))
    }
}
