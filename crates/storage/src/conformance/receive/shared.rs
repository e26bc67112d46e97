// SPDX-License-Identifier: Apache-2.0
//! Drafts of several handles and threads.

use super::send;
use crate::conformance::Limits;
use crate::conformance::subject::{Noise, Subject};
use crate::conformance::threads::{NOW, Running, THREADS, fresh, number, race};
use crate::{Announced, Condition, Item, Put, Receive, StoreError, Version};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

pub(super) fn run<S: Receive + Clone + Send>(make: &impl Fn(Limits) -> S) {
    see_each_other(make);
    handles_go(make);
    counters(make);
    whole_values(make);
    endless(make);
}

/// A value is another handle's to read from its commit on.
fn see_each_other<S: Receive + Clone>(make: &impl Fn(Limits) -> S) {
    let mut one = Subject::new(make, Limits::ROOMY);
    let mut two = one.another();
    for (round, size) in [10, 1_000, 40_000, 1 << 20].into_iter().enumerate() {
        let value = vec![round as u8; size];
        let put = Put::new(b"key", &value);
        let before = two.set(b"key", b"old");
        let [first, second] = [&mut one, &mut two].map(|handle| send(handle, put, 20_000));
        for handle in [&mut one, &mut two] {
            assert_eq!(handle.live(b"key").version, before, "RULE-RECEIVE: before the commit");
        }
        let version = first.commit(&mut one, Condition::IfVersion(before));
        let seen = two.live(b"key");
        assert!(seen.value == value && seen.version == version, "RULE-RECEIVE: {seen:?}");
        let result = second.try_commit(&mut two, Condition::IfVersion(before));
        assert_eq!(result, Err(StoreError::Exists), "RULE-RECEIVE: the other was first");
        assert_eq!(one.live(b"key").version, version, "RULE-RECEIVE: it was refused");
    }
    one.finish();
    two.finish();
}

/// A draft that was not committed may be dropped after its handle. Others go on.
fn handles_go<S: Receive + Clone>(make: &impl Fn(Limits) -> S) {
    let mut stays = Subject::new(make, Limits::TIGHT);
    let value = vec![1; stays.limits.value_bytes as usize];
    for round in 0..100_u8 {
        let mut goes = stays.another();
        let draft = send(&mut goes, Put::new(b"key", &value), 20_000);
        drop(goes);
        stays.set(&[round], &value);
        drop(draft);
        stays.set(b"key", &[round]);
        stays.expire(8);
    }
    assert_eq!(stays.live(b"key").value, [99], "RULE-RECEIVE: no draft was committed");
    stays.finish();
}

/// Increments by version, each a value in pieces: a commit goes through only if nobody wrote since the read.
fn counters<S: Receive + Clone + Send>(make: &impl Fn(Limits) -> S) {
    const ROUNDS: usize = 100;
    let mut store = fresh(make, Limits::ROOMY);
    assert!(store.put(Put::new(b"counter", b"0"), NOW).is_ok(), "RULE-EVICTION: memory is free");
    let (mut store, _) = race(store, |store, _| {
        let mut done = 0;
        while done < ROUNDS {
            let item = store.get(b"counter", NOW).expect("RULE-RECEIVE: always there");
            let (next, version) = (number(item.value()) + 1, item.version());
            drop(item);
            // Leading zeros make it large, sometimes.
            let width = if next % 8 == 0 { 40_000 } else { 1 };
            let text = format!("{next:0width$}");
            match write(store, b"counter", text.as_bytes(), Condition::IfVersion(version)) {
                Ok(_) => done += 1,
                Err(error) => assert_eq!(error, StoreError::Exists, "RULE-RECEIVE: in a race"),
            }
        }
    });
    let item = store.get(b"counter", NOW).expect("RULE-RECEIVE: always there");
    let sum = number(item.value());
    assert_eq!(sum, (THREADS * ROUNDS) as u64, "RULE-RECEIVE: commits by version");
}

