// SPDX-License-Identifier: Apache-2.0
//! The player with a clock and a server of the test's own.

use super::*;
use crate::dialect::{Ping, Resp, Text, Unreadable};
use crate::workload::{KeySpace, Popularity, Spread, Synthetic, Workload, value};

const MS: u64 = 1_000_000;
const ALWAYS: Window = Window { start: 0, end: u64::MAX };
const ONE_BY_ONE: Setup = Setup {
    pace: Pace::Closed,
    depth: 1,
    window: ALWAYS,
    quota: None,
    verify: true,
    reconnect: None,
    fan_out: None,
};

fn workload(mix: &str) -> Workload {
    Workload {
        keys: KeySpace::new(1_000, Spread::fixed(8), Spread::fixed(4)).unwrap(),
        popularity: Popularity::Uniform,
        mix: mix.parse().unwrap(),
        multiget_keys: 3,
        ttl_s: Spread::fixed(0),
    }
}

fn pings(lanes: usize, pace: Pace, depth: usize, window: Window) -> Player<Ping, Synthetic> {
    let source = Synthetic::new(workload("get=1"), true);
    let setup = Setup { pace, depth, window, ..ONE_BY_ONE };
    Player::new(Ping, std::iter::repeat_n(source, lanes), setup)
}

/// Sends what is due at `now`; how many on which lane.
fn send_due(player: &mut Player<Ping, Synthetic>, now: u64) -> Vec<usize> {
    let mut sent = Vec::new();
    while let Some((lane, at)) = player.due(now) {
        let mut out = Vec::new();
        assert!(player.ask(lane, at, &mut out));
        assert_eq!(out, b"PING\r\n");
        sent.push(lane);
    }
    sent
}

/// INV-INTENDED
#[test]
fn a_stall_shows_in_every_request_that_should_have_been_sent_meanwhile() {
    // 1,000 requests per second over two connections with at most 4 under way on each. The server
    // answers at once, but for a second in the middle in which it does nothing.
    let schedule = Schedule::new(1_000.0, 0.0, Arrivals::Even, 0);
    let window = Window { start: 0, end: 3_000 * MS };
    let mut player = pings(2, Pace::Open(schedule), 4, window);
    let mut waiting = [0; 2];
    for now_ms in 0..3_100 {
        let now = now_ms * MS;
        let stalled = (1_000..2_000).contains(&now_ms);
        // When the stall is over, answers make room for requests that wait, so it takes rounds.
        loop {
            let sent = send_due(&mut player, now);
            sent.iter().for_each(|&lane| waiting[lane] += 1);
            if stalled || waiting == [0; 2] {
                break;
            }
            for (lane, waiting) in waiting.iter_mut().enumerate() {
                let replies = b"PONG\r\n".repeat(std::mem::take(waiting));
                assert_eq!(player.absorb(lane, now, &replies), Ok(replies.len()));
            }
        }
        if stalled {
            assert!(waiting.iter().sum::<usize>() <= 8, "the rest cannot even be sent");
        }
    }
    player.stop(3_100 * MS);
    assert!(player.is_over());
    let tally = player.tally();
    assert_eq!((tally.latencies.count(), tally.unanswered), (3_000, 0));
    // A third of all requests fell into the stall, and waited for 1 to 1,000 ms: each for its own.
    let slow: Vec<_> = tally.latencies.buckets().filter(|(range, _)| *range.end() > 0).collect();
    assert_eq!(slow.iter().map(|(_, count)| count).sum::<u64>(), 1_000);
    assert_eq!(tally.latencies.max(), 1_000 * MS);
    let near = |quantile: f64, expected_ms: u64| {
        let found = tally.latencies.quantile(quantile);
        let expected = expected_ms * MS;
        assert!(found.abs_diff(expected) <= expected / 64, "{quantile}: {found}");
    };
    assert_eq!(tally.latencies.quantile(0.66), 0);
    near(2.5 / 3.0, 500);
    near(0.99, 970);
    near(0.999, 997);
}

