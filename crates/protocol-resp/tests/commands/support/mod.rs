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
//! `ours.rs` is the service, or another one, `remote.rs` any server at the other end of sockets, `redis.rs` starts one.
//! `show.rs` shows replies. The tests of `servers/rds` tell the stories over sockets, too.

mod ours;
mod play;
mod redis;
mod remote;
mod script;
mod server;
mod show;

pub(crate) use ours::{Bench, Ours, Subject};
pub(crate) use redis::Redis;
pub(crate) use remote::Remote;
pub(crate) use server::Server;

use play::tell;
use protocol_resp::Version;

/// Tells the stories to the services of one worker, and of several.
pub(crate) fn play(group: &str, text: &str) {
    play_on::<ours::Typed>(group, text);
}

/// [`play`], to services of another kind.
pub(crate) fn play_on<S: Subject>(group: &str, text: &str) {
    for version in [Version::Resp2, Version::Resp3] {
        for workers in [1, 3] {
            let mut server = Bench::<S>::with_workers(version, workers);
            tell(&mut server, &format!("{group} with {workers} workers"), text, version, true);
        }
    }
}

/// Tells those stories to redis-server that it knows.
pub(crate) fn play_redis(group: &str, text: &str) {
    for version in [Version::Resp2, Version::Resp3] {
        let Some(mut server) = Redis::start(version) else { return };
        tell(&mut *server, group, text, version, false);
    }
}

/// The two tests of a group: its stories told to the service, and to redis-server. Only the first of
/// them for a group that redis-server 7.0 knows nothing of.
macro_rules! stories {
    ($group:ident) => {
        mod $group {
            const STORIES: &str = include_str!(concat!("stories/", stringify!($group), ".txt"));

            #[test]
            fn the_service_answers_as_told() {
                crate::support::play(stringify!($group), STORIES);
            }

            #[test]
            fn redis_server_answers_as_told() {
                crate::support::play_redis(stringify!($group), STORIES);
            }
        }
    };
    ($group:ident, ours) => {
        mod $group {
            const STORIES: &str = include_str!(concat!("stories/", stringify!($group), ".txt"));

            #[test]
            fn the_service_answers_as_told() {
                crate::support::play(stringify!($group), STORIES);
            }
        }
    };
}

pub(crate) use stories;
