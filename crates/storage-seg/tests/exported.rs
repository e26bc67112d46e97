// SPDX-License-Identifier: Apache-2.0
//! The metrics of the process. The one test of this file has its process to itself, since levels
//! show the store that was reported last.

use clock::Clock;
use std::time::Duration;
use storage::{Expiry, Put, Store};
use storage_seg::SegStore;

/// A metric as it is when all are read.
fn value(name: &str) -> i128 {
    metrics::refresh();
    metrics::value(name).unwrap_or_else(|| panic!("{name} is not declared"))
}

fn text() -> String {
    metrics::prometheus(&metrics::Window::default())
}

#[test]
fn metrics_are_those_of_the_moment_they_are_read_at() {
    assert_eq!(metrics::duplicates(), Vec::<String>::new());
    let clock = Clock::manual(1_700_000_000_000);
    let mut store = SegStore::builder()
        .memory(64 << 20)
        .segment_bytes(64 << 10)
        .workers(2)
        .build()
        .expect("it is possible");
    let mut other = store.clone();
    items_are_shown(&clock, &mut store, &mut other);
    what_is_expired_is_not(&clock, &mut store, &mut other);
    reasons_of_evictions_are_shown(&clock, &mut store, &mut other);
    drop((store, other));
    assert_eq!((value("shoebill_items"), value("shoebill_item_bytes")), (0, 0));
    assert_eq!(value("shoebill_item_writes_total"), 200 + 80 * 1_001, "what was counted stays");
}

/// Writes 99 keys with a time to live and 100 without.
fn items_are_shown(clock: &Clock, store: &mut SegStore, other: &mut SegStore) {
    store.expire(clock.now().ticks, 100);
    assert_eq!(value("shoebill_segments{state=\"open\"}"), 0);
    assert_eq!(value("shoebill_memory_limit_bytes"), 64 << 20);

    let now = clock.now().ticks;
    for key in 0..100_u64 {
        let expiry = Expiry::after(Duration::from_secs(100), now);
        store.put(Put::new(&key.to_le_bytes(), b"value").expiry(expiry), now).expect("it fits");
        other.put(Put::new(&key.to_be_bytes(), b"value"), now).expect("it fits");
    }
    assert_eq!(value("shoebill_item_writes_total"), 200, "in the middle of a turn");
    assert_eq!(value("shoebill_segments{state=\"open\"}"), 2);
    assert_eq!(value("shoebill_segments{state=\"sealed\"}"), 0);
    // Zero is the same in both byte orders.
    assert_eq!(value("shoebill_items_left_behind{state=\"dead\"}"), 1);
    let details = store.report(now);
    let bytes = details.bytes;
    assert_eq!(value("shoebill_segment_bytes{state=\"live\"}"), i128::from(bytes.live));
    assert_eq!(value("shoebill_segment_bytes{state=\"dead\"}"), i128::from(bytes.dead));
    assert_eq!(value("shoebill_segment_bytes{state=\"free\"}"), i128::from(bytes.free));
    let in_service =
        i128::from(details.segments.total) - value("shoebill_segments{state=\"withdrawn\"}");
    assert_eq!(i128::from(bytes.live + bytes.dead + bytes.free), in_service * (64 << 10));
    assert_eq!(i128::from(bytes.live), value("shoebill_item_bytes"), "nothing has expired");
    for name in [
        "evictions_total",
        "evictions_early_total",
        "evicted_item_age_seconds_total",
        "evicted_item_age_mean_seconds",
        "evicted_item_age_recent_seconds",
        "segment_compacted_bytes_total",
        "item_copy_ratio",
    ] {
        assert_eq!(value(&format!("shoebill_{name}")), 0, "{name}");
    }
    assert_eq!(value("shoebill_segments{state=\"free\"}"), i128::from(details.segments.free));
    assert_eq!(value("shoebill_index_slots"), i128::from(details.index.slots));
    assert_eq!(value("shoebill_index_bytes"), i128::from(details.index.bytes));
    assert!(text().contains("\nshoebill_index_lines_per_lookup 1\n"));
    for line in [
        "shoebill_ttl_class_segments{ttl_class=\"never\"} 1",
        "shoebill_ttl_class_segments{ttl_class=\"64\"} 1",
        "shoebill_ttl_class_items{ttl_class=\"64\"} 99",
        "shoebill_ttl_class_items{ttl_class=\"never\"} 100",
        "shoebill_ttl_class_dead_items{ttl_class=\"64\"} 1",
        "shoebill_ttl_class_due_10m_bytes{ttl_class=\"64\"} 65536",
        "shoebill_ttl_class_due_10m_bytes{ttl_class=\"never\"} 0",
    ] {
        assert!(text().contains(&format!("\n{line}\n")), "{line} in {}", text());
    }
}

fn what_is_expired_is_not(clock: &Clock, store: &mut SegStore, other: &mut SegStore) {
    clock.advance(Duration::from_secs(100));
    for _ in 0..4 {
        store.expire(clock.now().ticks, 100);
        other.expire(clock.now().ticks, 100);
        clock.advance(Duration::from_secs(1));
    }
    assert!(
        !text().contains("ttl_class=\"64\""),
        "a class that is not in use is not shown: {}",
        text()
    );
    assert_eq!(value("shoebill_items"), 100);
    assert_eq!(value("shoebill_items_removed_total{reason=\"expired\"}"), 99);
}

/// Writes more than fits.
fn reasons_of_evictions_are_shown(clock: &Clock, store: &mut SegStore, other: &mut SegStore) {
    let now = clock.now().ticks;
    let expiry = Expiry::after(Duration::from_secs(1_000), now);
    // A large value waits for everybody who may be reading.
    other.rest();
    for key in 0..80_u64 {
        let put = Put::new(b"large", &[1; 1 << 20]);
        store.put(put, now).expect("others can go");
        for part in 0..1_000_u64 {
            let key = [key, part].map(u64::to_le_bytes).concat();
            store.put(Put::new(&key, &[1; 1_000]).expiry(expiry), now).expect("others can go");
        }
        store.expire(now, 100);
    }
    clock.advance(Duration::from_secs(1));
    let now = clock.now().ticks;
    store.expire(now, 100);
    let of_segments = value("shoebill_evicted_items_total");
    let of = |reason: &str| value(&format!("shoebill_evictions_total{{reason=\"{reason}\"}}"));
    assert!(of("needed") > 0, "{}", text());
    assert_eq!(of("needed") + of("squeezed") + of("displaced"), of_segments);
    let all = of_segments + of("crowded");
    assert_eq!(value("shoebill_evictions_total"), all, "the sum over all reasons");
    let report = store.report(now).evictions;
    assert_eq!(all, i128::from(report.items));
    assert_eq!(all - of("needed"), i128::from(report.displaced));
    assert!((1..=of_segments).contains(&value("shoebill_evictions_early_total")));
    assert!(value("shoebill_item_copy_ratio") > 0);
    let new_share = value("shoebill_segments_new_ratio");
    assert!((1..1_000).contains(&new_share), "{new_share}");
    assert_eq!(value("shoebill_segments_new_target_ratio"), 120);
}
