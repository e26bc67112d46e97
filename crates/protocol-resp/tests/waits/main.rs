// SPDX-License-Identifier: Apache-2.0
//! Clients of several workers, each a thread, wait for elements that others bring: every element
//! reaches exactly one of them, and nobody waits while there is something.
//!
//! `crowd.rs` is the workers. `actors.rs` is what clients do.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod actors;
mod crowd;

use actors::{Ledger, consumer, disturber, mover, producer, taker};
use crowd::{Actor, Crowd};
use fastrand::Rng;
use std::sync::Arc;

const WORKERS: usize = 3;

#[test]
fn every_element_is_taken_once_whatever_becomes_of_those_who_wait() {
    for seed in 0..4 {
        let mut random = Rng::with_seed(seed);
        let ledger = Arc::new(Ledger::new(2));
        let mut actors: Vec<Actor> = Vec::new();
        for from in [0, 100_000] {
            actors.push(producer(&ledger, random.fork(), from..from + 1500));
        }
        for _ in 0..6 {
            actors.push(consumer(&ledger, random.fork()));
            actors.push(mover(&ledger, random.fork()));
        }
        actors.push(disturber(&ledger, random.fork()));
        let mut end = Crowd::new(WORKERS).run(actors);

        let mut found = ledger.taken();
        // What was on its way to somebody who had left.
        found.extend(end.undelivered.iter().flat_map(actors::elements));
        for key in actors::LISTS.iter().chain(&actors::SETS) {
            found.extend(actors::all_elements(&end.ask(&format!("LRANGE {key} 0 -1"))));
            found.extend(actors::all_elements(&end.ask(&format!("ZRANGE {key} 0 -1"))));
        }
        found.sort_unstable();
        let expected: Vec<u32> = (0..1500).chain(100_000..101_500).collect();
        assert_eq!(found, expected, "seed {seed}");
        assert!(end.ask_text("INFO clients").contains("blocked_clients:0\r\n"));
        end.check_integrity();
    }
}

#[test]
fn nobody_waits_while_there_is_something() {
    for seed in 0..4 {
        let mut random = Rng::with_seed(seed);
        let ledger = Arc::new(Ledger::new(0));
        let mut actors: Vec<Actor> = Vec::new();
        // Each element goes from `s` to `t` to whoever takes it from there: two waits for each, in
        // shards of their own.
        let (rounds, lines) = (300, 4);
        for line in 0..lines {
            let sources = [format!("s{line}")];
            actors.push(actors::pusher(random.fork(), sources.to_vec(), rounds));
            actors.push(actors::carrier(random.fork(), format!("s{line}"), lines, rounds));
            actors.push(taker(&ledger, random.fork(), "BLPOP", "t", lines, rounds));
        }
        for line in 0..lines {
            actors.push(actors::adder(random.fork(), lines, rounds, line));
            actors.push(taker(&ledger, random.fork(), "BZPOPMIN", "z", lines, rounds));
        }
        let mut end = Crowd::new(WORKERS).run(actors);
        assert_eq!(ledger.taken().len(), 2 * lines * rounds);
        assert_eq!(end.ask_text("DBSIZE"), "0");
        assert!(end.undelivered.is_empty());
    }
}
