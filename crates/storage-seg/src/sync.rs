// SPDX-License-Identifier: Apache-2.0
//! The atomics and locks of this crate: the standard library's, or loom's models of them when
//! compiled with `--cfg loom`.

#[cfg(not(loom))]
pub(crate) use std::sync::{Arc, atomic};

#[cfg(loom)]
pub(crate) use loom::sync::{Arc, atomic};

/// A mutex without poisoning. Held for a few instructions, never across a system call.
#[cfg(not(loom))]
pub(crate) type Mutex<T> = parking_lot::Mutex<T>;

/// Lets another thread run while waiting for it.
#[cfg(not(loom))]
pub(crate) fn pause(spins: u32) {
    // The holder may have lost its CPU: after a short while yielding ours is better.
    if spins < 64 {
        std::hint::spin_loop();
    } else {
        std::thread::yield_now();
    }
}

#[cfg(loom)]
pub(crate) fn pause(_spins: u32) {
    loom::thread::yield_now();
}

/// Loom's mutex with the interface of `parking_lot`'s.
#[cfg(loom)]
#[derive(Debug)]
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

#[cfg(loom)]
impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Mutex(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
        self.0.lock().expect("no thread panics with the lock")
    }

    pub(crate) fn try_lock(&self) -> Option<loom::sync::MutexGuard<'_, T>> {
        self.0.try_lock().ok()
    }
}
