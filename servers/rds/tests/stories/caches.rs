// SPDX-License-Identifier: Apache-2.0
//! Clients that cache what they read (CLIENT TRACKING), while others write the same keys on other workers: no cache keeps
//! a value that has been overwritten once it must have been told.
//!
//! Every number is written once. When the reply to a write has come, the caches that know what was there before have
//! been told: the invalidation comes before the reply to what they ask next (INV-BEFORE of the reactor). So a cache that
//! has seen that a write was answered, and then asks for a PING, may know nothing older of that key. That holds of keys
//! that change in no other way. What a worker removes by itself, or what all are told to drop, it tells at the end of its
//! turn, and a write that another worker answers meanwhile finds nothing left to tell: [`Loss`].
//!
//! Now and then all writers stop, and what each cache knows must be what the server has, whoever removed keys: commands,
//! scripts, expiry, eviction. Only what is lost takes a clock to find: it is never told.
//!
//! redis-server is played the same, which shows that the check asks for nothing that Redis does not do. That it
//! finds a message that is lost is shown by caches that do not listen to one of some.
//!
//! * `SHOEBILL_ROUNDS`: how often the writers stop, 10 unless set.
//! * `SHOEBILL_SEED`: which commands, 1 unless set.
//! * `SHOEBILL_REDIS`: another server of Redis or Valkey than the redis-server of the system.

mod cache;
mod peer;
mod shared;
mod writer;

use self::cache::{Cache, MODES, Mode};
use self::shared::{Member, Shared, WRITERS};
use self::writer::{Loss, Writer};
use crate::process::{self, Server};
use std::path::Path;
use std::thread;

/// What each writer writes in a round.
const WRITES: usize = 60;

/// The number in an environment variable.
fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// Plays caches of these modes; returns what is wrong.
fn play(server: &Server, loss: Loss, modes: &'static [Mode], deaf: Option<usize>) -> Vec<String> {
    let (rounds, seed) = (variable("SHOEBILL_ROUNDS", 10), variable("SHOEBILL_SEED", 1) * 100);
    let shared = Shared::new(WRITERS + modes.len());
    thread::scope(|scope| {
        let shared = &shared;
        for number in 0..WRITERS {
            scope.spawn(move || {
                let _member = Member(&shared.rounds);
                let seed = seed + number as u64;
                let mut writer = Writer::new(server.address, number, shared, seed, loss);
                for _ in 0..rounds {
                    (0..WRITES).for_each(|_| writer.write());
                    shared.rounds.end_writing();
                    shared.rounds.meet();
                    shared.rounds.begin_writing();
                    shared.rounds.meet();
                }
            });
        }
        for (mode, seed) in modes.iter().zip(seed + 50..) {
            scope.spawn(move || {
                let _member = Member(&shared.rounds);
                let mut cache = Cache::new(server.address, mode, shared, seed, deaf);
                for _ in 0..rounds {
                    // Also one that hardly runs while others write knows something.
                    (0..4).for_each(|_| cache.learn());
                    while shared.rounds.is_writing() {
                        cache.act();
                    }
                    shared.rounds.meet();
                    cache.check();
                    shared.rounds.meet();
                }
                assert!(cache.compared + cache.dropped > 0, "{mode:?} had nothing to do");
            });
        }
    });
    shared.findings()
}

fn caches_are_right(server: &Server, loss: Loss) {
    let findings = play(server, loss, &MODES, None);
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

/// So little memory that values are evicted.
const LITTLE: &[&str] = &["--maxmemory", "8mb", "--maxmemory-policy", "allkeys-random"];

fn rds(workers: &str, flags: &[&str]) -> Server {
    process::rds(&[&["--io-threads", workers][..], flags].concat())
}

fn redis() -> Option<Server> {
    let path = std::env::var_os("SHOEBILL_REDIS").unwrap_or_else(|| process::REDIS.into());
    process::redis_of(Path::new(&path), &[])
}

#[test]
fn no_cache_keeps_what_was_overwritten_by_one_worker() {
    caches_are_right(&rds("1", &[]), Loss::Nothing);
}

#[test]
fn no_cache_keeps_what_was_overwritten_by_other_workers() {
    caches_are_right(&rds("4", &[]), Loss::Nothing);
}

#[test]
fn no_cache_keeps_what_was_flushed() {
    caches_are_right(&rds("1", &[]), Loss::Flush);
    caches_are_right(&rds("4", &[]), Loss::Flush);
}

#[test]
fn no_cache_keeps_what_was_evicted() {
    caches_are_right(&rds("1", LITTLE), Loss::Eviction);
    caches_are_right(&rds("4", LITTLE), Loss::Eviction);
}

#[test]
fn no_cache_keeps_what_the_table_has_no_place_for() {
    caches_are_right(&rds("3", &["--tracking-table-max-keys", "5"]), Loss::Readers);
}

#[test]
fn no_cache_of_redis_server_is_wrong() {
    let Some(server) = redis() else { return };
    caches_are_right(&server, Loss::Nothing);
    caches_are_right(&server, Loss::Flush);
    // Not evictions: Redis does not tell a client with NOLOOP what its own write has evicted.
}

/// A cache of each mode is found out that does not listen to one of 20 messages, alone among those that do.
#[test]
fn a_message_that_is_lost_is_found() {
    let server = rds("2", &[]);
    for mode in MODES.chunks(1) {
        let findings = play(&server, Loss::Nothing, mode, Some(20));
        assert!(!findings.is_empty(), "{mode:?}");
    }
}
