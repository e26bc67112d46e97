// SPDX-License-Identifier: Apache-2.0
//! Where nothing is evicted (`eviction = "none"`), the memory of items that were deleted or overwritten comes back for
//! others, wherever they lay.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use clock::Ticks;
use storage::{Put, Store, StoreError};
use storage_seg::{Eviction, SegStore};

const NOW: Ticks = Ticks::ZERO;
const MEMORY: u64 = 16 << 20;

fn store(memory: u64, workers: usize) -> SegStore {
    let builder = SegStore::builder().memory(memory).workers(workers);
    builder.eviction(Eviction::None).build().unwrap()
}

fn put(store: &mut SegStore, key: u64, len: usize) -> Result<(), StoreError> {
    store.put(Put::new(&key.to_le_bytes(), &vec![7; len]), NOW).map(|_| ())
}

/// Writes keys from this one on as long as they fit. Returns how many did.
fn fill(store: &mut SegStore, from: u64, len: usize) -> u64 {
    (0..).find(|n| put(store, from + n, len).is_err()).unwrap()
}

#[test]
fn what_is_deleted_here_and_there_makes_room() {
    for len in [100, 1_000, 4_000] {
        // Of so many neighbours this many stay.
        for (of, kept) in [(10, 1), (4, 1), (2, 1), (4, 3)] {
            let mut store = store(MEMORY, 1);
            let all = fill(&mut store, 0, len);
            let (stay, go): (Vec<u64>, Vec<u64>) = (0..all).partition(|n| n % of < kept);
            go.iter().for_each(|n| assert!(store.delete(&n.to_le_bytes(), NOW)));
            let more = fill(&mut store, 1 << 32, len);
            let context = format!("{len} bytes, {kept} of {of} stay: {more} for {}", go.len());
            // Items that stay grow by a version of their own when they move.
            assert!(more * 4 >= go.len() as u64 * 3, "{context}");
            let lost = stay.iter().find(|n| store.get(&n.to_le_bytes(), NOW).is_none());
            assert_eq!(lost, None, "{context}");
            store.check_integrity();
        }
    }
}

#[test]
fn keys_are_overwritten_while_nine_tenths_of_the_memory_are_live() {
    let cases = [(MEMORY, 100, 1), (4 * MEMORY, 400, 4), (MEMORY, 1_000, 1), (MEMORY, 4_000, 1)];
    for (memory, len, workers) in cases {
        let fitting = fill(&mut store(memory, workers), 0, len);
        for percent in [50, 80, 90] {
            let keys = fitting * percent / 100;
            let mut stores = vec![store(memory, workers)];
            stores.extend((1..workers).map(|_| stores[0].clone()).collect::<Vec<_>>());
            let (mut random, mut refused) = (1_u64, 0);
            for n in 0..keys * 3 {
                // Each worker has some requests in its turn, and then rests.
                let worker = &mut stores[(n / 50) as usize % workers];
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let key = if n < keys { n } else { (random >> 33) % keys };
                refused += u64::from(put(worker, key, len).is_err());
                if n % 50 == 49 {
                    worker.expire(NOW, 100);
                    worker.rest();
                }
            }
            assert_eq!(refused, 0, "{percent} % of {fitting} keys, {len} bytes");
            stores.iter_mut().for_each(Store::rest);
            stores[0].check_integrity();
        }
    }
}
