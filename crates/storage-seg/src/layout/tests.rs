// SPDX-License-Identifier: Apache-2.0
//! Lengths and forms, as plain arithmetic.

use super::*;
use proptest::prelude::*;

const PLAIN: Layout = Layout { unit: 4, checksum: false };
const SUMMED: Layout = Layout { unit: 4, checksum: true };

/// A state with all bits set.
const STATE: State = State::ALL_BITS;

fn item<'a>(key: &'a [u8], value: &'a [u8]) -> NewItem<'a> {
    NewItem { key, value: [value, b"", b""], flags: 0, expiry_ms: None, version: None, state: None }
}

fn len(item: &NewItem<'_>, layout: Layout, base_ms: u64) -> usize {
    item.header(layout, base_ms).total(layout)
}

#[test]
fn each_word_is_there_when_it_is_needed() {
    let plain = item(b"12345678901234567890", &[0; 32]);
    let base_ms = 1000;
    for (item, layout, len) in [
        (plain, PLAIN, 4 + 52),
        (plain, SUMMED, 8 + 52),
        (NewItem { flags: 1, ..plain }, PLAIN, 8 + 52),
        (NewItem { version: Some(0), ..plain }, PLAIN, 12 + 52),
        (NewItem { state: Some(STATE), ..plain }, PLAIN, 8 + 52),
        (NewItem { state: Some(STATE), flags: 1, ..plain }, SUMMED, 16 + 52),
        (NewItem { expiry_ms: Some(base_ms), ..plain }, PLAIN, 8 + 52),
        (NewItem { expiry_ms: Some(base_ms - 1), ..plain }, PLAIN, 12 + 52),
        (item(b"", b""), PLAIN, 4),
        (item(b"k", b""), PLAIN, 8),
        (item(b"k", b"val"), PLAIN, 8),
        (item(b"k", b"valu"), PLAIN, 12),
        (item(&[0; 255], b""), PLAIN, 4 + 256),
        (item(&[0; 256], b""), PLAIN, 8 + 256),
        (item(b"", &[0; (1 << 18) - 1]), PLAIN, 4 + (1 << 18)),
        (item(b"", &[0; 1 << 18]), PLAIN, 8 + (1 << 18)),
        (NewItem { state: Some(STATE), ..item(&[0; 256], b"") }, PLAIN, 12 + 256),
        (item(b"k", b"v"), Layout { unit: 16, ..PLAIN }, 16),
        (item(b"0123456789", b"012"), Layout { unit: 16, ..PLAIN }, 32),
    ] {
        assert_eq!(self::len(&item, layout, base_ms), len, "{item:?} {layout:?}");
    }
}

#[test]
fn an_expiry_takes_the_shortest_form_its_segment_allows() {
    let last = 5000 + u64::from(u32::MAX);
    for (expiry_ms, form) in [
        (None, ExpiryForm::Never),
        (Some(5000), ExpiryForm::Offset(0)),
        (Some(5001), ExpiryForm::Offset(1)),
        (Some(last), ExpiryForm::Offset(u32::MAX)),
        (Some(last + 1), ExpiryForm::Absolute(last + 1)),
        (Some(4999), ExpiryForm::Absolute(4999)),
        (Some(u64::MAX), ExpiryForm::Absolute(u64::MAX)),
    ] {
        assert_eq!(ExpiryForm::of(expiry_ms, 5000), form);
    }
}

#[test]
fn another_value_keeps_the_header_only_within_the_padding() {
    let header = item(b"key", b"10").header(PLAIN, 0);
    assert_eq!(header.total(PLAIN), 12);
    let shorter = header.with_value_len(PLAIN, 2).expect("as long");
    assert_eq!(shorter, header);
    let longest = header.with_value_len(PLAIN, 5).expect("within the padding");
    assert_eq!((longest.value(), longest.total(PLAIN)), (7..12, 12));
    assert_eq!(header.with_value_len(PLAIN, 6), None);
    assert_eq!(header.with_value_len(PLAIN, 0), None);
    assert_eq!(header.with_value_len(PLAIN, 1 << 18), None);
    assert_eq!(item(&[0; 300], b"1").header(PLAIN, 0).with_value_len(PLAIN, 1), None);
}

#[test]
#[should_panic(expected = "INV-LENGTHS")]
fn a_key_has_at_most_65535_bytes() {
    let _ = item(&[0; KEY_MAX + 1], b"").header(PLAIN, 0);
}

#[test]
fn the_lengths_and_the_flags_are_in_the_checksum() {
    let sum = checksum(b"key", [b"value", b"", b""], 0);
    assert_eq!(sum, checksum(b"key", [b"va", b"", b"lue"], 0), "parts do not matter");
    assert_ne!(sum, checksum(b"keyv", [b"alue", b"", b""], 0));
    assert_ne!(sum, checksum(b"key", [b"value", b"", b""], 1));
}

fn layouts() -> impl Strategy<Value = Layout> {
    (2..=4_u32, any::<bool>()).prop_map(|(shift, checksum)| Layout { unit: 1 << shift, checksum })
}

proptest! {
    #[test]
    fn what_is_parsed_is_what_was_announced(
        layout in layouts(),
        key_len in prop_oneof![0..300_usize, Just(KEY_MAX)],
        value_len in prop_oneof![0..300_usize, 262_100..262_200_usize],
        flags in 0..2_u32,
        expiry_ms in proptest::option::of(any::<u64>()),
        version in proptest::option::of(any::<u64>()),
        has_state in any::<bool>(),
        base_ms in any::<u64>(),
    ) {
        let (key, value) = (vec![0; key_len], vec![0; value_len]);
        let state = has_state.then_some(STATE);
        let item = NewItem { flags, expiry_ms, version, state, ..item(&key, &value) };
        let header = item.header(layout, base_ms);
        let parsed = Header::parse(header.word(), layout, || {
            header.long_word().unwrap_or_else(|| state.expect("it is not long").word())
        });
        prop_assert_eq!(parsed, header);
        prop_assert_eq!((header.key().len(), header.value().len()), (key_len, value_len));
        let is_long = key_len > 255 || value_len >= 1 << 18;
        prop_assert_eq!(header.long_word().is_some(), is_long);
        prop_assert_eq!(header.has_state(), has_state);
        if has_state {
            prop_assert_eq!(header.state_at(), if is_long { 8 } else { 4 });
        }
        let len = len(&item, layout, base_ms);
        prop_assert!(len.is_multiple_of(layout.unit) && len - header.value().end < layout.unit);
        prop_assert!(len <= item.len_max(layout));
        // The words follow each other without gaps, the checksum last.
        let after_version = header.version_at() + if version.is_some() { 8 } else { 0 };
        let after_all = after_version + if layout.checksum { 4 } else { 0 };
        prop_assert_eq!(after_all, header.key().start);
    }
}
