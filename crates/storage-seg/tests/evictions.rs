// SPDX-License-Identifier: Apache-2.0
//! The statistics of evictions and compaction: why items were evicted and how old they were, with each
//! reason provoked, and how many bytes were copied.

use clock::Ticks;
use std::time::Duration;
use storage::{Announced, Draft, Expiry, Put, Receive, Store};
use storage_seg::{Builder, Eviction, EvictionReport, SegStore};

const SEGMENT: usize = 64 << 10;

/// A store that checks its report each time it is asked for one.
struct Bench {
    store: SegStore,
    now: Ticks,
}

impl Bench {
    fn new(builder: Builder) -> Self {
        let store = builder.segment_bytes(SEGMENT as u64).seed(1).build();
        let store = store.expect("the options are possible");
        Bench { store, now: Ticks::from_millis(1_000) }
    }

    fn set(&mut self, key: u64, len: usize, expiry: Expiry) {
        let (name, value) = (key.to_le_bytes(), vec![1; len]);
        self.store.put(Put::new(&name, &value).expiry(expiry), self.now).expect("others can go");
    }

    fn seconds(&self, seconds: u64) -> Expiry {
        Expiry::after(Duration::from_secs(seconds), self.now)
    }

    /// Lets time pass, in which expired items are swept.
    fn pass(&mut self, time: Duration) {
        self.now = self.now + time;
        while self.store.expire(self.now, 100) > 0 {}
    }

    fn detail(&self, wanted: &str) -> u64 {
        let mut found = None;
        self.store.details(self.now, &mut |name, value| {
            if name == wanted {
                found = value.to_string().parse().ok();
            }
        });
        found.unwrap_or_else(|| panic!("{wanted} is not shown"))
    }

    /// The reasons add up to all evicted items, and `details` has the same numbers.
    fn evictions(&self) -> EvictionReport {
        let evictions = self.store.report(self.now).evictions;
        assert_eq!(evictions.needed + evictions.displaced, evictions.items, "{evictions:?}");
        assert_eq!(evictions.items, self.store.stats().evicted);
        assert_eq!(self.detail("item_evict") + self.detail("hash_crowded"), evictions.items);
        assert_eq!(self.detail("item_evict_needed"), evictions.needed);
        assert_eq!(self.detail("item_evict_displaced"), evictions.displaced);
        assert_eq!(self.detail("item_evict_early"), evictions.early);
        assert!(evictions.early <= self.detail("item_evict"));
        self.store.check_integrity();
        evictions
    }
}

#[test]
fn what_the_policy_drops_was_needed() {
    for name in ["scored", "merge", "s3fifo", "fifo", "random", "random-fifo", "cte", "util"] {
        let builder = SegStore::builder().memory(4 << 20).value_max(10_000);
        let mut bench = Bench::new(builder.eviction(name.parse().expect("it is a policy")));
        (0..10_000).for_each(|key| bench.set(key, 1_000, Expiry::NEVER));
        let evictions = bench.evictions();
        assert!(evictions.needed > 5_000, "{name}: {evictions:?}");
        assert_eq!((evictions.displaced, evictions.early), (0, 0), "{name}");
    }
}

/// While values that arrive have all lone and wide segments, a large one takes a row of neighbours, whatever lies there.
#[test]
fn what_lies_where_a_row_goes_is_displaced() {
    let builder = SegStore::builder().memory(16 << 20).value_max(2 << 20);
    // At random: so nowhere lie many neighbours that had to give their memory to those values.
    let mut bench = Bench::new(builder.eviction(Eviction::Random));
    let mut key = 0;
    while bench.evictions().items == 0 {
        bench.set(key, 4_000, Expiry::NEVER);
        key += 1;
    }
    let now = bench.now;
    let announced = Announced::new(b"arrives", 1 << 20);
    let begin = || bench.store.begin(announced, now).expect("there is memory");
    let mut drafts: Vec<_> = std::iter::repeat_with(begin).take(1_500).collect();
    // Those in such a segment have nothing outside of the store.
    drafts.iter_mut().for_each(|draft| bench.store.append(draft, b"x", now).expect("it fits"));
    let placed = drafts.iter().filter(|draft| draft.outside_bytes() == 0).count();
    assert!((1_000..1_500).contains(&placed), "all are in use: {placed}");
    assert_eq!(bench.evictions().displaced, 0);
    bench.set(key, 2 << 20, Expiry::NEVER);
    let evictions = bench.evictions();
    // Of a row of 33 segments some were free or withdrawn.
    let in_segments = 8 * 16..=33 * 16;
    assert!(in_segments.contains(&evictions.displaced), "{evictions:?}");
    assert_eq!((bench.detail("item_squeeze"), bench.detail("hash_crowded")), (0, 0));
}

/// The policy would keep items that are used much. If there are no others, one has to be evicted.
#[test]
fn what_is_to_stay_and_finds_no_room_is_displaced() {
    let builder = SegStore::builder().memory(1 << 20).value_max(60_000);
    let mut bench = Bench::new(builder.eviction(Eviction::S3Fifo { admission_ratio: 0.1 }));
    for key in 0..100 {
        bench.set(key, 40_000, Expiry::NEVER);
        for used in 0..=key {
            (0..3).for_each(|_| _ = bench.store.get(&used.to_le_bytes(), bench.now));
        }
    }
    let evictions = bench.evictions();
    let squeezed = bench.detail("item_squeeze");
    assert!(squeezed > 0 && squeezed <= evictions.displaced, "{squeezed} of {evictions:?}");
}

