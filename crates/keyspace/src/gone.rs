// SPDX-License-Identifier: Apache-2.0
//! [`Gone`]: the report of an entry that the keyspace removed or changed without a command.

/// A removal or change of an entry by the keyspace itself.
///
/// For listeners that must know of every change: notifications, watched keys, client-side caching.
/// It is reported while the keyspace is locked, so the listener only records it, and uses no handle
/// of the same keyspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone<'a> {
    /// The database it was in.
    pub db: usize,
    /// Its key.
    pub key: &'a [u8],
    /// What happened.
    pub reason: Reason,
    /// The fields that have expired, for [`Reason::FieldExpired`]. Without a listener
    /// ([`Settings::add_listener`](crate::Settings::add_listener)) they need not be named.
    pub fields: &'a [Box<[u8]>],
}

/// Why, and how much of, an entry is [`Gone`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Its expiry passed: the entry is removed.
    Expired,
    /// It was dropped to make room: the entry is removed.
    Evicted,
    /// Fields of the hash expired and were removed. The entry is still there, unless
    /// [`Reason::Emptied`] follows.
    FieldExpired,
    /// The last field of the hash expired: the entry is removed. [`Reason::FieldExpired`] came
    /// before it.
    Emptied,
}
