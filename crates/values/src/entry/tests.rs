// SPDX-License-Identifier: Apache-2.0
//! Entries against a plain model of a key and a string.

use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::{Digits, Encoding, Entry, Remains, Type};

fn text(entry: &Entry) -> Vec<u8> {
    entry.text(&mut Digits::new()).to_vec()
}

#[test]
fn a_small_item_takes_little_more_than_its_bytes() {
    assert_eq!(Entry::raw_string(&[b'k'; 20], &[b'v'; 64]).heap_bytes(), 96);
    assert_eq!(Entry::integer(b"key", i64::MAX).heap_bytes(), 24);
    assert_eq!(Entry::string(b"key", b"seven").heap_bytes(), 24);
}

#[test]
fn a_string_that_fills_a_block_is_stored_apart() {
    let heap_bytes = |len: usize| Entry::string(&[b'k'; 20], &vec![b'v'; len]).heap_bytes();
    // Together they would take 10,240, 12,288 and 14,336.
    assert_eq!([8192, 10_240, 12_288].map(heap_bytes), [8192 + 48, 10_240 + 48, 12_288 + 48]);
    // It would save nothing, or little.
    assert_eq!([200, 1024, 4096, 9000].map(heap_bytes), [232, 1088, 4224, 10_240]);
    let long_key = Entry::string(&[b'k'; 4000], &[b'v'; 8192]);
    assert_eq!(long_key.heap_bytes(), 12_288);
}

#[test]
fn a_string_that_is_stored_apart_is_a_string_like_others() {
    let value: Vec<u8> = (0..10_240).map(|n| n as u8).collect();
    let mut entry = Entry::string(b"key", &value);
    assert_eq!((entry.len(), entry.is_empty(), entry.as_integer()), (10_240, false, None));
    assert_eq!((entry.data_type(), entry.encoding()), (Type::String, Encoding::Raw));
    assert_eq!(&*entry.to_text(), value);
    entry.set_expiry(Some(17));
    entry.set_access(5);
    let copy = entry.copy_to(b"copy");
    let address = entry.text(&mut Digits::new()).as_ptr();
    let mut entry = entry.rename(b"another key");
    assert_eq!(entry.text(&mut Digits::new()).as_ptr(), address, "it stays where it is");
    for other in [&entry, &copy] {
        assert_eq!((other.expiry(), other.access()), (Some(17), 5));
        assert_eq!(text(other), value);
    }
    assert!(entry.relocate(|size| size == 10_240));
    assert_ne!(entry.text(&mut Digits::new()).as_ptr(), address);
    assert!(!entry.relocate(|size| size == 512));
    assert_eq!((entry.key(), text(&entry)), (b"another key".as_slice(), value));
}

#[test]
fn an_edit_of_a_string_that_is_stored_apart_keeps_its_bytes() {
    let value = vec![b'x'; 10_240];
    let mut entry = Entry::string(b"key", &value);
    let address = entry.text(&mut Digits::new()).as_ptr();
    entry.set_range(10_000, b"yyy");
    entry.edit_text(|text| text[0] = b'z');
    entry.set_string(&[b'y'; 10_100]);
    assert_eq!(entry.text(&mut Digits::new()).as_ptr(), address, "in place");
    assert_eq!(text(&entry), [b'y'; 10_100]);
    entry.append(b"zzz");
    assert_eq!(text(&entry), [&[b'y'; 10_100][..], b"zzz"].concat());
    let mut entry = Entry::string(b"key", &value);
    entry.set_range(10_239, b"abc");
    assert_eq!(text(&entry), [&value[..10_239], b"abc"].concat());
    let mut entry = Entry::string(b"key", &value);
    entry.append(&[b'y'; Entry::PIN_MIN]);
    assert_eq!(text(&entry), [&value[..], &[b'y'; Entry::PIN_MIN]].concat());
    assert!(entry.pin().is_some());
}

#[test]
fn the_encoding_of_a_string_follows_from_its_text() {
    let encoding = |value: &[u8]| Entry::string(b"key", value).encoding();
    assert_eq!(encoding(b"12"), Encoding::Int);
    assert_eq!(encoding(b"012"), Encoding::Embstr);
    assert_eq!(encoding(&[b'x'; 44]), Encoding::Embstr);
    assert_eq!(encoding(&[b'x'; 45]), Encoding::Raw);
    assert_eq!(encoding(&[b'x'; Entry::PIN_MIN]), Encoding::Raw);
    assert_eq!(Entry::raw_string(b"key", b"12").encoding(), Encoding::Raw);
    assert_eq!(Entry::raw_string(b"key", b"12").as_integer(), Some(12));
}

#[test]
fn an_edited_string_is_raw() {
    let mut entry = Entry::integer(b"key", 12);
    entry.append(b"");
    assert_eq!((entry.encoding(), text(&entry)), (Encoding::Raw, b"12".to_vec()));
    let mut entry = Entry::string(b"key", b"abc");
    entry.set_range(1, b"x");
    assert_eq!((entry.encoding(), text(&entry)), (Encoding::Raw, b"axc".to_vec()));
}

