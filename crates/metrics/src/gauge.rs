// SPDX-License-Identifier: Apache-2.0
//! Numbers that go up and down.

use std::any::Any;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use crate::slot::Slot;

/// How many there are, counted as ups and downs. Any thread may move it; one thread may take away
/// what another added, since only the sum over threads means something.
///
/// Declare it with [`gauges!`](crate::gauges). It costs what a [`Counter`](crate::Counter) costs
/// and shares its limit. There is no `set`: that is [`Level`].
///
/// ```
/// metrics::gauges! {
///     /// Connections open.
///     static TCP_CONN_CURR: "tcp_conn_curr";
/// }
/// TCP_CONN_CURR.increment();
/// TCP_CONN_CURR.sub(3);
/// assert_eq!(TCP_CONN_CURR.value(), -2);
/// ```
#[derive(Debug)]
pub struct Gauge {
    slot: Slot,
}

impl Gauge {
    /// A gauge at zero.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "made for statics, which need a const")]
    pub const fn new() -> Self {
        Self { slot: Slot::new() }
    }

    /// Adds one.
    #[inline]
    pub fn increment(&self) {
        self.add(1);
    }

    /// Takes one away.
    #[inline]
    pub fn decrement(&self) {
        self.sub(1);
    }

    /// Adds `n`.
    #[inline]
    pub fn add(&self, n: i64) {
        self.slot.add(n.cast_unsigned());
    }

    /// Takes `n` away.
    #[inline]
    pub fn sub(&self, n: i64) {
        self.slot.add(n.wrapping_neg().cast_unsigned());
    }

    /// The sum over all threads, those that have ended included.
    ///
    /// The cells are read one after another. While other threads move the gauge the sum may mix
    /// moments: it may lack an add whose later sub it has, and so dip below zero for one reading.
    #[must_use]
    pub fn value(&self) -> i64 {
        self.slot.sum().cast_signed()
    }
}

#[doc(hidden)]
impl metriken_core::Metric for Gauge {
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn value(&self) -> Option<metriken_core::Value<'_>> {
        Some(metriken_core::Value::Gauge(self.value()))
    }
}

/// How many there are, as a value that one thread sets.
///
/// Declare it with [`levels!`](crate::levels). It is a single atomic in cache lines of its own:
/// setting it is cheap for the one thread that does, and disturbs no reader of its neighbours.
///
/// ```
/// metrics::levels! {
///     /// Bytes the store may use.
///     static LIMIT_BYTES: "limit_bytes";
/// }
/// LIMIT_BYTES.set(64 << 20);
/// assert_eq!(LIMIT_BYTES.value(), 67_108_864);
/// ```
#[derive(Debug)]
#[repr(align(128))]
pub struct Level {
    value: AtomicI64,
}

impl Level {
    /// A level of zero.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "made for statics, which need a const")]
    pub const fn new() -> Self {
        Self { value: AtomicI64::new(0) }
    }

    /// Replaces the value.
    #[inline]
    pub fn set(&self, value: i64) {
        self.value.store(value, Relaxed);
    }

    /// What was last set.
    #[must_use]
    pub fn value(&self) -> i64 {
        self.value.load(Relaxed)
    }
}

#[doc(hidden)]
impl metriken_core::Metric for Level {
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn value(&self) -> Option<metriken_core::Value<'_>> {
        Some(metriken_core::Value::Gauge(self.value()))
    }
}