/// INV-COUNTED
#[test]
fn what_is_never_answered_is_in_the_latencies() {
    let schedule = Schedule::new(1_000.0, 0.0, Arrivals::Even, 0);
    let window = Window { start: 0, end: 1_000 * MS };
    let mut player = pings(1, Pace::Open(schedule), 10, window);
    assert_eq!(send_due(&mut player, 500 * MS).len(), 10);
    player.stop(1_000 * MS);
    assert_eq!(player.tally().unanswered, 990, "those that were never sent");
    assert!(!player.is_over());
    player.abandon(2_000 * MS);
    let tally = player.tally();
    assert_eq!((tally.unanswered, tally.latencies.count(), tally.answered), (1_000, 1_000, 0));
    assert_eq!(tally.latencies.max(), 2_000 * MS);
}

#[test]
fn a_closed_loop_sends_a_pipeline_when_the_one_before_is_answered() {
    let mut player = pings(1, Pace::Closed, 3, ALWAYS);
    let mut out = Vec::new();
    player.refill(0, 10, &mut out);
    assert_eq!(out, b"PING\r\n".repeat(3));
    assert_eq!(player.absorb(0, 30, b"PONG\r\nPONG\r\nPO"), Ok(12));
    out.clear();
    player.refill(0, 30, &mut out);
    assert_eq!(out, b"", "one is under way");
    assert_eq!(player.absorb(0, 50, b"PONG\r\n"), Ok(6));
    player.refill(0, 50, &mut out);
    assert_eq!(out.len(), 18);
    let tally = player.tally();
    let buckets: Vec<_> = tally.latencies.buckets().collect();
    assert_eq!(buckets, [(20..=20, 2), (40..=40, 1)]);
}

#[test]
fn the_warm_up_does_not_count_and_a_quota_ends() {
    let source = Synthetic::new(workload("get=1"), true);
    let window = Window { start: 100, end: u64::MAX };
    let sources = std::iter::once(source);
    let mut player = Player::new(Ping, sources, Setup { window, quota: Some(2), ..ONE_BY_ONE });
    let mut sent = 0;
    for now in [0, 50, 99, 100, 150, 200, 250] {
        let mut out = Vec::new();
        player.refill(0, now, &mut out);
        sent += out.len() / 6;
        let replies = b"PONG\r\n".repeat(out.len() / 6);
        assert_eq!(player.absorb(0, now + 1, &replies), Ok(replies.len()));
    }
    assert_eq!(sent, 5, "three before, and two that count");
    assert!(player.is_over());
    assert_eq!(player.tally().latencies.count(), 2);
}

#[test]
fn a_connection_is_worn_when_it_has_had_its_requests() {
    let source = Synthetic::new(workload("get=1"), true);
    let setup = Setup { depth: 2, reconnect: Some(3), ..ONE_BY_ONE };
    let mut player = Player::new(Ping, std::iter::once(source), setup);
    let mut worn = Vec::new();
    for now in 0..6 {
        player.refill(0, now, &mut Vec::new());
        assert!(!player.is_worn(0), "requests are under way");
        assert_eq!(player.absorb(0, now, b"PONG\r\nPONG\r\n"), Ok(12));
        worn.push(player.is_worn(0));
        if player.is_worn(0) {
            player.renew(0, now);
        }
    }
    assert_eq!(worn, [false, true, false, true, false, true]);
    assert_eq!(player.tally().reconnected, 3);
}

/// A request of a kind and what it says, and what `reply` makes of it.
fn exchange(mix: &str, reply: impl FnOnce(&str) -> Vec<u8>) -> (Result<usize, Unreadable>, Tally) {
    let source = Synthetic::new(workload(mix), false);
    let mut player = Player::new(Text, std::iter::once(source), ONE_BY_ONE);
    let mut out = Vec::new();
    player.refill(0, 0, &mut out);
    let reply = reply(&String::from_utf8_lossy(&out));
    let absorbed = player.absorb(0, 1, &reply);
    (absorbed, player.tally().clone())
}

fn text_value(key: &str, change: u8) -> Vec<u8> {
    let id = u64::from_str_radix(key.trim_start_matches('k'), 16).unwrap();
    let mut bytes = Vec::new();
    value::write(id, 4, &mut bytes);
    bytes[3] ^= change;
    let mut reply = format!("VALUE {key} 0 4\r\n").into_bytes();
    reply.extend_from_slice(&bytes);
    reply.extend_from_slice(b"\r\n");
    reply
}

