// SPDX-License-Identifier: Apache-2.0
//! Values of all types and sizes, written and read; payloads of servers; and bytes that are neither.

use super::*;
use crate::{Digits, Encoding, Entry, Limits, NewHash, NewList, NewSet, NewZset, Type};

mod streams;
use proptest::prelude::*;

const NOW_MS: u64 = 1_800_000_000_000;

fn read_value(value: &[u8], version: FormVersion) -> Result<Option<Entry>, Malformed> {
    let bounds = Bounds { limits: &Limits::default(), now_ms: NOW_MS, bytes_max: 1 << 20 };
    read(b"key", value, version, bounds)
}

fn written(entry: &Entry) -> (Vec<u8>, FormVersion) {
    let mut value = Vec::new();
    let version = write(entry, NOW_MS, &mut value);
    (value, version)
}

/// All that an entry has, in an order that does not depend on how it is stored.
fn content(entry: &Entry) -> Vec<(Vec<u8>, Vec<u8>, Option<u64>)> {
    let mut content: Vec<_> = match entry.data_type() {
        Type::String => vec![(entry.text(&mut Digits::new()).to_vec(), vec![], None)],
        Type::List => {
            let elements = entry.list().unwrap();
            return elements.iter().map(|element| (element.to_vec(), vec![], None)).collect();
        }
        Type::Set => {
            let members = entry.set().unwrap();
            members.iter().map(|member| (member.to_vec(), vec![], None)).collect()
        }
        Type::Zset => {
            let scored = entry.zset().unwrap().iter();
            scored
                .map(|(member, score)| (member.into(), score.to_le_bytes().into(), None))
                .collect()
        }
        Type::Hash => {
            let fields = entry.hash().unwrap().iter_expiring(NOW_MS);
            fields.map(|(field, value, due)| (field.into(), value.into(), due)).collect()
        }
        Type::Stream => unreachable!("streams have tests of their own"),
    };
    content.sort();
    content
}

#[track_caller]
fn comes_back(entry: &Entry) {
    let (value, version) = written(entry);
    let read = read_value(&value, version).expect("it was written").expect("not expired");
    assert_eq!(read.data_type(), entry.data_type());
    assert_eq!(content(&read), content(entry));
    for len in (0..value.len()).step_by(value.len() / 200 + 1) {
        assert!(read_value(&value[..len], version).is_err(), "{len} of {} bytes", value.len());
    }
}

#[test]
fn values_of_all_types_come_back() {
    let limits = Limits::default();
    for text in ["", "x", "1", "-1", "-129", "32768", "2147483648", "007", &"ab".repeat(500)] {
        comes_back(&Entry::string(b"k", text.as_bytes()));
    }
    for count in [1_u64, 5, 70, 600] {
        let (mut list, mut set) = (NewList::new(b"k"), NewSet::new(b"k"));
        let (mut zset, mut hash) = (NewZset::new(b"k"), NewHash::new(b"k"));
        let (mut ints, mut expiring) = (NewSet::new(b"k"), NewHash::new(b"k"));
        for number in 0..count {
            let text = format!("element {number} {}", "x".repeat(number as usize % 90));
            list.edit(&limits).push_back(text.as_bytes());
            set.edit(&limits).add(text.as_bytes());
            ints.edit(&limits).add((number * number).to_string().as_bytes());
            zset.edit(&limits).insert(text.as_bytes(), number as f64 / 3.0);
            hash.edit(&limits).set(text.as_bytes(), b"value", NOW_MS);
            expiring.edit(&limits).set(text.as_bytes(), b"value", NOW_MS);
            let due = (number % 2 == 0).then_some(NOW_MS + 1 + number * 1_000);
            expiring.edit(&limits).set_expiry(text.as_bytes(), due, NOW_MS);
        }
        let made = [list.into_entry(), set.into_entry(), ints.into_entry()];
        made.iter().for_each(comes_back);
        [zset.into_entry(), hash.into_entry(), expiring.into_entry()].iter().for_each(comes_back);
    }
}

#[test]
fn the_oldest_version_is_used_that_has_the_type() {
    let limits = Limits::default();
    let mut hash = NewHash::new(b"k");
    hash.edit(&limits).set(b"a", b"1", NOW_MS);
    let mut entry = hash.into_entry();
    assert_eq!(written(&entry).1, FormVersion::REDIS_7_0);
    let mut edit = entry.hash_mut(&limits).unwrap();
    edit.set_expiry(b"a", Some(NOW_MS + 1), NOW_MS);
    let (value, version) = written(&entry);
    assert_eq!(version, FormVersion::REDIS_7_4);
    let bounds = Bounds { limits: &limits, now_ms: NOW_MS + 1, bytes_max: 0 };
    assert!(matches!(read(b"k", &value, version, bounds), Ok(None)), "its only field has expired");
}

