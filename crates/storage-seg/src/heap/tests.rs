// SPDX-License-Identifier: Apache-2.0
//! Items written, read, copied, changed and released, by tests that own their heap: so the contract
//! of the unsafe functions holds.

use super::*;
use proptest::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

mod in_place;
mod integrity;

const SEGMENT: usize = 64 << 10;

fn heap(segments: u32, integrity: bool) -> Heap {
    let options = HeapOptions { integrity, ..HeapOptions::default() };
    Heap::new(segments, SEGMENT, &[], options).expect("there is memory")
}

fn new<'a>(key: &'a [u8], value: &'a [u8]) -> NewItem<'a> {
    NewItem { key, value: [value, b"", b""], flags: 0, expiry_ms: None, version: None, state: None }
}

/// Writes an item; the test owns the heap and borrows no item that this overwrites.
fn write(heap: &Heap, segment: u32, offset: u32, base_ms: u64, item: &NewItem<'_>) -> usize {
    // SAFETY: as said above.
    unsafe { heap.write(segment, offset, base_ms, item) }
}

/// The item at a place where the test has written one.
fn at(heap: &Heap, segment: u32, offset: u32) -> ItemRef<'_> {
    // SAFETY: as said above.
    unsafe { heap.item(heap.location(segment, offset)) }
}

/// Works on the bytes of a place where the test looks at no item meanwhile.
pub(crate) fn with_bytes<R>(
    heap: &Heap,
    segment: u32,
    offset: u32,
    len: usize,
    work: impl FnOnce(&mut [u8]) -> R,
) -> R {
    let start = heap.at(heap.geometry.byte(segment, offset));
    // SAFETY: the range is in the heap, which the test owns.
    work(unsafe { std::slice::from_raw_parts_mut(start, len) })
}

#[test]
fn a_plain_item_costs_one_word() {
    let heap = heap(1, false);
    assert_eq!(write(&heap, 0, FIRST_OFFSET, 0, &new(b"key1", b"value..8")), 4 + 12);
    let item = at(&heap, 0, FIRST_OFFSET);
    assert_eq!((item.key(), item.value()), (&b"key1"[..], &b"value..8"[..]));
    assert_eq!((item.flags(), item.version(), item.expiry_ms(0)), (0, None, None));
    assert!(!item.expires() && !item.is_dead() && item.checksum_ok());
    assert_eq!(item.len(), 16);
}

#[test]
fn a_walk_meets_every_item_in_its_order() {
    let heap = heap(1, true);
    let mut offset = FIRST_OFFSET;
    let mut written = Vec::new();
    for number in 0_u32.. {
        let (key, value) = (format!("key {number}"), vec![number as u8; number as usize * 7 % 301]);
        let expiry_ms = (number % 3 == 0).then_some(u64::from(number));
        let item = NewItem { flags: number % 2, expiry_ms, ..new(key.as_bytes(), &value) };
        if offset as usize + heap.len_of(&item) > SEGMENT {
            break;
        }
        offset += write(&heap, 0, offset, 0, &item) as u32;
        written.push((key, value));
    }
    let mut walk = FIRST_OFFSET;
    for (key, value) in &written {
        let item = at(&heap, 0, walk);
        assert_eq!((item.key(), item.value()), (key.as_bytes(), &value[..]));
        walk += item.len() as u32;
    }
    assert_eq!(walk, offset);
    assert!(written.len() > 300);
}

#[test]
fn a_large_item_goes_on_into_the_next_segments() {
    let heap = heap(4, true);
    let value: Vec<u8> = (0..3 * SEGMENT - 65_048).map(|i| i as u8).collect();
    let key = vec![b'k'; 65_000];
    let item = NewItem { flags: 1, expiry_ms: Some(0), version: Some(7), ..new(&key, &value) };
    let len = write(&heap, 1, FIRST_OFFSET, 1, &item);
    assert_eq!(len, heap.len_of(&item));
    assert_eq!(len.div_ceil(SEGMENT), 3);
    let item = at(&heap, 1, FIRST_OFFSET);
    assert!(item.key() == key && item.value() == value && item.checksum_ok());
    assert_eq!(item.version(), Some(7));
}

#[test]
#[should_panic(expected = "INV-INSIDE")]
fn an_item_that_does_not_fit_the_heap_is_not_written() {
    write(&heap(1, false), 0, SEGMENT as u32 - 8, 0, &new(b"key", b"value"));
}