#[test]
fn values_are_checked() {
    let key = |request: &str| request.trim_end().split_once(' ').unwrap().1.to_owned();
    let with = |change: u8| {
        move |request: &str| {
            let mut reply = text_value(&key(request), change);
            reply.extend_from_slice(b"END\r\n");
            reply
        }
    };
    let (_, right) = exchange("get=1", with(0));
    assert_eq!((right.finds.gets, right.finds.hits, right.wrong, right.errors), (1, 1, 0, 0));
    let (_, wrong) = exchange("get=1", with(1));
    assert_eq!((wrong.finds.gets, wrong.finds.hits, wrong.wrong, wrong.errors), (1, 1, 1, 1));
    assert!(wrong.told[0].contains("wrong value under key `kkkkk"), "{:?}", wrong.told);
    let (_, missed) = exchange("get=1", |_| b"END\r\n".to_vec());
    assert_eq!(
        (missed.finds.gets, missed.finds.hits, missed.errors, missed.answered),
        (1, 0, 0, 1)
    );
    let (_, other) = exchange("get=1", |_| b"VALUE other 0 4\r\nabcd\r\nEND\r\n".to_vec());
    assert_eq!((other.wrong, other.errors, other.answered), (1, 1, 1));
}

#[test]
fn a_server_without_a_store_is_believed() {
    let source = Synthetic::new(workload("get=1"), false);
    let setup = Setup { verify: false, ..ONE_BY_ONE };
    let mut player = Player::new(Text, std::iter::once(source), setup);
    player.refill(0, 0, &mut Vec::new());
    assert!(player.absorb(0, 1, b"VALUE any 0 2\r\nxx\r\nEND\r\n").is_ok());
    let tally = player.tally();
    assert_eq!((tally.finds.hits, tally.errors, tally.answered), (1, 0, 1));
}

#[test]
fn a_multi_get_tells_hits_from_misses() {
    let (absorbed, tally) = exchange("multiget=1", |request| {
        let keys: Vec<_> = request.trim_end().split(' ').skip(1).collect();
        let mut reply = text_value(keys[0], 0);
        reply.extend(text_value(keys[2], 0));
        reply.extend_from_slice(b"END\r\n");
        reply
    });
    assert!(absorbed.is_ok());
    assert_eq!((tally.finds.gets, tally.finds.hits, tally.wrong, tally.answered), (3, 2, 0, 1));
}

#[test]
fn refusals_are_errors_and_nonsense_ends_the_connection() {
    let (absorbed, refused) = exchange("set=1", |_| b"SERVER_ERROR out of memory\r\n".to_vec());
    assert!(absorbed.is_ok());
    assert_eq!((refused.errors, refused.set_errors, refused.answered), (1, 1, 1));
    assert_eq!(refused.told, ["SERVER_ERROR out of memory"]);
    let (absorbed, _) = exchange("set=1", |_| b"END\r\n".to_vec());
    assert_eq!(absorbed, Err(Unreadable), "no reply to a set");
    let (absorbed, _) = exchange("set=1", |_| b"STORED\r\nSTORED\r\n".to_vec());
    assert_eq!(absorbed, Err(Unreadable), "a reply too many");
}

#[test]
fn a_greeting_is_no_request() {
    let source = Synthetic::new(workload("get=1"), false);
    let sources = std::iter::once(source);
    let mut player = Player::new(Resp { three: true }, sources, ONE_BY_ONE);
    let mut out = Vec::new();
    player.greet(0, 0, &mut out);
    player.refill(0, 0, &mut out);
    assert_eq!(out, b"*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n", "and nothing before it is answered");
    assert_eq!(player.absorb(0, 1, b"%1\r\n+proto\r\n:3\r\n"), Ok(16));
    player.refill(0, 1, &mut out);
    assert!(out.ends_with(b"\r\n") && out.len() > 40);
    assert_eq!((player.tally().answered, player.tally().latencies.count()), (0, 0));
}

