// SPDX-License-Identifier: Apache-2.0
//! [`Value`]: a value in plain collections, and whether an entry holds the same.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use values::{
    Digits, Entry, HashRef, ListRef, SetRef, StreamId, StreamItem, StreamRef, Type, ZsetRef,
    parse_i64,
};

/// The items of a stream: their fields, each with its value.
pub(crate) type Items = BTreeMap<StreamId, Pairs>;

/// The fields of an item with their values.
pub(crate) type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// What an entry holds.
#[derive(Clone, PartialEq)]
pub(crate) enum Value {
    /// Bytes.
    String(Vec<u8>),
    /// Elements in their order.
    List(VecDeque<Vec<u8>>),
    /// Members.
    Set(BTreeSet<Vec<u8>>),
    /// Members with their scores.
    Zset(BTreeMap<Vec<u8>, f64>),
    /// Fields, those that have expired included.
    Hash(BTreeMap<Vec<u8>, Field>),
    /// Items by their ids.
    Stream(Items),
}

/// A field of a hash.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) value: Vec<u8>,
    pub(crate) expiry: Option<u64>,
}

impl Field {
    /// Whether it has not expired.
    pub(crate) fn is_live(&self, now_ms: u64) -> bool {
        self.expiry.is_none_or(|expiry| expiry > now_ms)
    }
}

impl Value {
    /// A value of this type with nothing in it.
    pub(crate) fn empty(of: Type) -> Self {
        match of {
            Type::List => Value::List(VecDeque::new()),
            Type::Set => Value::Set(BTreeSet::new()),
            Type::Zset => Value::Zset(BTreeMap::new()),
            Type::Hash => Value::Hash(BTreeMap::new()),
            Type::Stream => Value::Stream(Items::new()),
            _ => Value::String(Vec::new()),
        }
    }

    /// What a client can see of `entry`.
    pub(crate) fn of(entry: &Entry, now_ms: u64) -> Self {
        if let Some(list) = entry.list() {
            Value::List(list.iter().map(|element| element.to_vec()).collect())
        } else if let Some(set) = entry.set() {
            Value::Set(set.iter().map(|member| member.to_vec()).collect())
        } else if let Some(zset) = entry.zset() {
            Value::Zset(zset.iter().map(|(member, score)| (member.to_vec(), score)).collect())
        } else if let Some(hash) = entry.hash() {
            let field = |(name, value): (&[u8], &[u8])| {
                let expiry = hash.expiry_of(name, now_ms).expect("it was just seen");
                (name.to_vec(), Field { value: value.to_vec(), expiry })
            };
            Value::Hash(hash.iter(now_ms).map(field).collect())
        } else if let Some(stream) = entry.stream() {
            Value::Stream(stream.range(StreamId::MIN, StreamId::MAX).map(kept).collect())
        } else {
            Value::String(entry.text(&mut Digits::new()).to_vec())
        }
    }

    /// Its type.
    pub(crate) fn data_type(&self) -> Type {
        match self {
            Value::String(_) => Type::String,
            Value::List(_) => Type::List,
            Value::Set(_) => Type::Set,
            Value::Zset(_) => Type::Zset,
            Value::Hash(_) => Type::Hash,
            Value::Stream(_) => Type::Stream,
        }
    }

    /// Elements that have not expired; bytes of a string.
    pub(crate) fn len(&self, now_ms: u64) -> usize {
        match self {
            Value::String(text) => text.len(),
            Value::List(list) => list.len(),
            Value::Set(set) => set.len(),
            Value::Zset(zset) => zset.len(),
            Value::Stream(items) => items.len(),
            Value::Hash(fields) => fields.values().filter(|field| field.is_live(now_ms)).count(),
        }
    }

    /// Forgets fields that have expired.
    pub(crate) fn forget_expired(&mut self, now_ms: u64) {
        if let Value::Hash(fields) = self {
            fields.retain(|_, field| field.is_live(now_ms));
        }
    }

    /// Checks that `entry` holds this, and that all ways to read it lead to the same.
    pub(crate) fn check(&self, entry: &Entry, now_ms: u64) {
        assert_eq!(entry.data_type(), self.data_type(), "{}", entry.key().escape_ascii());
        assert!(!entry.encoding().name().is_empty() && entry.heap_bytes() > 0);
        match self {
            Value::String(text) => check_string(text, entry),
            Value::List(list) => check_list(list, entry.list().expect("it is a list")),
            Value::Set(set) => check_set(set, entry.set().expect("it is a set")),
            Value::Zset(zset) => check_zset(zset, entry.zset().expect("it is a sorted set")),
            Value::Stream(items) => check_stream(items, entry.stream().expect("it is a stream")),
            Value::Hash(hash) => check_hash(hash, entry.hash().expect("it is a hash"), now_ms),
        }
        if !matches!(self, Value::Hash(_)) {
            assert_eq!(entry.len(), self.len(now_ms));
        }
    }
}

