// SPDX-License-Identifier: Apache-2.0
//! [`Gone`]: word of an entry that went, or changed, without a command that asked for it.

/// What a keyspace did by itself to an entry.
///
/// For those who must know of every change: notifications, watched keys, clients that cache.
/// It is told while the keyspace is locked, so the listener takes a note and does no more; it uses
/// no handle of the same keyspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone<'a> {
    /// The database it was in.
    pub db: usize,
    /// Its key.
    pub key: &'a [u8],
    /// What happened.
    pub reason: Reason,
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
