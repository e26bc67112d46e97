// SPDX-License-Identifier: Apache-2.0
//! [`Census`]: how many connections there are, in all and per worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts connections from their acceptance to their end.
#[derive(Clone, Debug)]
pub struct Census {
    /// One count per worker; written when a connection comes or goes.
    workers: Arc<[AtomicUsize]>,
}

/// A connection's place in the [`Census`]; dropping it gives the place up.
#[derive(Debug)]
pub struct Seat {
    census: Census,
    worker: usize,
}

impl Census {
    /// A census of `workers` workers.
    ///
    /// # Panics
    ///
    /// When `workers` is zero.
    pub fn new(workers: usize) -> Self {
        assert!(workers > 0, "a server has at least one worker");
        Census { workers: (0..workers).map(|_| AtomicUsize::new(0)).collect() }
    }

    /// Connections of all workers.
    pub fn total(&self) -> usize {
        self.workers.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// Seats a connection at the worker that has the fewest.
    pub fn seat(&self) -> Seat {
        let least = self.workers.iter().enumerate().min_by_key(|(_, n)| n.load(Ordering::Relaxed));
        let worker = least.map_or(0, |(worker, _)| worker);
        self.workers[worker].fetch_add(1, Ordering::Relaxed);
        Seat { census: self.clone(), worker }
    }
}

impl Seat {
    /// The worker that serves the connection.
    pub fn worker(&self) -> usize {
        self.worker
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.census.workers[self.worker].fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_loaded_worker_is_next() {
        let census = Census::new(3);
        let mut seats: Vec<Seat> = (0..6).map(|_| census.seat()).collect();
        let workers: Vec<usize> = seats.iter().map(Seat::worker).collect();
        assert_eq!(workers, [0, 1, 2, 0, 1, 2]);
        drop(seats.remove(4));
        assert_eq!((census.total(), census.seat().worker()), (5, 1));
    }
}
