// SPDX-License-Identifier: Apache-2.0
//! Several clients at once, over sockets: the stories of the commands that affect other clients, played
//! against `rds` with one worker and with two, and against redis-server.
//!
//! The stories are those of `crates/protocol-resp/tests/commands`, where they are played against the service
//! without sockets; `test_support::story` documents their syntax. `caches.rs`: caches of clients.
//! `crowd.rs`: many subscribers, one of whom does not read. `ends.rs`: clients that disconnect. `functions.rs`: libraries of functions. `scripts.rs`: scripts that run for long.
//!
//! * `SHOEBILL_RDS`: another build of the server.
//! * `SHOEBILL_REQUIRE_ORACLES=1`: fail where redis-server is missing, instead of passing with a message.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod caches;
mod crowd;
mod ends;
mod functions;
mod order;
#[path = "../support/process.rs"]
mod process;
mod scripts;

use process::Server;
use protocol_resp::Version;
use std::net::{SocketAddr, TcpStream};
use test_support::story::remote::{Remote, Wire};
use test_support::story::tell;

/// A connection whose small requests leave at once.
fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Tells the stories of a group to what `start` starts.
fn tell_to(group: &str, text: &str, is_ours: bool, start: impl Fn() -> Option<Server>) {
    for version in [Version::Resp2, Version::Resp3] {
        let Some(server) = start() else { return };
        let address = server.address;
        let mut remote = Remote::new(version, move || Box::new(connect(address)) as Box<dyn Wire>);
        tell(&mut remote, group, text, version, is_ours);
    }
}

/// The tests of a group.
macro_rules! stories {
    ($($group:ident)+) => { $(
        mod $group {
            const STORIES: &str = include_str!(concat!(
                "../../../../crates/protocol-resp/tests/commands/stories/",
                stringify!($group),
                ".txt"
            ));

            #[test]
            fn one_worker_answers_as_told() {
                let start = || Some(crate::process::rds(&["--io-threads", "1"]));
                crate::tell_to(stringify!($group), STORIES, true, start);
            }

            #[test]
            fn two_workers_answer_as_told() {
                let start = || Some(crate::process::rds(&["--io-threads", "2"]));
                crate::tell_to(stringify!($group), STORIES, true, start);
            }

            #[test]
            fn redis_server_answers_as_told() {
                let start = || crate::process::redis(&[]);
                crate::tell_to(stringify!($group), STORIES, false, start);
            }
        }
    )+ };
}

stories! { connection key_events list_waits monitor pubsub sorted_set_waits tracking transactions }
