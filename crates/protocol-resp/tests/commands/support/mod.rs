// SPDX-License-Identifier: Apache-2.0
//! The servers that stories are told to: the service, or another one, without sockets (`ours.rs`), and
//! redis-server (`redis.rs`). How stories are written is said in `test_support::story`.

mod ours;
mod redis;

pub(crate) use ours::{Bench, Ours, Subject, Typed};
pub(crate) use redis::Redis;

use protocol_resp::Version;
use test_support::story::tell;

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

/// Tells those stories to Valkey that it knows, where the environment names it.
pub(crate) fn play_valkey(group: &str, text: &str) {
    for version in [Version::Resp2, Version::Resp3] {
        let Some(mut server) = Redis::start_valkey(version) else { return };
        tell(&mut *server, group, text, version, false);
    }
}

/// The two tests of a group: its stories told to the service, and to redis-server. Only the first of
/// them for a group that redis-server 7.0 knows nothing of, or Valkey in its place.
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
    ($group:ident, valkey) => {
        mod $group {
            const STORIES: &str = include_str!(concat!("stories/", stringify!($group), ".txt"));

            #[test]
            fn the_service_answers_as_told() {
                crate::support::play(stringify!($group), STORIES);
            }

            #[test]
            fn valkey_answers_as_told() {
                crate::support::play_valkey(stringify!($group), STORIES);
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