/// Writes a value in two pieces, with other work in between.
fn write<S: Receive>(
    store: &mut S,
    key: &[u8],
    value: &[u8],
    condition: Condition,
) -> Result<Version, StoreError> {
    let mut draft = store.begin(Announced::new(key, value.len()), NOW)?;
    let (first, second) = value.split_at(value.len() / 2);
    store.append(&mut draft, first, NOW)?;
    store.expire(NOW, 2);
    thread::yield_now();
    store.append(&mut draft, second, NOW)?;
    store.commit(draft, condition, NOW)
}

/// Threads commit, put, read and delete the same few keys in a full store: every value that is read is whole.
fn whole_values<S: Receive + Clone + Send>(make: &impl Fn(Limits) -> S) {
    let largest = Limits::TIGHT.value_bytes as usize / 4;
    let (store, _) = race(fresh(make, Limits::TIGHT), |store, thread| {
        let mut noise = Noise::new(thread as u64 + 40);
        for round in 0..400_u16 {
            let key = [noise.below(9) as u8];
            let stamp = [thread as u8 * 64 + (round % 64) as u8; 4];
            let value = stamp.repeat((1 + noise.below(largest)) >> noise.below(10));
            let result = match noise.below(8) {
                0 => store.put(Put::new(&key, &value), NOW).map(drop),
                1 => {
                    store.delete(&key, NOW);
                    Ok(())
                }
                _ => write(store, &key, &value, Condition::Always).map(drop),
            };
            assert_eq!(result, Ok(()), "RULE-RECEIVE: it fits");
            // Fills the memory.
            let filler = [255; 4_000];
            let result = store.put(Put::new(&[thread as u8, round as u8, 0], &filler), NOW);
            assert!(result.is_ok(), "RULE-RECEIVE: others write, but: {result:?}");
            let other = [noise.below(9) as u8];
            if let Some(item) = store.get(&other, NOW) {
                let value = item.value();
                let whole = value.iter().all(|&byte| byte == value[0]);
                assert!(whole && item.key() == other, "RULE-RECEIVE: a value that is not whole");
            }
        }
    });
    store.check_integrity();
}

/// Values that arrive all the time keep nobody from writing, whether their workers go on with turns or sleep.
fn endless<S: Receive + Clone + Send>(make: &impl Fn(Limits) -> S) {
    let busy = AtomicUsize::new(THREADS - 2);
    let largest = Limits::TIGHT.value_bytes as usize;
    let (mut store, _) = race(fresh(make, Limits::TIGHT), |store, thread| {
        let value = vec![thread as u8; largest];
        let key = [b'e', thread as u8];
        if thread >= 2 {
            let _until_done = Running(&busy);
            for round in 0..Limits::TIGHT.memory_bytes as u32 / 1_000 {
                let key = [thread as u32, round].map(u32::to_le_bytes).concat();
                let result = store.put(Put::new(&key, &[1; 1_000]), NOW);
                assert!(result.is_ok(), "RULE-RECEIVE: others write, but: {result:?}");
                if round % 16 == 0 {
                    store.expire(NOW, 8);
                }
            }
            return;
        }
        let mut draft = store.begin(Announced::new(&key, largest), NOW).expect("it fits");
        let (first, second) = value.split_at(largest / 2);
        store.append(&mut draft, first, NOW).expect("RULE-RECEIVE: there is room");
        store.rest();
        while busy.load(Ordering::Acquire) > 0 {
            if thread == 0 {
                store.expire(NOW, 8);
            }
            thread::yield_now();
        }
        store.append(&mut draft, second, NOW).expect("RULE-RECEIVE: there is room");
        store.commit(draft, Condition::IfAbsent, NOW).expect("RULE-RECEIVE: it fits");
    });
    for thread in 0..2_u8 {
        if let Some(item) = store.get(&[b'e', thread], NOW) {
            assert!(item.value() == vec![thread; largest], "RULE-RECEIVE: a slow value");
        }
    }
    store.check_integrity();
}
