// SPDX-License-Identifier: Apache-2.0
//! [`Recorded`]: one connection's share of a trace.

use super::record::{KEY_DIGITS, Op as RecordedOp, Record};
use crate::dialect::Op;
use crate::workload::{Due, Key, Next, Source};
use std::collections::VecDeque;
use std::sync::Arc;

/// One connection's share of a trace.
#[derive(Debug)]
pub(super) struct Recorded {
    records: Arc<[Record]>,
    /// Bytes of the largest key and value of all.
    bytes_max: usize,
    /// The numbers of its own records, in order.
    part: Vec<u32>,
    /// When each of its own records is due; `None` for as fast as replies come.
    times: Option<Vec<u64>>,
    /// The next of its own.
    next: usize,
    /// The number of the first record behind the warm-up.
    warm_at: usize,
    /// Whether what was asked last is behind the warm-up.
    warm: bool,
    /// Missed keys that are to be written, each with its time to live in seconds.
    missed: VecDeque<(Key, u32)>,
    /// Requests in flight, the oldest first: the key, and its time to live in seconds for a write after a
    /// miss; `None` for the write of a missed key.
    under_way: VecDeque<Option<(u64, u32)>>,
}

/// What all shares of a trace have in common.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    pub(super) records: Arc<[Record]>,
    /// Bytes of the largest key and value.
    pub(super) bytes_max: usize,
    /// The number of the first record behind the warm-up.
    pub(super) warm_at: usize,
}

impl Recorded {
    /// The records with the numbers of `part`, at `times` if it has some.
    pub(super) fn new(whole: Whole, part: Vec<u32>, times: Option<&[u64]>) -> Self {
        let times = times.map(|times| part.iter().map(|at| times[*at as usize]).collect());
        Recorded {
            records: whole.records,
            bytes_max: whole.bytes_max,
            part,
            times,
            next: 0,
            warm_at: whole.warm_at,
            warm: false,
            missed: VecDeque::new(),
            under_way: VecDeque::new(),
        }
    }

    fn is_under_way(&self, key: u64) -> bool {
        self.under_way.iter().flatten().any(|(other, _)| *other == key)
    }
}

impl Source for Recorded {
    fn digits(&self) -> usize {
        KEY_DIGITS
    }

    fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    fn begin(&mut self) {
        self.under_way.clear();
    }

    fn next(&mut self, keys: &mut VecDeque<Key>) -> Next {
        if let Some((key, ttl_s)) = self.missed.pop_front() {
            keys.push_back(key);
            self.under_way.push_back(None);
            return Next::Ask { op: Op::Set, keys: 1, ttl_s };
        }
        let Some(number) = self.part.get(self.next).map(|number| *number as usize) else {
            // The requests in flight may be misses.
            return if self.under_way.is_empty() { Next::Over } else { Next::Wait };
        };
        let record = self.records[number];
        if self.is_under_way(record.key) {
            return Next::Wait;
        }
        self.next += 1;
        self.warm = number >= self.warm_at;
        let ttl_s = record.ttl_ms.div_ceil(1000);
        self.under_way.push_back(Some((record.key, ttl_s)));
        keys.push_back(record.key());
        let op = match record.op {
            RecordedOp::Get => Op::Get,
            RecordedOp::Set => Op::Set,
            RecordedOp::Delete => Op::Delete,
        };
        Next::Ask { op, keys: 1, ttl_s }
    }

    fn due(&self) -> Option<Due> {
        if !self.missed.is_empty() {
            return Some(Due::Now);
        }
        let Some(number) = self.part.get(self.next) else {
            return self.under_way.is_empty().then_some(Due::Now);
        };
        let key = self.records[*number as usize].key;
        let at = self.times.as_ref().map_or(Due::Now, |times| Due::At(times[self.next]));
        (!self.is_under_way(key)).then_some(at)
    }

    fn skip(&mut self) -> Option<u64> {
        let at = self.times.as_ref()?.get(self.next).copied();
        self.next += usize::from(at.is_some());
        at
    }

