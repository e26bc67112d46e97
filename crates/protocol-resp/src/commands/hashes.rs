// SPDX-License-Identifier: Apache-2.0
//! Hashes, and the expiry of their fields.
//!
//! * `read.rs`: what reads fields by name. `all.rs`: what reads all of them. `scan.rs`: in steps.
//!   `random.rs`: some of them.
//! * `write.rs`: what sets and removes fields. `number.rs`: numbers in them.
//! * `import.rs`: many hashes with the same fields.
//! * `expire.rs`: when fields expire. `ttl.rs`: telling it. `expiring.rs` and `set_expiring.rs`: reading
//!   and setting fields at the same time. `fields.rs` and `moment.rs`: how these commands name fields
//!   and times.
//!
//! A field whose time has come is not seen by any command. The keyspace removes it; until it has,
//! HLEN counts it, and the hash is there even if it is the last.

// Clients send numbers, and arithmetic on them must not wrap. This lint covers all modules below this one: an
// operation that could overflow is allowed only with a reason why it cannot.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod all;
mod expire;
mod expiring;
mod fields;
mod import;
mod moment;
mod number;
mod random;
mod read;
mod scan;
mod set_expiring;
mod ttl;
mod write;

pub(crate) use all::{hgetall, hkeys, hvals};
pub(crate) use expire::{hexpire, hexpireat, hpersist, hpexpire, hpexpireat};
pub(crate) use expiring::{hgetdel, hgetex};
pub(crate) use import::{himport_discard, himport_discardall, himport_prepare, himport_set};
pub(crate) use number::{hincrby, hincrbyfloat};
pub(crate) use random::hrandfield;
pub(crate) use read::{hexists, hget, hlen, hmget, hstrlen};
pub(crate) use scan::hscan;
pub(crate) use set_expiring::hsetex;
pub(crate) use ttl::{hexpiretime, hpexpiretime, hpttl, httl};
pub(crate) use write::{hdel, hmset, hset, hsetnx};

use crate::engine::call::Call;
use crate::engine::keys::Keys;
use crate::host::events::{Class, Event};
use crate::wire::fault::Fault;
use keyspace::View;
use values::{HashMut, HashRef, NewHash, Type};

/// Fields were set.
const HSET: Event = Event::of(Class::HASH, "hset");

/// Fields were removed.
const HDEL: Event = Event::of(Class::HASH, "hdel");

/// Fields were given an expiry.
const HEXPIRE: Event = Event::of(Class::HASH, "hexpire");

/// The expiry of fields was taken away.
const HPERSIST: Event = Event::of(Class::HASH, "hpersist");

/// The fields that a command changes, noted only if somebody is told of them.
struct Noted<'f> {
    is_wanted: bool,
    fields: Vec<&'f [u8]>,
}

impl<'f> Noted<'f> {
    fn new<V: View>(call: &Call<'_, V>) -> Self {
        Noted { is_wanted: call.names_fields(), fields: Vec::new() }
    }

    fn note(&mut self, field: &'f [u8]) {
        if self.is_wanted {
            self.fields.push(field);
        }
    }
}

impl<V: View> Keys<'_, V> {
    /// The live hash under `key`.
    #[inline]
    fn hash(&mut self, key: &[u8]) -> Result<Option<HashRef<'_>>, Fault> {
        match self.any(key) {
            Some(entry) => entry.hash().map(Some).ok_or(Fault::WRONG_TYPE),
            None => Ok(None),
        }
    }

    /// What was made of a command's arguments. What is wrong with them is only said if there is
    /// nothing else than a hash under `key`.
    fn if_hash<T>(&self, key: &[u8], parsed: Result<T, Fault>) -> Result<T, Fault> {
        parsed.map_err(|fault| match self.peek(key) {
            Some(entry) if entry.data_type() != Type::Hash => Fault::WRONG_TYPE,
            _ => fault,
        })
    }

    /// Changes the live hash under `key`, or a new one. If `change` succeeds and leaves it empty, it
    /// is the caller's to remove.
    #[inline]
    fn edit_hash<R>(
        &mut self,
        key: &[u8],
        change: impl FnOnce(&mut HashMut<'_>) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let limits = self.limits;
        if let Some(mut entry) = self.any_mut(key) {
            let mut hash = entry.hash_mut(limits).ok_or(Fault::WRONG_TYPE)?;
            return change(&mut hash);
        }
        let mut made = NewHash::new(key);
        let result = change(&mut made.edit(limits))?;
        self.put(made.into_entry());
        Ok(result)
    }

    /// Changes the live hash under `key`, if there is one.
    #[inline]
    fn edit_hash_if_any<R>(
        &mut self,
        key: &[u8],
        change: impl FnOnce(&mut HashMut<'_>) -> R,
    ) -> Result<Option<R>, Fault> {
        let limits = self.limits;
        let Some(mut entry) = self.any_mut(key) else { return Ok(None) };
        let mut hash = entry.hash_mut(limits).ok_or(Fault::WRONG_TYPE)?;
        Ok(Some(change(&mut hash)))
    }
}
