// SPDX-License-Identifier: Apache-2.0
//! The ring: a fixed set of buffers that go round between two queues.
//!
//! INV-RING: every buffer is at each moment in exactly one place: the queue of free ones, the queue
//! of filled ones, a [`Slot`] in the hands of a caller, or the hands of the drain. None is added
//! after the start, so a push never finds its queue full.

use std::sync::{Arc, OnceLock};

use bytes::BytesMut;
use crossbeam_queue::ArrayQueue;

use crate::bell::Bell;
use crate::counts::Tally;
use crate::line::Line;

/// The two queues, and the counts of what went through.
#[derive(Debug)]
pub(crate) struct Ring {
    free: ArrayQueue<Line>,
    filled: ArrayQueue<Line>,
    capacity: usize,
    /// Rung when a line is queued.
    bell: OnceLock<Arc<Bell>>,
    pub(crate) tally: Tally,
}

impl Ring {
    /// Makes `capacity` buffers of `line_bytes` each.
    pub(crate) fn new(capacity: usize, line_bytes: usize) -> Self {
        // Twice the room: then a push seldom gets a place that a pop is just leaving, for which it
        // would have to wait.
        let queue = || ArrayQueue::new(capacity.saturating_mul(2));
        let (free, filled, bell) = (queue(), queue(), OnceLock::new());
        let ring = Self { free, filled, capacity, bell, tally: Tally::new() };
        // One block from the system, zeros that it has not written yet: a page takes memory from the first line on
        // that is written there, and a quiet server has few.
        let mut block = BytesMut::zeroed(capacity.saturating_mul(line_bytes));
        for _ in 0..capacity {
            give(&ring.free, Line::new(block.split_to(line_bytes)));
        }
        ring
    }

    /// How many buffers there are.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Takes a free buffer, or counts a dropped line.
    pub(crate) fn take(&self) -> Option<Slot<'_>> {
        let line = self.free.pop();
        if line.is_none() {
            self.tally.dropped();
        }
        line.map(|line| Slot { ring: self, line, filled: false })
    }

    /// Hands the oldest filled buffer to `write` and frees it. False when there is none.
    pub(crate) fn drain_one(&self, write: impl FnOnce(&Line)) -> bool {
        let Some(line) = self.filled.pop() else {
            return false;
        };
        write(&line);
        give(&self.free, line);
        true
    }

    /// Whether a line waits for the drain.
    pub(crate) fn has_lines(&self) -> bool {
        !self.filled.is_empty()
    }

    /// Has `bell` rung for each line from now on. Only the first call has an effect.
    pub(crate) fn wake_by(&self, bell: Arc<Bell>) {
        let _ = self.bell.set(bell);
    }

    /// Takes all free buffers out of service and says how many those were. A ring without
    /// buffers drops and counts every line.
    pub(crate) fn retire(&self) -> usize {
        std::iter::from_fn(|| self.free.pop()).count()
    }
}

/// A buffer in the hands of a caller. It goes back to the free ones when the caller gives up,
/// even by a panic in somebody's `Display`.
#[derive(Debug)]
pub(crate) struct Slot<'a> {
    ring: &'a Ring,
    pub(crate) line: Line,
    filled: bool,
}

impl Slot<'_> {
    /// Passes the finished line on to the drain, for the given output.
    pub(crate) fn submit(mut self, output: usize) {
        self.line.output = output;
        self.filled = true;
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let line = std::mem::take(&mut self.line);
        if !self.filled {
            return give(&self.ring.free, line);
        }
        give(&self.ring.filled, line);
        if let Some(bell) = self.ring.bell.get() {
            bell.ring();
        }
    }
}

fn give(queue: &ArrayQueue<Line>, line: Line) {
    let given = queue.push(line);
    debug_assert!(given.is_ok(), "INV-RING: there are never more buffers than places");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn submit(ring: &Ring, unix_ms: u64) -> bool {
        let Some(mut slot) = ring.take() else {
            return false;
        };
        slot.line.start(unix_ms);
        slot.line.finish();
        slot.submit(0);
        true
    }

    /// Resident memory of this process in bytes.
    fn resident() -> usize {
        let statm = std::fs::read_to_string("/proc/self/statm").expect("proc is mounted");
        let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok());
        pages.expect("the second number is of resident pages") * 4096
    }

    #[test]
    fn buffers_take_memory_when_lines_are_written() {
        let before = resident();
        let ring = Ring::new(4096, 64 << 10);
        let grown = resident().saturating_sub(before);
        assert!(grown < 32 << 20, "{grown} bytes of 256 MiB");
        assert!(submit(&ring, 1));
    }

    #[test]
    fn buffers_go_round_in_order_and_a_full_ring_counts() {
        let ring = Ring::new(2, 128);
        for round in 0..10 {
            assert!(submit(&ring, 1));
            assert!(submit(&ring, 2));
            assert!(!submit(&ring, 3));
            assert_eq!(ring.tally.snapshot().dropped, round + 1);
            for digit in [b'1', b'2'] {
                assert!(ring.drain_one(|line| assert_eq!(line.bytes()[22], digit)));
            }
            assert!(!ring.drain_one(|_| panic!("nothing is left")));
        }
    }

    #[test]
    fn a_caller_that_gives_up_returns_its_buffer() {
        let ring = Ring::new(1, 128);
        drop(ring.take().unwrap());
        assert!(ring.take().is_some());
        assert_eq!(ring.tally.snapshot().dropped, 0);
    }

    #[test]
    fn a_retired_ring_drops_everything() {
        let ring = Ring::new(3, 128);
        assert_eq!(ring.retire(), 3);
        assert!(!submit(&ring, 0));
        assert_eq!(ring.tally.snapshot().dropped, 1);
    }
}