#[test]
fn only_a_large_string_can_be_pinned() {
    assert!(Entry::string(b"key", &[b'x'; Entry::PIN_MIN - 1]).pin().is_none());
    let mut entry = Entry::string(b"key", &[b'x'; Entry::PIN_MIN]);
    let pin = entry.pin().expect("it is large enough");
    entry.set_string(b"short");
    assert_eq!(pin, [b'x'; Entry::PIN_MIN].as_slice());
    drop(entry);
    assert_eq!(pin.len(), Entry::PIN_MIN);
}

#[test]
fn a_large_string_can_be_a_part_of_other_memory() {
    let block = Bytes::from([b'x'; Entry::PIN_MIN + 100].to_vec());
    let value = block.slice(60..Entry::PIN_MIN + 60);
    let mut entry = Entry::shared_string(b"key", value.clone(), block.len());
    let pin = entry.pin().expect("it is large enough");
    assert_eq!((pin.as_ptr(), pin.len()), (value.as_ptr(), Entry::PIN_MIN), "not copied");
    assert!(entry.heap_bytes() >= block.len(), "all of the memory counts");
    drop((block, value, pin));
    entry.append(b"more");
    assert_eq!(text(&entry), [&[b'x'; Entry::PIN_MIN][..], b"more"].concat());
    let small = Entry::shared_string(b"key", Bytes::from_static(b"12"), 1_000);
    assert_eq!((small.encoding(), small.pin()), (Encoding::Int, None));
}

#[test]
fn an_expiry_comes_and_goes_beside_the_access() {
    let mut entry = Entry::string(b"key", b"value");
    entry.set_access(0xfc_abcdef);
    assert_eq!((entry.expiry(), entry.access()), (None, 0x4_abcdef));
    for expiry in [Some(0), Some(u64::MAX), None, None, Some(17)] {
        entry.set_expiry(expiry);
        assert_eq!((entry.expiry(), entry.access()), (expiry, 0x4_abcdef));
        assert_eq!((entry.key(), &*text(&entry)), (b"key".as_slice(), b"value".as_slice()));
    }
}

#[test]
fn copies_and_renamed_entries_keep_expiry_and_access() {
    for value in [b"17".to_vec(), b"text".to_vec(), vec![b'x'; Entry::PIN_MIN]] {
        let mut entry = Entry::string(b"key", &value);
        entry.set_access(77);
        entry.set_expiry(Some(1234));
        let at = entry.pin().map(|pin| pin.as_ptr());
        let copy = entry.copy_to(b"copy");
        let renamed = entry.rename(&[b'n'; 300]);
        for (entry, key) in [(&copy, b"copy".as_slice()), (&renamed, &[b'n'; 300])] {
            assert_eq!((entry.key(), text(entry)), (key, value.clone()));
            assert_eq!((entry.access(), entry.expiry()), (77, Some(1234)));
            assert_eq!(entry.data_type(), Type::String);
        }
        assert_eq!(renamed.pin().map(|pin| pin.as_ptr()), at, "a large value is not copied");
        assert!(copy.pin().is_none_or(|pin| Some(pin.as_ptr()) != at), "a copy is its own");
    }
}

#[test]
fn keys_of_any_length_are_kept() {
    for length in [0, 1, 127, 128, 16_383, 16_384, 1 << 21] {
        let key = vec![b'k'; length];
        assert_eq!(Entry::string(&key, b"value").key(), key);
        assert_eq!(text(&Entry::string(&key, b"value")), b"value");
    }
}

#[test]
fn the_remains_of_a_string_are_gone_at_once() {
    let entry = Entry::string(b"key", &[b'x'; 1 << 20]);
    assert!(!entry.is_large(), "it is one piece of memory, whatever its size");
    let mut remains = Remains::from(entry);
    assert!(remains.heap_bytes() > 1 << 20);
    assert!(remains.free_some(1));
    assert_eq!(remains.heap_bytes(), 0);
}