#[test]
fn a_lost_connection_is_an_error_and_the_others_go_on() {
    let schedule = Schedule::new(1_000.0, 0.0, Arrivals::Even, 0);
    let mut player = pings(2, Pace::Open(schedule), 10, ALWAYS);
    assert_eq!(send_due(&mut player, 3 * MS), [0, 1, 0, 1]);
    assert_eq!(player.lose(0, 4 * MS, "connection 0: closed by the server"), Loss::Asks);
    assert_eq!(player.lose(0, 4 * MS, "and again"), Loss::Known);
    let tally = player.tally();
    assert_eq!((tally.lost, tally.errors, tally.unanswered), (1, 1, 2));
    assert_eq!(send_due(&mut player, 5 * MS), [1, 1]);
    player.forsake(0);
    assert!(!player.is_over());
    player.lose(1, 6 * MS, "the same");
    assert!(!player.is_over(), "it may have another connection");
    player.forsake(1);
    assert!(player.is_over());
}

/// INV-INTENDED: a server that is gone for a while delays nothing but the replies.
#[test]
fn what_was_due_while_nobody_was_there_counts_from_then() {
    let schedule = Schedule::new(1_000.0, 0.0, Arrivals::Even, 0);
    let window = Window { start: 0, end: 1_000 * MS };
    let mut player = pings(1, Pace::Open(schedule), 10_000, window);
    assert_eq!(send_due(&mut player, 99 * MS).len(), 100);
    player.lose(0, 100 * MS, "the server is gone");
    assert!(send_due(&mut player, 500 * MS).is_empty());
    player.renew(0, 500 * MS);
    assert_eq!(send_due(&mut player, 500 * MS).len(), 401);
    let replies = b"PONG\r\n".repeat(401);
    assert_eq!(player.absorb(0, 500 * MS, &replies), Ok(replies.len()));
    let tally = player.tally();
    assert_eq!((tally.reconnected, tally.unanswered, tally.answered), (1, 100, 401));
    assert_eq!((tally.latencies.count(), tally.latencies.max()), (501, 400 * MS));
    // Nobody comes back a second time: what was due until then is unanswered.
    player.lose(0, 500 * MS, "the server is gone");
    player.stop(700 * MS);
    assert!(player.is_over());
    assert_eq!((player.tally().unanswered, player.tally().latencies.count()), (299, 700));
}

/// A user's request of three: on three connections at once, and as long as the slowest.
#[test]
fn a_fan_out_takes_as_long_as_its_slowest_part() {
    let schedule = Schedule::new(100.0, 0.0, Arrivals::Even, 0);
    let window = Window { start: 0, end: 40 * MS };
    let setup = Setup { pace: Pace::Open(schedule), depth: 1, window, ..ONE_BY_ONE };
    let source = Synthetic::new(workload("get=1"), true);
    let setup = Setup { fan_out: Some(3), ..setup };
    let mut player = Player::new(Ping, std::iter::repeat_n(source, 4), setup);
    let answer = |player: &mut Player<Ping, Synthetic>, lane, now| {
        assert_eq!(player.absorb(lane, now, b"PONG\r\n"), Ok(6));
    };
    let fans = |player: &mut Player<Ping, Synthetic>| {
        let fans = player.tally().fan_out();
        (fans.count(), fans.max())
    };
    assert_eq!(send_due(&mut player, 0), [0, 1, 2]);
    answer(&mut player, 2, MS);
    answer(&mut player, 0, 2 * MS);
    assert_eq!(fans(&mut player), (0, 0));
    answer(&mut player, 1, 5 * MS);
    assert_eq!(fans(&mut player), (1, 5 * MS));
    assert_eq!((player.tally().latencies.count(), player.tally().answered), (3, 3));
    // The next begins on the next connection. The one after finds room for one part only, and waits for it
    // with the others; no part of another comes between.
    assert_eq!(send_due(&mut player, 10 * MS), [3, 0, 1]);
    assert_eq!(send_due(&mut player, 20 * MS), [2]);
    assert_eq!(player.next_due(), Some(20 * MS));
    [3, 0, 1].iter().for_each(|lane| answer(&mut player, *lane, 21 * MS));
    assert_eq!(fans(&mut player), (2, 11 * MS));
    assert_eq!(send_due(&mut player, 21 * MS), [3, 0]);
    // INV-COUNTED: what is left at the end, in parts or as a whole, counts as well.
    player.lose(3, 30 * MS, "gone");
    player.stop(40 * MS);
    player.abandon(60 * MS);
    assert_eq!(fans(&mut player), (4, 40 * MS));
    let tally = player.tally();
    assert_eq!((tally.latencies.count(), tally.answered, tally.unanswered), (12, 6, 6));
}
