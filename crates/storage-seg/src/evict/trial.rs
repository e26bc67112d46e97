// SPDX-License-Identifier: Apache-2.0
//! [`Trials`]: chooses the share of the memory that new items have before they must have been used
//! to stay.
//!
//! A small share is best where items that were used once are used again; where each item is read only
//! once, long after it was written, only a large share keeps it until then. So several shares are
//! simulated at the same time, each in a [`Miniature`]. A miniature has a fraction of the store's memory
//! and sees the same fraction of its keys, sampled by hash, and its hit ratio is that of the whole to a
//! percent or two (Waldspurger et al., USENIX ATC '17). The store takes the share with the most hits
//! lately.
//!
//! A handle records the requests for sampled keys and replays them, a few at a time, while no other
//! handle does. A request for any other key costs one comparison.

use super::miniature::Miniature;
use super::policy::Eviction;
use crate::shared::Shared;
use crate::store::SegStore;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::tally::Count;
use arrayvec::ArrayVec;
use clock::Ticks;

/// The shares of the memory that are simulated.
const SHARES: [f64; 5] = [0.04, 0.12, 0.3, 0.6, 0.9];

/// The least size of a share in segments: with fewer, new items would have much less than the
/// share.
const SEGMENTS_MIN: f64 = 4.0;

/// The index of the first share, used before anything was learned: the best or nearly so on most
/// recorded traces.
const FIRST: usize = 1;

/// The mask while there are no trials: it samples no key, since no hash is zero in all bits.
const NONE: u64 = u64::MAX;

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

/// How much more hits, relatively, another share needs to replace the first one; smaller differences
/// count as equal.
const AHEAD: f64 = 0.02;
const EQUAL: f64 = 0.003;

/// The same in standard deviations of hits by chance.
const DEVIATIONS: f64 = 3.0;

/// Requests that a handle replays together.
const BATCH: usize = 16;

/// Writes of a handle after which it checks again whether trials can begin.
const LOOK_WRITES: u32 = 64;

/// What a client did.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deed {
    Read,
    /// Wrote an item of this many bytes, which expires at this time.
    Write {
        len: u32,
        due_ms: Option<u64>,
    },
    Delete,
}

/// The requests that a handle has recorded and not yet replayed.
#[derive(Debug)]
pub(crate) struct Sampler {
    /// A key is sampled if its hash has none of these bits set.
    mask: u64,
    /// The handle's writes when it last checked whether trials can begin.
    looked_at: u32,
    noted: ArrayVec<(u64, Deed), BATCH>,
}

impl Sampler {
    pub(crate) fn new() -> Self {
        Sampler { mask: NONE, looked_at: 0, noted: ArrayVec::new() }
    }
}

/// The trials of a store.
#[derive(Debug)]
pub(crate) struct Trials {
    mask: AtomicU64,
    chosen: AtomicUsize,
    trial: Mutex<Option<Trial>>,
}

impl Trials {
    pub(crate) fn new() -> Self {
        Trials {
            mask: AtomicU64::new(NONE),
            chosen: AtomicUsize::new(FIRST),
            trial: Mutex::new(None),
        }
    }

    /// The share of the memory for new items.
    pub(crate) fn new_share(&self) -> f64 {
        SHARES[self.chosen.load(Ordering::Relaxed)]
    }

    /// Begins trials in a store with this memory, which has room for `items` items of the present
    /// sizes.
    fn begin(&self, items: f64, memory: u64) {
        let Some(mut trial) = self.trial.try_lock() else { return };
        if trial.is_none() {
            let bits = (items / ITEMS as f64).log2().max(0.0) as u32;
            *trial = Some(Trial::new(bits, memory));
            self.mask.store(mask(bits), Ordering::Relaxed);
        }
    }

