// SPDX-License-Identifier: Apache-2.0
//! [`Slot`]: lends the server to callbacks of Lua, which cannot borrow anything, for the time of one run.
//!
//! # Invariants
//!
//! * INV-LENT: a pointer is in the slot only during the call of [`Slot::lend`] that put it there. That call has
//!   an exclusive borrow of what it points to.
//! * INV-ONCE: while somebody uses the pointer, it is not in the slot. So nobody else uses it.

use crate::server::Server;
use std::cell::Cell;
use std::fmt;
use std::mem::transmute;
use std::ptr::NonNull;

/// A place for a borrowed server. It stays in its thread.
#[derive(Default)]
pub(crate) struct Slot(Cell<Option<NonNull<dyn Server>>>);

/// Puts a pointer into the slot when it is dropped.
struct PutBack<'a>(&'a Slot, Option<NonNull<dyn Server>>);

impl Drop for PutBack<'_> {
    fn drop(&mut self) {
        self.0.0.set(self.1);
    }
}

impl Slot {
    /// Lends `server` to those who call [`Slot::with`] while `run` runs.
    pub(crate) fn lend<R>(&self, server: &mut dyn Server, run: impl FnOnce() -> R) -> R {
        // SAFETY: only the lifetime changes. By INV-LENT nobody uses the pointer after `server` has ended: the
        // slot is emptied before this function returns or unwinds.
        let server: NonNull<dyn Server> =
            unsafe { transmute::<NonNull<dyn Server + '_>, _>(NonNull::from(server)) };
        let _empty = PutBack(self, None);
        self.0.set(Some(server));
        run()
    }

    /// Uses the server that is lent now, if there is one and nobody uses it.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut dyn Server) -> R) -> Option<R> {
        let mut server = self.0.take()?;
        let _back = PutBack(self, Some(server));
        // SAFETY: INV-LENT, it is alive; INV-ONCE, it is used here only.
        Some(work(unsafe { server.as_mut() }))
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Slot").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Canned;

    #[test]
    fn the_server_is_there_only_while_it_is_lent() {
        let slot = Slot::default();
        assert!(slot.with(|_| ()).is_none());
        let mut server = Canned::default();
        slot.lend(&mut server, || {
            assert_eq!(slot.with(|_| slot.with(|_| ())), Some(None), "not twice at a time");
            assert!(slot.with(|_| ()).is_some(), "but again");
        });
        assert!(slot.with(|_| ()).is_none());
    }

    #[test]
    fn a_panic_empties_the_slot() {
        let slot = Slot::default();
        let panics = std::panic::AssertUnwindSafe(|| {
            slot.lend(&mut Canned::default(), || slot.with(|_| panic!("in a callback")));
        });
        assert!(std::panic::catch_unwind(panics).is_err());
        assert!(slot.with(|_| ()).is_none());
    }
}