#[test]
#[should_panic(expected = "is between units")]
fn an_item_does_not_begin_between_units() {
    write(&heap(1, false), 0, 18, 0, &new(b"key", b"value"));
}

#[test]
fn the_last_byte_of_the_heap_can_be_used() {
    let heap = heap(2, false);
    let value = vec![1; SEGMENT - 16 - 4 - 3];
    assert_eq!(write(&heap, 1, FIRST_OFFSET, 0, &new(b"key", &value)), heap.room_in_segment());
    assert_eq!(at(&heap, 1, FIRST_OFFSET).value(), value);
    for location in [1, heap.location(1, SEGMENT as u32 - 4).units(), Location::MAX] {
        heap.prefetch(Location::new(location));
    }
}

#[test]
fn a_copy_is_rebased_and_takes_the_form_its_segment_needs() {
    let heap = heap(2, true);
    let day_ms = 24 * 3600 * 1000;
    let expiry_ms = Some(100 * day_ms);
    let item = NewItem { expiry_ms, flags: 3, ..new(b"key", b"value") };
    // One word with a near base, two with a far one, and back.
    for (from_base, to_base, lens) in [
        (90 * day_ms, 95 * day_ms, (24, 24)),
        (90 * day_ms, day_ms, (24, 28)),
        (day_ms, 90 * day_ms, (28, 24)),
        (day_ms, 101 * day_ms, (28, 28)),
    ] {
        let len = write(&heap, 0, FIRST_OFFSET, from_base, &item);
        let from = at(&heap, 0, FIRST_OFFSET);
        let read = from.expiry_ms(from_base);
        assert!(heap.len_of(&from.renewed(read, None)) >= lens.1);
        // SAFETY: nothing in segment 1 is looked at meanwhile.
        let copied = unsafe { heap.copy(&from, read, None, 1, FIRST_OFFSET, to_base) };
        assert_eq!((len, copied), lens);
        let copy = at(&heap, 1, FIRST_OFFSET);
        assert_eq!((copy.key(), copy.value(), copy.flags()), (&b"key"[..], &b"value"[..], 3));
        assert_eq!((copy.expiry_ms(to_base), copy.len()), (expiry_ms, copied));
        assert!(copy.checksum_ok());
    }
}

#[test]
fn a_released_segment_is_zero_and_its_neighbours_are_not() {
    let heap = heap(3, false);
    for segment in 0..3 {
        with_bytes(&heap, segment, 0, SEGMENT, |bytes| bytes.fill(segment as u8 + 1));
    }
    // SAFETY: nothing in the segment is looked at.
    unsafe { heap.release(1, 0..(SEGMENT / heap.grain_bytes()) as u32) };
    for (segment, byte) in [(0, 1), (1, 0), (2, 3)] {
        assert!(with_bytes(&heap, segment, 0, SEGMENT, |all| all.iter().all(|&b| b == byte)));
    }
    write(&heap, 1, FIRST_OFFSET, 0, &new(b"key", b"value"));
    assert_eq!(at(&heap, 1, FIRST_OFFSET).key(), b"key", "it can be used again");
}

#[test]
fn every_option_gives_zeros_to_write_on() {
    for (huge_pages, prefault) in [(true, false), (false, true), (true, true)] {
        let options = HeapOptions { huge_pages, prefault, integrity: false };
        let heap = Heap::new(64, SEGMENT, &[], options).expect("there is memory");
        assert_eq!(heap.segment_bytes(), SEGMENT);
        assert!(with_bytes(&heap, 0, 0, 64 * SEGMENT, |all| all.iter().all(|&byte| byte == 0)));
        write(&heap, 63, FIRST_OFFSET, 0, &new(b"key", b"value"));
        assert_eq!(at(&heap, 63, FIRST_OFFSET).value(), b"value");
    }
}

