// SPDX-License-Identifier: Apache-2.0
//! Lists.
//!
//! * `push.rs`, `pop.rs`: at the ends. `read.rs`: looking at elements. `edit.rs`: changing them in the
//!   middle. `moves.rs`: from list to list, and `move_many.rs`: many at once.
//! * `blocking.rs`: commands that wait for elements. What a waiting client gets, and when, is in
//!   `engine/blocking.rs`.

// Clients send numbers, and arithmetic on them must not wrap. This lint covers all modules below this one: an
// operation that could overflow is allowed only with a reason why it cannot.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod blocking;
mod edit;
mod move_many;
mod moves;
mod pop;
mod push;
mod read;

pub(crate) use blocking::{blmove, blmovem, blmpop, blpop, brpop, brpoplpush};
pub(crate) use edit::{linsert, lrem, lset, ltrim};
pub(crate) use move_many::{lmovem, move_elements};
pub(crate) use moves::{events, lmove, move_element, rpoplpush};
pub(crate) use pop::{lmpop, lpop, pop_for, rpop};
pub(crate) use push::{lpush, lpushx, rpush, rpushx};
pub(crate) use read::{lindex, llen, lpos, lrange};

use moves::end;

use crate::engine::keys::Keys;
use crate::host::events::{Class, Event};
use crate::wire::fault::Fault;
use keyspace::View;
use values::{End, ListMut, ListRef, NewList};

/// Elements were added at an end.
fn pushed(at: End) -> Event {
    Event::of(Class::LIST, if at == End::Front { "lpush" } else { "rpush" })
}

/// Elements were taken from an end.
fn popped(from: End) -> Event {
    Event::of(Class::LIST, if from == End::Front { "lpop" } else { "rpop" })
}

impl<V: View> Keys<'_, V> {
    /// The live list under `key`.
    #[inline]
    fn list(&mut self, key: &[u8]) -> Result<Option<ListRef<'_>>, Fault> {
        match self.any(key) {
            Some(entry) => entry.list().map(Some).ok_or(Fault::WRONG_TYPE),
            None => Ok(None),
        }
    }

    /// Changes the live list under `key`, or a new one, to which `change` must add an element.
    #[inline]
    fn edit_list<R>(
        &mut self,
        key: &[u8],
        change: impl FnOnce(&mut ListMut<'_>) -> R,
    ) -> Result<R, Fault> {
        let limits = self.limits;
        if let Some(mut entry) = self.any_mut(key) {
            let mut list = entry.list_mut(limits).ok_or(Fault::WRONG_TYPE)?;
            return Ok(change(&mut list));
        }
        let mut made = NewList::new(key);
        let result = change(&mut made.edit(limits));
        self.put(made.into_entry());
        Ok(result)
    }

    /// Changes the live list under `key`, if there is one. If `change` leaves it empty, it is the
    /// caller's to remove.
    #[inline]
    fn edit_list_if_any<R>(
        &mut self,
        key: &[u8],
        change: impl FnOnce(&mut ListMut<'_>) -> R,
    ) -> Result<Option<R>, Fault> {
        let limits = self.limits;
        let Some(mut entry) = self.any_mut(key) else { return Ok(None) };
        let mut list = entry.list_mut(limits).ok_or(Fault::WRONG_TYPE)?;
        Ok(Some(change(&mut list)))
    }
}
