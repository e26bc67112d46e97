// SPDX-License-Identifier: Apache-2.0
//! [`Trials`]: chooses the share of the memory that new items have before they must have been used
//! to stay.
//!
//! A small share is best where items that were used once are used again; where each item is read only
//! once, long after it was written, only a large share keeps it until then. So several shares are
//! simulated at the same time, each in a [`Miniature`]. A miniature has a fraction of the store's memory
//! and sees the same fraction of its keys ([`Scale`]), sampled by hash, and its hit ratio is that of the whole to a
//! percent or two (Waldspurger et al., USENIX ATC '17). The store takes the share with the most hits
//! lately ([`Contest`]).
//!
//! A handle records the requests for sampled keys and replays them, a few at a time, while no other
//! handle does. A request for any other key costs one comparison.

use super::contest::{ALL, Contest, FIRST};
use super::guess::Guess;
use super::miniature::Miniature;
use super::policy::Eviction;
use super::sample::{Deed, Scale, SharedScale};
use crate::shared::Shared;
use crate::store::SegStore;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::tally::Count;
use clock::Ticks;

/// The shares of the memory that are simulated, in order of preference where several are equally good.
const SHARES: [f64; ALL] = [0.12, 0.04, 0.3, 0.6, 0.9];

/// The largest share, and how many times the memory is written before a store that was guessed to need it takes another.
const LARGEST: usize = ALL - 1;
const GUESS_MEMORIES: u64 = 4;

/// The least size of a share in segments: with fewer, new items would have much less than the
/// share.
const SEGMENTS_MIN: f64 = 4.0;

/// Items of a miniature. With fewer it says little, with more it takes memory and time. When their
/// number leaves the wider range, the fraction of sampled keys changes.
const ITEMS: usize = 512;
const ITEMS_RANGE: std::ops::RangeInclusive<usize> = ITEMS / 4..=4 * ITEMS;

/// Trials begin when the memory divided by this is in use: item sizes are known, and nothing was
/// evicted yet.
const USED_PART: usize = 8;

/// Requests between two evaluations of the hits, as a share of a miniature's items, and the least
/// number of them.
const LOOK_SHARE: f64 = 0.5;
const LOOK_MIN: usize = 64;

/// The factor by which past hits decay at each evaluation.
const FADING: f64 = 0.9;

/// How much faster they decay where much is new, as the negative logarithm for all of the memory: where large items
/// take the place of small ones, few requests change all of it, and what was before counts no more.
const TURNOVER_FADING: f64 = 1.0;

/// Writes of a handle after which it checks again whether trials can begin.
const LOOK_WRITES: u32 = 64;

/// The trials of a store.
#[derive(Debug)]
pub(crate) struct Trials {
    scale: SharedScale,
    chosen: AtomicUsize,
    trial: Mutex<Option<Trial>>,
}

impl Trials {
    pub(crate) fn new() -> Self {
        Trials {
            scale: SharedScale::none(),
            chosen: AtomicUsize::new(FIRST),
            trial: Mutex::new(None),
        }
    }

    /// The share of the memory for new items.
    pub(crate) fn new_share(&self) -> f64 {
        SHARES[self.chosen.load(Ordering::Relaxed)]
    }

    pub(super) fn scale(&self) -> Scale {
        self.scale.load()
    }

    /// Begins trials in a store with this memory, which has room for `items` items of their present length.
    fn begin(&self, items: f64, memory: u64) {
        let Some(mut trial) = self.trial.try_lock() else { return };
        if trial.is_none() {
            let bits = (items / ITEMS as f64).log2().max(0.0) as u32;
            let scale = Scale::new(bits, memory as f64 / items);
            *trial = Some(Trial::new(scale, memory));
            self.scale.store(scale);
        }
    }

    /// Replays the recorded requests, unless another handle is replaying.
    pub(super) fn play(&self, noted: &[(u64, Deed)], shared: &Shared, now: Ticks) {
        let Some(mut trial) = self.trial.try_lock() else { return };
        let Some(trial) = trial.as_mut() else { return };
        let policy = &shared.settings.eviction;
        noted.iter().for_each(|&(hash, deed)| trial.play(hash, deed, policy, now.as_millis()));
        trial.rescale(shared.memory_of_items());
        self.scale.store(trial.scale);
        let before = self.chosen.load(Ordering::Relaxed);
        let chosen = trial.choose(before, shared.pool.target() / shared.pool.grains());
        self.chosen.store(chosen, Ordering::Relaxed);
    }
}

#[derive(Debug)]
struct Trial {
    scale: Scale,
    miniatures: [Miniature; ALL],
    contest: Contest,
    /// Requests since the last evaluation of the hits.
    played: usize,
    /// Bytes of items that were new to the store since then.
    inserted: u64,
    /// Bytes of items that were new to the store in all.
    written: u64,
    guess: Guess,
}

