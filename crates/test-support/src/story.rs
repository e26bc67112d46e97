// SPDX-License-Identifier: Apache-2.0
//! Stories: scripts of commands with the replies that any server must give.
//!
//! ```text
//! # A field is set and read.
//! HSET h a 1 b 2 => 2
//! HGETALL h => ["a", "1", "b", "2"] || {"a": "1", "b": "2"}
//! HGET missing a => nil
//! HGET h => -ERR wrong number of arguments for 'hget' command
//! ```
//!
//! A line that begins with `#` begins a story, with empty databases and new clients. A
//! command is sent as an inline request, so bytes are written as `"\x00\n"`. A line that begins with a
//! space continues the line before it.
//!
//! Replies are shown as `OK` (a simple string), `"text"`, `7`, `-ERR text`, `nil`, `nil-array` (the
//! other null of RESP2), `,1.5`, `(123` (big number), `true`, `txt:"text"`, `[1, 2]`, `{1, 2}` (set),
//! `{1: 2}`, `push [1, 2]`. The reply in RESP3 follows after `||`, if it differs. `?` is any
//! reply, `(waits)` no reply yet, `(nothing)` no reply at all, `(closed)` the end of the connection.
//!
//! `event hset h` is the message of an event of a key to a client that has sent `PSUBSCRIBE
//! __keyevent@0__:*`. `monitor 0 "GET" "k"` is a line of MONITOR without its time and address.
//!
//! A command may have these prefixes, in this order:
//!
//! * `@ours`: the command is not sent to redis-server 7.0. In the title of a story: the whole story.
//! * `@times 100`: the command is sent 100 times. `{}` in it is the number of the repetition, from 0.
//! * `@sorted`: elements may come in any order, and are shown in alphabetical order. `@pairs`: the same
//!   for pairs of elements.
//! * `b> `: another client, named `b`, sends the command; it is on another machine if its name begins
//!   with `remote`. Without a command (`b> => "x"`): a message or a late reply that the client receives.
//!
//! `{s+10}` and `{ms-5}` in a command or a reply is a unix time from now, in seconds or
//! milliseconds; `{id b}` is the server's id of client `b`. The line `@pass 1500`
//! lets 1,500 milliseconds pass. `b> @leave` closes the connection of client `b`.
//!
//! Files: `script.rs` reads stories, `play.rs` plays them against a server (`server.rs`) and compares.
//! `remote.rs` is a server that is reached over sockets. `show.rs` shows replies as text.

mod play;
pub mod remote;
mod script;
mod server;
mod show;

pub use play::tell;
pub use remote::Remote;
pub use server::Server;
