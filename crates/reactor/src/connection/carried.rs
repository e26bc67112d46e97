// SPDX-License-Identifier: Apache-2.0
//! Notifications of a connection by a driver that carries its bytes.

use super::{Connection, Phase};
use crate::metrics::CONNECTION_BACKPRESSURE;
use crate::uring::Wants;
use crate::{Output, Seat};
use clock::{Ticks, Timer};
use protocol::Protocol;
use session::Stream;
use std::io;

impl<P: Protocol> Connection<P> {
    /// Its socket, and its place, which is free once the socket is closed.
    pub(crate) fn into_socket(self) -> (Stream, Seat) {
        (self.session.into_stream(), self._seat)
    }

    /// Called when bytes were delivered, `taken` of them to the receive buffer.
    #[inline]
    pub(crate) fn on_delivered(&mut self, taken: usize, now: Ticks, noted: Timer) {
        self.note(noted);
        self.readable |= self.session.has_undelivered();
        if taken > 0 {
            self.has_input = true;
            self.active_at = now;
            self.peer.touch(now);
        }
    }

    /// Called when the peer has closed its side, while the bytes before that are not received for
    /// now.
    pub(crate) fn on_left(&mut self) {
        self.has_left = true;
    }

    /// Called when bytes were sent; `all` if none of the departed bytes are left. Returns whether the
    /// connection is to be served now.
    #[inline]
    pub(crate) fn on_sent(&mut self, all: bool, output: &Output, now: Ticks) -> bool {
        let is_left = self.session.has_unsent();
        // What waited when others were told of it last.
        self.note_progress(self.peer.output_bytes());
        if !is_left {
            self.note_taken(now);
        }
        self.unread_at = is_left.then_some(now);
        self.first_unread = if is_left { self.first_unread.or(Some(now)) } else { None };
        if self.soft_at.is_some() {
            self.note_soft_limit(output, now);
        }
        self.tell_held();
        self.is_stall_counted = self.is_stalled && !all;
        if self.is_stall_counted {
            // Replies on their way say nothing about the peer; a socket that takes only a part of them does.
            CONNECTION_BACKPRESSURE.increment();
        }
        all && (is_left || self.is_stalled || self.phase != Phase::Open)
    }

    /// Records an error of the socket. The connection ends with it when it is served.
    pub(crate) fn fail(&mut self, error: io::Error) {
        self.failed = Some(error);
    }

    /// How much the connection wants received now.
    #[inline]
    pub(crate) fn wants(&self) -> Wants {
        match self.phase {
            Phase::Open if self.pipeline.awaits_body() => Wants::Later,
            Phase::Open | Phase::Lingering { .. } if self.queued => Wants::Some,
            Phase::Open | Phase::Lingering { .. } => Wants::Input,
            Phase::Draining | Phase::Closing => Wants::Nothing,
        }
    }
}
