// SPDX-License-Identifier: Apache-2.0
//! [`Readiness`]: accepting on epoll, through mio.

use super::Arrival;
use super::round::Round;
use crate::Door;
use mio::{Events, Poll, Token, Waker};
use std::io;
use std::time::Duration;

/// The token of the waker; doors use their number.
const WAKER: Token = Token(usize::MAX);

/// A poll, and the doors that it has reported.
#[derive(Debug)]
pub(super) struct Readiness {
    poll: Poll,
    events: Events,
    round: Round,
}

impl Readiness {
    /// A poll for so many doors, which watches none yet, and its waker.
    ///
    /// # Errors
    ///
    /// When the operating system refuses an event queue.
    pub(super) fn new(doors: usize) -> io::Result<(Self, Waker)> {
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        let (events, round) = (Events::with_capacity(64), Round::new(doors));
        Ok((Readiness { poll, events, round }, waker))
    }

    /// Watches a door, which listens.
    pub(super) fn watch(&self, number: usize, door: &mut Door) -> io::Result<()> {
        door.listener.register(self.poll.registry(), Token(number))
    }

    pub(super) fn next(&mut self, doors: &[Door]) -> Option<Arrival> {
        self.round.accept(doors)
    }

    pub(super) fn wait(&mut self, most: Option<Duration>) -> io::Result<()> {
        match self.poll.poll(&mut self.events, most) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            other => other?,
        }
        for event in &self.events {
            self.round.open(event.token().0);
        }
        Ok(())
    }

    /// Whether the last wait ended with an event.
    #[cfg(test)]
    pub(super) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    pub(super) fn shut(&mut self, door: usize) {
        self.round.shut(door);
    }

    pub(super) fn open_all(&mut self) {
        self.round.open_all();
    }
}