#[test]
fn payloads_have_a_version_and_a_checksum() {
    let mut payload = b"\x00\x01x".to_vec();
    seal(&mut payload, FormVersion(10));
    assert_eq!(open(&payload), Some((&b"\x00\x01x"[..], FormVersion(10))));
    for at in 0..payload.len() {
        let mut wrong = payload.clone();
        wrong[at] ^= 1;
        assert_eq!(open(&wrong), None, "byte {at}");
        assert_eq!(open(&payload[..at]), None, "{at} bytes");
    }
    for (version, is_known) in
        [(1, true), (13, true), (14, false), (79, false), (80, true), (82, false)]
    {
        let mut payload = b"\x00\x01x".to_vec();
        seal(&mut payload, FormVersion(version));
        assert_eq!(open(&payload).is_some(), is_known, "{version}");
    }
}

#[test]
fn collections_are_not_empty_and_have_nothing_twice() {
    for value in [
        &b"\x01\x00"[..],
        b"\x02\x00",
        b"\x04\x00",
        b"\x05\x00",
        b"\x02\x02\x01a\x01a",
        b"\x02\x81\xff\xff\xff\xff\xff\xff\xff\xff\x01a",
        b"\x04\x81\xff\xff\xff\xff\xff\xff\xff\xff\x01a\x01b",
        b"\x04\x02\x01a\x01b\x01a\x01b",
        b"\x05\x02\x01a\0\0\0\0\0\0\0\0\x01a\0\0\0\0\0\0\0\0",
        b"\x05\x01\x01a\0\0\0\0\0\0\xf8\x7f",
        b"\x0b\x08\x02\0\0\0\0\0\0\0",
        b"\x10\x07\x07\0\0\0\0\0\xff",
        b"\x12\x01\x03\x01a",
        b"\x63\x01a",
        b"\x0f\x01a",
        b"",
    ] {
        assert!(read_value(value, FormVersion(10)).is_err(), "{value:?}");
    }
}

#[test]
fn a_field_never_expires_only_if_its_moment_is_minus_one() {
    let field = |moment: i64| {
        let value = [&b"\x16\x01\x01f\x01v"[..], &moment.to_le_bytes()].concat();
        read_value(&value, FormVersion::VALKEY_MIN).map(|entry| entry.map(|entry| content(&entry)))
    };
    let due = NOW_MS + 1;
    for (moment, expected) in [(-1, None), (due as i64, Some(due))] {
        assert_eq!(field(moment), Ok(Some(vec![(b"f".to_vec(), b"v".to_vec(), expected)])));
    }
    for moment in [-2, i64::MIN] {
        assert_eq!(field(moment), Err(Malformed), "{moment}");
    }
}

/// A hash in the form of old servers, with the fields `numbers`.
fn hash_of(numbers: impl Iterator<Item = u32>) -> Vec<u8> {
    let names: Vec<String> = numbers.map(|number| format!("name{number}")).collect();
    let mut value = vec![types::HASH, 0x80];
    value.extend((names.len() as u32).to_be_bytes());
    for name in names {
        value.push(name.len() as u8);
        value.extend(name.bytes().chain(*b"\x01v"));
    }
    value
}

#[test]
fn a_field_is_refused_wherever_the_same_was_before_it() {
    let now_packed = Limits { hash_entries: 10_000, ..Limits::default() };
    for limits in [Limits::default(), now_packed] {
        let bounds = Bounds { limits: &limits, now_ms: 1, bytes_max: 0 };
        let read = |numbers: &[u32]| {
            let value = hash_of(numbers.iter().copied());
            read(b"key", &value, FormVersion(10), bounds)
        };
        for count in [2, 100, 129, 513, 514, 1000, 5000] {
            let mut numbers: Vec<u32> = (0..count).collect();
            let entry = read(&numbers).expect("a value").expect("it is there");
            entry.hash().expect("a hash").check_integrity();
            assert_eq!(entry.len(), numbers.len());
            let is_packed = numbers.len() <= limits.hash_entries;
            assert_eq!(entry.encoding() == Encoding::Listpack, is_packed, "{count}");
            for (at, number) in [(count - 1, 0), (count - 1, count - 2), (count / 2, 0)] {
                let before = std::mem::replace(&mut numbers[at as usize], number);
                assert!(read(&numbers).is_err(), "{number} at {at} of {count}");
                numbers[at as usize] = before;
            }
        }
    }
}

