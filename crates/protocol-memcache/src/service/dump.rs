// SPDX-License-Identifier: Apache-2.0
//! Lists of all items: `lru_crawler metadump`, `lru_crawler mgdump`, `stats cachedump`; and what is as long or takes as
//! long: `stats sizes`, `stats conns`.
//!
//! A list is sent in pieces, one per turn of the worker's loop at most, and the next piece of it is made once its
//! client has taken the one before. So it costs other connections a short step per turn, and a client that does not
//! read holds a cursor and a piece. The request blocks its connection meanwhile.

mod conns;
mod sizes;

use super::MemcacheService;
use super::outcome::Outcome;
use crate::op::{Dump, Listing};
use crate::reply::Refusal;
use crate::reply::dump::{self, AROUND_KEY};
use buffer::SendBuf;
use bytes::Bytes;
use clock::Now;
use conns::Connections;
use protocol::{ConnectionId, Context, Outbox, Peer, Ticket};
use sizes::Sizes;
use std::collections::VecDeque;
use std::sync::Arc;
use storage::{Cursor, Item, Receive, Scan};

/// The most lists of items on their way on one worker. Further ones are answered `BUSY`.
pub const DUMPS_MAX: usize = 16;

/// Places of the index that a step visits: some 100 microseconds of work if the items are in no CPU cache, and 16 KiB
/// of lines.
const STEP: usize = 256;

/// The most bytes of a `stats cachedump`.
const CACHEDUMP_MAX: usize = 2 << 20;

/// The lists on their way to clients of this worker. The one that has waited longest is first.
#[derive(Debug, Default)]
pub(super) struct Dumps {
    running: VecDeque<Running>,
}

/// A list on its way.
#[derive(Debug)]
struct Running {
    connection: ConnectionId,
    ticket: Ticket,
    /// Tells what its client has not read.
    peer: Option<Arc<Peer>>,
    what: What,
}

/// What is listed.
#[derive(Debug)]
enum What {
    Items(Items),
    Sizes(Sizes),
    Connections(Connections),
}

/// A list of items.
#[derive(Debug)]
struct Items {
    cursor: Cursor,
    listing: Listing,
    /// Those whose items are listed: bit `n` stands for class `n`.
    classes: u64,
    prefix: Box<[u8]>,
    /// Items that may still be listed.
    items: usize,
    /// Bytes that may still be sent.
    bytes: usize,
}

/// The lists of another worker are its own.
impl Clone for Dumps {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Dumps {
    /// Whether there are none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// Forgets the list of a connection that has ended.
    pub(super) fn end(&mut self, connection: ConnectionId) {
        self.running.retain(|dump| dump.connection != connection);
    }
}

impl Running {
    /// Whether its client has taken everything.
    fn is_read(&self) -> bool {
        self.peer.as_ref().is_none_or(|peer| peer.output_bytes() == 0)
    }

    /// Makes the next piece. Returns whether it is the last, with its end.
    fn step(&mut self, store: &mut impl Scan, now: Now, piece: &mut Vec<u8>) -> bool {
        let (is_last, end) = match &mut self.what {
            What::Items(items) => (items.step(store, now, piece), dump::end(items.listing)),
            What::Sizes(sizes) => (sizes.step(store, now, piece), dump::STATS_END),
            What::Connections(all) => (all.step(self.connection, now, piece), dump::STATS_END),
        };
        if is_last {
            piece.extend_from_slice(end);
        }
        is_last
    }
}

impl Items {
    fn wants(&self, item: &impl Item) -> bool {
        // A class beyond the last that has a bit is listed with all others alone.
        let class = 1_u64.checked_shl(item.class()).unwrap_or(0);
        let is_of_class = self.classes == u64::MAX || self.classes & class != 0;
        is_of_class && item.key().starts_with(&self.prefix)
    }

    /// Makes the next piece. Returns whether it is the last.
    fn step(&mut self, store: &mut impl Scan, now: Now, piece: &mut Vec<u8>) -> bool {
        let next = store.scan(self.cursor, STEP, now.ticks, |item| {
            if self.items == 0 || !self.wants(&item) {
                return;
            }
            let before = piece.len();
            piece.reserve(AROUND_KEY + 3 * item.key().len());
            dump::line(self.listing, piece, &item, now);
            if piece.len() > self.bytes {
                piece.truncate(before);
                self.items = 0;
            } else if piece.len() > before {
                self.items -= 1;
            }
        });
        self.bytes -= piece.len();
        match next {
            Some(cursor) if self.items > 0 => {
                self.cursor = cursor;
                false
            }
            _ => true,
        }
    }
}

impl<S: Receive> MemcacheService<S> {
    /// Begins a list.
    #[cold]
    #[inline(never)]
    pub(super) fn dump(
        &mut self,
        dump: &Dump<'_>,
        out: &mut SendBuf,
        context: &Context<'_>,
    ) -> Outcome {
        let &Dump { listing, classes, prefix, limit, wrong } = dump;
        if !self.shared.options.dump {
            return Outcome::Refused(Refusal::Dump(listing));
        }
        if let Some(reply) = wrong {
            return Outcome::Refused(Refusal::Wrong(reply));
        }
        let is_bounded = listing == Listing::Cachedump;
        let items = Items {
            cursor: Cursor::START,
            listing,
            classes,
            prefix: prefix.into(),
            items: if limit == 0 { usize::MAX } else { limit as usize },
            bytes: if is_bounded { CACHEDUMP_MAX } else { usize::MAX },
        };
        let outcome = self.begin(What::Items(items), context);
        if outcome == Outcome::Begun {
            out.put(dump::head(listing));
        }
        outcome
    }

    /// Begins `stats sizes`.
    #[cold]
    pub(super) fn sizes(&mut self, context: &Context<'_>) -> Outcome {
        self.begin(What::Sizes(Sizes::new()), context)
    }

    /// Begins `stats conns`.
    #[cold]
    pub(super) fn connections(&mut self, context: &Context<'_>) -> Outcome {
        let all = Connections::new(context.directory.list());
        self.begin(What::Connections(all), context)
    }

    fn begin(&mut self, what: What, context: &Context<'_>) -> Outcome {
        if context.is_datagram {
            return Outcome::Refused(Refusal::Datagram);
        }
        if self.dumps.running.len() == DUMPS_MAX {
            return Outcome::Refused(Refusal::Busy);
        }
        let (connection, ticket) = (context.connection, context.ticket);
        let peer = context.directory.get(connection);
        self.dumps.running.push_back(Running { connection, ticket, peer, what });
        self.chores_wait = true;
        Outcome::Begun
    }
}

impl<S: Scan + Receive> MemcacheService<S> {
    /// Makes a piece for the client that has waited longest for one and has taken all before. Returns whether there
    /// was such a client.
    #[cold]
    pub(super) fn dump_on(&mut self, now: Now, outbox: &mut Outbox) -> bool {
        let running = &mut self.dumps.running;
        let Some(at) = running.iter().position(Running::is_read) else { return false };
        let Some(mut dump) = running.remove(at) else { return false };
        let mut piece = Vec::new();
        if dump.step(&mut self.store, now, &mut piece) {
            outbox.resume(dump.connection, dump.ticket, Bytes::from(piece));
        } else {
            if !piece.is_empty() {
                outbox.push(dump.connection, Bytes::from(piece));
            }
            running.push_back(dump);
        }
        true
    }
}