impl Trial {
    fn new(scale: Scale, memory: u64) -> Self {
        Trial {
            scale,
            miniatures: SHARES.map(|share| Miniature::new(share, scale, memory)),
            contest: Contest::default(),
            played: 0,
            inserted: 0,
            written: 0,
            guess: Guess::default(),
        }
    }

    fn play(&mut self, hash: u64, deed: Deed, policy: &Eviction, now_ms: u64) {
        if !self.scale.samples(hash, deed.len()) {
            // Recorded when more keys were sampled.
            return;
        }
        self.played += 1;
        let is_usual = self.scale.samples_any(hash);
        let is_late = !self.guess.is_made() && self.miniatures[LARGEST].is_read_late(hash);
        let mut len_of_hit = None;
        let mut hit = [false; ALL];
        for (miniature, hit) in self.miniatures.iter_mut().zip(&mut hit) {
            let mut read = |miniature: &mut Miniature| {
                let len = miniature.read(hash, now_ms);
                len_of_hit = len.or(len_of_hit);
                *hit = len.is_some();
                *hit
            };
            match deed {
                Deed::Read => drop(read(miniature)),
                Deed::Found { len, due_ms } => {
                    if !read(miniature) {
                        // The client would have written it.
                        miniature.write(hash, (len, due_ms), policy, now_ms);
                    }
                }
                Deed::Write { len, due_ms, is_new } => {
                    // The read of what the store misses is seen only if the key is sampled whatever its item. Who writes the
                    // item then has most likely asked for it.
                    let is_read = is_new && !is_usual && read(miniature);
                    if !is_read {
                        miniature.write(hash, (len, due_ms), policy, now_ms);
                    }
                }
                Deed::Delete { .. } => miniature.delete(hash),
            }
        }
        if let Deed::Write { len, is_new: true, .. } = deed {
            self.inserted += self.scale.bytes(len);
            self.written += self.scale.bytes(len);
        }
        if let Some(len) = len_of_hit {
            let worth = policy.worth_of_hit(len) * self.scale.part(len);
            self.contest.count(hit, worth);
            self.guess.count(worth, is_late);
        }
    }

    /// Changes the fraction of sampled keys if the miniatures have too many or too few items.
    fn rescale(&mut self, memory: u64) {
        let len = self.len();
        let is_full = self.miniatures.iter().all(Miniature::is_full);
        let bits = self.scale.bits();
        let bits = if len > *ITEMS_RANGE.end() {
            bits + 1
        } else if len < *ITEMS_RANGE.start() && is_full && bits > 0 {
            bits - 1
        } else {
            self.miniatures.iter_mut().for_each(|miniature| miniature.set_memory(memory));
            return;
        };
        self.scale = Scale::new(bits, self.miniatures[FIRST].mean_len());
        for miniature in &mut self.miniatures {
            miniature.rescale(self.scale, memory);
        }
        self.contest = Contest::default();
    }

    /// Items of the miniature that has the most.
    fn len(&self) -> usize {
        self.miniatures.iter().map(Miniature::len).max().unwrap_or(0)
    }

    /// The share to use next, in a store with this many segments.
    fn choose(&mut self, present: usize, segments: usize) -> usize {
        if self.guess.is_made_now(self.written, self.miniatures[LARGEST].memory())
            && is_possible(LARGEST, segments)
        {
            return LARGEST;
        }
        if self.played < LOOK_MIN.max((LOOK_SHARE * self.len() as f64) as usize) {
            return present;
        }
        let memory = self.miniatures[FIRST].memory();
        let is_guessed = self.guess.is_late() && self.written < GUESS_MEMORIES * memory;
        let chosen = if !is_guessed && self.miniatures.iter().all(Miniature::is_warm) {
            self.contest.judge(present, |at| is_possible(at, segments))
        } else {
            present
        };
        let turnover = self.inserted as f64 / memory.max(1) as f64;
        self.contest.fade(FADING.min((-TURNOVER_FADING * turnover).exp()));
        (self.played, self.inserted) = (0, 0);
        if chosen != present {
            log::debug!("new items have {} of the memory from now on", SHARES[chosen]);
        }
        chosen
    }
}

/// Whether the share of new items is large enough in a store with this many segments.
fn is_possible(at: usize, segments: usize) -> bool {
    SHARES[at] * segments as f64 >= SEGMENTS_MIN
}

