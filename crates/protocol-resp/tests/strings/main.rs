// SPDX-License-Identifier: Apache-2.0
//! What the string commands answer over a store of memcache's items: stories told to
//! [`RespStrings`](protocol_resp::strings::RespStrings), and to redis-server. How stories are written is
//! said in `test_support::story`.

mod ours;
#[path = "../commands/support/mod.rs"]
#[allow(dead_code, unused_imports, unused_macros, reason = "a module of several test binaries")]
mod support;

/// The two tests of a group: its stories told to the service, and to redis-server.
macro_rules! stories {
    ($($group:ident),*) => { $(
        mod $group {
            const STORIES: &str = include_str!(concat!("stories/", stringify!($group), ".txt"));

            #[test]
            fn the_service_answers_as_told() {
                crate::support::play_on::<crate::ours::Strings>(stringify!($group), STORIES);
            }

            #[test]
            fn redis_server_answers_as_told() {
                crate::support::play_redis(stringify!($group), STORIES);
            }
        }
    )* };
}

stories!(values, keys, connections, server);

/// The strings of Redis 8.4 and later, and of Valkey 8.1 and later.
#[test]
fn newer_commands_answer_as_those_over_the_typed_keyspace() {
    const STORIES: &str = include_str!("../commands/stories/newer_strings.txt");
    support::play_on::<ours::Strings>("newer_strings", STORIES);
}
