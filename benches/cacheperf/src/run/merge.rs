// SPDX-License-Identifier: Apache-2.0
//! [`Merger`]: adds up the counts of the workers.

use crate::Moment;
use crate::player::Window;
use crate::tally::Tally;
use crate::worker::{Message, Slices};
use std::collections::BTreeMap;

/// Adds up the counts of the workers, for each slice of time and in total.
#[derive(Debug)]
pub(super) struct Merger {
    window: Window,
    slices: Slices,
    /// For each worker the last slice that it has delivered; none follows after `u64::MAX`.
    progress: Vec<Option<u64>>,
    /// Slices that not all workers have delivered.
    open: BTreeMap<u64, Box<Tally>>,
    total: Tally,
    timeline: Vec<Moment>,
    /// When the last worker ended.
    ended: u64,
}

impl Merger {
    pub(super) fn new(workers: usize, window: Window, slices: Slices) -> Self {
        Merger {
            window,
            slices,
            progress: vec![None; workers],
            open: BTreeMap::new(),
            total: Tally::new(),
            timeline: Vec::new(),
            ended: 0,
        }
    }

    /// Whether all workers have ended.
    pub(super) fn is_done(&self) -> bool {
        self.progress.iter().all(|last| *last == Some(u64::MAX))
    }

    /// Takes in a worker's message.
    pub(super) fn take(&mut self, message: Message) {
        let (worker, index, upto, tally) = match message {
            Message::Ready(_) => return,
            Message::Slice { worker, index, tally } => (worker, index, index, tally),
            Message::Done { worker, at, tally } => {
                self.ended = self.ended.max(at);
                (worker, self.slices.index(at), u64::MAX, tally)
            }
        };
        self.progress[worker] = Some(upto);
        self.total.merge(&tally);
        match self.open.entry(index) {
            std::collections::btree_map::Entry::Occupied(mut sum) => sum.get_mut().merge(&tally),
            std::collections::btree_map::Entry::Vacant(place) => drop(place.insert(tally)),
        }
    }

    /// Closes the slices that all workers have delivered.
    pub(super) fn finish_slices(&mut self, mut tell: impl FnMut(&Moment)) {
        let Some(upto) = self.progress.iter().min().copied().flatten() else { return };
        while let Some(first) = self.open.first_entry() {
            if *first.key() > upto {
                break;
            }
            let (index, tally) = first.remove_entry();
            let start = self.slices.start(index);
            let end = self.slices.start(index + 1).min(self.window.end).min(self.end(upto));
            if self.window.contains(start) && end > start {
                let seconds = (end - start) as f64 / 1e9;
                let moment = Moment::of(&tally, start as f64 / 1e9, seconds);
                tell(&moment);
                self.timeline.push(moment);
            }
        }
    }

    /// Where the last slice ends: with the run, once it is known.
    fn end(&self, upto: u64) -> u64 {
        if upto == u64::MAX { self.ended } else { u64::MAX }
    }

    /// The sum, and the seconds of the measured time and what it was made of; no time if it never
    /// began.
    pub(super) fn into_parts(self) -> (Tally, Option<(f64, Vec<Moment>)>) {
        let ns = self.window.end.min(self.ended).checked_sub(self.window.start);
        (self.total, ns.map(|ns| (ns.max(1) as f64 / 1e9, self.timeline)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn slice(worker: usize, index: u64, answered: u64) -> Message {
        let tally = Box::new(Tally { answered, ..Tally::new() });
        Message::Slice { worker, index, tally }
    }

    #[test]
    fn a_slice_is_told_when_all_workers_have_delivered_it() {
        let window = Window { start: SECOND, end: 3 * SECOND };
        let slices = Slices { origin_ns: SECOND, len_ns: SECOND };
        let mut merger = Merger::new(2, window, slices);
        let rates = |merger: &mut Merger| {
            let mut rates = Vec::new();
            merger.finish_slices(|moment| rates.push((moment.at_s, moment.rate)));
            rates
        };
        // The slice with index 1 is the warm-up.
        for message in [slice(0, 1, 5), slice(0, 2, 10), slice(1, 1, 5)] {
            merger.take(message);
        }
        assert_eq!(rates(&mut merger), []);
        merger.take(slice(1, 2, 20));
        assert_eq!(rates(&mut merger), [(1.0, 30.0)]);
        for worker in 0..2 {
            let tally = Box::new(Tally { answered: 50, ..Tally::new() });
            merger.take(Message::Done { worker, at: 5 * SECOND / 2, tally });
        }
        assert!(merger.is_done());
        assert_eq!(rates(&mut merger), [(2.0, 200.0)], "half a second");
        let (total, measured) = merger.into_parts();
        let (seconds, timeline) = measured.unwrap();
        assert_eq!((total.answered, seconds, timeline.len()), (140, 1.5, 2));
    }
}