impl SegStore {
    /// Replays recorded requests and updates the share. Begins the trials once the store has enough
    /// items.
    pub(crate) fn tend_trials(&mut self) {
        let shared = &*self.shared;
        if !matches!(shared.settings.eviction, Eviction::Scored { .. }) {
            return;
        }
        if self.sampler.follow(&shared.trials)
            || self.writes.wrapping_sub(self.sampler.looked_at) < LOOK_WRITES
        {
            return;
        }
        self.sampler.looked_at = self.writes;
        let pool = &shared.pool;
        let part = pool.total() * pool.grains() / USED_PART;
        if pool.free() + part > pool.target() {
            return;
        }
        let sums = shared.tallies.sums();
        let len = sums.get(Count::ItemBytes) as f64 / sums.get(Count::Items).max(1) as f64;
        let items = shared.memory_of_items() as f64 / len.max(1.0);
        if items >= *ITEMS_RANGE.start() as f64 {
            shared.trials.begin(items, shared.memory_of_items());
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const POLICY: Eviction = Eviction::Scored { size_exponent: 1.0 };
    const MEMORY: u64 = 8 << 20;
    const SEGMENTS: usize = 128;
    const LEN: u32 = 200;

    /// Hashes of numbers: all of their bits count.
    fn hash(number: u64) -> u64 {
        let mixed = (number ^ (number >> 31)).wrapping_mul(0x7FB5_D329_728E_A185);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x81DA_DEF4_BC2D_D44D)
    }

    /// A trial for items of a length, and the share in use.
    struct Bench(Trial, usize);

    impl Bench {
        fn new(len: u32) -> Self {
            let items = MEMORY / u64::from(len) / ITEMS as u64;
            Bench(Trial::new(Scale::new(items.max(1).ilog2(), len.into()), MEMORY), FIRST)
        }

        fn play(&mut self, number: u64, deed: Deed) {
            self.0.play(hash(number), deed, &POLICY, 0);
            self.0.rescale(MEMORY);
            self.1 = self.0.choose(self.1, SEGMENTS);
        }

        fn write(&mut self, number: u64, len: u32) {
            self.play(number, Deed::Write { len, due_ms: None, is_new: true });
        }
    }

    #[test]
    fn a_larger_share_is_chosen_where_items_are_read_late_and_the_first_one_again_after() {
        let mut bench = Bench::new(LEN);
        let items = MEMORY / u64::from(LEN);
        for number in 0..6 * items {
            bench.write(number, LEN);
            if number >= items / 4 * 3 {
                bench.play(number - items / 4 * 3, Deed::Read);
            }
        }
        assert_eq!(SHARES[bench.1], 0.9);
        // Few items of many are read again and again, and what comes beside them never.
        for number in 0..20 * items {
            let popular = hash(number) % (items / 2);
            bench.play(popular, Deed::Read);
            bench.write(if number % 2 == 0 { popular } else { 100 * items + number }, LEN);
        }
        assert!(SHARES[bench.1] <= 0.12, "{}", SHARES[bench.1]);
    }

    #[test]
    fn chance_changes_nothing() {
        let mut bench = Bench::new(LEN);
        let items = MEMORY / u64::from(LEN);
        for number in 0..20 * items {
            let key = hash(number) % (2 * items);
            bench.play(key, Deed::Read);
            bench.write(key, LEN);
            assert_eq!(bench.1, FIRST);
        }
    }

    #[test]
    fn miniatures_stay_small_when_items_become_smaller_and_see_more_keys_when_they_become_larger() {
        let mut bench = Bench::new(20_000);
        assert_eq!(bench.0.scale.bits(), 0);
        for number in 0..500_000 {
            bench.write(number, 50);
            assert!(bench.0.len() <= ITEMS_RANGE.end() + 1, "{} items", bench.0.len());
        }
        assert!(bench.0.scale.bits() >= 6, "one key in 2^{}", bench.0.scale.bits());
        for number in 0..500_000 {
            bench.write(number, 20_000);
        }
        assert!(bench.0.len() >= ITEMS_RANGE.start() / 2, "{} items", bench.0.len());
    }

    #[test]
    fn a_few_large_items_that_take_the_memory_of_small_ones_are_seen() {
        let mut bench = Bench::new(LEN);
        let items = MEMORY / u64::from(LEN);
        let read_or_write = |bench: &mut Bench, number: u64, len: u32| {
            bench.play(number, Deed::Read);
            bench.play(number, Deed::Write { len, due_ms: None, is_new: true });
        };
        for number in 0..10 * items {
            read_or_write(&mut bench, hash(number) % (2 * items), LEN);
        }
        assert_eq!(bench.1, FIRST);
        // Hundreds that would fit: one small item in as many is sampled as there are large ones at all.
        assert!(bench.0.scale.bits() >= 6, "{:?}", bench.0.scale);
        for number in 0..5_000 {
            read_or_write(&mut bench, (1 << 40) + hash(number) % 100, 40_000);
        }
        assert!(SHARES[bench.1] >= 0.6, "{}", SHARES[bench.1]);
    }

    #[test]
    fn shares_of_too_few_segments_are_not_chosen() {
        let mut trial = Trial::new(Scale::new(0, 1.0), MEMORY);
        for (at, requests) in [(1, 900), (3, 800), (FIRST, 500)] {
            for _ in 0..requests {
                trial.contest.count(std::array::from_fn(|other| other == at), 1.0);
            }
        }
        let choose = |trial: &mut Trial, segments: usize| {
            let is_possible = |at: usize| is_possible(at, segments);
            trial.contest.judge(FIRST, is_possible)
        };
        assert_eq!([100, 99, 7, 6].map(|segments| choose(&mut trial, segments)), [1, 3, 3, FIRST]);
    }
}
