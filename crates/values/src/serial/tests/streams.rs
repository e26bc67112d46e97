// SPDX-License-Identifier: Apache-2.0
//! Streams, written and read.

use super::*;
use crate::stream::Deleted;
use crate::{Deliveries, NewStream, StreamId, StreamMut, StreamRef};

type Item = (StreamId, Vec<(Vec<u8>, Vec<u8>)>);
type Consumer = (Vec<u8>, u64, Option<u64>);

/// All that a client can see of a group: its pending items with their consumers.
#[derive(Debug, PartialEq)]
struct Group {
    name: Vec<u8>,
    last: StreamId,
    read: Option<u64>,
    pending: Vec<(StreamId, Vec<u8>, u64, u64)>,
    consumers: Vec<Consumer>,
}

/// What decides where a piece ends: its ids, items, those that were deleted, and bytes as a listpack.
type Piece = (StreamId, StreamId, u16, u16, usize);

/// All that a client can see of a stream.
#[derive(Debug, PartialEq)]
struct Content {
    items: Vec<Item>,
    last: StreamId,
    deleted: StreamId,
    added: u64,
    groups: Vec<Group>,
    pieces: Vec<Piece>,
}

fn content(stream: StreamRef<'_>) -> Content {
    stream.check_integrity();
    let items = stream.range(StreamId::MIN, StreamId::MAX).map(|item| {
        let pairs = item.pairs().map(|(field, value)| (field.to_vec(), value.to_vec()));
        (item.id, pairs.collect())
    });
    let groups = stream.groups().map(|group| Group {
        name: group.name().into(),
        last: group.last_id(),
        read: group.read(),
        pending: group
            .pending_items(StreamId::MIN..=StreamId::MAX)
            .map(|item| {
                let name = item.consumer.map_or(&b""[..], |consumer| consumer.name());
                (item.id, name.into(), item.time_ms, item.deliveries)
            })
            .collect(),
        consumers: group
            .consumers()
            .map(|consumer| (consumer.name().into(), consumer.seen_ms(), consumer.active_ms()))
            .collect(),
    });
    let pieces = stream
        .pieces()
        .map(|node| (node.first, node.last, node.live, node.deleted(), node.listpack_len()));
    Content {
        items: items.collect(),
        last: stream.last_id(),
        deleted: stream.max_deleted_id(),
        added: stream.added(),
        groups: groups.collect(),
        pieces: pieces.collect(),
    }
}

