// SPDX-License-Identifier: Apache-2.0
//! Simulated caches that rank each item individually: the miss ratio of a policy that may look at all items
//! for every write. That would be too slow for a store, but shows how close a store comes to it.

use super::replay::Outcome;
use cacheperf::{RECORD_BYTES, Record, RecordedOp};
use std::collections::{BTreeSet, HashMap};
use std::str::FromStr;

/// Bytes that an item takes beside key and value: about what it takes in `storage-seg`.
const OVERHEAD: u64 = 14;

/// Which item goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rank {
    /// The one that was used longest ago.
    Lru,
    /// Greedy-dual-size-frequency (Cherkasova, 1998): the one with the fewest uses for its size, counted
    /// from what the last one that went was worth.
    Gdsf,
    /// The same without sizes: LFU with dynamic aging (Arlitt et al., 2000).
    Lfuda,
}

impl FromStr for Rank {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        match name {
            "lru" => Ok(Rank::Lru),
            "gdsf" => Ok(Rank::Gdsf),
            "lfuda" => Ok(Rank::Lfuda),
            _ => Err(()),
        }
    }
}

/// An item's place among those that may go: what it is worth, and its last use.
///
/// Numbers that are not negative are in the order of their bits.
type Place = (u64, u64);

#[derive(Clone, Copy, Debug)]
struct Entry {
    bytes: u64,
    uses: u64,
    expiry_ms: Option<u64>,
    place: Place,
}

/// A cache of a certain size.
#[derive(Debug)]
pub(super) struct Simulated {
    rank: Rank,
    limit: u64,
    entries: HashMap<u64, Entry>,
    order: BTreeSet<(Place, u64)>,
    used: u64,
    /// Requests so far.
    requests: u64,
    /// What the last item that went was worth.
    inflation: f64,
    outcome: Outcome,
}

impl Simulated {
    pub(super) fn new(rank: Rank, limit: u64) -> Self {
        Simulated {
            rank,
            limit,
            entries: HashMap::new(),
            order: BTreeSet::new(),
            used: 0,
            requests: 0,
            inflation: 0.0,
            outcome: Outcome::default(),
        }
    }

    /// Replays records, by their times, and counts hits and misses after the first `uncounted`.
    pub(super) fn replay(mut self, records: &[u8], uncounted: u64) -> Result<Outcome, String> {
        let (records, _) = records.as_chunks::<RECORD_BYTES>();
        for (number, bytes) in (0_u64..).zip(records) {
            let record =
                Record::decode(bytes).ok_or("no trace: it has bytes that are no record")?;
            self.request(&record);
            if number < uncounted {
                self.outcome.count_anew();
            }
        }
        self.outcome.operations = self.requests;
        self.outcome.items = self.entries.len() as u64;
        self.outcome.used_bytes = self.used;
        Ok(self.outcome)
    }

    fn request(&mut self, record: &Record) {
        self.requests += 1;
        let is_over = |entry: &Entry| entry.expiry_ms.is_some_and(|at| at <= record.time_ms.into());
        if self.entries.get(&record.key).is_some_and(is_over) {
            self.remove(record.key);
        }
        match record.op {
            RecordedOp::Get => self.get(record),
            RecordedOp::Set => self.set(record),
            RecordedOp::Delete => drop(self.remove(record.key)),
        }
    }

    fn get(&mut self, record: &Record) {
        self.outcome.gets += 1;
        self.outcome.get_bytes += record.bytes();
        match self.remove(record.key) {
            Some(entry) => {
                self.outcome.hits += 1;
                self.outcome.hit_bytes += record.bytes();
                self.insert(record.key, Entry { uses: entry.uses + 1, ..entry });
            }
            None => self.set(record),
        }
    }

    fn set(&mut self, record: &Record) {
        let before = self.remove(record.key);
        let bytes = record.bytes() + OVERHEAD;
        if bytes > self.limit {
            self.outcome.failed += 1;
            return;
        }
        while self.used + bytes > self.limit {
            self.evict();
        }
        let expires =
            (record.ttl_ms > 0).then(|| u64::from(record.time_ms) + u64::from(record.ttl_ms));
        let uses = before.map_or(1, |entry| entry.uses + 1);
        self.insert(record.key, Entry { bytes, uses, expiry_ms: expires, place: (0, 0) });
    }

    fn insert(&mut self, key: u64, entry: Entry) {
        let worth = match self.rank {
            Rank::Lru => 0.0,
            Rank::Gdsf => self.inflation + entry.uses as f64 / entry.bytes as f64,
            Rank::Lfuda => self.inflation + entry.uses as f64,
        };
        let place = (worth.to_bits(), self.requests);
        self.used += entry.bytes;
        self.order.insert((place, key));
        self.entries.insert(key, Entry { place, ..entry });
    }

    fn remove(&mut self, key: u64) -> Option<Entry> {
        let entry = self.entries.remove(&key)?;
        self.order.remove(&(entry.place, key));
        self.used -= entry.bytes;
        Some(entry)
    }

    fn evict(&mut self) {
        let Some(&((worth, _), key)) = self.order.first() else { return };
        self.inflation = f64::from_bits(worth);
        self.outcome.evicted += 1;
        self.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(key: u64, value_len: u32, op: RecordedOp) -> Record {
        Record { time_ms: 0, key, value_len, ttl_ms: 0, key_len: 16, op }
    }

    fn get(key: u64, value_len: u32) -> Record {
        record(key, value_len, RecordedOp::Get)
    }

    /// Which of the requests are hits.
    fn hits(rank: Rank, limit: u64, requests: &[Record]) -> Vec<bool> {
        let mut cache = Simulated::new(rank, limit);
        let mut hit = |request| {
            let before = cache.outcome.hits;
            cache.request(request);
            cache.outcome.hits > before
        };
        requests.iter().map(&mut hit).collect()
    }

    #[test]
    fn what_was_used_longest_ago_goes_first_with_lru() {
        let [a, b, c] = [1, 2, 3].map(|key| get(key, 70));
        let played = hits(Rank::Lru, 200, &[a, b, a, c, a, b]);
        assert_eq!(played, [false, false, true, false, true, false]);
    }

    #[test]
    fn the_large_one_goes_first_with_gdsf_and_the_less_used_with_lfuda() {
        let (large, small) = (get(1, 70), get(2, 0));
        let requests = [large, large, large, small, get(3, 60), small, large];
        let played = hits(Rank::Gdsf, 190, &requests);
        assert_eq!(played, [false, true, true, false, false, true, false]);
        let played = hits(Rank::Lfuda, 190, &requests);
        assert_eq!(played, [false, true, true, false, false, false, true]);
    }

    #[test]
    fn an_item_that_is_over_is_missed_and_one_that_never_fits_is_refused() {
        let short = Record { ttl_ms: 10, ..record(1, 10, RecordedOp::Set) };
        let late = |time_ms| Record { time_ms, ..get(1, 10) };
        assert_eq!(hits(Rank::Lru, 200, &[short, late(9), late(10)]), [false, true, false]);
        let mut cache = Simulated::new(Rank::Lru, 50);
        cache.request(&get(1, 100));
        assert_eq!((cache.outcome.failed, cache.used), (1, 0));
    }
}