    fn is_warm(&self) -> bool {
        self.warm
    }

    fn missed(&mut self, key: Key) {
        let ttl_s = self.under_way.front().copied().flatten().map_or(0, |(_, ttl_s)| ttl_s);
        self.missed.push_back((key, ttl_s));
    }

    fn answered(&mut self) {
        self.under_way.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(key: u64, op: RecordedOp) -> Record {
        Record { time_ms: 0, key, value_len: 8, ttl_ms: 1_500, key_len: 16, op }
    }

    fn recorded(records: &[Record], times: Option<&[u64]>) -> Recorded {
        let whole = Whole { records: records.into(), bytes_max: 0, warm_at: 2 };
        Recorded::new(whole, (0..records.len() as u32).collect(), times)
    }

    /// The requests of a pipeline, as kinds and keys, and how many of them are behind the warm-up.
    fn pipeline(source: &mut Recorded) -> (Vec<(Op, u64)>, usize, Next) {
        let mut keys = VecDeque::new();
        let (mut asked, mut warm) = (Vec::new(), 0);
        source.begin();
        loop {
            match source.next(&mut keys) {
                Next::Ask { op, keys: 1, ttl_s } => {
                    assert!(op == Op::Delete || ttl_s == 2, "rounded up");
                    asked.push((op, keys.back().unwrap().id));
                    warm += usize::from(source.is_warm());
                }
                end => return (asked, warm, end),
            }
        }
    }

    #[test]
    fn what_is_missed_is_written_first_in_the_next_pipeline() {
        let get = |key| record(key, RecordedOp::Get);
        let records = [get(1), get(2), get(1), record(3, RecordedOp::Delete)];
        let mut source = recorded(&records, None);
        let first = pipeline(&mut source);
        assert_eq!(first, (vec![(Op::Get, 1), (Op::Get, 2)], 0, Next::Wait), "key 1 comes again");
        source.missed(get(1).key());
        source.answered();
        source.answered();
        let (asked, _, end) = pipeline(&mut source);
        assert_eq!(asked, [(Op::Set, 1), (Op::Get, 1), (Op::Delete, 3)]);
        assert_eq!((end, source.is_warm()), (Next::Wait, true));
        assert_eq!(pipeline(&mut source), (vec![], 0, Next::Over));
    }

    #[test]
    fn what_has_times_waits_for_them_and_for_the_same_key() {
        let records = [1, 1, 2].map(|key| record(key, RecordedOp::Get));
        let mut source = recorded(&records, Some(&[0, 50, 60]));
        let mut keys = VecDeque::new();
        assert_eq!(source.due(), Some(Due::At(0)));
        let get = Next::Ask { op: Op::Get, keys: 1, ttl_s: 2 };
        assert_eq!(source.next(&mut keys), get);
        assert_eq!(source.due(), None, "key 1 is under way");
        source.missed(records[0].key());
        source.answered();
        assert_eq!(source.due(), Some(Due::Now), "what was missed is written");
        assert_eq!(source.next(&mut keys), Next::Ask { op: Op::Set, keys: 1, ttl_s: 2 });
        assert_eq!(source.due(), Some(Due::At(50)));
        assert_eq!(source.next(&mut keys), get);
        assert_eq!(source.due(), Some(Due::At(60)));
        assert_eq!(source.next(&mut keys), get);
        assert_eq!(source.due(), None, "all of it is under way");
        (0..3).for_each(|_| source.answered());
        assert_eq!((source.due(), source.next(&mut keys)), (Some(Due::Now), Next::Over));
    }

    #[test]
    fn what_is_left_out_has_its_time() {
        let records = [1, 1].map(|key| record(key, RecordedOp::Get));
        let mut source = recorded(&records, Some(&[0, 50]));
        assert_eq!([source.skip(), source.skip(), source.skip()], [Some(0), Some(50), None]);
        assert_eq!(source.due(), Some(Due::Now), "it is over");
    }
}
