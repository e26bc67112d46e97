// SPDX-License-Identifier: Apache-2.0
//! [`ByteReport`]: what each byte of the segments in service is worth.

use super::walk::live;
use crate::segment::{Segment, State};

/// What the memory of segments holds. The three add up to that of all segments in service: those that
/// are not withdrawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ByteReport {
    /// Items that can be read, with headers and padding. In a segment where only some have expired,
    /// these count too.
    pub live: u64,
    /// What comes back with its segment: items that were overwritten, deleted or moved, those of
    /// segments in which all have expired, what closed segments have left unwritten, and segments that
    /// wait until nobody can be reading them.
    pub dead: u64,
    /// What can be written: free segments, and the rest of open ones.
    pub free: u64,
}

impl ByteReport {
    /// Adds a segment. `is_over` when none of its items can be read any more.
    pub(super) fn add(&mut self, segment: &Segment, state: State, bytes: u64, is_over: bool) {
        let bytes = u64::from(segment.span()) * bytes;
        let live = if is_over { 0 } else { live(segment.live_bytes()).min(bytes) };
        // An item is counted as live a moment before it is as written, and a segment is open a moment
        // before it has forgotten what was written in its last use.
        let written = u64::from(segment.written()).clamp(live, bytes);
        match state {
            State::Open => {
                self.live += live;
                self.dead += written - live;
                self.free += bytes - written;
            }
            State::Sealed | State::Claimed => {
                self.live += live;
                self.dead += bytes - live;
            }
            State::Limbo => self.dead += bytes,
            State::Free => self.free += bytes,
            // Not in service, or counted with the first of their span.
            State::Withdrawn | State::Tail => {}
        }
    }
}
