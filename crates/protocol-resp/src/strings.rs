// SPDX-License-Identifier: Apache-2.0
//! RESP's string commands over any [`storage::Store`]: for a server whose items memcache clients
//! use too.
//!
//! [`service`](crate::service) is Redis with all its types, over a keyspace of its own. This service supports
//! what every store can do: values that are bytes, under keys, with an expiry. It shares the codec, the
//! command table and the errors with that service. [`CATALOGUE`] lists its commands.
//!
//! ```text
//!  Connection::parse ──▶ Command ──▶ dispatch ──▶ strings::get(call) ──▶ access ──▶ storage::Store
//!                                    by index     one function, one command
//! ```
//!
//! Where to look:
//!
//! * [`RespStrings`] (here): the service. [`Commands`] (`commands.rs`): the same without the store,
//!   for a service that serves several protocols from one handle.
//! * [`Connection`] (`connection.rs`): a connection's state and codec. [`StringsOptions`]
//!   (`options.rs`): facts about the server that the service shows.
//! * `dispatch.rs`: the supported commands. `store_call.rs`: the arguments of a command function.
//! * Commands that both services have are in `commands/`: those of strings and single keys, which are
//!   written over what `access.rs` implements for a store, and those of connections, COMMAND and TIME.
//! * What only looks the same is here: `keys.rs`, `walk.rs`: all keys, of which a store tells less than a
//!   keyspace and in steps of another kind. `config.rs`, `info.rs`: CONFIG GET and INFO.
//! * `log.rs`: the command log. [`metrics`]: counters.
//!
//! # One item, two protocols
//!
//! An item written by memcache is a string here, and the other way round:
//!
//! * The value is the same bytes. memcache's `incr` reads what INCR writes. Trailing spaces, with which
//!   memcache pads numbers, are ignored here.
//! * memcache's flags are kept when an item is changed (INCR, APPEND, SETRANGE, EXPIRE), and become
//!   0 when it is replaced (SET, GETSET, MSET).
//! * Every change of the value makes a new version, memcache's CAS number; a change of the expiry
//!   does not, as with memcache's `touch`.
//! * An expiry is exact to a millisecond, whichever protocol sets it.
//!
//! # Atomicity
//!
//! A store's operations have one key each, so commands with one key are atomic. MGET, MSET, DEL and EXISTS
//! with several keys treat them one after the other. MSETNX with several keys is refused, because it could
//! not be atomic.
//!
//! # Example
//!
//! ```
//! use buffer::SendBuf;
//! use clock::Clock;
//! use protocol::{ConnectionId, Context, Directory, Execute, Outbox, Parsed, Protocol};
//! use protocol_resp::strings::{Connection, Cursor, RespStrings, StringsOptions};
//!
//! /// Answers the requests in `input`, which must be whole.
//! fn serve(service: &mut impl Execute<Connection>, mut input: &[u8]) -> Vec<u8> {
//!     let mut connection = Connection::new(1 << 20);
//!     let mut cursor = Cursor::default();
//!     let (mut out, mut outbox) = (SendBuf::new(), Outbox::new());
//!     let directory = Directory::new();
//!     let now = Clock::system().now();
//!     let mut context = Context::new(now, ConnectionId::new(0, 1), &mut outbox, &directory);
//!     while let Ok(Parsed::Request { request, consumed }) = connection.parse(&mut cursor, input) {
//!         service.execute(&mut connection, request, &mut out, &mut context);
//!         input = &input[consumed..];
//!     }
//!     out.front().to_vec()
//! }
//!
//! # fn example(store: impl storage::Scan + 'static) {
//! let mut service = RespStrings::new(store, StringsOptions::new());
//! let replies = serve(&mut service, b"SET k 41\r\nINCR k\r\nGET k\r\n");
//! assert_eq!(replies, b"+OK\r\n:42\r\n$2\r\n42\r\n");
//! # }
//! ```

// Clients send numbers, and arithmetic on them must not wrap. This lint covers all modules below this one: an
// operation that could overflow is allowed only with a reason why it cannot.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod access;
mod commands;
mod config;
mod connection;
mod dispatch;
mod info;
mod keys;
mod log;
pub mod metrics;
mod options;
mod store_call;
mod walk;

pub use commands::Commands;
pub use connection::{Connection, Cursor};
pub use dispatch::CATALOGUE;
pub use options::StringsOptions;

use crate::session::command::Command;
use buffer::SendBuf;
use clock::Now;
use protocol::{Buffers, Context, Control, Ending, Execute, ExecuteOn, Malformed, Outbox, Stage};
use std::time::Duration;
use storage::{Scan, Store};

/// Executes string commands over a store. Each worker has its own.
///
/// Clones share what belongs to the server as a whole, and their store handles share the store.
#[derive(Clone, Debug)]
pub struct RespStrings<S> {
    store: S,
    commands: Commands,
}

impl<S: Store> RespStrings<S> {
    /// A service over `store`.
    #[must_use]
    pub fn new(store: S, options: StringsOptions) -> Self {
        RespStrings { store, commands: Commands::new(options) }
    }

    /// The store handle.
    pub fn store(&self) -> &S {
        &self.store
    }
}

impl<S: Scan + 'static> Execute<Connection> for RespStrings<S> {
    #[inline]
    fn prefetch(&self, connection: &Connection, command: &Command<'_>, stage: Stage) {
        self.commands.prefetch(&self.store, connection, command, stage);
    }

    #[inline]
    fn goes_on_after(&self, stage: Stage) -> bool {
        self.store.goes_on_after(stage)
    }

    #[inline]
    fn execute(
        &mut self,
        connection: &mut Connection,
        command: Command<'_>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        self.commands.execute(&mut self.store, connection, command, out, context)
    }

    fn rejected(&mut self, connection: &Connection, malformed: &Malformed) {
        ExecuteOn::<_, S>::rejected(&mut self.commands, connection, malformed);
    }

    fn closed(&mut self, connection: &mut Connection, ending: Ending, context: &mut Context<'_>) {
        ExecuteOn::<_, S>::closed(&mut self.commands, connection, ending, context);
    }

    #[inline]
    fn maintain(&mut self, now: Now, budget: usize, _: &mut Outbox) -> bool {
        self.store.expire(now.ticks, budget) == budget
    }

    fn may_nap(&self, now: Now, nap: Duration) -> bool {
        self.store.may_nap(now.ticks, nap)
    }

    #[inline]
    fn rest(&mut self) {
        self.store.rest();
    }

    #[inline]
    fn buffers(&mut self, buffers: Buffers) {
        self.store.reserve(buffers.bytes);
    }
}
