// SPDX-License-Identifier: Apache-2.0
//! [`ByteReport`]: how many bytes of the segments in service are live, dead and free.

use super::walk::live;
use crate::segment::{Segment, State};

/// What the memory of segments holds. The three numbers add up to the memory of all segments that are not withdrawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ByteReport {
    /// Items that can be read, with headers and padding. Expired items count too as long as their
    /// segment has an unexpired one.
    pub live: u64,
    /// Bytes that come back with their segment: items that were overwritten, deleted or moved, items
    /// of segments in which all have expired, the unwritten rest of sealed segments, and segments in
    /// limbo.
    pub dead: u64,
    /// Bytes that can be written: free segments, the unwritten rest of open ones, and memory that may come into service.
    pub free: u64,
}

impl ByteReport {
    /// Adds a segment. `is_over` when none of its items can be read any more.
    pub(super) fn add(&mut self, segment: &Segment, state: State, grain: u64, is_over: bool) {
        let bytes = u64::from(segment.span()) * grain;
        let live = if is_over { 0 } else { live(segment.live_bytes()).min(bytes) };
        // For a moment an item is counted as live and not yet as written, and an open segment still
        // has the count of its last use.
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
            State::Free | State::Held => self.free += bytes,
            // Not in service, or counted with the first of their span.
            State::Withdrawn | State::Tail => {}
        }
    }
}