#[test]
fn a_heap_that_is_too_large_is_an_error() {
    let error = Heap::new(u32::MAX, 8 << 20, &[], HeapOptions::default());
    let error = error.expect_err("it is too large");
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn lent_bytes_keep_the_heap_and_drop_their_guard_last() {
    struct Guard(Arc<AtomicBool>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let heap = Arc::new(heap(1, false));
    write(&heap, 0, FIRST_OFFSET, 0, &new(b"key", b"a value to lend"));
    let is_over = Arc::new(AtomicBool::new(false));
    let guard = Guard(Arc::clone(&is_over));
    // SAFETY: nothing is written to the heap any more.
    let bytes = unsafe { Heap::bytes(&heap, heap.location(0, FIRST_OFFSET), guard) };
    drop(heap);
    let part = bytes.slice(2..7);
    drop(bytes);
    let part = std::thread::spawn(move || {
        assert_eq!(part, "value");
        part
    })
    .join()
    .expect("it was the value");
    assert!(!is_over.load(Ordering::Relaxed));
    drop(part);
    assert!(is_over.load(Ordering::Relaxed));
}

fn blob(max: usize) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..max)
}

fn expiries() -> impl Strategy<Value = Option<u64>> {
    proptest::option::of(prop_oneof![any::<u64>(), 0..100_000_u64])
}

proptest! {
    #[test]
    fn what_was_written_is_what_is_read(
        key in prop_oneof![9 => blob(300), 1 => blob(65_536)],
        before in blob(50),
        middle in prop_oneof![9 => blob(600), 1 => blob(300_000)],
        after in blob(50),
        flags in prop_oneof![Just(0), any::<u32>()],
        expiry_ms in expiries(),
        version in proptest::option::of(any::<u64>()),
        (base_ms, other_base_ms) in (0..100_000_u64, prop_oneof![0..100_000_u64, Just(1 << 40)]),
        integrity in any::<bool>(),
    ) {
        let heap = heap(16, integrity);
        let value = [&before[..], &middle, &after];
        let item = NewItem { key: &key, value, flags, expiry_ms, version, state: None };
        let len = write(&heap, 0, FIRST_OFFSET, base_ms, &item);
        prop_assert_eq!(len, item.header(heap.layout, base_ms).total(heap.layout));
        let read = at(&heap, 0, FIRST_OFFSET);
        prop_assert_eq!(read.len(), len);
        prop_assert!(read.key() == key && read.value() == value.concat());
        prop_assert_eq!((read.flags(), read.version()), (flags, version));
        prop_assert_eq!(read.expiry_ms(base_ms), expiry_ms);
        prop_assert!(read.checksum_ok());

        // SAFETY: nothing from segment 8 on is looked at meanwhile.
        let copied = unsafe { heap.copy(&read, expiry_ms, version, 8, FIRST_OFFSET, other_base_ms) };
        let copy = at(&heap, 8, FIRST_OFFSET);
        prop_assert_eq!(copy.len(), copied);
        let renewed = read.renewed(expiry_ms, version);
        prop_assert_eq!(copied, renewed.header(heap.layout, other_base_ms).total(heap.layout));
        prop_assert!(copied <= heap.len_of(&item));
        prop_assert!(copy.key() == key && copy.value() == read.value() && copy.checksum_ok());
        prop_assert_eq!((copy.flags(), copy.version()), (flags, version));
        prop_assert_eq!(copy.expiry_ms(other_base_ms), expiry_ms);
    }
}

/// Items of a wide segment lie where no segment's size is a border, and its last part can be given back
/// without the others.
#[test]
fn a_wide_segment_has_addresses_of_its_own() {
    let wide = Wide { count: 2, bytes: 4 * SEGMENT };
    let heap = Heap::new(
        3,
        SEGMENT,
        &[Extent { segments: 3, wide, lone: Lone::NONE }],
        HeapOptions::default(),
    )
    .expect("there is memory");
    assert_eq!((heap.wide(), heap.room_in_wide()), (2, 4 * SEGMENT - 16));
    let (value, other) = (vec![1; SEGMENT * 3 / 2], vec![2; SEGMENT]);
    let len = write(&heap, 4, FIRST_OFFSET, 0, &new(b"key", &value));
    let next = FIRST_OFFSET + len as u32;
    write(&heap, 4, next, 0, &new(b"other", &other));
    write(&heap, 2, FIRST_OFFSET, 0, &new(b"third", b"value"));
    assert_eq!(heap.place(heap.location(4, next)), (4, next));
    let grains = (SEGMENT / heap.grain_bytes()) as u32;
    // SAFETY: nobody has looked at these items, and nobody will.
    unsafe { heap.release(4, 3 * grains..4 * grains) };
    assert_eq!(at(&heap, 4, FIRST_OFFSET).value(), value);
    assert_eq!(at(&heap, 4, next).value(), other);
    assert_eq!(at(&heap, 2, FIRST_OFFSET).value(), b"value");
}
