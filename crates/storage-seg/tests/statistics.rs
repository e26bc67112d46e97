// SPDX-License-Identifier: Apache-2.0
//! A store's report, checked against stores that were filled in known ways.

use clock::{Clock, Now, Ticks};
use std::collections::BTreeMap;
use std::time::Duration;
use storage::{Change, Cursor, Expiry, Item, Put, Scan, Store};
use storage_seg::{Builder, ByteReport, ClassReport, Eviction, Report, SegStore};

const SEGMENT: u64 = 64 << 10;

/// A store and its clock. 1024 segments: classes of whole octaves.
struct Bench {
    store: SegStore,
    clock: Clock,
}

impl Bench {
    fn new() -> Self {
        Self::with(SegStore::builder().memory(64 << 20))
    }

    fn with(builder: Builder) -> Self {
        let store = builder.segment_bytes(SEGMENT).seed(7).build().expect("it is possible");
        let clock = Clock::manual(1_700_000_000_000);
        clock.advance(Duration::from_secs(1_000));
        Bench { store, clock }
    }

    fn now(&self) -> Ticks {
        let Now { ticks, .. } = self.clock.now();
        ticks
    }

    fn advance(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    fn set(&mut self, key: u64, value: &[u8], ttl: Option<u64>) {
        let now = self.now();
        let after = |seconds| Expiry::after(Duration::from_secs(seconds), now);
        let expiry = ttl.map_or(Expiry::NEVER, after);
        let put = self.store.put(Put::new(&key.to_le_bytes(), value).expiry(expiry), now);
        put.expect("there is room");
    }

    fn delete(&mut self, key: u64) {
        let now = self.now();
        assert!(self.store.delete(&key.to_le_bytes(), now));
    }

    /// Turns of the loop until nothing more comes back.
    fn sweep(&mut self) {
        let now = self.now();
        for _ in 0..1_000 {
            self.store.expire(now, 1_000);
        }
    }

    fn report(&self) -> Report {
        let report = self.store.report(self.now());
        let segments = report.segments;
        let parts = [
            segments.free,
            segments.open,
            segments.sealed,
            segments.claimed,
            segments.limbo,
            segments.withdrawn,
        ];
        // Wide and lone segments count by their memory, rounded up in each sum.
        let is_whole = report.memory.segments.is_multiple_of(segments.bytes);
        let rounded = if is_whole { 0 } else { parts.len() as u64 };
        let differs = |one: u64, other: u64| one.abs_diff(other) > rounded;
        assert!(!differs(parts.iter().sum::<u64>(), segments.total), "{segments:?}");
        let in_classes: u64 = report.classes.iter().map(|class| class.segments).sum();
        assert!(!differs(in_classes, segments.open + segments.sealed + segments.claimed));
        let ByteReport { live, dead, free, .. } = report.bytes;
        let in_service = (segments.total - segments.withdrawn) * segments.bytes;
        assert!((live + dead + free).is_multiple_of(segments.bytes), "{report:?}");
        assert!(!differs((live + dead + free) / segments.bytes, in_service / segments.bytes));
        let sum = |of: fn(&ClassReport) -> u64| report.classes.iter().map(of).sum::<u64>();
        assert_eq!(live, sum(|class| class.live_bytes));
        assert!(dead >= sum(|class| class.dead_bytes + class.unswept_bytes), "{report:?}");
        assert!(free >= segments.free * segments.bytes, "{report:?}");
        let evictions = report.evictions;
        assert_eq!(evictions.needed + evictions.displaced, evictions.items);
        assert!(segments.sealed_new <= segments.sealed && evictions.early <= evictions.items);
        report
    }

    fn class(&self, ttl_from: Option<u64>) -> ClassReport {
        let report = self.report();
        let class = report.classes.iter().find(|class| class.ttl_from == ttl_from);
        *class.unwrap_or_else(|| panic!("no class from {ttl_from:?}: {report:?}"))
    }

    fn details(&self) -> BTreeMap<String, String> {
        let mut lines = BTreeMap::new();
        self.store.details(self.now(), &mut |name, value| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
            assert!(name.chars().all(is_plain), "{name:?}");
            assert!(lines.insert(name.to_owned(), value.to_string()).is_none(), "{name} twice");
        });
        lines
    }
}