#[test]
fn an_entry_shows_its_key_and_not_its_value() {
    let shown = format!("{:?}", Entry::string(b"k\n", b"secret"));
    assert_eq!(shown, r#"Entry { key: k\n, kind: Embstr, len: 6, expiry: None }"#);
}

/// What happens to an entry.
#[derive(Clone, Debug)]
enum Step {
    Set(Vec<u8>),
    SetRaw(Vec<u8>),
    SetInteger(i64),
    Append(Vec<u8>),
    SetRange(usize, Vec<u8>),
    Expire(Option<u64>),
    Access(u32),
    Rename(Vec<u8>),
    Copy(Vec<u8>),
    /// Of blocks from 512 bytes on, or of smaller ones.
    Relocate(bool),
    Pin,
}

/// Texts around all the lengths at which something changes.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => vec(any::<u8>(), 0..100),
        2 => any::<i64>().prop_map(|number| number.to_string().into_bytes()),
        1 => (16_300..16_500_usize, any::<u8>()).prop_map(|(length, byte)| vec![byte; length]),
        2 => (900..1_100_usize, any::<u8>()).prop_map(|(length, byte)| vec![byte; length]),
        1 => (0..40_000_usize, any::<u8>()).prop_map(|(length, byte)| vec![byte; length]),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        texts().prop_map(Step::Set),
        texts().prop_map(Step::SetRaw),
        any::<i64>().prop_map(Step::SetInteger),
        texts().prop_map(Step::Append),
        (0..20_000_usize, texts()).prop_map(|(offset, text)| Step::SetRange(offset, text)),
        (0..200_usize, texts()).prop_map(|(offset, text)| Step::SetRange(offset, text)),
        any::<Option<u64>>().prop_map(Step::Expire),
        any::<u32>().prop_map(Step::Access),
        vec(any::<u8>(), 0..200).prop_map(Step::Rename),
        vec(any::<u8>(), 0..200).prop_map(Step::Copy),
        any::<bool>().prop_map(Step::Relocate),
        Just(Step::Pin),
    ]
}

#[derive(Default)]
struct Model {
    key: Vec<u8>,
    text: Vec<u8>,
    expiry: Option<u64>,
    access: u32,
}

fn apply(
    entry: Entry,
    model: &mut Model,
    step: Step,
    pins: &mut Vec<(bytes::Bytes, Vec<u8>)>,
) -> Entry {
    let mut entry = entry;
    match step {
        Step::Set(text) => {
            entry.set_string(&text);
            model.text = text;
        }
        Step::SetRaw(text) => {
            entry.set_raw_string(&text);
            model.text = text;
        }
        Step::SetInteger(value) => {
            entry.set_integer(value);
            model.text = value.to_string().into_bytes();
        }
        Step::Append(more) => {
            entry.append(&more);
            model.text.extend(more);
        }
        Step::SetRange(offset, with) => {
            entry.set_range(offset, &with);
            let end = offset + with.len();
            model.text.resize(model.text.len().max(end), 0);
            model.text[offset..end].copy_from_slice(&with);
        }
        Step::Expire(expiry) => {
            entry.set_expiry(expiry);
            model.expiry = expiry;
        }
        Step::Access(access) => {
            entry.set_access(access);
            model.access = access & ((1 << Entry::ACCESS_BITS) - 1);
        }
        Step::Relocate(large) => {
            entry.relocate(|size| (size >= 512) == large);
        }
        Step::Rename(key) => {
            entry = entry.rename(&key);
            model.key = key;
        }
        Step::Copy(key) => {
            entry = entry.copy_to(&key);
            model.key = key;
        }
        Step::Pin => pins.extend(entry.pin().map(|pin| (pin, model.text.clone()))),
    }
    entry
}

proptest! {
    #[test]
    fn an_entry_does_what_a_key_and_a_vector_do(
        key in vec(any::<u8>(), 0..200),
        steps in vec(steps(), 0..40),
    ) {
        let mut model = Model { key: key.clone(), ..Model::default() };
        let mut entry = Entry::string(&key, b"");
        let mut pins = Vec::new();
        for step in steps {
            entry = apply(entry, &mut model, step, &mut pins);
            prop_assert_eq!(entry.key(), &*model.key);
            prop_assert_eq!(&text(&entry), &model.text);
            prop_assert_eq!(entry.len(), model.text.len());
            prop_assert_eq!(entry.expiry(), model.expiry);
            prop_assert_eq!(entry.access(), model.access);
            prop_assert_eq!(entry.as_integer(), crate::parse_i64(&model.text));
            prop_assert_eq!(entry.pin().is_some(), model.text.len() >= Entry::PIN_MIN);
            prop_assert_eq!(entry.data_type(), Type::String);
        }
        for (pin, text) in pins {
            prop_assert_eq!(&*pin, &*text);
        }
    }
}

#[test]
fn a_string_apart_that_grows_within_its_block_is_pinned_by_its_length_all_the_same() {
    let mut entry = Entry::string(&[b'k'; 67], b"");
    entry.set_raw_string(&vec![1; Entry::PIN_MIN - 75]);
    assert!(entry.pin().is_none());
    entry.set_raw_string(&vec![2; Entry::PIN_MIN]);
    assert_eq!(entry.pin().as_deref(), Some(&vec![2; Entry::PIN_MIN][..]));
}

#[test]
fn a_text_that_spells_an_integer_stays_a_text() {
    let mut entry = Entry::integer(b"key", 7);
    entry.set_text(b"10");
    assert_eq!(entry.encoding(), Encoding::Embstr);
    assert_eq!((entry.text(&mut Digits::new()), entry.as_integer()), (&b"10"[..], Some(10)));
    entry.set_text(&[b'1'; 45]);
    assert_eq!(entry.encoding(), Encoding::Raw);
}