/// Only how much it is: values are long.
impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::String(text) if text.len() <= 40 => write!(f, "\"{}\"", text.escape_ascii()),
            Value::List(list) if list.len() <= 8 => {
                let texts = list.iter().map(|text| text.escape_ascii().to_string());
                f.debug_list().entries(texts).finish()
            }
            Value::Set(set) if set.len() <= 8 => {
                let texts = set.iter().map(|text| text.escape_ascii().to_string());
                f.debug_set().entries(texts).finish()
            }
            Value::Zset(zset) if zset.len() <= 8 => {
                let pairs =
                    zset.iter().map(|(text, score)| (text.escape_ascii().to_string(), score));
                f.debug_map().entries(pairs).finish()
            }
            Value::Hash(hash) if hash.len() <= 8 => {
                let text = |text: &[u8]| text.escape_ascii().to_string();
                let pairs = hash
                    .iter()
                    .map(|(name, field)| (text(name), (text(&field.value), field.expiry)));
                f.debug_map().entries(pairs).finish()
            }
            _ => write!(f, "a {} of {}", self.data_type().name(), self.len(0)),
        }
    }
}

fn check_string(text: &[u8], entry: &Entry) {
    let mut digits = Digits::new();
    let seen = entry.text(&mut digits);
    assert!(seen == text, "{:?} of {} bytes, {} expected", entry, seen.len(), text.len());
    assert_eq!(entry.as_integer(), parse_i64(text));
    let pin = entry.pin();
    assert_eq!(pin.is_some(), text.len() >= Entry::PIN_MIN, "{} bytes", text.len());
    assert!(pin.is_none_or(|pin| pin[..] == *text), "a pin is not the value");
}

fn check_list(list: &VecDeque<Vec<u8>>, seen: ListRef<'_>) {
    seen.check_integrity();
    assert_eq!(seen.len(), list.len());
    assert!(seen.iter().eq(list.iter().map(Vec::as_slice)), "a list, forwards");
    assert!(seen.iter().rev().eq(list.iter().rev().map(Vec::as_slice)), "a list, backwards");
}

fn check_set(set: &BTreeSet<Vec<u8>>, seen: SetRef<'_>) {
    seen.check_integrity();
    assert_eq!(seen.len(), set.len());
    let members: BTreeSet<Vec<u8>> = seen.iter().map(|member| member.to_vec()).collect();
    assert!(members == *set, "a set");
    assert!(set.iter().all(|member| seen.contains(member)), "a member is not found");
}

/// An item as it is kept in a model.
fn kept(item: StreamItem<'_>) -> (StreamId, Pairs) {
    (item.id, item.pairs().map(|(field, value)| (field.to_vec(), value.to_vec())).collect())
}

fn check_stream(items: &Items, seen: StreamRef<'_>) {
    seen.check_integrity();
    assert_eq!(seen.len(), items.len());
    let all: Items = seen.range(StreamId::MIN, StreamId::MAX).map(kept).collect();
    assert!(all == *items, "a stream, forwards");
    let ids = seen.range_rev(StreamId::MIN, StreamId::MAX).map(|item| item.id);
    assert!(ids.eq(items.keys().rev().copied()), "a stream, backwards");
    assert!(items.keys().all(|id| seen.get(*id).is_some()), "an item is not found");
}

fn check_zset(zset: &BTreeMap<Vec<u8>, f64>, seen: ZsetRef<'_>) {
    seen.check_integrity();
    assert_eq!(seen.len(), zset.len());
    let order = in_order(zset);
    assert!(seen.iter().eq(order.iter().copied()), "a sorted set, forwards");
    assert!(seen.iter().rev().eq(order.iter().rev().copied()), "a sorted set, backwards");
    for (rank, (member, score)) in order.into_iter().enumerate() {
        assert_eq!((seen.score(member), seen.rank(member)), (Some(score), Some(rank)));
    }
}

/// The members of a sorted set in their order.
pub(crate) fn in_order(zset: &BTreeMap<Vec<u8>, f64>) -> Vec<(&[u8], f64)> {
    let mut order: Vec<_> =
        zset.iter().map(|(member, score)| (member.as_slice(), *score)).collect();
    // Members are ascending already, and the sort is stable. -0.0 and 0.0 are the same score.
    order.sort_by(|a, b| a.1.partial_cmp(&b.1).expect("NaN is no score"));
    order
}

fn check_hash(fields: &BTreeMap<Vec<u8>, Field>, seen: HashRef<'_>, now_ms: u64) {
    seen.check_integrity();
    let live = || fields.iter().filter(|(_, field)| field.is_live(now_ms));
    let count = live().count();
    // Expired fields may be there, or have been removed.
    assert!((count..=fields.len()).contains(&seen.len()), "{} fields, {count} live", seen.len());
    assert_eq!(seen.live(now_ms), count);
    assert!(seen.may_have_expired(now_ms) || seen.len() == count, "expired fields are not noticed");
    let mut pairs: Vec<_> = seen.iter(now_ms).collect();
    pairs.sort_unstable();
    assert!(pairs.into_iter().eq(live().map(|(name, field)| (&name[..], &field.value[..]))));
    for (name, field) in fields {
        let is_live = field.is_live(now_ms);
        assert_eq!(seen.contains(name, now_ms), is_live);
        assert_eq!(seen.get(name, now_ms), is_live.then_some(&field.value[..]));
        assert_eq!(seen.expiry_of(name, now_ms), is_live.then_some(field.expiry));
        // It may say a little later than that: passes over large hashes have pauses.
        let may_go = !is_live || field.expiry.is_none() || seen.next_expiry().is_some();
        assert!(may_go, "a field stays for ever");
    }
}
