// SPDX-License-Identifier: Apache-2.0
//! [`Overdue`]: the time limits of a connection. [`Rest`]: when to look at them.

use super::{Connection, Phase};
use crate::Options;
use clock::Ticks;
use protocol::{Ending, Protocol};
use std::time::Duration;

/// For how long a connection that is being closed may leave its last replies unread if others may for ever.
const CLOSING_MAX: Duration = Duration::from_secs(60);

/// Why a connection ran out of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overdue {
    Handshake,
    Read,
    Write,
    Idle,
    Linger,
    /// Over the soft limit of unread bytes.
    Unread,
}

impl Overdue {
    /// How the connection ends by it; `None` if it was closed before, and only its peer has not reacted.
    pub(crate) fn ending(self) -> Option<Ending> {
        match self {
            Overdue::Idle | Overdue::Read => Some(Ending::Idle),
            Overdue::Handshake | Overdue::Write | Overdue::Unread => Some(Ending::Error),
            Overdue::Linger => None,
        }
    }
}

/// For how long nothing has to be watched over of a connection for which nothing comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// It is in the middle of something.
    None,
    /// Until it has been idle for too long.
    Until(Ticks),
    ForLong,
}

impl<P: Protocol> Connection<P> {
    /// For how long the connection needs no look.
    pub(crate) fn rest(&self, options: &Options) -> Rest {
        let is_open = self.phase == Phase::Open && !self.hung_up && self.failed.is_none();
        let is_at_rest = is_open
            && !self.queued
            && !self.is_stalled
            && self.unread_at.is_none()
            && self.session.send().is_empty()
            && !self.session.is_handshaking()
            && !self.pipeline.is_inside_request(self.session.recv());
        if !is_at_rest {
            return Rest::None;
        }
        let is_limited = options.idle_timeout != Duration::ZERO
            && !self.pipeline.is_blocked()
            && !self.pipeline.protocol().may_idle();
        if is_limited { Rest::Until(self.active_at + options.idle_timeout) } else { Rest::ForLong }
    }

    /// Which time limit the connection has exceeded, if any.
    pub(crate) fn overdue(&self, now: Ticks, options: &Options) -> Option<Overdue> {
        let past =
            |since: Ticks, limit: Duration| limit != Duration::ZERO && now.since(since) >= limit;
        if let Phase::Lingering { since } = self.phase {
            return past(since, options.linger_timeout).then_some(Overdue::Linger);
        }
        if self.session.is_handshaking() {
            return past(self.peer.since, options.handshake_timeout).then_some(Overdue::Handshake);
        }
        if let Some(since) = self.unread_at {
            if self.is_over_soft_limit(&options.output, now) {
                return Some(Overdue::Unread);
            }
            // A client that is still sending may not read before it has sent everything.
            let since = since.max(self.active_at);
            let limit = match options.write_timeout {
                Duration::ZERO if !matches!(self.phase, Phase::Open) => CLOSING_MAX,
                limit => limit,
            };
            return past(since, limit).then_some(Overdue::Write);
        }
        if self.pipeline.is_blocked() {
            return None; // It waits for us.
        }
        if self.pipeline.is_inside_request(self.session.recv())
            && past(self.active_at, options.read_timeout)
        {
            return Some(Overdue::Read);
        }
        let is_idle = past(self.active_at, options.idle_timeout);
        (is_idle && !self.pipeline.protocol().may_idle()).then_some(Overdue::Idle)
    }
}
