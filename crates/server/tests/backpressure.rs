// SPDX-License-Identifier: Apache-2.0
//! One client on a worker must not be able to stop or starve the others.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod lines;

use lines::{Speaker, much};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use test_support::client::Client;
use test_support::table::on_every_transport;

/// Requests of a client that does not read, with more replies than any socket holds.
const REQUESTS: usize = 400;
const REPLY: usize = 50_000;

/// Lets the worker go on, with the requests of `lively`, until it serves nobody else.
fn settle(speaker: &Speaker, lively: &mut Client) {
    let mut still = 0;
    while still < 20 {
        let before = speaker.executed();
        lively.ask(b"echo here\n", b"here\n");
        still = if speaker.executed() == before + 1 { still + 1 } else { 0 };
    }
}

#[test]
fn a_client_that_is_held_stops_nobody_but_itself() {
    on_every_transport(|row| {
        let speaker = Speaker::default();
        let process = speaker.spawn(row.builder().output_memory(0));
        let (mut deaf, mut lively) = (row.connect(&process), row.connect(&process));
        deaf.send(format!("much {REPLY}\n").repeat(REQUESTS).as_bytes());
        settle(&speaker, &mut lively);
        lively.ask(b"much 100000\n", &much(100_000));

        let before = speaker.executed();
        settle(&speaker, &mut lively);
        assert_eq!(speaker.executed(), before + 20, "nothing is executed for the one that waits");
        process.stopper().stop();
        // The drain waits for it too: all its replies are there when it reads at last.
        let waiting = thread::spawn(move || process.wait());
        let reply = much(REPLY);
        for _ in 0..REQUESTS {
            deaf.expect(&reply);
        }
        assert_eq!(deaf.rest(), b"");
        waiting.join().unwrap().unwrap();
    });
}

#[test]
fn what_is_executed_for_a_client_that_is_held_is_bounded() {
    on_every_transport(|row| {
        let speaker = Speaker::default();
        let process = speaker.spawn(row.builder().output_memory(0));
        let (mut deaf, mut lively) = (row.connect(&process), row.connect(&process));
        deaf.send(format!("much {REPLY}\n").repeat(REQUESTS).as_bytes());
        let asked = speaker.executed();
        settle(&speaker, &mut lively);
        assert!(speaker.executed() - asked < REQUESTS, "the rest waits to be read");
        drop(deaf);
        test_support::wait_until("it is removed", || process.connections() == 1);
        lively.ask(b"echo alone\n", b"alone\n");
        process.stop().unwrap();
    });
}

#[test]
fn a_client_may_write_its_whole_pipeline_before_it_reads() {
    on_every_transport(|row| {
        let speaker = Speaker::default();
        let process = speaker.spawn(row.builder());
        let (mut whole, mut lively) = (row.connect(&process), row.connect(&process));
        // More than any socket holds, in either direction.
        let padding = "x".repeat(100_000);
        let piece = format!("much {REPLY}\nmute {padding}\n");
        for _ in 0..REQUESTS {
            whole.send(piece.as_bytes());
        }
        lively.ask(b"echo here\n", b"here\n");
        let reply = much(REPLY);
        for _ in 0..REQUESTS {
            whole.expect(&reply);
        }
        whole.ask(b"echo there\n", b"there\n");
        process.stop().unwrap();
    });
}

#[test]
fn a_flood_does_not_starve_the_others() {
    // Short requests end a turn by their number, long ones by the bytes they take.
    for request in ["mute\n".to_owned(), format!("mute {}\n", "x".repeat(2_000))] {
        on_every_transport(|row| {
            let speaker = Speaker::default();
            let process = speaker.spawn(row.builder());
            let (mut greedy, mut modest) = (row.connect(&process), row.connect(&process));
            let over = Arc::new(AtomicBool::new(false));
            let flood = {
                let (over, block) = (over.clone(), request.repeat(1 + 50_000 / request.len()));
                thread::spawn(move || {
                    while !over.load(Ordering::Acquire) {
                        greedy.send(block.as_bytes());
                    }
                })
            };
            test_support::wait_until("the flood rises", || speaker.executed() > 100);
            for _ in 0..30 {
                modest.ask(b"echo my turn\n", b"my turn\n");
            }
            assert!(!flood.is_finished(), "the flood went on all the while");
            over.store(true, Ordering::Release);
            flood.join().unwrap();
            process.stop().unwrap();
        });
    }
}
