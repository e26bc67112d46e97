// SPDX-License-Identifier: Apache-2.0
//! Stories: scripts of command lines with the replies they must get, from whichever server.
//!
//! ```text
//! # A field is set and read.
//! HSET h a 1 b 2 => 2
//! HGETALL h => ["a", "1", "b", "2"] || {"a": "1", "b": "2"}
//! HGET missing a => nil
//! HGET h => -ERR wrong number of arguments for 'hget' command
//! ```
//!
//! A line that begins with `#` begins a story: all databases are empty then, and all clients new. The
//! command is sent as an inline request, so bytes are written as `"\x00\n"`. A line that begins with a
//! space goes on with the line before it.
//!
//! Replies are shown as `OK` (a simple string), `"text"`, `7`, `-ERR text`, `nil`, `nil-array` (the
//! other null of RESP2), `,1.5`, `(123` (big number), `true`, `txt:"text"`, `[1, 2]`, `{1, 2}` (set),
//! `{1: 2}`, `push [1, 2]`. Behind `||` stands the reply of RESP3, if it is another one. `?` is any
//! reply, `(waits)` none for now, `(nothing)` none at all, `(closed)` the end of the connection.
//!
//! `event hset h` is the message of an event of a key to a client that has sent `PSUBSCRIBE
//! __keyevent@0__:*`. `monitor 0 "GET" "k"` is a line of MONITOR without its time and address.
//!
//! Before a command may stand, in this order:
//!
//! * `@ours`: redis-server 7.0 is not asked. In the title of a story: for all of it.
//! * `@times 100`: the command is sent so many times. `{}` in it is the number of the time, from 0.
//! * `@sorted`: elements may come in any order, and are shown in alphabetical order. `@pairs`: so do
//!   pairs of elements.
//! * `b> `: another client sends it, whose name is `b`; it is on another machine if its name begins
//!   with `remote`. Without a command (`b> => "x"`): what that
//!   client gets without having asked, or at last.
//!
//! `{s+10}` and `{ms-5}` in a command or a reply is a unix time from now, in seconds or
//! milliseconds; `{id b}` is the number that the server knows client `b` by. `@pass 1500` by itself
//! lets so many milliseconds pass. `b> @leave` ends the connection of client `b`.
//!
//! Files: `script.rs` reads stories, `play.rs` tells them to a server (`server.rs`) and compares.
//! `remote.rs` is any server at the other end of sockets. `show.rs` shows replies.

mod play;
pub mod remote;
mod script;
mod server;
mod show;

pub use play::tell;
pub use remote::Remote;
pub use server::Server;
