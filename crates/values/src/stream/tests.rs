// SPDX-License-Identifier: Apache-2.0
//! Streams do what a plain map does.

mod groups;
mod idempotence;
mod model;
mod nodes;

use super::*;

/// A stream of `count` items with two short fields.
pub(super) fn readings(count: u64) -> Entry {
    let (mut entry, limits) = (Entry::new_stream(b"readings"), Limits::default());
    let mut stream = entry.stream_mut(&limits).expect("it is a stream");
    for number in 0..count {
        let (value, ms) = (number.to_string(), 1_700_000_000_000 + number);
        let pairs = [[&b"sensor"[..], b"1234"], [b"value", value.as_bytes()]];
        stream.append(StreamId::new(ms, 0), pairs.into_iter());
    }
    entry
}

#[test]
fn small_items_take_little_memory() {
    let entry = readings(100_000);
    let each = entry.heap_bytes() as f64 / 100_000.0;
    assert!(each < 13.0, "{each} bytes");
    entry.stream().unwrap().check_integrity();
}

#[test]
fn a_node_ends_where_the_limits_say() {
    let nodes = |entry: &Entry| entry.stream().unwrap().nodes();
    assert_eq!(nodes(&readings(1000)), 10);
    for (stream_node_entries, stream_node_bytes, expected) in
        [(10, 0, 100), (1, 4096, 1000), (0, 100, 167), (0, 0, 1)]
    {
        let limits = Limits { stream_node_entries, stream_node_bytes, ..Limits::default() };
        let mut entry = Entry::new_stream(b"s");
        let mut stream = entry.stream_mut(&limits).unwrap();
        for ms in 1..=1000 {
            stream.append(StreamId::new(ms, 0), [[&b"f"[..], b"value"]].into_iter());
        }
        assert_eq!(nodes(&entry), expected, "{limits:?}");
    }
}

#[test]
fn a_stream_without_items_is_not_empty_and_knows_its_last_id() {
    let (mut entry, limits) = (readings(1), Limits::default());
    let last = entry.stream().unwrap().last_id();
    assert!(entry.stream_mut(&limits).unwrap().remove(last));
    assert_eq!((entry.is_empty(), entry.len()), (false, 0));
    let stream = entry.stream().unwrap();
    assert_eq!((stream.last_id(), stream.max_deleted_id(), stream.added()), (last, last, 1));
    assert_eq!((stream.first_id(), stream.nodes()), (StreamId::MIN, 0));
}

#[test]
fn a_large_stream_is_freed_in_steps() {
    let entry = readings(100_000);
    assert!(entry.is_large());
    let mut remains = crate::Remains::from(entry);
    let (mut steps, mut before) = (1, remains.heap_bytes());
    while !remains.free_some(64) {
        assert!(remains.heap_bytes() < before);
        before = remains.heap_bytes();
        steps += 1;
    }
    assert!((10..40).contains(&steps), "{steps}");
}

#[test]
fn ids_reach_the_greatest() {
    let (mut entry, limits) = (Entry::new_stream(b"s"), Limits::default());
    let mut stream = entry.stream_mut(&limits).unwrap();
    let ids = [
        StreamId::new(0, 1),
        StreamId::new(0, u64::MAX),
        StreamId::new(1, 0),
        StreamId::new(u64::MAX, 0),
        StreamId::MAX,
    ];
    ids.iter().for_each(|id| stream.append(*id, [[&b"f"[..], b"v"]].into_iter()));
    let all = stream.read().range(StreamId::MIN, StreamId::MAX).map(|item| item.id);
    assert!(all.eq(ids));
    stream.read().check_integrity();
}

#[test]
fn pending_items_take_little_memory_and_are_freed_in_steps() {
    let (mut entry, limits) = (readings(100_000), Limits::default());
    let before = entry.heap_bytes();
    let mut stream = entry.stream_mut(&limits).unwrap();
    stream.add_group(b"group", StreamId::MIN, None);
    let mut group = stream.group_mut(b"group").unwrap();
    let (consumer, _) = group.see(b"consumer", 1);
    assert_eq!(group.deliver(consumer, usize::MAX, 1, false, |_| true), 100_000);
    drop(group);
    let each = (entry.heap_bytes() - before) as f64 / 100_000.0;
    assert!(each < 52.0, "{each} bytes");
    let mut remains = crate::Remains::from(entry);
    let mut steps = 0;
    while !remains.free_some(1000) {
        steps += 1;
    }
    assert!((100..400).contains(&steps), "{steps}");
}
