// SPDX-License-Identifier: Apache-2.0
//! The memcache protocol, text with its meta commands and binary, and the service that executes it over any store.
//!
//! The codec finds requests in bytes; the service executes them and writes the replies. They are
//! separate, so a server may combine this codec with another service, and a client or load
//! generator may use the wire format alone.
//!
//! ```text
//!   bytes ──▶ Memcache::parse ──▶ Request<'_> ──▶ MemcacheService::execute ──▶ bytes
//!             parse/              ├ Op ──────────▶ service/ over storage::Store
//!                                 │                   │ Outcome, or an item
//!                                 └ Form ────────────▶ reply/: a Dialect
//!
//!   client::Encoder ──▶ bytes                      bytes ──▶ client::parse ──▶ Reply<'_>
//! ```
//!
//! A meta command is an operation of its own, [`Op::Meta`]: its flags are read again where they are needed, by the
//! service (`service/meta.rs`) and by the reply (`reply/meta.rs`).
//!
//! A request has two halves. The *operation* is what the store is asked to do; the *dialect* is how
//! the outcome is written as a reply. The service is generic over the dialect, so each operation is
//! implemented once.
//!
//! Where to look:
//!
//! * [`commands`] (`command.rs`): all commands as a table; `docs/dev/add-a-memcache-command.md` shows how to
//!   add one.
//! * [`Op`] (`op.rs`): the operations, borrowed from the input.
//! * [`Memcache`] (`parse.rs`): the codec. Most requests are parsed by `parse/text/fast.rs`.
//! * [`Request`] (`request.rs`): the result of parsing, an operation with its [`Form`].
//! * `Dialect` (`reply.rs`): a function for each outcome; [`Text`] (`reply/text.rs`) writes the replies of
//!   the classic protocol, [`Binary`] (`reply/binary.rs`) those of the binary one.
//! * [`opcodes`] (`opcode.rs`): the opcodes of the binary protocol as a table, by which `parse/binary.rs`
//!   checks frames.
//! * [`MemcacheService`] (`service.rs`): what each operation does; [`ServiceOptions`]: facts about the server
//!   that it shows to clients; [`Platform`]: what it asks of the process.
//! * `settings`, with the feature of that name: the section `[memcache]` of a configuration.
//! * [`Users`] (`users.rs`): who may log in, if clients must; until then `parse/login.rs` parses what they send.
//! * [`ClusterFile`] (`cluster.rs`): the servers of a cluster, for clients that discover them.
//! * [`client`]: the other direction, requests to bytes and bytes to replies.
//! * [`metrics`]: the counters.
//!
//! # What is spoken
//!
//! The classic text commands and the meta commands, with replies byte for byte as those of memcached 1.6.45. The files in
//! `tests/sessions` are transcripts of it. The differences, and their reasons:
//!
//! * The items of a dump come in the order of their hashes. Other requests may precede it on the same connection, and
//!   [`DUMPS_MAX`] dumps may run on each worker. `lru_crawler metadump` and `mgdump` take a prefix of keys.
//! * `watch` may follow other requests of a pipeline; see `docs/compatibility.md`.
//! * `slabs`, `lru`, `extstore` and the settings of `lru_crawler` are answered as by memcached, and have no effect.
//! * The result does not depend on how the bytes arrive. memcached closes the connection on a line
//!   of more than 2048 bytes only if the end of the line arrives late; this codec always does
//!   ([`LINE_MAX`]).
//! * A list of keys, also that of `gat`, may have any length. Beyond 64 KiB ([`LIST_CHECKED_MAX`])
//!   it is not checked as a whole but served key by key, and a key that is too long then closes the
//!   connection.
//! * A `gat` line with a bad key touches nothing; memcached touches the keys before it. When a key
//!   of a list is too long, memcached loses unsent replies to earlier requests; here every request
//!   is answered. No empty line follows that error, as it does from memcached.
//! * `incr` of a value that consists of white space is an error; memcached reads past its end.
//! * Time is kept in milliseconds. A delayed `flush_all` takes place a second before its time; memcached's, whose clock
//!   has whole seconds, up to a second earlier.
//!
//! The binary protocol, with replies byte for byte as those of memcached 1.6.45: `tests/sessions/binary.txt`.
//! The first byte of a connection tells which of the two it speaks ([`Forms`]). The differences:
//!
//! * A frame ends where its header says. What follows the key of a `Touch`, `GAT` or `Stat` is dropped;
//!   memcached takes it for the next request. Of an unknown opcode's frame memcached drops too much if it has
//!   a key or extras.
//! * A header that cannot be right is refused without waiting for what it claims.
//! * `Stat` has the topics of the text protocol's `stats`.
//!
//! # Example
//!
//! ```
//! use buffer::SendBuf;
//! use clock::Clock;
//! use protocol::{ConnectionId, Context, Directory, Execute, Outbox, Parsed, Protocol};
//! use protocol_memcache::{Cursor, Memcache, MemcacheService, ServiceOptions};
//!
//! /// Answers the requests in `input`, which must be whole.
//! fn serve(service: &mut impl Execute<Memcache>, mut input: &[u8]) -> Vec<u8> {
//!     let mut codec = Memcache::new(1 << 20);
//!     let mut cursor = Cursor::default();
//!     let (mut out, mut outbox) = (SendBuf::new(), Outbox::new());
//!     let directory = Directory::new();
//!     let now = Clock::system().now();
//!     let mut context = Context::new(now, ConnectionId::new(0, 1), &mut outbox, &directory);
//!     while let Ok(Parsed::Request { request, consumed }) = codec.parse(&mut cursor, input) {
//!         service.execute(&mut codec, request, &mut out, &mut context);
//!         input = &input[consumed..];
//!     }
//!     out.front().to_vec()
//! }
//!
//! # fn example(store: impl storage::Scan + storage::Receive) {
//! let mut service = MemcacheService::new(store, ServiceOptions::new());
//! let replies = serve(&mut service, b"set k 5 0 2\r\nhi\r\nget k\r\n");
//! assert_eq!(replies, b"STORED\r\nVALUE k 5 2\r\nhi\r\nEND\r\n");
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod client;
mod cluster;
mod command;
mod crowd;
mod exptime;
mod item_size;
pub mod metrics;
mod op;
mod opcode;
mod options;
mod parse;
mod platform;
mod reply;
mod request;
mod service;
#[cfg(feature = "settings")]
pub mod settings;
mod topics;
mod users;

pub use cluster::{ClusterError, ClusterFile};
pub use command::{Command, CommandId, commands};
pub use crowd::Crowd;
pub use exptime::Exptime;
pub use op::{
    Act, Arith, Detail, Direction, Dump, Family, Get, KEY_MAX, Listing, Login, Manage, Meta, Mode,
    Op, Piece, Set, Upload,
};
pub use opcode::{Opcode, OpcodeRow, Part, opcodes};
pub use options::{ServiceOptions, TlsFiles};
pub use parse::meta::Flags;
pub use parse::{
    Cursor, Forms, LINE_MAX, LIST_CHECKED_MAX, Memcache, WHOLE_MAX, WHOLE_MAX_CROWDED,
    WHOLE_MAX_PACKED,
};
pub use platform::Platform;
pub use reply::{Binary, Text};
pub use request::{Form, Request};
pub use service::{DUMPS_MAX, MemcacheService, PREFIXES_MAX, WATCHERS_MAX};
pub use topics::Topics;
pub use users::{ENTRY_MAX, USERS_MAX, UserFile, Users, UsersError};
