// SPDX-License-Identifier: Apache-2.0
//! What computations wait with: the standard library's, or loom's models of it when compiled with `--cfg loom`.

#[cfg(not(loom))]
pub(crate) use std::sync::{
    Arc, Condvar, Mutex, MutexGuard,
    atomic::{AtomicUsize, Ordering, fence},
};

#[cfg(loom)]
pub(crate) use loom::sync::{
    Arc, Condvar, Mutex, MutexGuard,
    atomic::{AtomicUsize, Ordering, fence},
};

#[cfg(not(loom))]
pub(crate) use std::thread::ThreadId;

#[cfg(loom)]
pub(crate) use loom::thread::ThreadId;

use std::sync::PoisonError;

/// The calling thread.
pub(crate) fn this_thread() -> ThreadId {
    #[cfg(not(loom))]
    return std::thread::current().id();
    #[cfg(loom)]
    return loom::thread::current().id();
}

/// Locks a mutex under which no code of callers runs, so that what it guards is whole after any panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits, and locks again as [`lock`] does.
pub(crate) fn wait<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condvar.wait(guard).unwrap_or_else(PoisonError::into_inner)
}
