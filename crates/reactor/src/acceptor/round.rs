// SPDX-License-Identifier: Apache-2.0
//! [`Round`]: going from door to door, and accepting one at each where somebody may wait.

use super::source::Arrival;
use crate::Door;
use std::io::ErrorKind;

/// Which doors somebody may wait at, and whose turn it is.
#[derive(Debug)]
pub(super) struct Round {
    open: Vec<bool>,
    next: usize,
}

impl Round {
    /// Somebody may wait at each of `doors` doors.
    pub(super) fn new(doors: usize) -> Self {
        Round { open: vec![true; doors], next: 0 }
    }

    /// Somebody may wait at this door.
    pub(super) fn open(&mut self, door: usize) {
        if let Some(open) = self.open.get_mut(door) {
            *open = true;
        }
    }

    /// Nobody waits at this door.
    pub(super) fn shut(&mut self, door: usize) {
        self.open[door] = false;
    }

    /// Somebody may wait anywhere.
    pub(super) fn open_all(&mut self) {
        self.open.fill(true);
    }

    /// Accepts at the next door where somebody waits.
    pub(super) fn accept(&mut self, doors: &[Door]) -> Option<Arrival> {
        for _ in 0..doors.len() {
            let door = self.next;
            self.next = (self.next + 1) % doors.len();
            if !self.open[door] {
                continue;
            }
            match doors[door].listener.accept() {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.shut(door),
                outcome => return Some((door, outcome)),
            }
        }
        None
    }
}
