// SPDX-License-Identifier: Apache-2.0
//! Commands on keys with values of any type.
//!
//! * `presence.rs`: whether keys are there, and removing them. `expire.rs`: when they expire.
//! * `rename.rs`: other names, other databases. `walk.rs`: finding keys. `object.rs`: how values are stored.
//!   `serial.rs`: values as bytes, to be restored elsewhere. `migrate.rs`: values that go to other servers. `sort.rs`: sorting elements. `wait.rs`: commands about replicas, which do not exist here.

// Clients send numbers, and arithmetic on them must not wrap. This lint covers all modules below this one: an
// operation that could overflow is allowed only with a reason why it cannot.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod expire;
mod migrate;
mod object;
mod presence;
mod rename;
mod serial;
mod sort;
mod wait;
pub(crate) mod walk;

pub(crate) use expire::{
    expire, expireat, expiretime, persist, pexpire, pexpireat, pexpiretime, pttl, ttl,
};
pub(crate) use migrate::migrate;
pub(crate) use object::{object_encoding, object_freq, object_idletime, object_refcount};
pub(crate) use presence::{del, exists, touch, type_of, unlink};
pub(crate) use rename::{copy, move_key, rename, renamenx};
pub(crate) use serial::{dump, payload, restore};
pub(crate) use sort::{sort, sort_ro};
pub(crate) use wait::{wait, waitaof};
pub(crate) use walk::{Options as ScanOptions, Walked, cursor, end_step, keys, randomkey, scan};