#[test]
fn an_empty_store_has_nothing_in_use() {
    let bench = Bench::new();
    let report = bench.report();
    assert!(report.classes.is_empty());
    assert_eq!((report.segments.total, report.segments.bytes), (1024, SEGMENT));
    assert_eq!(report.segments.free + report.segments.withdrawn, 1024);
    assert_eq!((report.evictions.age, report.evictions.merge_yield()), (None, None));
    assert_eq!((report.evictions.item_age, report.segments.new_share()), (None, None));
    assert_eq!((report.bytes.live, report.bytes.dead), (0, 0));
    let memory = report.memory;
    assert_eq!((memory.limit, memory.segments, memory.reserved), (64 << 20, 0, 0));
    assert_eq!(
        (memory.index, report.index.load, report.index.lines),
        (report.index.bytes, 0.0, 1.0)
    );
}

#[test]
fn items_are_counted_in_the_class_of_their_time_to_live() {
    let mut bench = Bench::new();
    (0..100).for_each(|key| bench.set(key, b"never", None));
    (100..150).for_each(|key| bench.set(key, &[1; 100], Some(90)));
    let never = bench.class(None);
    assert_eq!((never.segments, never.live_items, never.dead_items), (1, 100, 0));
    let live = bench.class(Some(64));
    assert_eq!((live.segments, live.live_items, live.dead_items), (1, 50, 0));
    assert_eq!(bench.report().classes.len(), 2);
    assert_eq!(never.live_bytes + live.live_bytes, bench.store.stats().item_bytes);
    assert!(live.live_bytes >= 50 * 108 && never.live_bytes >= 100 * 13);

    // Overwritten and deleted: the bytes stay until the segment is emptied.
    (100..120).for_each(|key| bench.set(key, &[2; 100], Some(90)));
    (120..125).for_each(|key| bench.delete(key));
    let class = bench.class(Some(64));
    assert_eq!((class.live_items, class.dead_items), (45, 25));
    assert_eq!(class.live_bytes, live.live_bytes / 50 * 45);
    assert_eq!(class.dead_bytes, live.live_bytes / 50 * 25);

    // A longer expiry moves the item to another class.
    let now = bench.now();
    let never = Change::Expire(Expiry::NEVER);
    bench.store.update(&130_u64.to_le_bytes(), now, |_| (never, ())).expect("it is there");
    assert_eq!((bench.class(Some(64)).live_items, bench.class(Some(64)).dead_items), (44, 26));
    assert_eq!(bench.class(None).live_items, 101);
}

#[test]
fn what_has_expired_or_was_cleared_is_unswept_until_it_is_swept() {
    let mut bench = Bench::new();
    (0..30).for_each(|key| bench.set(key, b"soon", Some(10)));
    (30..40).for_each(|key| bench.set(key, b"later", Some(100)));
    bench.delete(0);
    bench.advance(9);
    assert_eq!(bench.class(Some(8)).live_items, 29);
    bench.advance(1);
    let class = bench.class(Some(8));
    assert_eq!((class.live_items, class.unswept_items, class.dead_items), (0, 29, 1));
    assert_eq!((class.live_bytes, class.unswept_bytes), (0, 29 * class.dead_bytes));
    bench.sweep();
    let report = bench.report();
    assert_eq!(report.classes.len(), 1);
    assert_eq!((report.classes[0].ttl_from, report.classes[0].live_items), (Some(64), 10));

    bench.store.clear();
    let class = bench.class(Some(64));
    assert_eq!((class.live_items, class.unswept_items), (0, 10));
    assert_eq!(class.due_1m_bytes, SEGMENT, "it need not wait for its expiry");
    bench.sweep();
    assert!(bench.report().classes.is_empty());
    assert_eq!(bench.report().segments.free, 1024 - bench.report().segments.withdrawn);
}

#[test]
fn segments_are_due_when_their_last_item_is() {
    let mut bench = Bench::new();
    for (key, ttl) in [(1, 30), (2, 61), (3, 300), (4, 3_000), (5, 4_000)] {
        bench.set(key, b"x", Some(ttl));
    }
    bench.set(6, b"x", None);
    let due = |bench: &Bench| {
        let report = bench.report();
        let sum =
            |of: fn(&ClassReport) -> u64| report.classes.iter().map(of).sum::<u64>() / SEGMENT;
        [
            sum(|class| class.due_1m_bytes),
            sum(|class| class.due_10m_bytes),
            sum(|class| class.due_1h_bytes),
        ]
    };
    // 61 s is in the class from 32 s, and 3000 s and 4000 s in that from 2048 s.
    assert_eq!(due(&bench), [1, 3, 3]);
    assert_eq!(bench.class(None).due_1h_bytes, 0);
    bench.advance(1);
    assert_eq!(due(&bench), [2, 3, 3]);
    bench.advance(399);
    assert_eq!(due(&bench), [3, 3, 4], "what is overdue is about to be free");
    bench.sweep();
    assert_eq!(due(&bench), [0, 0, 1]);
}

