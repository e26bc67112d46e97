// SPDX-License-Identifier: Apache-2.0
//! [`replay`]: asks what was recorded, as a client does that keeps a cache beside its database: what a
//! get does not find is written.
//!
//! Each key has its connection, so its requests stay in order. No key is twice in a pipeline, and what
//! was missed is written first in the next one; so hits and misses are those of a client without
//! pipelining.

mod record;

pub use record::{Op as RecordedOp, RECORD_BYTES, Record};

use crate::dialect::Op;
use crate::run::play;
use crate::workload::{KEY_MAX, Key, Next, Source, scatter};
use crate::{Error, Length, Outcome, Plan, Watcher};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Digits in the text of every key.
const DIGITS: usize = 16;

/// Recorded requests.
#[derive(Clone, Debug)]
pub struct Trace {
    records: Arc<[Record]>,
}

impl Trace {
    /// Reads the first `max` records of a file.
    ///
    /// # Errors
    ///
    /// [`Error::File`], when it cannot be read or is no trace.
    pub fn read(path: &Path, max: u64) -> Result<Self, Error> {
        let failed = |error: std::io::Error| Error::file(path, &error);
        let mut file = BufReader::with_capacity(1 << 20, File::open(path).map_err(failed)?);
        let mut records = Vec::new();
        let mut bytes = [0; RECORD_BYTES];
        while (records.len() as u64) < max {
            match fill(&mut file, &mut bytes).map_err(failed)? {
                0 => break,
                RECORD_BYTES => {}
                _ => return Err(Error::file(path, &"no trace: it ends within a record")),
            }
            let number = records.len() + 1;
            let record = Record::decode(&bytes).ok_or_else(|| {
                Error::file(path, &format!("no trace: record {number} asks for nothing known"))
            })?;
            if usize::from(record.key_len) > KEY_MAX {
                let words = format!(
                    "record {number} has a key of {} bytes; {KEY_MAX} are the most",
                    record.key_len
                );
                return Err(Error::file(path, &words));
            }
            records.push(record);
        }
        Ok(Trace { records: records.into() })
    }

    /// How many requests there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}

impl FromIterator<Record> for Trace {
    fn from_iter<I: IntoIterator<Item = Record>>(records: I) -> Self {
        Trace { records: records.into_iter().collect() }
    }
}

/// Reads until `bytes` is full or the file ends; how many were read.
fn fill(file: &mut impl Read, bytes: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read(&mut bytes[filled..])? {
            0 => break,
            n => filled += n,
        }
    }
    Ok(filled)
}

/// Replays a trace by a closed loop; the plan says how, and its workload is not used.
///
/// # Errors
///
/// As [`run`](crate::run()).
pub fn replay(plan: &Plan, trace: &Trace, watch: &mut Watcher<'_>) -> Result<Outcome, Error> {
    if !plan.target.protocol.has_keys() {
        return Err(Error::Setting(format!("--protocol {}: it has no keys", plan.target.protocol)));
    }
    if trace.is_empty() {
        return Err(Error::Setting("the trace is empty".to_owned()));
    }
    let plan = Plan { rate: None, warm_up: Duration::ZERO, length: Length::ToEnd, ..plan.clone() };
    plan.check()?;
    let lanes = plan.connections as u64;
    let mut parts = vec![Vec::new(); plan.connections];
    for (index, record) in trace.records.iter().enumerate() {
        parts[(scatter(record.key) % lanes) as usize].push(index as u32);
    }
    let sizes =
        trace.records.iter().map(|record| record.key_len as usize + record.value_len as usize);
    let bytes_max = sizes.max().unwrap_or(0);
    let source = |lane: usize| Recorded {
        records: trace.records.clone(),
        bytes_max,
        part: std::mem::take(&mut parts[lane]).into_iter(),
        next: None,
        missed: VecDeque::new(),
        pipeline: Vec::new(),
    };
    let outcome = play(&plan, source, watch)?;
    let load = format!(
        "{} records, {} connections, {} threads, depth {}",
        trace.len(),
        plan.connections,
        plan.threads,
        plan.effective_depth()
    );
    Ok(Outcome { load, ..outcome })
}

