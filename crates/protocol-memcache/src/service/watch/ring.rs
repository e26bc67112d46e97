// SPDX-License-Identifier: Apache-2.0
//! [`Ring`]: the lines of a worker that nobody has been sent yet.

use super::RING_BYTES;
use crate::metrics;
use crate::topics::Topics;

/// Lines in the order in which they were written. Takes no memory until there is one.
#[derive(Debug, Default)]
pub(super) struct Ring {
    bytes: Vec<u8>,
    lines: Vec<Line>,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    topics: Topics,
    /// Its number among the lines of all workers.
    number: u64,
    /// Where it ends.
    end: usize,
}

impl Ring {
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.lines.clear();
    }

    /// Adds the line that `write` appends; if there is no room for it, it is dropped and counted.
    pub(super) fn push(&mut self, topics: Topics, number: u64, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        write(&mut self.bytes);
        if self.bytes.len() > RING_BYTES {
            self.bytes.truncate(start);
            metrics::LOG_WORKER_DROPPED.increment();
            return;
        }
        metrics::LOG_WORKER_WRITTEN.increment();
        self.lines.push(Line { topics, number, end: self.bytes.len() });
    }

    /// The lines, each with its topic and its number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Topics, u64, &[u8])> {
        let mut start = 0;
        self.lines.iter().map(move |line| {
            let text = &self.bytes[start..line.end];
            start = line.end;
            (line.topics, line.number, text)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_dropped_and_the_rest_stays_in_order() {
        let mut ring = Ring::default();
        let long = vec![b'x'; RING_BYTES - 3];
        ring.push(Topics::FETCHERS, 1, |bytes| bytes.extend_from_slice(&long));
        ring.push(Topics::MUTATIONS, 2, |bytes| bytes.extend_from_slice(b"four"));
        ring.push(Topics::DELETIONS, 3, |bytes| bytes.extend_from_slice(b"end"));
        let lines: Vec<_> = ring.iter().collect();
        assert_eq!(lines, [(Topics::FETCHERS, 1, &long[..]), (Topics::DELETIONS, 3, b"end")]);
        ring.clear();
        assert!(ring.is_empty() && ring.iter().next().is_none());
    }
}
