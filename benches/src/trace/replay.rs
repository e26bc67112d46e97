// SPDX-License-Identifier: Apache-2.0
//! A store under replay, and what comes of it.

use cacheperf::{RECORD_BYTES, Record, RecordedOp};
use clock::Ticks;
use std::fmt;
use std::time::{Duration, Instant};
use storage::{Expiry, Item, Put, Store};

/// Records of a turn: so many come with one look at the clock and one step of upkeep.
const TURN: usize = 64;
/// Items that upkeep looks at per turn, as with a server's worker.
const BUDGET: usize = 64;

/// What came of a replay.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    pub(super) gets: u64,
    pub(super) get_bytes: u64,
    pub(super) hits: u64,
    pub(super) hit_bytes: u64,
    /// Sets, those after a miss included, that the store refused.
    pub(super) failed: u64,
    /// Values that were not what was written.
    pub(super) wrong: u64,
    pub(super) operations: u64,
    pub(super) items: u64,
    pub(super) used_bytes: u64,
    pub(super) evicted: u64,
    /// Bytes that the store copied by itself for each that was written, where it counts them.
    pub(super) copies: Option<f64>,
    nanos: u128,
}

impl Outcome {
    pub(super) const TITLES: &str =
        "     gets    miss  byte miss  failed sets     items      used    evicted  copies  ns/op";

    /// Forgets what was asked for and found so far: the records before were for warming up.
    pub(super) fn count_anew(&mut self) {
        (self.gets, self.get_bytes, self.hits, self.hit_bytes) = (0, 0, 0, 0);
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let missed = |hits: u64, all: u64| 1.0 - hits as f64 / all.max(1) as f64;
        write!(
            f,
            "{:9} {:7.4} {:10.4} {:12} {:9} {:8.1}M {:10} {:>7} {:6.0}",
            self.gets,
            missed(self.hits, self.gets),
            missed(self.hit_bytes, self.get_bytes),
            self.failed,
            self.items,
            mebibytes(self.used_bytes),
            self.evicted,
            self.copies.map_or_else(|| "-".to_owned(), |copies| format!("{copies:.2}")),
            self.nanos as f64 / self.operations.max(1) as f64,
        )
    }
}

pub(super) fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// A store under replay.
struct Client<'s, S> {
    store: &'s mut S,
    now: Ticks,
    key: Vec<u8>,
    value: Vec<u8>,
    outcome: Outcome,
}

/// Replays records one by one, and counts hits and misses after the first `uncounted`. The time of the store is that of the
/// records, or the time since the start.
pub(super) fn replay<S: Store>(
    store: &mut S,
    records: &[u8],
    uncounted: u64,
    by_times: bool,
) -> Result<Outcome, String> {
    let (now, outcome) = (Ticks::ZERO, Outcome::default());
    let mut client = Client { store, now, key: Vec::new(), value: Vec::new(), outcome };
    let (records, _) = records.as_chunks::<RECORD_BYTES>();
    let start = Instant::now();
    let mut number = 0;
    for turn in records.chunks(TURN) {
        if !by_times {
            client.now = Ticks::from_millis(start.elapsed().as_millis() as u64);
        }
        for bytes in turn {
            let record =
                Record::decode(bytes).ok_or("no trace: it has bytes that are no record")?;
            if by_times {
                client.now = client.now.max(Ticks::from_millis(record.time_ms.into()));
            }
            client.request(&record);
            if number < uncounted {
                client.outcome.count_anew();
            }
            number += 1;
        }
        client.store.expire(client.now, BUDGET);
    }
    let nanos = start.elapsed().as_nanos();
    client.store.check_integrity();
    let stats = client.store.stats();
    Ok(Outcome {
        items: stats.items,
        used_bytes: stats.used_bytes,
        evicted: stats.evicted,
        nanos,
        ..client.outcome
    })
}

impl<S: Store> Client<'_, S> {
    fn request(&mut self, record: &Record) {
        self.key.clear();
        record.write_key(&mut self.key);
        match record.op {
            RecordedOp::Get => self.get(record),
            RecordedOp::Set => self.set(record),
            RecordedOp::Delete => {
                self.store.delete(&self.key, self.now);
                self.outcome.operations += 1;
            }
        }
    }

    fn get(&mut self, record: &Record) {
        self.outcome.operations += 1;
        self.outcome.gets += 1;
        self.outcome.get_bytes += record.bytes();
        let read = self.store.get(&self.key, self.now).map(|item| record.is_right(item.value()));
        let Some(is_right) = read else { return self.set(record) };
        self.outcome.hits += 1;
        self.outcome.hit_bytes += record.bytes();
        self.outcome.wrong += u64::from(!is_right);
    }

    fn set(&mut self, record: &Record) {
        self.value.clear();
        record.write_value(&mut self.value);
        let expiry = match record.ttl_ms {
            0 => Expiry::NEVER,
            ttl_ms => Expiry::after(Duration::from_millis(ttl_ms.into()), self.now),
        };
        let put = Put::new(&self.key, &self.value).expiry(expiry);
        self.outcome.failed += u64::from(self.store.put(put, self.now).is_err());
        self.outcome.operations += 1;
    }
}
