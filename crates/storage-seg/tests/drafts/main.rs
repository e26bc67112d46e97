// SPDX-License-Identifier: Apache-2.0
//! Values that arrive in pieces, between all that a store does otherwise.

mod memory;
#[path = "../support/mod.rs"]
mod support;

use clock::Ticks;
use std::collections::HashMap;
use std::time::Duration;
use storage::{Announced, Condition, Draft, Expiry, Item, Put, Receive, Store, StoreError};
use storage_seg::{Builder, Eviction, SegDraft, SegStore};
use support::{HEADER, Random, check, describe, flags, name};

const NOW: Ticks = Ticks::from_millis(1_000);
const SEGMENT: usize = 64 << 10;
const MEMORY: u64 = 16 << 20;
const VALUE_MAX: usize = 2 << 20;

fn builder() -> Builder {
    let builder = SegStore::builder().memory(MEMORY).value_max(VALUE_MAX as u64);
    builder.segment_bytes(SEGMENT as u64).seed(8)
}

fn build(builder: &Builder) -> SegStore {
    builder.build().expect("the options are possible")
}

/// A value that is arriving.
struct Arriving {
    draft: SegDraft,
    key: u64,
    stamp: u64,
    value: Vec<u8>,
    there: usize,
}

impl Arriving {
    fn try_begin(
        store: &mut SegStore,
        key: u64,
        stamp: u64,
        length: usize,
        expiry: Expiry,
    ) -> Result<Self, StoreError> {
        let value = describe(key, stamp, length - HEADER);
        let name = name(key);
        let announced = Announced::new(&name, length).flags(flags(key)).expiry(expiry);
        let draft = store.begin(announced, NOW)?;
        Ok(Arriving { draft, key, stamp, value, there: 0 })
    }

    #[track_caller]
    fn begin(store: &mut SegStore, key: u64, stamp: u64, length: usize) -> Self {
        Self::try_begin(store, key, stamp, length, Expiry::NEVER).expect("it fits")
    }

    fn left(&self) -> usize {
        self.value.len() - self.there
    }

    /// Receives into the place that the draft has for the next bytes.
    fn fill_place(&mut self, store: &mut SegStore, most: usize) {
        if let Some(place) = store.place(&mut self.draft, most, NOW) {
            let n = place.len();
            place.copy_from_slice(&self.value[self.there..][..n]);
            store.placed(&mut self.draft, n);
            self.there += n;
        }
    }

    fn try_more(&mut self, store: &mut SegStore, mut bytes: usize) -> Result<(), StoreError> {
        if self.stamp % 2 == 1 {
            let before = self.there;
            self.fill_place(store, bytes);
            bytes -= self.there - before;
        }
        let piece = &self.value[self.there..][..bytes.min(self.left())];
        let result = store.append(&mut self.draft, piece, NOW);
        self.there += piece.len();
        let stats = store.stats();
        assert!(stats.used_bytes <= stats.limit_bytes, "{stats:?}");
        result
    }

    #[track_caller]
    fn more(&mut self, store: &mut SegStore, bytes: usize) {
        let result = self.try_more(store, bytes);
        assert_eq!(result, Ok(()), "{:?}", store.report(NOW));
    }

    #[track_caller]
    fn all(mut self, store: &mut SegStore) -> Self {
        while self.left() > 0 {
            self.more(store, 16 << 10);
        }
        self
    }

    /// Commits the value and reads it back.
    #[track_caller]
    fn commit(self, store: &mut SegStore) {
        let Arriving { draft, key, stamp, value, .. } = self;
        store.commit(draft, Condition::Always, NOW).expect("it fits");
        reads(store, key, stamp, value.len());
    }
}

#[track_caller]
fn reads(store: &mut SegStore, key: u64, stamp: u64, length: usize) {
    let item = store.get(&name(key), NOW).expect("it was just written");
    assert_eq!((check(&item, key), item.value().len()), (vec![stamp], length), "key {key}");
}