    /// Replays the recorded requests, unless another handle is replaying.
    fn play(&self, noted: &[(u64, Deed)], shared: &Shared, now: Ticks) {
        let Some(mut trial) = self.trial.try_lock() else { return };
        let Some(trial) = trial.as_mut() else { return };
        let policy = &shared.settings.eviction;
        noted.iter().for_each(|&(hash, deed)| trial.play(hash, deed, policy, now.as_millis()));
        trial.rescale(shared.memory_of_items());
        self.mask.store(mask(trial.bits), Ordering::Relaxed);
        let before = self.chosen.load(Ordering::Relaxed);
        let chosen = trial.choose(before, shared.pool.target() / shared.pool.grains());
        self.chosen.store(chosen, Ordering::Relaxed);
    }
}

/// A mask that one in `2^bits` hashes has no bit of.
fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

#[derive(Debug)]
struct Trial {
    /// One key in `2^bits` is sampled.
    bits: u32,
    miniatures: [Miniature; SHARES.len()],
    /// The recent worth of each share's hits.
    hits: [f64; SHARES.len()],
    /// The worth of the requests that hit with any share, and the sum of its squares.
    worth: f64,
    squares: f64,
    /// Requests since the last evaluation of the hits.
    played: usize,
}

impl Trial {
    fn new(bits: u32, memory: u64) -> Self {
        Trial {
            bits,
            miniatures: SHARES.map(|share| Miniature::new(share, memory >> bits)),
            hits: [0.0; SHARES.len()],
            worth: 0.0,
            squares: 0.0,
            played: 0,
        }
    }

    fn play(&mut self, hash: u64, deed: Deed, policy: &Eviction, now_ms: u64) {
        if hash & mask(self.bits) != 0 {
            // Recorded when more keys were sampled.
            return;
        }
        self.played += 1;
        let mut worth = 0.0;
        for (miniature, hits) in self.miniatures.iter_mut().zip(&mut self.hits) {
            match deed {
                Deed::Read => {
                    if let Some(len) = miniature.read(hash, now_ms) {
                        worth = policy.worth_of_hit(len);
                        *hits += worth;
                    }
                }
                Deed::Write { len, due_ms } => {
                    miniature.write(hash, (len, due_ms), policy, now_ms);
                }
                Deed::Delete => miniature.delete(hash),
            }
        }
        self.worth += worth;
        self.squares += worth * worth;
    }

    /// Changes the fraction of sampled keys if the miniatures have too many or too few items.
    fn rescale(&mut self, memory: u64) {
        let len = self.len();
        let is_full = self.miniatures.iter().all(Miniature::is_full);
        if len > *ITEMS_RANGE.end() {
            self.bits += 1;
        } else if len < *ITEMS_RANGE.start() && is_full && self.bits > 0 {
            self.bits -= 1;
        } else {
            self.miniatures
                .iter_mut()
                .for_each(|miniature| miniature.set_memory(memory >> self.bits));
            return;
        }
        let mask = mask(self.bits);
        for miniature in &mut self.miniatures {
            miniature.resize(memory >> self.bits, |hash| hash & mask == 0);
        }
        (self.hits, self.worth, self.squares) = ([0.0; SHARES.len()], 0.0, 0.0);
    }

    /// Items of the miniature that has the most.
    fn len(&self) -> usize {
        self.miniatures.iter().map(Miniature::len).max().unwrap_or(0)
    }

    /// The share to use next, in a store with this many segments.
    fn choose(&mut self, present: usize, segments: usize) -> usize {
        if self.played < LOOK_MIN.max((LOOK_SHARE * self.len() as f64) as usize) {
            return present;
        }
        self.played = 0;
        let chosen = if self.miniatures.iter().all(Miniature::is_warm) {
            self.judge(present, segments)
        } else {
            present
        };
        self.hits.iter_mut().for_each(|hits| *hits *= FADING);
        self.worth *= FADING;
        self.squares *= FADING;
        if chosen != present {
            let share = self.miniatures[chosen].new_share();
            log::debug!("new items have {share} of the memory from now on");
        }
        chosen
    }

