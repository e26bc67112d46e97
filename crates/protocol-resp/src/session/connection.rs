// SPDX-License-Identifier: Apache-2.0
//! [`Resp`]: one connection's protocol state, and the codec over it.

use crate::session::client::Client;
use crate::session::command::Command;
use crate::session::replies::Replies;
use crate::session::subscriptions::Subscriptions;
use crate::session::transaction::Transaction;
use crate::session::user::User;
use crate::session::waiting::{Held, Waiting};
use crate::session::watching::Watching;
use crate::table::Flags;
use crate::wire::parse::{self, Request};
use crate::wire::reply::Version;
use protocol::{ErrorReply, Malformed, Parsed, Protocol};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The least that `proto-max-bulk-len` can be.
pub(crate) const BULK_MAX_LEAST: usize = 1 << 20;

/// A connection that speaks RESP: what its requests have set up.
///
/// What others know of it, such as its subscriptions, its watches and its place in a queue of blocked
/// clients, the service takes back when it hears that the connection has ended.
#[derive(Debug)]
pub struct Resp {
    /// Who the client is.
    pub(crate) user: User,
    /// `proto-max-bulk-len`, for all connections.
    bulk_max: Arc<AtomicUsize>,
    /// The version of the protocol that replies are written in.
    pub(crate) version: Version,
    /// The selected database.
    pub(crate) db: usize,
    /// Which replies are sent.
    pub(crate) replies: Replies,
    /// This connection's entry in the list of clients; made by its first request.
    pub(crate) client: Option<Arc<Client>>,
    /// Between MULTI and EXEC.
    pub(crate) transaction: Option<Box<Transaction>>,
    /// The keys it watches.
    pub(crate) watching: Watching,
    /// The channels and patterns it listens to.
    pub(crate) subscriptions: Option<Box<Subscriptions>>,
    /// What it waits for, after a blocking command.
    pub(crate) waiting: Option<Waiting>,
    /// Its place in the queue of those whose command waits for the end of a pause.
    pub(crate) held: Option<Held>,
    /// It sees all commands (MONITOR).
    pub(crate) is_monitor: bool,
    /// Its reads leave no trace (CLIENT NO-TOUCH).
    pub(crate) no_touch: bool,
    /// What its present command has written are pushes, and sent whichever replies are.
    pub(crate) has_pushed: bool,
}

impl Resp {
    /// The state of a new connection, whose arguments have up to `bulk_max` bytes.
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
            is_monitor: false,
            no_touch: false,
            has_pushed: false,
        }
    }

    /// Parses what was refused, maybe for an argument that is large: once more, with the limit that is
    /// in force.
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

    /// The same connection, as if it had chosen the protocol's version with `HELLO` already.
    #[must_use]
    pub fn speaking(self, version: Version) -> Self {
        Resp { version, ..self }
    }

    /// Whether its commands need a second look before they run.
    #[inline]
    pub(crate) fn is_unusual(&self) -> bool {
        self.transaction.is_some() || self.is_listener()
    }

    /// Shows others whether it waits for something.
    pub(crate) fn note_blocked(&self, on: bool) {
        if let Some(client) = &self.client {
            client.set(Client::BLOCKED, on);
        }
    }

    /// Whether others send it messages.
    #[inline]
    pub(crate) fn is_listener(&self) -> bool {
        self.subscriptions.is_some() || self.is_monitor
    }

    /// Whether it listens to any channel or pattern.
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
        // The least limit of arguments that may be configured; for a larger one `bulk_max` is looked up.
        let framing = self.user.framing(BULK_MAX_LEAST);
        let parsed = match parse::parse(&framing, cursor, input) {
            Ok(parsed) => parsed,
            Err(refused) => self.parse_large(cursor, input, refused)?,
        };
        // In one place, where it is made a part of this function.
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

    fn may_idle(&self) -> bool {
        self.is_listener()
    }

    /// In RESP2 a message looks like a reply.
    fn takes_messages(&self) -> bool {
        self.version == Version::Resp3 || self.is_listener()
    }

    fn too_large(&self) -> ErrorReply {
        parse::REQUEST_TOO_LARGE
    }
}
