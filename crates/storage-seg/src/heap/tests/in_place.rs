// SPDX-License-Identifier: Apache-2.0
//! Changes of an item in place.

use super::*;

#[test]
fn dead_is_one_bit_and_changes_nothing_else() {
    let heap = heap(1, true);
    write(&heap, 0, 16, 0, &NewItem { flags: 9, ..new(b"key", b"value") });
    let (item, other) = (at(&heap, 0, 16), at(&heap, 0, 16));
    item.mark_dead();
    assert!(item.is_dead() && other.is_dead() && at(&heap, 0, 16).is_dead());
    let again = at(&heap, 0, 16);
    assert_eq!((again.key(), again.value(), again.flags()), (&b"key"[..], &b"value"[..], 9));
    assert_eq!(again.len(), other.len());
    assert!(again.checksum_ok());
}

#[test]
fn an_expiry_changes_in_place_where_it_is_one_word_and_fits() {
    let heap = heap(1, true);
    let base_ms = 10_000;
    let last = base_ms + u64::from(u32::MAX);
    let mut offset = FIRST_OFFSET;
    for (first, then, changes) in [
        (Some(base_ms), base_ms + 1, true),
        (Some(base_ms + 5), last, true),
        (Some(last), base_ms, true),
        (Some(base_ms + 5), last + 1, false),
        (Some(base_ms + 5), base_ms - 1, false),
        (Some(last + 1), base_ms + 5, false),
        (None, base_ms + 5, false),
    ] {
        let len =
            write(&heap, 0, offset, base_ms, &NewItem { expiry_ms: first, ..new(b"k", b"v") });
        let item = at(&heap, 0, offset);
        assert_eq!(item.set_expiry(base_ms, then), changes);
        let expected = if changes { Some(then) } else { first };
        assert_eq!((item.expiry_ms(base_ms), item.expires()), (expected, first.is_some()));
        assert!(item.checksum_ok());
        assert_eq!(item.len(), len);
        offset += len as u32;
    }
}

#[test]
fn a_number_is_overwritten_in_place_while_it_is_as_long() {
    for integrity in [false, true] {
        let heap = heap(1, integrity);
        let item = NewItem { version: Some(1), flags: 5, ..new(b"key", b"99") };
        let len = write(&heap, 0, 16, 0, &item);
        let overwrite = |value: &[u8], version| {
            // SAFETY: no item is borrowed.
            unsafe { heap.overwrite_value(heap.location(0, 16), value, version) }
        };
        for (value, version, fits) in
            [(&b"100"[..], 2, true), (b"12345", 3, true), (b"123456", 4, false), (b"", 5, false)]
        {
            let before = at(&heap, 0, 16).value().to_vec();
            assert_eq!(overwrite(value, version), fits);
            let item = at(&heap, 0, 16);
            assert_eq!(item.value(), if fits { value } else { &before });
            assert_eq!(item.version() == Some(version), fits);
            assert_eq!((item.key(), item.flags(), item.len()), (&b"key"[..], 5, len));
            assert!(item.checksum_ok());
        }
        write(&heap, 0, 16, 0, &new(b"key", b"99"));
        assert!(!overwrite(b"98", 2), "there is nowhere to put the version");
    }
}

/// Some readers look while the item dies and its expiry moves: what they see is whole.
#[test]
fn readers_look_at_an_item_while_it_changes_in_place() {
    let heap = heap(1, true);
    write(&heap, 0, 16, 0, &NewItem { expiry_ms: Some(1), ..new(b"key", b"value") });
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut last = 0;
                loop {
                    let item = at(&heap, 0, 16);
                    assert_eq!((item.key(), item.value()), (&b"key"[..], &b"value"[..]));
                    assert!(item.checksum_ok());
                    let expiry_ms = item.expiry_ms(0).expect("it has one");
                    assert!(expiry_ms >= last, "an older expiry came back");
                    last = expiry_ms;
                    if item.is_dead() {
                        break;
                    }
                }
            });
        }
        let item = at(&heap, 0, 16);
        for expiry_ms in 1..10_000 {
            assert!(item.set_expiry(0, expiry_ms));
        }
        item.mark_dead();
    });
}
