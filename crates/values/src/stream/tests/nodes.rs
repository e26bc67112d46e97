// SPDX-License-Identifier: Apache-2.0
//! Nodes begin where those of Redis do. The numbers are what redis-server and valkey-server answer.

use super::super::*;

/// The id of an item, and its fields with their values.
type Item = (StreamId, Vec<(String, String)>);

/// A kind of streams: the item with each number from 1 on.
type Kind = fn(u64) -> Item;

/// Nodes, and how many items a trim to ten of them removes with their nodes.
type Cut = (usize, usize);

fn id(ms: u64) -> StreamId {
    StreamId::new(ms, 1)
}

fn one(field: &str, value: impl Into<String>) -> Vec<(String, String)> {
    vec![(field.to_string(), value.into())]
}

/// One field with a text of so many bytes.
fn long<const LEN: usize>(number: u64) -> Item {
    (id(number), one("f", "y".repeat(LEN)))
}

fn integers(number: u64) -> Item {
    let integer = number as i64;
    let values = [
        ("a", integer.to_string()),
        ("b", (integer * 1_000).to_string()),
        ("c", (integer * -1_000_000).to_string()),
        ("d", (integer * 10_i64.pow(10)).to_string()),
        ("e", (integer * 10_i64.pow(16)).to_string()),
        ("g", format!("0{number}")),
    ];
    (id(number), values.map(|(field, value)| (field.to_string(), value)).to_vec())
}

fn falling_sequence(number: u64) -> Item {
    let seq = if number.is_multiple_of(2) { 5 } else { u64::MAX - number * 10_u64.pow(15) };
    (StreamId::new(number * 100, seq), one("f", "y".repeat(30)))
}

/// Kinds of streams, and what 300 items make of the limits of 100 items and 4,096 bytes; of 4,096 bytes alone; of 200 and
/// 20,000 bytes; and of 100 and 100 bytes.
const KINDS: [(&str, Kind, [Cut; 4]); 20] = [
    ("a word", |n| (id(n), one("f", "value")), [(3, 200), (2, 263), (2, 200), (50, 288)]),
    ("61 bytes", long::<61>, [(6, 285), (6, 285), (2, 200), (300, 290)]),
    ("62 bytes", long::<62>, [(6, 280), (6, 280), (2, 200), (300, 290)]),
    ("63 bytes", long::<63>, [(6, 275), (6, 275), (2, 200), (300, 290)]),
    ("64 bytes", long::<64>, [(6, 270), (6, 270), (2, 200), (300, 290)]),
    ("100 bytes", long::<100>, [(9, 288), (9, 288), (2, 179), (300, 290)]),
    ("125 bytes", long::<125>, [(10, 270), (10, 270), (3, 146), (300, 290)]),
    ("126 bytes", long::<126>, [(11, 290), (11, 290), (3, 288), (300, 290)]),
    ("1,000 bytes", long::<1000>, [(75, 288), (75, 288), (16, 285), (300, 290)]),
    ("4,096 bytes", long::<4096>, [(300, 290), (300, 290), (75, 288), (300, 290)]),
    ("20,000 bytes", long::<20000>, [(300, 290), (300, 290), (300, 290), (300, 290)]),
    ("integers", integers, [(4, 258), (4, 258), (2, 200), (300, 290)]),
    (
        "40 fields",
        |n| (id(n), (0..40).map(|at| (format!("field{at}"), at.to_string())).collect()),
        [(8, 273), (8, 273), (2, 200), (300, 290)],
    ),
    (
        "130 fields that are others each time",
        |n| (id(n), (0..130).map(|at| ((at + n).to_string(), String::new())).collect()),
        [(48, 289), (48, 289), (10, 283), (300, 290)],
    ),
    (
        "three fields in turn",
        |n| (id(n), one(&format!("field{}", n % 3), "value")),
        [(3, 200), (2, 185), (2, 200), (75, 288)],
    ),
    (
        "one to four fields",
        |n| (id(n), vec![one("f", "value"); 1 + n as usize % 4].concat()),
        [(3, 200), (3, 245), (2, 200), (113, 290)],
    ),
    (
        "each its own field",
        |n| (id(n), one(&format!("field{n}"), "v".repeat(30))),
        [(4, 237), (4, 237), (2, 200), (296, 290)],
    ),
    (
        "long pauses",
        |n| (id(n * 10_u64.pow(12)), one("f", "y".repeat(30))),
        [(4, 255), (4, 255), (2, 200), (150, 290)],
    ),
    (
        "large sequence numbers",
        |n| (StreamId::new(1, n * 10_u64.pow(16)), one("f", "y".repeat(30))),
        [(4, 255), (4, 255), (2, 200), (150, 290)],
    ),
    ("falling sequence numbers", falling_sequence, [(4, 246), (4, 246), (2, 200), (150, 290)]),
];

const LIMITS: [(usize, usize); 4] = [(100, 4096), (0, 4096), (200, 20_000), (100, 100)];

fn limits((stream_node_entries, stream_node_bytes): (usize, usize)) -> Limits {
    Limits { stream_node_entries, stream_node_bytes, ..Limits::default() }
}

fn append(stream: &mut StreamMut<'_>, (id, pairs): &Item) {
    stream.append(*id, pairs.iter().map(|(field, value)| [field.as_bytes(), value.as_bytes()]));
}

/// How many items of each node are live.
fn nodes(entry: &Entry) -> Vec<u16> {
    let stream = entry.stream().unwrap();
    stream.check_integrity();
    stream.pieces().map(|node| node.live).collect()
}

fn trim_to_ten() -> Trim {
    let (to, references) = (TrimTo::Length(10), References::Keep);
    Trim { to, by_nodes: true, limit: None, references }
}

#[test]
fn nodes_begin_where_those_of_redis_do() {
    for (name, kind, expected) in KINDS {
        for (limit, expected) in LIMITS.into_iter().zip(expected) {
            let (mut entry, limits) = (Entry::new_stream(b"s"), limits(limit));
            let mut stream = entry.stream_mut(&limits).unwrap();
            (1..=300).for_each(|number| append(&mut stream, &kind(number)));
            let count = nodes(&entry).len();
            let trimmed = entry.stream_mut(&limits).unwrap().trim(&trim_to_ten());
            assert_eq!((count, trimmed), expected, "{name}, {limit:?}");
        }
    }
}

#[test]
fn deleted_items_go_on_to_count() {
    let limits = limits((100, 100));
    let word = |number: u64| (id(number), one("f", "value"));
    let mut entry = Entry::new_stream(b"s");
    let mut stream = entry.stream_mut(&limits).unwrap();
    (1..=3).for_each(|number| append(&mut stream, &word(number)));
    assert!(stream.remove(id(1)) && stream.remove(id(3)));
    let mut copy = entry.copy_to(b"copy");
    for entry in [&mut entry, &mut copy] {
        let mut stream = entry.stream_mut(&limits).unwrap();
        (4..=11).for_each(|number| append(&mut stream, &word(number)));
        assert_eq!(nodes(entry), [4, 5]);
        let mut stream = entry.stream_mut(&limits).unwrap();
        assert_eq!(
            stream.trim(&Trim { to: TrimTo::Length(2), by_nodes: false, ..trim_to_ten() }),
            7
        );
        (12..=14).for_each(|number| append(&mut stream, &word(number)));
        assert_eq!(nodes(entry), [3, 2]);
    }
}
