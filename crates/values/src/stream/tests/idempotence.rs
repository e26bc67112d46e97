// SPDX-License-Identifier: Apache-2.0
//! Messages that come again.

use super::super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A producer sends a message, which may be one that it has sent before; time passes.
type Sent = (u8, u8, u64);

/// Sends a message; its item.
fn send(stream: &mut StreamMut<'_>, producer: &[u8], message: &[u8], now_ms: u64) -> StreamId {
    if let Some(id) = stream.find_again(producer, message, now_ms) {
        return id;
    }
    let last = stream.read().last_id();
    let id = last.next().unwrap();
    stream.append(id, [[&b"f"[..], message]].into_iter());
    stream.remember(producer, message, id, now_ms);
    id
}

#[test]
fn producers_that_do_not_come_back_are_forgotten() {
    let (mut entry, limits) = (Entry::new_stream(b"s"), Limits::default());
    let before = entry.heap_bytes();
    let mut stream = entry.stream_mut(&limits).unwrap();
    for number in 0..10_000_u64 {
        // Each sends one message, one a second; those of 100 seconds are known.
        send(&mut stream, &number.to_le_bytes(), b"message", number * 1000);
        let producers = stream.read().idempotence().unwrap().producers();
        assert!(producers <= 250, "{producers}");
        stream.trim(&Trim {
            to: TrimTo::Length(0),
            by_nodes: false,
            limit: None,
            references: References::Keep,
        });
    }
    stream.read().check_integrity();
    assert!(entry.heap_bytes() < before + 100_000, "{}", entry.heap_bytes());
}

#[test]
fn other_limits_forget_all_messages_and_the_same_none() {
    let (mut entry, limits) = (Entry::new_stream(b"s"), Limits::default());
    let mut stream = entry.stream_mut(&limits).unwrap();
    let id = send(&mut stream, b"p", b"m", 0);
    stream.set_idempotence(Some(100), None);
    assert_eq!(send(&mut stream, b"p", b"m", 0), id);
    stream.set_idempotence(None, Some(7));
    assert_ne!(send(&mut stream, b"p", b"m", 0), id);
    let known = stream.read().idempotence().unwrap();
    assert_eq!(known.limits(), IdempotenceLimits { seconds: 100, messages: 7 });
    assert_eq!((known.added(), known.duplicates(), known.messages()), (2, 1, 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_message_is_known_for_its_time_and_among_the_newest(
        sent in proptest::collection::vec((0..4_u8, 0..30_u8, 0..400_u64), 0..400),
        seconds in 1..4_u32,
        messages in 1..20_u32,
    ) {
        let (mut entry, limits) = (Entry::new_stream(b"s"), Limits::default());
        let mut model: BTreeMap<u8, Vec<(u8, StreamId, u64)>> = BTreeMap::new();
        let mut now_ms = 1_000_000;
        entry.stream_mut(&limits).unwrap().set_idempotence(Some(seconds), Some(messages));
        let mut apply = |(producer, message, pause): Sent| {
            now_ms += pause;
            let mut stream = entry.stream_mut(&limits).unwrap();
            let id = send(&mut stream, &[producer], &[message], now_ms);
            let known = model.entry(producer).or_default();
            known.retain(|(.., at)| *at + u64::from(seconds) * 1000 >= now_ms);
            match known.iter().find(|(other, ..)| *other == message) {
                Some((_, expected, _)) => assert_eq!(id, *expected),
                None => {
                    assert_eq!(id, stream.read().last_id());
                    known.push((message, id, now_ms));
                    let surplus = known.len().saturating_sub(messages as usize);
                    known.drain(..surplus);
                }
            }
            stream.read().check_integrity();
        };
        sent.into_iter().for_each(&mut apply);
        entry.copy_to(b"copy").stream().unwrap().check_integrity();
    }
}