/// An item with a time to live is evicted early or expires, and never both.
#[test]
fn what_would_have_expired_by_itself_went_early() {
    let builder = SegStore::builder().memory(4 << 20).value_max(10_000);
    let mut bench = Bench::new(builder.eviction(Eviction::Fifo));
    let in_an_hour = bench.seconds(3_600);
    (0..5_000).for_each(|key| bench.set(key, 1_000, in_an_hour));
    let with_ttl = bench.evictions();
    assert!(with_ttl.early > 1_000, "{with_ttl:?}");
    assert_eq!((with_ttl.early, with_ttl.displaced), (with_ttl.needed, 0));

    // The rest expires, and the items written after it have no time to live.
    bench.pass(Duration::from_secs(3_600));
    (5_000..15_000).for_each(|key| bench.set(key, 1_000, Expiry::NEVER));
    let evictions = bench.evictions();
    assert_eq!(evictions.early, with_ttl.early);
    assert_eq!(evictions.early + bench.detail("item_expire"), 5_000);
    assert!(evictions.needed > with_ttl.needed);
}

/// A segment that is emptied has dead items too, which do not count, and its age is that of the others.
#[test]
fn victims_are_as_old_as_their_segments() {
    let builder = SegStore::builder().memory(4 << 20).value_max(10_000);
    let mut bench = Bench::new(builder.eviction(Eviction::Fifo));
    let (mut key, mut capacity) = (0, 0);
    while bench.store.stats().evicted == 0 {
        bench.set(key, 1_000, Expiry::NEVER);
        capacity = key;
        key += 1;
    }
    assert_eq!(bench.evictions().item_age, Some(Duration::ZERO), "time stands still");
    let before = bench.evictions().items;
    bench.pass(Duration::from_secs(10));
    (key..key + capacity / 2).for_each(|key| bench.set(key, 1_000, Expiry::NEVER));
    let evictions = bench.evictions();
    let old = (evictions.items - before) as f64 / evictions.items as f64;
    let age = evictions.item_age.expect("there were evictions");
    assert!((age.as_secs_f64() - 10.0 * old).abs() < 0.01, "{age:?}: {old} of 10 s");
    assert_eq!(bench.detail("item_evict_age_ms"), 10_000 * (evictions.items - before));
    assert_eq!(bench.detail("item_evict_age_mean_ms"), age.as_millis() as u64);
}

#[test]
fn compaction_tells_what_it_emptied_and_what_it_moved() {
    let builder = SegStore::builder().memory(16 << 20).value_max(10_000);
    let mut bench = Bench::new(builder);
    for round in 0..40 {
        // Some are written over and over, and others stay among them.
        for key in 0..1_000 {
            bench.set(key, 1_000, Expiry::NEVER);
            if key % 10 == 0 {
                bench.set(1_000 + round * 1_000 + key, 1_000, Expiry::NEVER);
            }
        }
    }
    let writes = bench.store.report(bench.now).writes;
    assert!(writes.cleaned_bytes > writes.compacted_bytes && writes.compacted_bytes > 0);
    assert_eq!(writes.cleaned_bytes, bench.detail("segment_compact") * SEGMENT as u64);
    assert_eq!(writes.cleaned_bytes, bench.detail("segment_compact_bytes"));
    let copied = bench.detail("item_compact_bytes") + bench.detail("item_relocate_bytes");
    let permille = copied as f64 / bench.detail("item_store_bytes") as f64 * 1000.0;
    assert_eq!(bench.detail("item_copy_permille"), permille.round() as u64);
    assert!(bench.detail("item_copy_permille") > 0);
    assert_eq!(bench.evictions().items, 0);
}

/// New items have 12 % of the segments with `scored`, and all of them where nothing is kept.
#[test]
fn the_share_of_the_new_tier_is_what_the_policy_gives_it() {
    for (name, share) in [("scored", 0.11..0.14), ("fifo", 1.0..1.1)] {
        let builder = SegStore::builder().memory(16 << 20).value_max(10_000);
        let mut bench = Bench::new(builder.eviction(name.parse().expect("it is a policy")));
        for key in 0..60_000_u64 {
            // Some are asked for all the time, and as many more come once.
            let popular = key * 7 % 3_000;
            if bench.store.get(&popular.to_le_bytes(), bench.now).is_none() {
                bench.set(popular, 1_000, Expiry::NEVER);
            }
            bench.set(10_000 + key, 1_000, Expiry::NEVER);
        }
        let segments = bench.store.report(bench.now).segments;
        let found = segments.new_share().expect("some are sealed");
        assert!(share.contains(&found), "{name}: {found}");
        let shown = bench.detail("segment_new_permille") as f64;
        assert_eq!(shown, (found * 1000.0).round());
    }
}

#[test]
fn no_more_is_evicted_while_what_was_waits_for_another_handle() {
    let now = Ticks::from_millis(1_000);
    let builder = SegStore::builder().memory(4 << 20).segment_bytes(SEGMENT as u64).workers(2);
    let mut writer = builder.seed(1).build().expect("the options are possible");
    let mut reader = writer.clone();
    let put = |writer: &mut SegStore, key: u64| {
        writer.put(Put::new(&key.to_le_bytes(), &[1; 100]), now).map(|_| ())
    };
    (0..100_000).for_each(|key| put(&mut writer, key).expect("others can go"));
    let before = writer.stats();
    // As on a thread that has lost its CPU in the middle of an operation.
    let _ = reader.get(b"key", now);
    let refused = (100_000..200_000).find(|&key| put(&mut writer, key).is_err());
    assert!(refused.is_some(), "nothing becomes free");
    let evicted = writer.stats().evicted - before.evicted;
    assert!(evicted < before.items / 2, "{evicted} of {} items", before.items);
    reader.rest();
    put(&mut writer, 0).expect("others can go");
    writer.check_integrity();
}