    /// The share that the hits favour: the one with the most hits if it is clearly ahead of the
    /// first and the present share; else the present one while it stays ahead of the first; else the
    /// first.
    fn judge(&self, present: usize, segments: usize) -> usize {
        let ahead = (AHEAD * self.worth).max(DEVIATIONS * self.squares.sqrt());
        let lead = |share: usize| self.hits[share] - self.hits[FIRST];
        let best = self.best(segments);
        if lead(best) > ahead && lead(best) > lead(present) + ahead / 4.0 {
            best
        } else if lead(present) > ahead / 2.0 {
            present
        } else {
            FIRST
        }
    }

    /// Of the shares with the most hits, the one closest to the first share.
    fn best(&self, segments: usize) -> usize {
        let is_possible = |share: &usize| SHARES[*share] * segments as f64 >= SEGMENTS_MIN;
        let shares = || (0..SHARES.len()).filter(is_possible);
        let most = shares().map(|share| self.hits[share]).fold(0.0, f64::max);
        let best = shares().filter(|&share| self.hits[share] >= most - EQUAL * self.worth);
        best.min_by_key(|share| share.abs_diff(FIRST)).unwrap_or(FIRST)
    }
}

impl SegStore {
    /// Records a request, if its key is sampled.
    #[inline]
    pub(crate) fn sample(&mut self, hash: u64, deed: Deed, now: Ticks) {
        if hash & self.sampler.mask == 0 {
            self.note(hash, deed, now);
        }
    }

    #[cold]
    fn note(&mut self, hash: u64, deed: Deed, now: Ticks) {
        let Sampler { noted, .. } = &mut self.sampler;
        noted.push((hash, deed));
        if noted.is_full() {
            self.shared.trials.play(noted, &self.shared, now);
            noted.clear();
        }
    }

    /// Replays recorded requests and updates the share. Begins the trials once the store has enough
    /// items.
    pub(crate) fn tend_trials(&mut self) {
        let shared = &*self.shared;
        if !matches!(shared.settings.eviction, Eviction::Scored { .. }) {
            return;
        }
        self.sampler.mask = shared.trials.mask.load(Ordering::Relaxed);
        let writes = self.writes.wrapping_sub(self.sampler.looked_at);
        if self.sampler.mask != NONE || writes < LOOK_WRITES {
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
            Bench(Trial::new(items.max(1).ilog2(), MEMORY), FIRST)
        }

        fn play(&mut self, number: u64, deed: Deed) {
            self.0.play(hash(number), deed, &POLICY, 0);
            self.0.rescale(MEMORY);
            self.1 = self.0.choose(self.1, SEGMENTS);
        }

        fn write(&mut self, number: u64, len: u32) {
            self.play(number, Deed::Write { len, due_ms: None });
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
        assert_eq!(bench.0.bits, 0);
        for number in 0..500_000 {
            bench.write(number, 50);
            assert!(bench.0.len() <= ITEMS_RANGE.end() + 1, "{} items", bench.0.len());
        }
        assert!(bench.0.bits >= 6, "one key in 2^{}", bench.0.bits);
        for number in 0..500_000 {
            bench.write(number, 20_000);
        }
        assert!(bench.0.len() >= ITEMS_RANGE.start() / 2, "{} items", bench.0.len());
    }

    #[test]
    fn shares_of_too_few_segments_are_not_chosen() {
        let mut trial = Trial::new(0, MEMORY);
        (trial.hits, trial.worth, trial.squares) = ([900.0, 500.0, 500.0, 600.0, 0.0], 1e3, 1e3);
        assert_eq!(
            [100, 99, 7, 4].map(|segments| SHARES[trial.best(segments)]),
            [0.04, 0.6, 0.6, 0.12]
        );
        assert_eq!(trial.judge(FIRST, 100), 0, "it is far ahead");
        trial.hits[3] = 580.0;
        assert_eq!(trial.judge(FIRST, 99), FIRST, "three deviations are 95");
        assert_eq!(trial.judge(3, 99), 3, "it stays while it is half as far ahead");
        trial.hits[3] = 540.0;
        assert_eq!(trial.judge(3, 99), FIRST);
    }
}