/// One connection's share of a trace.
#[derive(Debug)]
struct Recorded {
    records: Arc<[Record]>,
    /// Bytes of the largest key and value of all.
    bytes_max: usize,
    /// Which of them are its own.
    part: std::vec::IntoIter<u32>,
    /// The next, taken out of `part`.
    next: Option<Record>,
    /// What was not found, with the seconds that it lives.
    missed: VecDeque<(Key, u32)>,
    /// The keys of the present pipeline, with the seconds that what is missed lives.
    pipeline: Vec<(u64, u32)>,
}

impl Source for Recorded {
    fn digits(&self) -> usize {
        DIGITS
    }

    fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    fn begin(&mut self) {
        self.pipeline.clear();
    }

    fn next(&mut self, keys: &mut VecDeque<Key>) -> Next {
        if let Some((key, ttl_s)) = self.missed.pop_front() {
            keys.push_back(key);
            return Next::Ask { op: Op::Set, keys: 1, ttl_s };
        }
        if self.next.is_none() {
            self.next = self.part.next().map(|index| self.records[index as usize]);
        }
        let Some(record) = self.next else {
            // What is under way may be missed.
            return if self.pipeline.is_empty() { Next::Over } else { Next::Wait };
        };
        if self.pipeline.iter().any(|(key, _)| *key == record.key) {
            return Next::Wait;
        }
        self.next = None;
        let ttl_s = record.ttl_ms.div_ceil(1000);
        self.pipeline.push((record.key, ttl_s));
        keys.push_back(record.key());
        let op = match record.op {
            record::Op::Get => Op::Get,
            record::Op::Set => Op::Set,
            record::Op::Delete => Op::Delete,
        };
        Next::Ask { op, keys: 1, ttl_s }
    }

    fn missed(&mut self, key: Key) {
        let found = self.pipeline.iter().find(|(id, _)| *id == key.id);
        self.missed.push_back((key, found.map_or(0, |(_, ttl_s)| *ttl_s)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(key: u64, op: record::Op) -> Record {
        Record { time_ms: 0, key, value_len: 8, ttl_ms: 1_500, key_len: 16, op }
    }

    fn recorded(records: &[Record]) -> Recorded {
        Recorded {
            records: records.into(),
            bytes_max: 0,
            part: (0..records.len() as u32).collect::<Vec<_>>().into_iter(),
            next: None,
            missed: VecDeque::new(),
            pipeline: Vec::new(),
        }
    }

    /// The requests of a pipeline, as kinds and keys.
    fn pipeline(source: &mut Recorded) -> (Vec<(Op, u64)>, Next) {
        let mut keys = VecDeque::new();
        let mut asked = Vec::new();
        source.begin();
        loop {
            match source.next(&mut keys) {
                Next::Ask { op, keys: 1, ttl_s } => {
                    assert!(op == Op::Delete || ttl_s == 2, "rounded up");
                    asked.push((op, keys.back().unwrap().id));
                }
                end => return (asked, end),
            }
        }
    }

    #[test]
    fn what_is_missed_is_written_first_in_the_next_pipeline() {
        let get = |key| record(key, record::Op::Get);
        let records = [get(1), get(2), get(1), record(3, record::Op::Delete)];
        let mut source = recorded(&records);
        let first = pipeline(&mut source);
        assert_eq!(first, (vec![(Op::Get, 1), (Op::Get, 2)], Next::Wait), "key 1 comes again");
        source.missed(get(1).key());
        let second = pipeline(&mut source);
        let expected = vec![(Op::Set, 1), (Op::Get, 1), (Op::Delete, 3)];
        assert_eq!(second, (expected, Next::Wait));
        assert_eq!(pipeline(&mut source), (vec![], Next::Over));
    }

    #[test]
    fn files_that_are_no_traces_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let read = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            Trace::read(&path, u64::MAX).map(|trace| trace.len()).map_err(|error| error.to_string())
        };
        assert_eq!(read(&record(1, record::Op::Set).encode().repeat(3)), Ok(3));
        assert_eq!(read(&[0; 48]), Ok(2));
        assert!(read(&[0; 47]).unwrap_err().contains("trace: no trace: it ends within a record"));
        assert!(read(&[9; 24]).unwrap_err().contains("record 1 asks for nothing known"));
        let long = Record { key_len: 300, ..record(1, record::Op::Set) };
        assert!(read(&long.encode()).unwrap_err().contains("a key of 300 bytes"));
        assert_eq!(Trace::read(&path, 0).unwrap().len(), 0);
        assert!(Trace::read(&folder.path().join("none"), 1).is_err());
    }
}
