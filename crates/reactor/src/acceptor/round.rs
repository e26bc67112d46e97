// SPDX-License-Identifier: Apache-2.0
//! [`Round`]: accepts one connection at each door in turn.

use super::Arrival;
use crate::Door;
use std::io::ErrorKind;

/// The doors at which connections may wait, and whose turn it is.
#[derive(Debug)]
pub(super) struct Round {
    open: Vec<bool>,
    next: usize,
}

impl Round {
    /// A round of `doors` doors, with connections possibly waiting at each.
    pub(super) fn new(doors: usize) -> Self {
        Round { open: vec![true; doors], next: 0 }
    }

    /// Records that connections may wait at this door.
    pub(super) fn open(&mut self, door: usize) {
        if let Some(open) = self.open.get_mut(door) {
            *open = true;
        }
    }

    /// Records that no connection waits at this door.
    pub(super) fn shut(&mut self, door: usize) {
        self.open[door] = false;
    }

    /// Records that connections may wait at every door.
    pub(super) fn open_all(&mut self) {
        self.open.fill(true);
    }

    /// Accepts at the next door where a connection waits.
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
