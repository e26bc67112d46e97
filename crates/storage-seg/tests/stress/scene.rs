// SPDX-License-Identifier: Apache-2.0
//! A store under stress: its options, its threads, and the checks over all that they saw.

use crate::worker::Worker;
use clock::Ticks;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use storage::{Digits, Store, Version};
use storage_seg::{Builder, Eviction, SegStore};

/// What is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    /// All lengths, few of them large.
    Mixed,
    /// Tiny items for a while, then large ones, and so on: the index changes its size all the time.
    Waves,
}

/// A store under stress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene {
    pub(crate) memory: u64,
    pub(crate) threads: usize,
    pub(crate) eviction: Eviction,
    pub(crate) integrity: bool,
    pub(crate) load: Load,
    pub(crate) rounds: u64,
    pub(crate) seed: u64,
}

impl Scene {
    fn builder(&self) -> Builder {
        // Each thread may have two handles for a moment; a single one is all there is.
        let workers = if self.threads == 1 { 1 } else { 2 * self.threads + 1 };
        SegStore::builder()
            .memory(self.memory)
            .value_max(256 << 10)
            .segment_bytes(64 << 10)
            .workers(workers)
            .eviction(self.eviction)
            .integrity(self.integrity)
            .seed(self.seed)
    }

    /// Repeats for as long as the environment says, with other numbers each time.
    pub(crate) fn run(self) {
        let seconds = std::env::var("SHOEBILL_STRESS_SECONDS").ok();
        let seconds = seconds.map(|text| text.parse().expect("a number of seconds"));
        let (began, time) = (Instant::now(), Duration::from_secs(seconds.unwrap_or(0)));
        let mut scene = self;
        loop {
            scene.play();
            scene.seed += 1;
            if began.elapsed() >= time {
                return;
            }
        }
    }

    pub(crate) fn play(self) {
        let store = self.builder().build().expect("the options are possible");
        let common = Common {
            scene: self,
            millis: AtomicU64::new(1_000),
            serial: AtomicU64::new(1),
            running: AtomicUsize::new(self.threads),
        };
        let handles: Vec<SegStore> = (1..self.threads).map(|_| store.clone()).collect();
        let (mut store, reports) = std::thread::scope(|scope| {
            let threads: Vec<_> = (1..)
                .zip(handles)
                .map(|(number, handle)| {
                    let common = &common;
                    scope.spawn(move || Worker::new(common, number, handle).work())
                })
                .collect();
            let (store, first) = Worker::new(&common, 0, store).work();
            let others = threads.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).1
            });
            let reports: Vec<Report> = std::iter::once(first).chain(others).collect();
            (store, reports)
        });
        // The others are gone, so everything must add up.
        store.expire(common.now(), 0);
        store.check_integrity();
        check_reports(&reports, self);
        let stats = store.stats();
        let evicts = self.eviction != Eviction::None;
        assert!(!evicts || stats.evicted > 5, "{self:?}: {stats:?}");
        assert!(!evicts || stats.expired > 10, "{self:?}: {stats:?}");
    }
}

/// What all threads have in common.
pub(crate) struct Common {
    pub(crate) scene: Scene,
    pub(crate) millis: AtomicU64,
    /// Numbers writes, so that no two values are alike.
    pub(crate) serial: AtomicU64,
    /// Threads that are not done.
    pub(crate) running: AtomicUsize,
}

impl Common {
    pub(crate) fn now(&self) -> Ticks {
        Ticks::from_millis(self.millis.load(Ordering::Relaxed))
    }

    pub(crate) fn stamp(&self) -> u64 {
        self.serial.fetch_add(1, Ordering::Relaxed)
    }
}

/// What a thread has seen.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) versions: Vec<(u64, Version)>,
    /// Of each increment, the counter as it became.
    pub(crate) counts: Vec<[u8; Digits::MAX]>,
    pub(crate) hits: u64,
    pub(crate) written: u64,
    /// Values larger than a segment for which there was no row of them.
    pub(crate) no_row: u64,
    pub(crate) rows: u64,
    /// Sizes of the index.
    pub(crate) slots: HashSet<u64>,
}

fn check_reports(reports: &[Report], scene: Scene) {
    let (mut versions, mut counts) = (HashSet::new(), HashSet::new());
    for report in reports {
        for version in &report.versions {
            assert!(versions.insert(version), "{version:?} came twice");
        }
        for count in &report.counts {
            assert!(counts.insert(count), "two increments came to {}", count.escape_ascii());
        }
    }
    let sum = |of: fn(&Report) -> u64| reports.iter().map(of).sum::<u64>();
    let (hits, written) = (sum(|report| report.hits), sum(|report| report.written));
    let rounds = scene.rounds * scene.threads as u64;
    assert!(hits > rounds / 100, "{scene:?}: {hits} hits in {rounds} rounds");
    assert!(written > rounds / 10 || scene.eviction == Eviction::None, "{scene:?}: {written}");
    let (rows, no_row) = (sum(|report| report.rows), sum(|report| report.no_row));
    let slots: HashSet<&u64> = reports.iter().flat_map(|report| &report.slots).collect();
    assert!(slots.len() > 1 || scene.load == Load::Mixed, "{scene:?}: an index of {slots:?}");
    println!("{scene:?}: {hits} hits, {written} written, {rows} large, {no_row} large refused");
    println!("  {} sizes of the index", slots.len());
}
