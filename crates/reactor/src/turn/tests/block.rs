// SPDX-License-Identifier: Apache-2.0
//! RULE-BLOCK: requests that block until another connection resumes theirs.

use super::*;
use bytes::Bytes;
use protocol::Ticket;

/// What the service was asked to execute.
fn runs(bench: &Bench) -> String {
    let diary = bench.diary();
    let runs: Vec<&str> = diary.iter().filter_map(|line| line.strip_prefix("run ")).collect();
    runs.join(" ")
}

fn ticket(number: usize) -> Ticket {
    (0..number).fold(Ticket::default(), |ticket, _| ticket.next())
}

#[test]
fn rule_block_what_is_behind_it_waits_until_it_is_resumed() {
    let mut bench = Bench::new(Limits::default());
    bench.arrive(b"a\nblock\nb\n?\n");
    assert_eq!(bench.turn(), Turn::Blocked);
    assert_eq!(bench.turn(), Turn::Blocked, "however often it is called");
    bench.arrive(b"c\n");
    assert_eq!(bench.turn(), Turn::Blocked, "and whatever arrives");
    assert_eq!((bench.replies(), runs(&bench)), ("a ".into(), "a block".into()));

    assert!(bench.pipeline.resume(ticket(0)));
    assert_eq!(bench.turn(), Turn::Refuse);
    assert_eq!((bench.replies(), runs(&bench)), ("b lost ".into(), "b".into()));
}

#[test]
fn rule_block_a_deferred_request_is_executed_again() {
    let mut bench = Bench::new(Limits::default());
    bench.arrive(b"a\ndefer\nb\n");
    bench.scribe.patience = 2;
    for number in 0..2 {
        assert_eq!(bench.turn(), Turn::Blocked);
        assert_eq!(bench.scribe.tickets.take(), [ticket(number)]);
        assert!(bench.pipeline.resume(ticket(number)));
    }
    assert_eq!(bench.turn(), Turn::NeedInput { at_least: 1 });
    assert_eq!(
        (bench.replies(), runs(&bench)),
        ("a defer b ".into(), "a defer defer defer b".into())
    );
}

#[test]
fn rule_block_a_ticket_resumes_its_own_block_and_no_other() {
    let mut bench = Bench::new(Limits::default());
    assert!(!bench.pipeline.resume(ticket(0)), "it is not blocked yet");
    bench.arrive(b"block\nblock\na\n");
    for number in 0..2 {
        assert_eq!(bench.turn(), Turn::Blocked);
        assert_eq!(bench.scribe.tickets.take(), [ticket(number)], "what the request was told");
        for other in (0..5).filter(|&other| other != number) {
            assert!(!bench.pipeline.resume(ticket(other)), "{other} is not {number}");
        }
        assert_eq!(bench.turn(), Turn::Blocked);
        assert!(bench.pipeline.resume(ticket(number)));
        assert!(!bench.pipeline.resume(ticket(number)), "and once only");
    }
    assert_eq!(bench.turn(), Turn::NeedInput { at_least: 1 });
    assert_eq!(bench.replies(), "a ");
}

#[test]
fn rule_block_output_does_not_depend_on_chunks() {
    let input = b"a\nblock\nbig:3\n123defer\nx\nblock\nb\nquit\nnever\n";
    for size in 1..=input.len() {
        let mut bench = Bench::new(Limits { requests_per_turn: 2, ..Limits::default() });
        bench.scribe.patience = 1;
        let (mut closed, mut blocks) = (false, 0);
        for chunk in input.chunks(size) {
            bench.arrive(chunk);
            while !closed {
                match bench.turn() {
                    Turn::Yield => {}
                    Turn::Close => closed = true,
                    Turn::Blocked => {
                        assert!(bench.pipeline.resume(ticket(blocks)));
                        blocks += 1;
                    }
                    Turn::NeedInput { .. } => break,
                    Turn::Refuse | Turn::TooLarge => unreachable!("all of the input can be parsed"),
                    Turn::Backpressure => unreachable!("replies stay below the mark"),
                }
            }
        }
        let expected = (true, 3, "a big:3 defer error b quit ".into());
        assert_eq!((closed, blocks, bench.replies()), expected, "chunks of {size}");
    }
}

#[test]
fn rule_block_nothing_is_looked_ahead_at_meanwhile() {
    let mut bench = Bench::new(Limits::default());
    bench.arrive(b"block\na\n");
    bench.turn();
    assert_eq!(first_request(&bench.pipeline, &bench.recv, &bench.limits), None);
}

#[test]
fn rule_fair_who_sends_much_to_others_yields() {
    let mut bench = Bench::new(Limits::default());
    let to = ConnectionId::new(0, 2);
    for _ in 0..ERRANDS {
        bench.outbox.push(to, Bytes::new());
    }
    bench.arrive(b"a\n");
    assert_eq!(bench.turn(), Turn::Yield);
    assert_eq!(bench.replies(), "");
    bench.outbox.drain().for_each(drop);
    assert_eq!(bench.turn(), Turn::NeedInput { at_least: 1 });
    assert_eq!(bench.replies(), "a ");
}
