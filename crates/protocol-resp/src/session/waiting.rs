// SPDX-License-Identifier: Apache-2.0
//! [`Waiter`]: what a client waits for after a blocking command.

use crate::session::blocked_command::BlockedCommand;
use crate::session::memory::{name_bytes, text_bytes};
use crate::wire::reply::{Version, Writer};
use bytes::Bytes;
use clock::Ticks;
use keyspace::Scope;
use parking_lot::Mutex;
use protocol::{ConnectionId, Ticket};
use std::sync::Arc;
use values::{End, Type};

/// A client that waits.
#[derive(Debug)]
pub(crate) struct Waiter {
    /// Its number among all that have ever waited.
    pub(crate) turn: u64,
    pub(crate) id: ConnectionId,
    pub(crate) ticket: Ticket,
    pub(crate) version: Version,
    pub(crate) db: usize,
    pub(crate) keys: Vec<Box<[u8]>>,
    /// The type of value it waits for; it goes on waiting while its keys hold another.
    pub(crate) of: Type,
    pub(crate) wants: Wants,
    /// What must be locked to serve it, whichever of its keys it is served from.
    pub(crate) scope: Scope,
    /// When its time is up.
    pub(crate) until: Option<Ticks>,
    /// What is counted when its wait is over. Who takes the waiter out takes this.
    pub(crate) command: Mutex<Option<BlockedCommand>>,
}

impl Waiter {
    /// Its reply when its time is up.
    pub(crate) fn nothing(&self) -> Bytes {
        let mut bytes = Vec::new();
        Writer::new(&mut bytes, self.version).null_array();
        Bytes::from(bytes)
    }

    /// Memory of what it waits for, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let destination = match &self.wants {
            Wants::Move { destination, .. } => text_bytes(destination.len()),
            Wants::Pop { .. }
            | Wants::PopMany { .. }
            | Wants::PopScored { .. }
            | Wants::PopManyScored { .. } => 0,
        };
        destination + self.keys.iter().map(|key| name_bytes(key.len())).sum::<u64>()
    }

    /// Whether it wants to move an element to another key.
    pub(crate) fn is_mover(&self) -> bool {
        matches!(self.wants, Wants::Move { .. })
    }
}

/// What a waiter does with the first of its keys that has something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    /// BLPOP, BRPOP: the front is the head.
    Pop { from: End },
    /// BLMPOP.
    PopMany { from: End, count: usize },
    /// BLMOVE, BRPOPLPUSH.
    Move { from: End, to: End, destination: Box<[u8]> },
    /// BZPOPMIN, BZPOPMAX: the front has the lowest score.
    PopScored { from: End },
    /// BZMPOP.
    PopManyScored { from: End, count: usize },
}

/// A connection's own hold on its waiter.
pub(crate) type Waiting = Arc<Waiter>;

/// The place of a connection in the queue of those whose command waits for the end of a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held(pub(crate) u64);