/// A stream of so many items of all kinds.
fn made(count: u64, edit: impl FnOnce(&mut StreamMut<'_>)) -> Entry {
    let limits = Limits::default();
    let mut made = NewStream::new(b"k");
    let mut stream = made.edit(&limits);
    for number in 0..count {
        let id = StreamId::new(5 + number / 3 * 1_000, number % 3 * (u64::MAX / 3));
        let text = "x".repeat((number * number) as usize % 5_000);
        let (value, number) = ((number as i64 * -77_777_777).to_string(), number.to_string());
        let usual = [[&b"text"[..], text.as_bytes()], [b"value", value.as_bytes()]];
        let other = [[number.as_bytes(), &b""[..]]];
        match number.ends_with('7') {
            true => stream.append(id, other.into_iter()),
            false => stream.append(id, usual.into_iter()),
        }
    }
    edit(&mut stream);
    made.into_entry()
}

#[track_caller]
fn comes_back(entry: &Entry) -> Entry {
    let (value, version) = written(entry);
    let read = read_value(&value, version).expect("it was written").expect("it is there");
    assert_eq!(content(read.stream().unwrap()), content(entry.stream().unwrap()));
    for len in (0..value.len()).step_by(value.len() / 200 + 1) {
        assert!(read_value(&value[..len], version).is_err(), "{len} of {} bytes", value.len());
    }
    read
}

#[test]
fn streams_come_back() {
    for count in [0, 1, 2, 30, 300] {
        comes_back(&made(count, |_| {}));
        let entry = made(count, |stream| {
            let ids: Vec<_> = stream.read().range(StreamId::MIN, StreamId::MAX).collect();
            let ids: Vec<_> = ids.iter().map(|item| item.id).step_by(3).collect();
            ids.into_iter().for_each(|id| assert!(stream.remove(id)));
            stream.set_last_id(StreamId::new(u64::MAX, 1));
            stream.set_added(u64::MAX / 2);
        });
        comes_back(&entry);
    }
}

#[test]
fn what_deleted_items_took_comes_back() {
    let limits = Limits::default();
    for (values, len) in [(1, 0), (1, 1), (1, 3), (2, 0), (2, 1), (3, 0), (1, 62), (1, 900)] {
        for deleted in [&[1][..], &[1, 2], &[2, 3], &[4], &[3, 4], &[1, 2, 3]] {
            let mut made = NewStream::new(b"k");
            let mut stream = made.edit(&limits);
            let text = "v".repeat(len);
            for number in 1..=4 {
                let pair = [&b"f"[..], text.as_bytes()];
                stream.append(StreamId::new(number * 200, number), vec![pair; values].into_iter());
            }
            for number in deleted {
                assert!(stream.remove(StreamId::new(number * 200, *number)));
            }
            comes_back(&made.into_entry());
        }
    }
}

#[test]
fn what_a_deleted_item_took_is_written_up_to_where_its_piece_is_full() {
    let limits = Limits { stream_node_bytes: 0, stream_node_entries: 0, ..Limits::default() };
    let pair = [[&b"f"[..], b"v"]];
    let mut made = NewStream::new(b"k");
    let mut stream = made.edit(&limits);
    stream.begin_piece(StreamId::new(1, 0), [&b"f"[..]].into_iter());
    stream.append(StreamId::new(1, 0), pair.into_iter());
    stream.end_piece(Deleted { count: 1, size: 8 << 20, last: StreamId::MIN });
    let (value, version) = written(&made.into_entry());
    let bounds = Bounds { limits: &limits, now_ms: NOW_MS, bytes_max: 70_000 };
    let mut read = super::read(b"k", &value, version, bounds).unwrap().unwrap();
    let mut stream = read.stream_mut(&limits).unwrap();
    stream.append(StreamId::new(2, 0), pair.into_iter());
    assert_eq!(stream.read().nodes(), 2, "it takes no more");
    comes_back(&read);
}

#[test]
fn a_piece_that_has_lost_its_last_items_stays_whole() {
    let limits = Limits::default();
    let mut made = NewStream::new(b"k");
    let mut stream = made.edit(&limits);
    let text = "v".repeat(1_000);
    for number in 1..=4 {
        stream.append(StreamId::new(number, 0), [[&b"f"[..], text.as_bytes()]].into_iter());
    }
    // The texts of this one, of which there are none, still fit; what is around them is beyond the limit.
    stream.append(StreamId::new(5, 0), vec![[&b""[..], b""]; 40].into_iter());
    assert!([3, 5].into_iter().all(|ms| stream.remove(StreamId::new(ms, 0))));
    assert_eq!(stream.read().nodes(), 1);
    comes_back(&made.into_entry());
}

#[test]
fn consumer_groups_come_back() {
    let entry = made(100, |stream| {
        stream.add_group(b"empty", StreamId::new(7, 7), None);
        stream.add_group(b"", StreamId::MIN, Some(0));
        let mut group = stream.group_mut(b"").unwrap();
        for (name, count) in [(&b"alice"[..], 10), (b"bob", 5), (b"", 3), (b"idle", 0)] {
            let (consumer, _) = group.see(name, NOW_MS);
            group.deliver(consumer, count, NOW_MS + 1, false, |_| true);
            group.set_active(consumer, NOW_MS);
        }
    });
    comes_back(&entry);
    assert_eq!(written(&entry).1, FormVersion::REDIS_7_0);

    let entry = made(9, |stream| {
        stream.add_group(b"g", StreamId::MIN, Some(0));
        let mut group = stream.group_mut(b"g").unwrap();
        let (alice, _) = group.see(b"alice", NOW_MS);
        group.deliver(alice, 5, NOW_MS, false, |_| true);
        group.set_active(alice, NOW_MS - 5);
        group.add_consumer(b"never", NOW_MS);
    });
    comes_back(&entry);
    assert_eq!(written(&entry).1, FormVersion::REDIS_7_2);
}

#[test]
fn what_was_given_back_is_that_of_a_consumer_without_a_name() {
    let entry = |also_a_nameless_one: bool| {
        made(9, |stream| {
            stream.add_group(b"g", StreamId::MIN, Some(0));
            let mut group = stream.group_mut(b"g").unwrap();
            if also_a_nameless_one {
                let (nameless, _) = group.see(b"", NOW_MS);
                group.deliver(nameless, 2, NOW_MS, false, |_| true);
            }
            let (alice, _) = group.see(b"alice", NOW_MS);
            group.deliver(alice, 4, NOW_MS, false, |_| true);
            let id = group.pending_items(StreamId::MIN..=StreamId::MAX).next_back().unwrap().id;
            assert!(group.give_back(id, Deliveries::Keep, false));
        })
    };
    for nameless in [0, 2] {
        let entry = entry(nameless > 0);
        let (value, version) = written(&entry);
        let read = read_value(&value, version).unwrap().unwrap();
        let (group, before) =
            (read.stream().unwrap().group(b"g").unwrap(), entry.stream().unwrap());
        assert_eq!(group.pending(), before.group(b"g").unwrap().pending());
        assert_eq!(group.consumer(b"").unwrap().pending(), nameless + 1);
        let claimable = read.stream().unwrap().claimable_ms(group, 1_000);
        assert_eq!(claimable, Some(1_000), "it was given back long ago");
    }
}

#[test]
fn a_stream_that_contradicts_itself_is_malformed() {
    let entry = made(3, |stream| {
        stream.add_group(b"g", StreamId::MIN, Some(0));
        let mut group = stream.group_mut(b"g").unwrap();
        let (alice, _) = group.see(b"alice", NOW_MS);
        group.deliver(alice, 2, NOW_MS, false, |_| true);
        group.set_active(alice, NOW_MS);
    });
    let (value, version) = written(&entry);
    for at in 0..value.len() {
        for bit in 0..8 {
            let mut wrong = value.clone();
            wrong[at] ^= 1 << bit;
            // Many changes make another stream; none may make a broken one.
            if let Ok(Some(entry)) = read_value(&wrong, version)
                && let Some(stream) = entry.stream()
            {
                stream.check_integrity();
            }
        }
    }
}

#[test]
fn how_much_groups_have_read_is_found_where_the_first_form_does_not_say_it() {
    let limits = Limits::default();
    let mut made = NewStream::new(b"k");
    let mut stream = made.edit(&limits);
    let [first, last] = [StreamId::new(5, 0), StreamId::new(6, 0)];
    for id in [first, last] {
        stream.append(id, [[&b"f"[..], b"v"]].into_iter());
    }
    stream.add_group(b"g", first, Some(1));
    stream.add_group(b"h", StreamId::MIN, Some(0));
    let (value, version) = written(&made.into_entry());
    let newer = b"\x02\x06\0\x05\0\0\0\x02\x02\x01g\x05\0\x01\0\0\x01h\0\0\0\0\0";
    let older = b"\x02\x06\0\x02\x01g\x05\0\0\0\x01h\0\0\0\0";
    let items = value[1..].strip_suffix(newer).expect("this is what the form with counters says");
    let value = [&[types::STREAM], items, older].concat();
    let read = read_value(&value, version).unwrap().unwrap();
    let read = read.stream().unwrap();
    assert_eq!(read.added(), 2);
    let counts = |name: &[u8]| read.group(name).map(|group| (group.read(), read.lag(group)));
    assert_eq!(counts(b"g"), Some((Some(1), Some(1))));
    assert_eq!(counts(b"h"), Some((Some(0), Some(2))));
}

#[test]
fn a_field_that_items_share_is_not_copied_without_end() {
    let (field, count) = ("f".repeat(30_000), 200);
    let limits = Limits { stream_node_bytes: 0, stream_node_entries: 0, ..Limits::default() };
    let mut made = NewStream::new(b"k");
    let mut stream = made.edit(&limits);
    for number in 1..=count {
        stream.append(StreamId::new(number, 0), [[field.as_bytes(), b"v"]].into_iter());
    }
    let (value, version) = written(&made.into_entry());
    assert!(value.len() < 40_000, "it is written once: {}", value.len());
    // With the usual limits each item has a node, and the field again: 6 MB.
    assert_eq!(read_value(&value, version).err(), Some(Malformed));
    let bounds = Bounds { limits: &Limits::default(), now_ms: NOW_MS, bytes_max: 16 << 20 };
    let read = read(b"key", &value, version, bounds).unwrap().unwrap();
    assert_eq!(read.stream().unwrap().len() as u64, count);
    // What is compressed counts, too.
    let bounds = Bounds { limits: &limits, now_ms: NOW_MS, bytes_max: 40_000 };
    assert!(super::read(b"key", &value, version, bounds).is_ok(), "it takes no more than it did");
}