#[test]
fn a_large_item_counts_with_all_its_memory() {
    let mut bench = Bench::new();
    bench.set(1, &vec![1; 200_000], Some(50));
    let (class, report) = (bench.class(Some(32)), bench.report());
    assert_eq!((class.segments, class.live_items, class.dead_bytes), (4, 1, 0));
    assert_eq!((report.segments.open, report.segments.sealed), (0, 4));
    let memory = report.memory.segments;
    assert_eq!(class.due_1m_bytes, memory);
    assert!((200_000..4 * SEGMENT).contains(&memory), "{memory}");
    bench.delete(1);
    assert_eq!(bench.report().memory.segments, report.bytes.dead + report.bytes.live, "in limbo");
    bench.sweep();
    assert_eq!(bench.report().memory.segments, 0);
}

#[test]
fn evictions_tell_the_age_of_what_went() {
    let builder = SegStore::builder().memory(4 << 20).value_max(10_000).eviction(Eviction::Fifo);
    let mut bench = Bench::with(builder);
    let mut key = 0;
    let mut write = |bench: &mut Bench, items: u64, pace: Duration| {
        for _ in 0..items {
            bench.set(key, &[1; 1_000], None);
            key += 1;
            if key % 20 == 0 {
                let now = bench.now();
                bench.store.expire(now, 100);
            }
            bench.clock.advance(pace);
        }
    };
    // Memory has room for so many items, so that is how many are written between the first of a
    // segment and its end.
    write(&mut bench, 20_000, Duration::from_millis(100));
    let report = bench.report();
    let in_memory = 64 * (report.segments.total - report.segments.withdrawn);
    let is_near = |age: Option<Duration>, pace_ms: u64| {
        let items = age.expect("there were evictions").as_millis() as u64 / pace_ms;
        assert!((in_memory - 600..=in_memory).contains(&items), "{items} of {in_memory}");
    };
    assert_eq!(report.evictions.items, bench.store.stats().evicted);
    assert!(report.evictions.segments > 200, "{report:?}");
    is_near(report.evictions.age, 100);
    is_near(report.evictions.age_recent, 100);
    assert_eq!(report.evictions.merge_yield(), Some(0.0));

    // With this policy segments go whole, and items are as old as these but for a fraction.
    let item_age = report.evictions.item_age.expect("there were evictions");
    assert!(
        item_age.abs_diff(report.evictions.age.unwrap()) < Duration::from_secs(60),
        "{report:?}"
    );

    // Ten times as fast: what goes is that much younger, which the mean since the start is slow to
    // show.
    write(&mut bench, 20_000, Duration::from_millis(10));
    let evictions = bench.report().evictions;
    is_near(evictions.age_recent, 10);
    is_near(evictions.item_age_recent, 10);
    assert!(evictions.age > evictions.age_recent.map(|age| age * 2), "{evictions:?}");

    bench.advance(1);
    let now = bench.now();
    bench.store.expire(now, 100);
    bench.advance(60);
    let evictions = bench.report().evictions;
    let recent = (evictions.age_recent, evictions.item_age_recent);
    assert_eq!(recent, (None, None), "a minute without evictions");
    assert!(bench.report().evictions.age.is_some());
}

#[test]
fn the_yield_is_what_evictions_keep_of_what_they_look_at() {
    let builder = SegStore::builder().memory(4 << 20).value_max(10_000);
    let mut bench = Bench::with(builder.eviction("s3fifo".parse().expect("it is a policy")));
    for key in 0..10_000 {
        bench.set(key, &[1; 1_000], None);
        // Every other one is used.
        if key % 2 == 0 {
            let now = bench.now();
            (0..3).for_each(|_| assert!(bench.store.get(&key.to_le_bytes(), now).is_some()));
        }
    }
    let evictions = bench.report().evictions;
    let (kept, examined) = (evictions.kept_bytes, evictions.examined_bytes);
    assert!(0 < kept && kept < examined, "{evictions:?}");
    assert_eq!(evictions.merge_yield(), Some(kept as f64 / examined as f64));
    // All items are of one size, so shares of bytes are shares of items.
    let details = bench.details();
    let number = |name: &str| details[name].parse::<u64>().expect("a number");
    assert_eq!(kept * number("item_examine"), examined * number("item_relocate"));
    assert_eq!(number("segment_yield_permille"), (kept * 1000 + examined / 2) / examined);
    assert_eq!(number("item_relocate_bytes"), kept);
}

