// SPDX-License-Identifier: Apache-2.0
//! The writer's half: takes lines from the ring and writes them out.

use std::sync::Arc;
use std::thread;

use crate::bell::Bell;
use crate::counts::Counts;
use crate::ledger::Ledger;
use crate::ring::Ring;
use crate::sink::Sink;
use crate::timestamp;

/// How often the end of a drain looks for lines that callers are still formatting.
const CLOSE_TRIES: usize = 1000;

/// Writes out what callers have logged. One thread owns it and calls [`run_once`](Drain::run_once)
/// every so often; the command log has a drain of the same type.
///
/// Dropping it writes out what is left. Lines logged after that are counted as dropped.
#[derive(Debug)]
pub struct Drain {
    ledger: Ledger,
    /// By the index that lines carry.
    sinks: Vec<Sink>,
}

impl Drain {
    pub(crate) fn new(ring: Arc<Ring>, sinks: Vec<Sink>) -> Self {
        Self { ledger: Ledger::new(ring), sinks }
    }

    /// Writes out what is queued and rotates files whose time has come. Returns the number of
    /// lines taken from the ring, at most its capacity.
    ///
    /// A line that cannot be written is counted ([`failed`](crate::failed)) and reported to
    /// stderr, at most once a minute. Allocates only to rotate or to report.
    pub fn run_once(&mut self) -> usize {
        self.run_once_at(timestamp::unix_ms_now())
    }

    /// Does what [`run_once`](Drain::run_once) does, at a time given in milliseconds since 1970.
    /// The age of files and the minute between reports go by it.
    pub fn run_once_at(&mut self, unix_ms: u64) -> usize {
        let Self { ledger, sinks } = self;
        ledger.now_ms = unix_ms;
        for sink in sinks.iter_mut() {
            sink.tend(ledger);
        }
        let ring = Arc::clone(&ledger.ring);
        let mut taken = 0;
        // Bounded, so that callers who log without end do not keep the thread here.
        while taken < ring.capacity()
            && ring.drain_one(|line| sinks[line.output].push(line.bytes(), ledger))
        {
            taken += 1;
        }
        for sink in sinks.iter_mut() {
            sink.flush(ledger);
        }
        ledger.tell_if_due();
        taken
    }

    /// Writes out what is queued, then closes the files and opens their paths anew. This is for
    /// SIGHUP, after somebody has moved the files away. A file that cannot be opened is reported,
    /// and the one open goes on being used.
    pub fn reopen(&mut self) {
        self.run_once();
        for sink in &mut self.sinks {
            sink.reopen(&mut self.ledger);
        }
    }

    /// Whether lines wait to be written.
    #[must_use]
    pub fn has_lines(&self) -> bool {
        self.ledger.ring.has_lines()
    }

    /// Has lines ring `bell` from now on, for a thread that sleeps while there are none. A drain keeps its first bell.
    pub fn wake_by(&self, bell: Arc<Bell>) {
        self.ledger.ring.wake_by(bell);
    }

    /// What became of the lines of this log. [`written`](crate::written), [`dropped`](crate::dropped)
    /// and [`failed`](crate::failed) are the same for the whole process.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.ledger.ring.tally.snapshot()
    }
}

impl Drop for Drain {
    fn drop(&mut self) {
        // Buffers are taken out of service until none is left, so that a line logged later is
        // counted as dropped and not queued for nobody. A caller that keeps a buffer for long
        // is not waited for.
        let capacity = self.ledger.ring.capacity();
        let mut retired = 0;
        for _ in 0..CLOSE_TRIES {
            self.run_once();
            retired += self.ledger.ring.retire();
            if retired == capacity {
                break;
            }
            thread::yield_now();
        }
        self.ledger.tell_rest();
    }
}
