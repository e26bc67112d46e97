// SPDX-License-Identifier: Apache-2.0
//! Damage that the checksum detects.

use super::*;
use crate::layout::WORD;

#[test]
fn a_flipped_bit_is_noticed() {
    let heap = heap(1, true);
    for (flags, expiry_ms, version) in [(0, None, None), (7, Some(5), Some(9)), (0, Some(1), None)]
    {
        let item = NewItem { flags, expiry_ms, version, ..new(b"some key", b"and its value") };
        write(&heap, 0, 16, 0, &item);
        let header = *at(&heap, 0, 16).header();
        let flip = |byte: usize, bit: u32| {
            with_bytes(&heap, 0, 16, header.value().end, |bytes| bytes[byte] ^= 1 << bit);
        };
        // A death, an expiry and a version are no part of what is summed.
        let unsummed = |byte: usize, bit: u32| {
            (byte == 0 && bit == 0)
                || (header.expiry_at()..header.flags_at()).contains(&byte)
                || (header.version_at()..header.checksum_at()).contains(&byte)
        };
        for byte in 0..header.value().end {
            for bit in 0..8 {
                flip(byte, bit);
                let noticed = !at(&heap, 0, 16).checksum_ok();
                assert_eq!(noticed, !unsummed(byte, bit), "byte {byte} bit {bit}");
                flip(byte, bit);
            }
        }
        assert!(at(&heap, 0, 16).checksum_ok());
    }
}

#[test]
fn a_damaged_length_is_noticed_without_leaving_the_heap() {
    let heap = heap(1, true);
    let offset = SEGMENT as u32 - 32;
    write(&heap, 0, offset, 0, &new(b"key", b"value"));
    with_bytes(&heap, 0, offset, WORD, |word| word.copy_from_slice(&[0xC0, 0xFF, 0xFF, 0xFF]));
    assert!(!at(&heap, 0, offset).checksum_ok());
}

#[test]
fn a_copy_lives_has_the_version_it_is_given_and_keeps_a_bad_checksum() {
    let heap = heap(2, true);
    write(&heap, 0, 16, 0, &NewItem { version: Some(1), ..new(b"key", b"value") });
    at(&heap, 0, 16).mark_dead();
    let from = at(&heap, 0, 16);
    for version in [None, from.version(), Some(u64::MAX)] {
        // SAFETY: nothing in segment 1 is looked at meanwhile.
        let len = unsafe { heap.copy(&from, None, version, 1, 16, 0) };
        let copy = at(&heap, 1, 16);
        assert_eq!((copy.version(), copy.is_dead(), copy.len()), (version, false, len));
        assert!(copy.checksum_ok());
    }
    let value_at = from.header().value().start as u32;
    with_bytes(&heap, 0, 16 + value_at, 1, |bytes| bytes[0] ^= 1);
    let from = at(&heap, 0, 16);
    // SAFETY: as above.
    unsafe { heap.copy(&from, None, None, 1, 16, 0) };
    assert!(!at(&heap, 1, 16).checksum_ok(), "what was damaged stays noticed");
}