/// Each byte of the segments in service is live, dead or free, whatever has happened to it.
#[test]
fn live_dead_and_free_bytes_are_those_of_the_segments() {
    let mut bench = Bench::new();
    (0..2_000).for_each(|key| bench.set(key, &[1; 1_000], None));
    let full = bench.report();
    assert_eq!(full.bytes.live, bench.store.stats().item_bytes);
    let items_per_segment = full.classes[0].live_items / full.segments.sealed;
    let headers_and_ends = full.segments.sealed * (SEGMENT / items_per_segment);
    assert!(full.bytes.dead < headers_and_ends, "next to nothing is dead: {full:?}");

    (0..500).for_each(|key| bench.delete(key));
    let report = bench.report();
    let item = full.bytes.live / 2_000;
    assert_eq!(report.bytes.live, full.bytes.live - 500 * item);
    assert_eq!(report.bytes.dead, full.bytes.dead + 500 * item);
    assert_eq!(report.bytes.free, full.bytes.free);

    // A large value takes memory that was free or that was dead; what it does not fill is dead or free.
    bench.set(5_000, &vec![1; 100_000], None);
    let with_large = bench.report();
    let item = with_large.bytes.live - report.bytes.live;
    assert!((100_000..100_100).contains(&item), "{item}");
    let others = |report: &Report| report.bytes.dead + report.bytes.free;
    assert_eq!(others(&report) - others(&with_large), item);

    bench.store.clear();
    let cleared = bench.report();
    assert_eq!((cleared.bytes.live, cleared.bytes.free), (0, with_large.bytes.free));
    bench.sweep();
    let swept = bench.report();
    assert_eq!((swept.bytes.live, swept.bytes.dead), (0, 0));
}

#[test]
fn what_others_reserve_is_part_of_the_memory() {
    let mut bench = Bench::new();
    let free = bench.report().segments.free;
    let used = bench.store.stats().used_bytes;
    bench.store.reserve(10 << 20);
    assert_eq!(bench.store.stats().used_bytes, used + (10 << 20));
    bench.sweep();
    let report = bench.report();
    assert_eq!(report.memory.reserved, 10 << 20);
    assert_eq!(report.memory.index, bench.store.stats().index_bytes);
    assert_eq!(free - report.segments.free, (10 << 20) / SEGMENT, "as many were withdrawn");
}

#[test]
fn the_index_tells_how_full_it_is() {
    let mut bench = Bench::with(SegStore::builder().memory(16 << 20));
    let slots = bench.report().index.slots;
    (0..slots * 8 / 10).for_each(|key| bench.set(key, b"x", None));
    let index = bench.report().index;
    assert_eq!((index.slots, index.is_growing), (slots, false));
    assert!((0.79..0.81).contains(&index.load), "{index:?}");
    assert!(index.displaced > 0.0 && index.displaced < 0.3, "{index:?}");
    assert!(index.lines > 1.0 && index.lines < 3.0, "{index:?}");
}

#[test]
fn details_are_the_numbers_of_the_report_and_the_counts() {
    let mut bench = Bench::new();
    (0..100).for_each(|key| bench.set(key, b"value", Some(100)));
    (0..50).for_each(|key| bench.set(key, b"value", Some(100)));
    bench.set(1_000, b"value", None);
    let details = bench.details();
    for (name, value) in [
        ("segment_bytes", SEGMENT),
        ("segment_total", 1024),
        ("segment_current", 2),
        ("segment_open", 2),
        ("item_store", 151),
        ("item_allocate", 101),
        ("item_replace", 50),
        ("item_dead", 50),
        ("item_evict", 0),
        ("store_limit_bytes", 64 << 20),
        ("ttl:64:segment_current", 1),
        ("ttl:64:item_current", 100),
        ("ttl:64:item_dead", 50),
        ("ttl:64:due_10m_bytes", SEGMENT),
        ("ttl:never:item_current", 1),
    ] {
        assert_eq!(details.get(name), Some(&value.to_string()), "{name} in {details:?}");
    }
}

#[test]
fn a_step_of_a_scan_is_bounded_and_shows_live_items_only() {
    let mut bench = Bench::new();
    (0..2_000).for_each(|key| bench.set(key, &key.to_le_bytes(), (key % 2 == 0).then_some(5)));
    bench.advance(5);
    let now = bench.now();
    let (mut seen, mut next, mut steps) = (Vec::new(), Some(Cursor::START), 0);
    while let Some(cursor) = next {
        let before = seen.len();
        next = bench.store.scan(cursor, 80, now, |item| seen.push(item.value().to_vec()));
        assert!(seen.len() - before < 80 + 64);
        steps += 1;
    }
    let mut keys: Vec<_> =
        seen.iter().map(|v| u64::from_le_bytes(v[..].try_into().unwrap())).collect();
    keys.sort_unstable();
    assert_eq!(keys, (0..2_000).filter(|key| key % 2 == 1).collect::<Vec<_>>());
    assert!(steps as u64 >= bench.report().index.slots / 80, "{steps} steps");
}
