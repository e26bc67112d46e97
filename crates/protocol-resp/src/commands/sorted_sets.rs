// SPDX-License-Identifier: Apache-2.0
//! Sorted sets.
//!
//! * `add.rs`: what adds members and changes scores. `remove.rs`: what removes members.
//! * `read.rs`: members by name. `count.rs`: how many there are. `random.rs`: some of them. `scan.rs`:
//!   all of them in steps.
//! * `range.rs`: members by rank, score or name. `request.rs`: how a client asks for them, and
//!   `bounds.rs`: the ends of a range.
//! * `pop.rs`: the first and the last. `blocking.rs`: commands that wait for them.
//! * `combine.rs`: the commands on several sets at once. `inputs.rs`: their arguments. `algebra.rs`:
//!   how they find their members.
//! * `shape.rs`: how members are shown with their scores.

// Clients send numbers, and arithmetic on them must not wrap. This lint covers all modules below this one: an
// operation that could overflow is allowed only with a reason why it cannot.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod add;
mod algebra;
mod blocking;
mod bounds;
mod combine;
mod count;
mod inputs;
mod pop;
mod random;
mod range;
mod read;
mod remove;
mod request;
mod scan;
mod shape;

pub(crate) use add::{Options, add_scored, zadd, zincrby};
pub(crate) use blocking::{bzmpop, bzpopmax, bzpopmin};
pub(crate) use combine::{zdiff, zdiffstore, zinter, zintercard, zinterstore, zunion, zunionstore};
pub(crate) use count::{zcard, zcount, zlexcount};
pub(crate) use pop::{pop_for, zmpop, zpopmax, zpopmin};
pub(crate) use random::zrandmember;
pub(crate) use range::{
    zrange, zrangebylex, zrangebyscore, zrangestore, zrevrange, zrevrangebylex, zrevrangebyscore,
};
pub(crate) use read::{zmscore, zrank, zrevrank, zscore};
pub(crate) use remove::{zrem, zremrangebylex, zremrangebyrank, zremrangebyscore};
pub(crate) use scan::zscan;

use crate::engine::call::Call;
use crate::engine::keys::Keys;
use crate::host::events::{Class, Event};
use crate::wire::fault::Fault;
use keyspace::View;
use values::{NewZset, ZsetMut, ZsetRef};

/// Something happened to a sorted set.
const fn event(name: &'static str) -> Event {
    Event::of(Class::ZSET, name)
}

impl<V: View> Keys<'_, V> {
    /// The live sorted set under `key`.
    #[inline]
    pub(crate) fn zset(&mut self, key: &[u8]) -> Result<Option<ZsetRef<'_>>, Fault> {
        match self.any(key) {
            Some(entry) => entry.zset().map(Some).ok_or(Fault::WRONG_TYPE),
            None => Ok(None),
        }
    }

    /// Changes the live sorted set under `key`, or a new one, to which `change` must add a member.
    #[inline]
    fn edit_zset<R>(
        &mut self,
        key: &[u8],
        change: impl FnOnce(&mut ZsetMut<'_>) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let limits = self.limits;
        if let Some(mut entry) = self.any_mut(key) {
            let mut set = entry.zset_mut(limits).ok_or(Fault::WRONG_TYPE)?;
            return change(&mut set);
        }
        let mut made = NewZset::new(key);
        let result = change(&mut made.edit(limits))?;
        self.put(made.into_entry());
        Ok(result)
    }

    /// Changes the live sorted set under `key`, if there is one. If `change` leaves it empty, it is
    /// the caller's to remove.
    #[inline]
    fn edit_zset_if_any<R>(
        &mut self,
        key: &[u8],
        change: impl FnOnce(&mut ZsetMut<'_>) -> R,
    ) -> Result<Option<R>, Fault> {
        let limits = self.limits;
        let Some(mut entry) = self.any_mut(key) else { return Ok(None) };
        let mut set = entry.zset_mut(limits).ok_or(Fault::WRONG_TYPE)?;
        Ok(Some(change(&mut set)))
    }
}

impl<V: View> Call<'_, V> {
    /// Puts a sorted set that a command has made in place of what is under its key, which goes if
    /// the sorted set is empty; the reply is how many members it has.
    pub(crate) fn store_zset(&mut self, key: &[u8], made: NewZset, event: Event) {
        let len = made.read().len();
        if len > 0 {
            self.keys.put(made.into_entry());
            self.modified(key, event);
        } else if self.keys.remove(key) {
            self.modified(key, Event::DEL);
        }
        self.out.count(len);
    }
}
