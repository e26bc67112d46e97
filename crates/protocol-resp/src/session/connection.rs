// SPDX-License-Identifier: Apache-2.0
//! [`Resp`]: one connection's protocol state, and the codec over it.

use crate::session::client::Client;
use crate::session::command::Command;
use crate::session::fieldsets::Fieldsets;
use crate::session::marks::Marks;
use crate::session::memory::MemoryKind;
use crate::session::replies::Replies;
use crate::session::subscriptions::{Kind, Subscriptions};
use crate::session::transaction::Transaction;
use crate::session::user::User;
use crate::session::waiting::{Held, Waiting};
use crate::session::watching::Watching;
use crate::table::Flags;
use crate::wire::parse::{self, Request};
use crate::wire::reply::Version;
use protocol::{ErrorReply, Malformed, Parsed, Protocol};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The smallest allowed `proto-max-bulk-len`.
pub(crate) const BULK_MAX_LEAST: usize = 1 << 20;

/// The largest allowed `proto-max-bulk-len`: a key, or a field with its value, is shorter than 4 GiB.
pub(crate) const BULK_MAX_MOST: i64 = 3 << 29;

/// A RESP connection: the state that its requests have set up.
///
/// When the connection ends, the service removes its entries in shared tables, such as its subscriptions, its
/// watches and its place in a queue of blocked clients.
#[derive(Debug)]
pub struct Resp {
    /// Whether the client is authenticated.
    pub(crate) user: User,
    /// `proto-max-bulk-len`, for all connections.
    bulk_max: Arc<AtomicUsize>,
    /// The protocol version of its replies.
    pub(crate) version: Version,
    /// The selected database.
    pub(crate) db: usize,
    /// Which replies are sent.
    pub(crate) replies: Replies,
    /// This connection's entry in the list of clients; made by its first request.
    pub(crate) client: Option<Arc<Client>>,
    /// The transaction, between MULTI and EXEC.
    pub(crate) transaction: Option<Box<Transaction>>,
    /// The keys it watches.
    pub(crate) watching: Watching,
    /// The channels and patterns it is subscribed to.
    pub(crate) subscriptions: Option<Box<Subscriptions>>,
    /// Its waiter, after a blocking command.
    pub(crate) waiting: Option<Waiting>,
    /// Its place in the queue of clients held by a pause.
    pub(crate) held: Option<Held>,
    /// What makes its commands need more checks.
    pub(crate) marks: Marks,
    /// Its client caches keys (CLIENT TRACKING). How, its entry in the list of clients says.
    pub(crate) is_tracker: bool,
    /// The prefixes of the keys that it tracks, if it does not track those that it reads.
    pub(crate) prefixes: BTreeSet<Box<[u8]>>,
    /// Lists of field names that it has prepared (HIMPORT).
    pub(crate) fieldsets: Fieldsets,
    /// How often it was entered as a new reader of a key.
    pub(crate) noted: u64,
    /// Its reads leave no trace (CLIENT NO-TOUCH).
    pub(crate) no_touch: bool,
    /// The present command has written push messages, which are sent even if replies are off.
    pub(crate) has_pushed: bool,
    /// The command that waits was sent with replies off.
    pub(crate) waits_unheard: bool,
}

impl Resp {
    /// The state of a new connection, whose arguments may have up to `bulk_max` bytes.
    pub(crate) fn new(user: User, bulk_max: Arc<AtomicUsize>) -> Self {
        Resp {
            user,
            bulk_max,
            version: Version::Resp2,
            db: 0,
            replies: Replies::On,
            client: None,
            transaction: None,
            watching: Watching::default(),
            subscriptions: None,
            waiting: None,
            held: None,
            marks: Marks::default(),
            is_tracker: false,
            prefixes: BTreeSet::new(),
            fieldsets: Fieldsets::default(),
            noted: 0,
            no_touch: false,
            has_pushed: false,
            waits_unheard: false,
        }
    }