#[test]
fn a_collection_that_claims_to_be_large_has_its_elements_all_the_same() {
    let limits = Limits { hash_entries: 3, set_entries: 3, set_intset: 3, ..Limits::default() };
    let bounds = Bounds { limits: &limits, now_ms: 1, bytes_max: 0 };
    for (value, is_large) in [
        (&b"\x02\x03\x011\x012\x013"[..], false),
        (b"\x02\x04\x011\x012\x013\x014", true),
        (b"\x02\x04\x01a\x01b\x01c\x01d", true),
        (b"\x04\x03\x01a\x01b\x01c\x01d\x01e\x01f", false),
        (b"\x04\x04\x01a\x01b\x01c\x01d\x01e\x01f\x01g\x01h", true),
    ] {
        let entry = read(b"key", value, FormVersion(10), bounds).expect("a value").expect("one");
        assert_eq!(
            (entry.len(), entry.encoding() == Encoding::Hashtable),
            (value[1].into(), is_large)
        );
        let more = [&value[..1], &[value[1] + 1], &value[2..]].concat();
        assert!(read(b"key", &more, FormVersion(10), bounds).is_err(), "one is missing");
    }
}

#[test]
fn lengths_and_sizes_are_only_claims() {
    for value in [
        &b"\x00\x80\xff\xff\xff\xff"[..],
        b"\x00\x81\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x01\x81\xff\xff\xff\xff\xff\xff\xff\xff\x00",
        b"\x00\xc3\x04\x80\xff\xff\xff\xff\x00a\x20\x00",
        b"\x00\xc3\x81\xff\xff\xff\xff\xff\xff\xff\xff\x01a",
        b"\x10\x0b\xff\xff\xff\xff\x01\0\x81a\x02\xff",
    ] {
        assert!(read_value(value, FormVersion(10)).is_err(), "{value:?}");
    }
}

#[test]
fn forms_of_old_servers_are_read() {
    let entry =
        |value: &[u8]| read_value(value, FormVersion(6)).expect("a value").expect("it is there");
    let texts = |entry: &Entry| {
        let show = |(a, b, _): (Vec<u8>, Vec<u8>, _)| [a, b].concat().escape_ascii().to_string();
        content(entry).into_iter().map(show).collect::<Vec<_>>()
    };
    // A ziplist with a string, numbers of all widths and one of a single byte.
    let ziplist = b"\x0a\x28\x28\0\0\0\x1f\0\0\0\x06\0\x00\x01a\x03\xfe\xff\x03\xc0\x00\x01\x04\xf0\x00\x00\x01\
        \x05\xd0\x00\x00\x00\x01\x06\xe0\x00\x00\x00\x00\x01\x00\x00\x00\xff";
    let ziplist = fixed(ziplist);
    assert_eq!(texts(&entry(&ziplist)), ["a", "-1", "256", "65536", "16777216", "4294967296"]);
    let zipmap = b"\x09\x0c\x02\x01a\x01\x00b\x01c\x02\x01dd\0\xff";
    let zipmap = fixed(zipmap);
    assert_eq!(texts(&entry(&zipmap)), ["ab", "cdd"]);
    let scores = b"\x03\x03\x01a\x031.5\x01b\xfe\x01c\xff";
    assert_eq!(entry(scores).zset().unwrap().score(b"b"), Some(f64::INFINITY));
    let integers = b"\x0b\x0c\x02\0\0\0\x02\0\0\0\xff\xff\x07\0";
    assert_eq!(texts(&entry(integers)), ["-1", "7"]);
}

/// Sets the length of the packed bytes that follow the type, and of a ziplist within.
fn fixed(value: &[u8]) -> Vec<u8> {
    let mut value = value.to_vec();
    value[1] = (value.len() - 2) as u8;
    if value[0] == 0x0a {
        value[2] = value[1];
    }
    value
}

proptest! {
    #[test]
    fn nothing_panics(value in proptest::collection::vec(any::<u8>(), 0..100), kind in 0..27_u8) {
        let value = [&[kind][..], &value].concat();
        for version in [10, 12, 80] {
            if let Ok(Some(entry)) = read_value(&value, FormVersion(version)) {
                comes_back(&entry);
            }
        }
    }
}
