// SPDX-License-Identifier: Apache-2.0
//! A connection whose peer does not read its replies and messages: it continues, is held, or is closed. See
//! [`Output`].

use super::{Connection, Desk, Next};
use crate::Output;
use crate::metrics::{CONNECTION_BACKPRESSURE, CONNECTION_YIELD, CONNECTIONS_OUTPUT_LIMIT};
use buffer::PINNED_WITHIN;
use clock::Ticks;
use log::warn;
use protocol::{Ending, Protocol};
use std::time::Duration;

/// The time, with replies waiting without a break, after which the buffers of the system are full for a peer that does not
/// read: what is taken later, was read.
const FILLED: Duration = Duration::from_millis(100);

/// The bytes that a peer which does not read takes while replies wait because its socket is full: what the buffers of its own
/// machine hold, and what this one's grows by. Who takes more reads.
const TAKEN_UNREAD: usize = 1 << 20;

/// The same where a send is awaited though the socket is not full: what fits into this machine's buffer, too.
const TAKEN_UNREAD_CARRIED: usize = 4 << 20;

impl<P: Protocol> Connection<P> {
    /// The numbers of unsent bytes at which nothing more is executed in this turn: of those that are copied, and of all.
    ///
    /// Values by reference are gathered up to [`PINNED_WITHIN`], and sent together: they take no memory of the
    /// buffer's, and a call for each would cost more than the rest of its request. But not while an earlier send is under
    /// way or the peer does not read: the more waits by then, the more has to be copied.
    ///
    /// With a hard limit, the replies of a turn are gathered up to that limit before any is sent. So a
    /// pipeline that arrived at once and whose replies pass the limit is over it, however fast its peer would
    /// read. A subscriber whose messages have been sent is exempt, unless replies have a limit too.
    #[inline]
    pub(super) fn marks<E>(&self, desk: &Desk<'_, E>) -> (usize, usize) {
        let high_water = desk.limits.high_water;
        if !has_room(desk) {
            return (high_water, high_water);
        }
        if self.unread_at.is_none() && desk.output.replies.hard == usize::MAX {
            return (high_water, high_water.max(PINNED_WITHIN));
        }
        let hard = desk.output.limit(self.pipeline.protocol().is_subscriber()).hard;
        let further = self.session.send().pending().saturating_add(high_water);
        let mark = if hard == usize::MAX { further } else { hard };
        (mark, mark)
    }

    /// Called when no replies wait any more. If some did, the peer counts as active until the last time that it took a part
    /// of them and left another, and not until now: a busy worker may hear late that the rest was taken.
    #[inline]
    pub(super) fn note_taken(&mut self, now: Ticks) {
        if let Some(since) = self.unread_at {
            self.active_at = self.active_at.max(since);
            if self.first_unread.is_some_and(|first| now.since(first) >= FILLED) {
                self.peer.prove_reader();
            }
        }
    }

    /// Called when the socket may have taken some of the `before` bytes that were unsent.
    #[inline]
    pub(super) fn note_progress(&mut self, before: usize) {
        if self.first_unread.is_some() {
            let taken = before.saturating_sub(self.session.send().pending());
            self.taken_late = self.taken_late.saturating_add(taken);
            let is_carried = self.session.is_carried();
            let unread = if is_carried { TAKEN_UNREAD_CARRIED } else { TAKEN_UNREAD };
            if self.taken_late > unread {
                self.peer.prove_reader();
            }
        }
    }

    /// Called when the socket takes no more and the unsent replies have reached the mark: the connection
    /// continues after the others, or is held until its peer reads.
    pub(super) fn pile_up<E>(&mut self, desk: &Desk<'_, E>) -> Next {
        if has_room(desk) {
            CONNECTION_YIELD.increment();
            return Next::Again;
        }
        if !self.session.is_carried() {
            CONNECTION_BACKPRESSURE.increment();
        }
        self.is_stalled = true;
        Next::Event
    }

    /// Counts a connection whose driver has not told of its send for `time`, while it is held: its socket takes nothing.
    pub(crate) fn count_stall(&mut self, now: Ticks, time: Duration) {
        let is_late = self.unread_at.is_some_and(|since| now.since(since) >= time);
        if self.is_stalled && is_late && self.session.is_carried() && !self.is_stall_counted {
            self.is_stall_counted = true;
            CONNECTION_BACKPRESSURE.increment();
        }
    }

    /// Whether the connection is held although there is memory again, which no event reports.
    pub(crate) fn is_held_in_vain<E>(&self, desk: &Desk<'_, E>) -> bool {
        self.is_stalled && has_room(desk)
    }

    /// Whether the unsent bytes have reached the hard limit, so that the connection is closed at
    /// once.
    #[inline]
    pub(super) fn is_over_hard_limit(&self, output: &Output) -> bool {
        let pending = self.session.send().pending();
        pending >= output.replies.hard.min(output.messages.hard)
            && pending >= output.limit(self.pipeline.protocol().is_subscriber()).hard
    }

    /// Whether its peer has not said who it is, and leaves as much unread as is gathered before it is sent.
    #[inline]
    pub(super) fn is_deaf_stranger<E>(&self, desk: &Desk<'_, E>) -> bool {
        self.unread_at.is_some()
            && self.session.send().pending() >= desk.limits.high_water
            && self.pipeline.protocol().is_stranger()
    }

    /// Records since when the unsent bytes have been over the soft limit.
    pub(super) fn note_soft_limit(&mut self, output: &Output, now: Ticks) {
        let limit = output.limit(self.pipeline.protocol().is_subscriber());
        self.soft_at = match self.soft_at {
            _ if self.session.send().pending() < limit.soft => None,
            None => Some(now),
            since => since,
        };
    }

    /// Whether it has been over the soft limit for too long.
    pub(super) fn is_over_soft_limit(&self, output: &Output, now: Ticks) -> bool {
        let limit = output.limit(self.pipeline.protocol().is_subscriber());
        let is_over = self.session.send().pending() >= limit.soft;
        is_over && self.soft_at.is_some_and(|since| now.since(since) > limit.soft_time)
    }

    /// Notes, counts and logs that the connection is closed because of its unread bytes.
    pub(crate) fn overflow(&mut self) {
        self.note_ending(Ending::Error);
        CONNECTIONS_OUTPUT_LIMIT.increment();
        let unread = self.session.send().pending();
        let why = if self.pipeline.protocol().is_stranger() {
            "are more than may wait for a client that has not logged in"
        } else {
            "are over the output limit"
        };
        warn!("{}: closed, {unread} unread bytes {why}", self.peer.remote);
    }
}

/// Whether replies may pile up past the high-water mark.
#[inline]
fn has_room<E>(desk: &Desk<'_, E>) -> bool {
    desk.pool.lent_bytes() < desk.output.memory
}
