// SPDX-License-Identifier: Apache-2.0
//! [`Waiter`]: a client in a blocking command, with the keys that it waits for.

use crate::session::blocked_command::BlockedCommand;
use crate::session::memory::{name_bytes, text_bytes};
use crate::wire::reply::{Version, Writer};
use bytes::Bytes;
use clock::Ticks;
use keyspace::Scope;
use parking_lot::Mutex;
use protocol::{ConnectionId, Ticket};
use std::sync::Arc;
use values::{End, StreamId, Type};

/// A waiting client.
#[derive(Debug)]
pub(crate) struct Waiter {
    /// Its number among all that have ever waited.
    pub(crate) turn: u64,
    pub(crate) id: ConnectionId,
    pub(crate) ticket: Ticket,
    pub(crate) version: Version,
    pub(crate) db: usize,
    pub(crate) keys: Vec<Box<[u8]>>,
    /// The type of value it waits for. It goes on waiting while its keys hold values of other
    /// types.
    pub(crate) of: Type,
    pub(crate) wants: Wants,
    /// The shards that must be locked to serve it from any of its keys.
    pub(crate) scope: Scope,
    /// When its time is up.
    pub(crate) until: Option<Ticks>,
    /// Its command, which is counted when the wait is over. The side that removes the waiter takes
    /// it.
    pub(crate) command: Mutex<Option<BlockedCommand>>,
}

impl Waiter {
    /// Its reply when its time is up.
    pub(crate) fn nothing(&self) -> Bytes {
        let mut bytes = Vec::new();
        Writer::new(&mut bytes, self.version).null_array();
        Bytes::from(bytes)
    }

    /// Memory of the keys it waits for, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let destination = match &self.wants {
            Wants::Move { destination, .. } => text_bytes(destination.len()),
            Wants::Pop { .. }
            | Wants::PopMany { .. }
            | Wants::PopScored { .. }
            | Wants::PopManyScored { .. } => 0,
            Wants::Read { after, .. } => text_bytes(size_of_val(&**after)),
            Wants::ReadGroup(wait) => {
                let names = text_bytes(wait.group.len()) + text_bytes(wait.consumer.len());
                names + text_bytes(size_of::<GroupWait>())
            }
        };
        destination + self.keys.iter().map(|key| name_bytes(key.len())).sum::<u64>()
    }

    /// Whether it waits for items of a consumer group. Such a client is told when there is no such group any more.
    pub(crate) fn is_group_reader(&self) -> bool {
        matches!(self.wants, Wants::ReadGroup(_))
    }

    /// Whether it also wants what others have had for some time, which no command tells it of.
    pub(crate) fn claims(&self) -> bool {
        matches!(&self.wants, Wants::ReadGroup(wait) if wait.claim_ms.is_some())
    }

    /// Which of the keys that it waits for this is.
    pub(crate) fn position(&self, key: &[u8]) -> usize {
        self.keys.iter().position(|other| **other == *key).unwrap_or(0)
    }

    /// Whether it wants to move an element to another key.
    pub(crate) fn is_mover(&self) -> bool {
        matches!(self.wants, Wants::Move { .. })
    }
}

/// What is done for a waiter with the first of its keys that has an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    /// BLPOP, BRPOP: the front is the head.
    Pop { from: End },
    /// BLMPOP.
    PopMany { from: End, count: usize },
    /// BLMOVE, BRPOPLPUSH; BLMOVEM, if it says how many.
    Move { from: End, to: End, destination: Box<[u8]>, many: Option<MoveMany> },
    /// BZPOPMIN, BZPOPMAX: the front has the lowest score.
    PopScored { from: End },
    /// BZMPOP.
    PopManyScored { from: End, count: usize },
    /// XREAD: items behind an id, one for each key.
    Read { after: Box<[StreamId]>, limits: ReadLimits },
    /// XREADGROUP.
    ReadGroup(Box<GroupWait>),
}

/// How many elements are moved at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MoveMany {
    /// So many must be there.
    pub(crate) least: usize,
    pub(crate) most: usize,
    /// As if they were moved one by one; otherwise they keep their order.
    pub(crate) one_by_one: bool,
}

/// How much is read of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadLimits {
    /// The most items of each stream (COUNT).
    pub(crate) items: usize,
    /// The most items of all streams together (MAXCOUNT).
    pub(crate) items_in_all: usize,
    /// The most bytes of the reply (MAXSIZE). A single item may have more.
    pub(crate) bytes: usize,
}

/// A consumer of a stream's group that waits for items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupWait {
    pub(crate) group: Box<[u8]>,
    pub(crate) consumer: Box<[u8]>,
    pub(crate) limits: ReadLimits,
    /// They need no acknowledgement.
    pub(crate) no_ack: bool,
    /// What others have had for so many milliseconds is wanted, too.
    pub(crate) claim_ms: Option<u64>,
}

/// A shared reference to a waiter.
pub(crate) type Waiting = Arc<Waiter>;

/// The place of a connection in the queue of clients held by a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held(pub(crate) u64);
