// SPDX-License-Identifier: Apache-2.0
//! The metrics of the process. The one test of this file has its process to itself, since levels
//! show the store that was reported last.

use clock::Clock;
use std::time::Duration;
use storage::{Expiry, Put, Store};
use storage_seg::SegStore;

fn value(name: &str) -> i128 {
    metrics::value(name).unwrap_or_else(|| panic!("{name} is not declared"))
}

fn text() -> String {
    metrics::prometheus(&metrics::Window::default())
}

#[test]
fn metrics_follow_the_store_once_a_second() {
    assert_eq!(metrics::duplicates(), Vec::<String>::new());
    let clock = Clock::manual(1_700_000_000_000);
    let mut store = SegStore::builder()
        .memory(64 << 20)
        .segment_bytes(64 << 10)
        .workers(2)
        .build()
        .expect("it is possible");
    let mut other = store.clone();
    store.expire(clock.now().ticks, 100);
    assert_eq!(value("segment_current"), 0);
    assert_eq!(value("store_limit_bytes"), 64 << 20);

    let now = clock.now().ticks;
    for key in 0..100_u64 {
        let expiry = Expiry::after(Duration::from_secs(100), now);
        store.put(Put::new(&key.to_le_bytes(), b"value").expiry(expiry), now).expect("it fits");
        other.put(Put::new(&key.to_be_bytes(), b"value"), now).expect("it fits");
    }
    store.expire(now, 100);
    assert_eq!(value("item_store"), 100, "counters are brought up to date in each turn");
    assert_eq!(value("segment_current"), 0, "levels once a second");
    clock.advance(Duration::from_secs(1));
    let now = clock.now().ticks;
    // Whichever handle comes first looks for both.
    other.expire(now, 100);
    assert_eq!(value("segment_current"), 2);
    assert_eq!(value("segment_open"), 2);
    // Zero is the same in both byte orders.
    assert_eq!(value("item_dead"), 1);
    let details = store.report(now);
    let bytes = details.bytes;
    assert_eq!(value("segment_live_bytes"), i128::from(bytes.live));
    assert_eq!(value("segment_dead_bytes"), i128::from(bytes.dead));
    assert_eq!(value("segment_free_bytes"), i128::from(bytes.free));
    let in_service = i128::from(details.segments.total) - value("segment_withdrawn");
    assert_eq!(i128::from(bytes.live + bytes.dead + bytes.free), in_service * (64 << 10));
    assert_eq!(value("segment_live_bytes"), value("item_current_bytes"), "nothing has expired");
    for name in ["needed", "displaced", "early", "age_ms", "age_mean_ms", "age_recent_ms"] {
        assert_eq!(value(&format!("item_evict_{name}")), 0);
    }
    assert_eq!((value("segment_compact_bytes"), value("item_copy_permille")), (0, 0));
    assert_eq!(value("segment_free"), i128::from(details.segments.free));
    assert_eq!(value("hash_slots"), i128::from(details.index.slots));
    assert_eq!(value("hash_bytes"), i128::from(details.index.bytes));
    assert_eq!(value("hash_lines_permille"), 1_000);
    for line in [
        "ttl_segment_current{ttl=\"never\"} 1",
        "ttl_segment_current{ttl=\"64\"} 1",
        "ttl_item_current{ttl=\"64\"} 99",
        "ttl_item_current{ttl=\"never\"} 100",
        "ttl_item_dead{ttl=\"64\"} 1",
        "ttl_due_10m_bytes{ttl=\"64\"} 65536",
        "ttl_due_10m_bytes{ttl=\"never\"} 0",
    ] {
        assert!(text().contains(&format!("\n{line}\n")), "{line} in {}", text());
    }

    clock.advance(Duration::from_secs(100));
    for _ in 0..4 {
        store.expire(clock.now().ticks, 100);
        other.expire(clock.now().ticks, 100);
        clock.advance(Duration::from_secs(1));
    }
    assert!(!text().contains("ttl=\"64\""), "a class that is not in use is not shown: {}", text());
    assert_eq!((value("item_current"), value("item_expire")), (100, 99));

    // More than fits: the metrics count why items were evicted.
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
    let (all, needed) = (value("item_evict") + value("hash_crowded"), value("item_evict_needed"));
    assert!(needed > 0, "{}", text());
    assert_eq!(needed + value("item_evict_displaced"), all);
    assert_eq!(all, i128::from(store.report(now).evictions.items));
    assert!((1..=value("item_evict")).contains(&value("item_evict_early")));
    assert!(value("item_copy_permille") > 0);
    let new_share = value("segment_new_permille");
    assert!((1..1_000).contains(&new_share), "{new_share}");
    assert_eq!(value("segment_new_target_permille"), 120);
    drop((store, other));
    assert_eq!((value("item_current"), value("item_current_bytes")), (0, 0));
    assert_eq!(value("item_store"), 200 + 80 * 1_001, "what was counted stays");
}
