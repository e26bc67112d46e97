// SPDX-License-Identifier: Apache-2.0
//! Sets.
//!
//! * `members.rs`: members by name, and all of them. `scan.rs`: in steps. `random.rs`: some of them.
//!   `transfer.rs`: from one set to another.
//! * `combine.rs`: the commands on several sets at once. `algebra.rs`: how they find their members.

// Clients send numbers, and arithmetic on them must not wrap. This lint covers all modules below this one: an
// operation that could overflow is allowed only with a reason why it cannot.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod algebra;
mod combine;
mod members;
mod random;
mod scan;
mod transfer;

pub(crate) use combine::{
    sdiff, sdiffcard, sdiffstore, sinter, sintercard, sinterstore, sunion, sunioncard, sunionstore,
};
pub(crate) use members::{sadd, scard, sismember, smembers, smismember, srem};
pub(crate) use random::{spop, srandmember};
pub(crate) use scan::sscan;
pub(crate) use transfer::smove;

use crate::engine::keys::Keys;
use crate::host::events::{Class, Event};
use crate::wire::fault::Fault;
use keyspace::View;
use values::{SetMut, SetRef};

/// Members were added.
const SADD: Event = Event::of(Class::SET, "sadd");

/// Members were removed.
const SREM: Event = Event::of(Class::SET, "srem");

impl<V: View> Keys<'_, V> {
    /// The live set under `key`.
    #[inline]
    fn set(&mut self, key: &[u8]) -> Result<Option<SetRef<'_>>, Fault> {
        match self.any(key) {
            Some(entry) => entry.set().map(Some).ok_or(Fault::WRONG_TYPE),
            None => Ok(None),
        }
    }

    /// Changes the live set under `key`, if there is one.
    #[inline]
    fn edit_set_if_any<R>(
        &mut self,
        key: &[u8],
        change: impl FnOnce(&mut SetMut<'_>) -> R,
    ) -> Result<Option<R>, Fault> {
        let limits = self.limits;
        let Some(mut entry) = self.any_mut(key) else { return Ok(None) };
        let mut set = entry.set_mut(limits).ok_or(Fault::WRONG_TYPE)?;
        Ok(Some(change(&mut set)))
    }
}