#[track_caller]
fn put(store: &mut SegStore, key: u64, stamp: u64, length: usize) {
    let (name, value) = (name(key), describe(key, stamp, length - HEADER));
    store.put(Put::new(&name, &value).flags(flags(key)), NOW).expect("others can go");
}

fn expire(store: &mut SegStore, turns: usize) {
    for _ in 0..turns {
        store.expire(NOW, 64);
    }
}

/// Nothing is left of items, drafts and clears.
#[track_caller]
fn assert_empty(store: &mut SegStore) {
    store.clear();
    expire(store, 200);
    store.check_integrity();
    let stats = store.stats();
    assert_eq!((stats.items, stats.used_bytes), (0, stats.index_bytes), "{stats:?}");
}

/// Values of all sizes arrive in pieces of all sizes, several at a time on each handle, while others are put, evicted,
/// cleared and read.
#[test]
fn values_arrive_while_others_are_written_and_evicted() {
    for (workers, integrity) in [(1, false), (1, true), (3, false)] {
        for eviction in support::policies().filter(|&policy| policy != Eviction::None) {
            let builder = builder().workers(workers).integrity(integrity).eviction(eviction);
            let mut handles = vec![build(&builder)];
            (1..workers).for_each(|_| handles.push(handles[0].clone()));
            arrive(&mut handles);
        }
    }
}

fn arrive(handles: &mut Vec<SegStore>) {
    const KEYS: u64 = 60;
    let mut random = Random::new(3);
    let mut written = HashMap::new();
    let mut drafts: Vec<(usize, Arriving)> = Vec::new();
    for stamp in 1..1_500 {
        let at = random.below(handles.len() as u64) as usize;
        let store = &mut handles[at];
        let key = random.below(KEYS);
        let length = HEADER + ((1 + random.below(1 << 20) as usize) >> random.below(8));
        match random.below(20) {
            0..4 if drafts.len() < 9 => {
                drafts.push((at, Arriving::begin(store, key, stamp, length)));
            }
            0..7 if !drafts.is_empty() => {
                let chosen = random.below(drafts.len() as u64) as usize;
                let (at, draft) = drafts.swap_remove(chosen);
                if random.below(4) > 0 {
                    let (key, stamp, length) = (draft.key, draft.stamp, draft.value.len());
                    draft.all(&mut handles[at]).commit(&mut handles[at]);
                    written.insert(key, (stamp, length));
                }
                handles[at].rest();
            }
            7..12 => {
                put(store, key, stamp, length);
                written.insert(key, (stamp, length));
            }
            12 if random.below(20) == 0 => {
                store.clear();
                written.clear();
            }
            _ => {}
        }
        handles[at].rest();
        for (at, draft) in &mut drafts {
            draft.more(&mut handles[*at], random.below(30_000) as usize);
            handles[*at].rest();
        }
        let store = &mut handles[at];
        let other = random.below(KEYS);
        let known = written.get(&other).copied();
        match (store.get(&name(other), NOW), known) {
            (Some(item), Some((stamp, length))) => {
                assert_eq!((check(&item, other), item.value().len()), (vec![stamp], length));
            }
            (Some(_), None) => panic!("key {other} was cleared or never written"),
            (None, _) => {}
        }
        store.expire(NOW, 16);
        if stamp % 50 == 0 {
            store.check_integrity();
        }
        store.rest();
    }
    drafts.clear();
    handles.truncate(1);
    assert_empty(&mut handles[0]);
}

