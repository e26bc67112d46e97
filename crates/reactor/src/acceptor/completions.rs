// SPDX-License-Identifier: Apache-2.0
//! [`Completions`]: accepting on io_uring. The ring's operations are in `uring/reception.rs`.

use super::round::Round;
use super::source;
use crate::Door;
use crate::bell::Bell;
use crate::uring::{Arrival, Reception};
use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

/// The timeout of a wait without a limit, because the ring needs one.
const LONG: Duration = Duration::from_secs(3600);

/// A ring that accepts at each door. An error ends accepting at a door, and it is started again.
#[derive(Debug)]
pub(super) struct Completions {
    reception: Reception,
    /// Doors at which accepting has ended.
    closed: Vec<usize>,
    /// Connections that came while accepting ended.
    last: VecDeque<Arrival>,
    /// Set once accepting has ended: walks the connections that the ring left in the backlogs.
    round: Option<Round>,
    doors: usize,
}

impl Completions {
    /// A ring for this number of doors, woken by `bell`.
    ///
    /// # Errors
    ///
    /// When the kernel refuses a ring.
    pub(super) fn new(bell: Arc<Bell>, doors: usize) -> io::Result<Self> {
        let reception = Reception::new(bell)?;
        let closed = (0..doors).collect();
        Ok(Completions { reception, closed, last: VecDeque::new(), round: None, doors })
    }

    pub(super) fn begin(&mut self) -> io::Result<()> {
        self.reception.begin()
    }

    pub(super) fn next(&mut self, doors: &[Door]) -> io::Result<Option<source::Arrival>> {
        if let Some(round) = &mut self.round {
            let last = self.last.pop_front();
            return Ok(last.map(|arrival| adopt(arrival, doors)).or_else(|| round.accept(doors)));
        }
        let mut arrival = self.reception.pop();
        if arrival.is_none() && !self.closed.is_empty() {
            for door in self.closed.drain(..) {
                self.reception.accept(doors[door].listener.as_fd(), door);
            }
            self.reception.submit()?;
            arrival = self.reception.pop();
        }
        let Some(arrival) = arrival else { return Ok(None) };
        if arrival.is_last {
            self.closed.push(arrival.door);
        }
        Ok(Some(adopt(arrival, doors)))
    }

    pub(super) fn wait(&mut self, most: Option<Duration>) -> io::Result<()> {
        self.reception.wait(most.unwrap_or(LONG))
    }

    pub(super) fn close(&mut self) {
        self.last.extend(self.reception.end());
        self.round = Some(Round::new(self.doors));
    }
}

/// Makes a connection from a descriptor.
fn adopt(arrival: Arrival, doors: &[Door]) -> source::Arrival {
    let listener = &doors[arrival.door].listener;
    (arrival.door, arrival.outcome.and_then(|descriptor| listener.adopt(descriptor)))
}