    /// Parses rejected input once more with the configured limit, because it may have been rejected for a
    /// large argument.
    #[cold]
    fn parse_large<'a>(
        &self,
        cursor: &mut parse::Cursor,
        input: &'a [u8],
        refused: Malformed,
    ) -> Result<Parsed<Request<'a>>, Malformed> {
        if refused.skip.is_some() {
            return Err(refused);
        }
        let bulk_max = self.bulk_max.load(Relaxed);
        *cursor = parse::Cursor::default();
        parse::parse(&self.user.framing(bulk_max), cursor, input)
    }

    /// The same connection, with the protocol version set as if by `HELLO`.
    #[must_use]
    pub fn speaking(self, version: Version) -> Self {
        Resp { version, ..self }
    }

    /// Whether its commands need additional checks before they run.
    #[inline]
    pub(crate) fn is_unusual(&self) -> bool {
        self.transaction.is_some() || self.subscriptions.is_some() || self.marks.any()
    }

    /// Shows others whether it waits for something.
    pub(crate) fn note_blocked(&self, on: bool) {
        if let Some(client) = &self.client {
            client.set(Client::BLOCKED, on);
        }
    }

    /// Shows in the list of clients what it listens to.
    pub(crate) fn note_subscriptions(&self) {
        let Some(client) = &self.client else { return };
        let subscriptions = self.subscriptions.as_ref();
        client.set(Client::SUBSCRIBER, self.is_subscriber());
        client.memory.set(MemoryKind::Channels, subscriptions.map_or(0, |all| all.bytes()));
        for kind in [Kind::Channel, Kind::Pattern, Kind::Shard] {
            let count = subscriptions.map_or(0, |all| all.names(kind).len());
            client.subscriptions[kind as usize].store(count as u32, Relaxed);
        }
    }

    /// Counts the lists of field names that it has prepared as its memory.
    pub(crate) fn note_fieldsets(&self) {
        if let Some(client) = &self.client {
            client.memory.set(MemoryKind::Fieldsets, self.fieldsets.bytes());
        }
    }

    /// Drops the shard channels that it was subscribed to and that are another node's now.
    pub(crate) fn forget_lost_channels(&mut self) {
        if self.subscriptions.as_mut().is_some_and(|all| all.forget_lost()) {
            self.subscriptions = self.subscriptions.take().filter(|left| !left.is_empty());
            self.note_subscriptions();
        }
    }

    /// Whether other connections send it messages.
    #[inline]
    pub(crate) fn is_listener(&self) -> bool {
        self.subscriptions.is_some() || self.is_monitor()
    }

    /// Whether it sees all commands (MONITOR).
    #[inline]
    pub(crate) fn is_monitor(&self) -> bool {
        self.marks.has(Marks::MONITOR)
    }

    /// Whether it is subscribed to any channel or pattern.
    #[inline]
    pub(crate) fn is_subscriber(&self) -> bool {
        self.subscriptions.as_ref().is_some_and(|all| !all.is_empty())
    }
}

impl Protocol for Resp {
    const NAME: &'static str = "resp";
    const TOO_MANY_CONNECTIONS: &'static [u8] = b"-ERR max number of clients reached\r\n";
    type Request<'a> = Command<'a>;
    type Cursor = parse::Cursor;

    #[inline]
    fn parse<'a>(
        &self,
        cursor: &mut parse::Cursor,
        input: &'a [u8],
    ) -> Result<Parsed<Command<'a>>, Malformed> {
        // The smallest limit that may be configured. Only for a larger argument `bulk_max` is looked up.
        let framing = self.user.framing(BULK_MAX_LEAST);
        let parsed = match parse::parse(&framing, cursor, input) {
            Ok(parsed) => parsed,
            Err(refused) => self.parse_large(cursor, input, refused)?,
        };
        // Called in one place only, so that it is inlined.
        Command::of(parsed)
    }

    /// A request that authenticates changes the parser's limits.
    #[inline]
    fn ends_batch(command: &Command<'_>) -> bool {
        command.id.is_some_and(|id| id.spec().flags.has(Flags::ENDS_BATCH))
    }

    fn is_subscriber(&self) -> bool {
        Resp::is_subscriber(self)
    }

    fn is_stranger(&self) -> bool {
        self.user.is_stranger()
    }

    fn may_idle(&self) -> bool {
        self.is_listener()
    }

    /// In RESP2 a message looks like a reply.
    fn takes_messages(&self) -> bool {
        self.version == Version::Resp3 || self.is_listener()
    }

    fn takes_late_reply(&self) -> bool {
        !self.waits_unheard
    }

    fn too_large(&self) -> ErrorReply {
        parse::REQUEST_TOO_LARGE
    }
}