/// Given up after any number of pieces, a draft leaves the memory as it was.
#[test]
fn a_draft_that_is_given_up_leaves_nothing() {
    for workers in [1, 2] {
        for others in [false, true] {
            let mut store = build(&builder().workers(workers));
            if others {
                // The draft's segment has items already.
                (0..5).for_each(|key| put(&mut store, key, 1, 20_000));
            }
            for length in [30_000, SEGMENT * 3 / 2, 1 << 20, VALUE_MAX] {
                for steps in 0..20 {
                    if others {
                        put(&mut store, 10, steps, 20_000);
                    }
                    expire(&mut store, 2);
                    let before = store.stats();
                    let mut draft = Arriving::begin(&mut store, 100, steps, length);
                    (0..steps).for_each(|_| draft.more(&mut store, length.div_ceil(19)));
                    store.check_integrity();
                    if steps % 2 == 0 {
                        drop(draft);
                    } else {
                        draft = draft.all(&mut store);
                        let refused = store.commit(draft.draft, Condition::IfPresent, NOW);
                        assert_eq!(refused, Err(StoreError::NotFound));
                    }
                    expire(&mut store, 2);
                    store.check_integrity();
                    let after = store.stats();
                    let count = |stats: storage::Stats| (stats.items, stats.item_bytes);
                    assert_eq!(count(after), count(before));
                    let slack = if others { SEGMENT as u64 } else { 0 };
                    let (used, most) = (after.used_bytes, before.used_bytes + slack);
                    assert!(used <= most, "{used} bytes, {most} expected after {steps} steps");
                }
            }
            assert_empty(&mut store);
        }
    }
}

/// A value of which nothing comes has the memory that its length alone claims: none.
#[test]
fn a_place_is_as_large_as_what_has_arrived_allows() {
    let mut store = build(&builder());
    let mut draft = Arriving::begin(&mut store, 2, 2, 1 << 20);
    let used = |store: &SegStore| store.stats().used_bytes - store.stats().index_bytes;
    let place_of = |store: &mut SegStore, draft: &mut Arriving| {
        store.place(&mut draft.draft, usize::MAX, NOW).map_or(0, |place| place.len())
    };
    draft.more(&mut store, 1_000);
    assert_eq!(place_of(&mut store, &mut draft), 0, "a little of it comes as a piece");
    assert!(used(&store) <= SEGMENT as u64 / 4, "a page: {:?}", store.stats());
    draft.more(&mut store, 15_000);
    let len = place_of(&mut store, &mut draft);
    assert!((112_000..113_000).contains(&len), "{len}");
    assert!(used(&store) <= 8 * 16_000 + SEGMENT as u64, "{:?}", store.stats());
    draft.fill_place(&mut store, 10_000);
    assert_eq!(draft.there, 26_000, "no more than is asked for");
    while draft.left() > 0 {
        draft.fill_place(&mut store, usize::MAX);
    }
    assert_eq!(place_of(&mut store, &mut draft), 0, "nothing is missing");
    draft.commit(&mut store);
    assert_empty(&mut store);
}

/// What was announced before a clear can be read after its commit, and no item of before the clear, although the same
/// segment may have both.
#[test]
fn a_clear_leaves_a_draft_alone() {
    for workers in [1, 2] {
        for integrity in [false, true] {
            let mut store = build(&builder().workers(workers).integrity(integrity));
            for (round, length) in [20_000, 40_000, 70_000, 1 << 20].into_iter().enumerate() {
                for clears in 1..4 {
                    (0..3).for_each(|key| put(&mut store, key, 1, 15_000));
                    let mut shares = Arriving::begin(&mut store, 3, 1, length);
                    let mut alone = Arriving::begin(&mut store, 4, 1, length);
                    for draft in [&mut shares, &mut alone] {
                        draft.more(&mut store, length / 2);
                    }
                    for _ in 0..clears {
                        store.clear();
                        expire(&mut store, 20);
                        put(&mut store, 9, round as u64, 20_000);
                    }
                    for draft in [&mut shares, &mut alone] {
                        draft.more(&mut store, length);
                    }
                    shares.commit(&mut store);
                    alone.commit(&mut store);
                    expire(&mut store, 20);
                    (3..5).for_each(|key| reads(&mut store, key, 1, length));
                    assert!((0..3).all(|key| store.get(&name(key), NOW).is_none()));
                    store.check_integrity();
                    store.clear();
                    assert!((0..10).all(|key| store.get(&name(key), NOW).is_none()));
                }
            }
            assert_empty(&mut store);
        }
    }
}

/// Its expiry may pass while a value arrives, and it counts from the beginning.
#[test]
fn an_expiry_may_pass_before_the_value_is_there() {
    let mut store = build(&builder());
    for length in [30_000, 1 << 20] {
        let expiry = Expiry::after(Duration::from_secs(5), NOW);
        let end = Ticks::from_millis(NOW.as_millis() + 5_000);
        let begin = |store: &mut SegStore, key| {
            put(store, key + 10, 1, 20_000);
            let begun = Arriving::try_begin(store, key, 1, length, expiry);
            begun.expect("it fits").all(store)
        };
        let (early, late) = (begin(&mut store, 1), begin(&mut store, 2));
        early.commit(&mut store);
        let before = Ticks::from_millis(end.as_millis() - 1);
        assert_eq!(store.get(&name(1), before).map(|item| item.expiry()), Some(expiry));
        assert!(store.get(&name(1), end).is_none());
        store.commit(late.draft, Condition::IfAbsent, end).expect("it fits");
        assert!(store.get(&name(2), end).is_none());
        for _ in 0..20 {
            store.expire(end, 64);
        }
        assert!(!store.delete(&name(2), NOW), "it was swept");
        store.check_integrity();
    }
    assert_empty(&mut store);
}

/// Several values arrive for one key while it is written and deleted.
#[test]
fn the_last_commit_of_a_key_is_read() {
    for workers in [1, 2] {
        let mut store = build(&builder().workers(workers));
        for length in [30_000, 1 << 20] {
            put(&mut store, 1, 1, 100);
            let [one, other, third] = [2, 3, 4]
                .map(|stamp| Arriving::begin(&mut store, 1, stamp, length).all(&mut store));
            reads(&mut store, 1, 1, 100);
            other.commit(&mut store);
            put(&mut store, 1, 5, length);
            let version = store.get(&name(1), NOW).expect("just written").version();
            one.commit(&mut store);
            let refused = store.commit(third.draft, Condition::IfVersion(version), NOW);
            assert_eq!(refused, Err(StoreError::Exists));
            reads(&mut store, 1, 2, length);
            assert!(store.delete(&name(1), NOW));
            store.check_integrity();
        }
        assert_empty(&mut store);
    }
}

/// A draft is for the store that began it.
#[test]
#[should_panic(expected = "a draft of another store")]
fn another_store_does_not_take_a_draft() {
    let mut draft = Arriving::begin(&mut build(&builder()), 1, 1, 1 << 20);
    let _ = draft.try_more(&mut build(&builder()), 1);
}

#[test]
#[should_panic(expected = "that are missing")]
fn more_than_announced_is_a_bug() {
    let mut store = build(&builder());
    let mut draft = Arriving::begin(&mut store, 1, 1, 1 << 20);
    let more = vec![1; (1 << 20) + 1];
    let _ = store.append(&mut draft.draft, &more, NOW);
}

#[test]
#[should_panic(expected = "that are missing")]
fn less_than_announced_is_a_bug() {
    let mut store = build(&builder());
    let draft = Arriving::begin(&mut store, 1, 1, 1 << 20);
    let _ = store.commit(draft.draft, Condition::Always, NOW);
}

/// Each has a wide segment while it arrives, of which there are far fewer than items.
#[test]
fn values_that_share_a_wide_segment_leave_their_own_to_others() {
    let builder = SegStore::builder().memory(64 << 20);
    let mut store = builder.build().expect("the options are possible");
    for pair in 0..600_u64 {
        let names = [2 * pair, 2 * pair + 1].map(u64::to_le_bytes);
        let drafts = names.map(|name| {
            let mut draft = store.begin(Announced::new(&name, 40_000), NOW).expect("it is small");
            store.append(&mut draft, &[1; 40_000], NOW).expect("there is memory");
            assert_eq!(draft.outside_bytes(), 0, "pair {pair}");
            draft
        });
        for draft in drafts {
            store.commit(draft, Condition::Always, NOW).expect("it is whole");
        }
        store.expire(NOW, 16);
    }
    assert_eq!((store.stats().items, store.stats().evicted), (1_200, 0));
    store.check_integrity();
}
