// SPDX-License-Identifier: Apache-2.0
//! New connections that replace others: those that have had their number of requests, and lost ones.

use super::{Worker, register};
use crate::dialect::Dialect;
use crate::player::Loss;
use crate::workload::Source;
use session::{Fill, Session};
use std::time::Duration;

impl<D: Dialect, S: Source> Worker<D, S> {
    /// Replaces a connection that has had its number of requests. The first request of the new one counts
    /// from here on.
    #[cold]
    pub(super) fn replace(&mut self, lane: usize, now: u64) {
        self.sessions[lane].release(&mut self.pool);
        self.sessions[lane].shutdown();
        let opened = self.target(lane).connect().map_err(|error| error.to_string());
        match opened.and_then(|session| self.registered(session, lane)) {
            Ok(session) => self.sessions[lane] = session,
            Err(error) => return self.lose(lane, &error),
        }
        self.begin(lane, now);
    }

    /// A connection is gone, or could not be opened.
    #[cold]
    pub(super) fn lose(&mut self, lane: usize, why: &str) {
        let (now, words) = (self.now(), self.words(lane, why));
        match self.player.lose(lane, now, &words) {
            Loss::Asks if self.links.come_back() => self.links.lost(lane, now),
            Loss::Asks => self.player.forsake(lane),
            Loss::Over => self.links.over(lane, now),
            Loss::Known if self.links.is_opening(lane) => {
                self.last_failure = words;
                self.links.lost(lane, now);
            }
            Loss::Known => {}
        }
    }

    /// The server has sent something invalid in this protocol. It would do so on a new connection, too.
    #[cold]
    pub(super) fn drop_for_good(&mut self, lane: usize, why: &str) {
        let (now, words) = (self.now(), self.words(lane, why));
        self.player.lose(lane, now, &words);
        self.player.forsake(lane);
        self.links.over(lane, now);
    }

    fn words(&self, lane: usize, why: &str) -> String {
        format!("connection {lane} of thread {}: {why}", self.number)
    }

    /// Tries to reopen lost connections; false when the server could not be reached for too long.
    #[cold]
    pub(super) fn reopen_lost(&mut self, now: u64) -> bool {
        if self.links.are_hopeless(now) {
            let (secs, last) = (self.give_up_after, &self.last_failure);
            self.player.tally().error(|| format!("nobody was reached for {secs:?}: {last}"));
            return false;
        }
        while let Some((lane, attempt)) = self.links.next_due(now) {
            self.sessions[lane].release(&mut self.pool);
            let opened = self.target(lane).begin(attempt).map_err(|error| error.to_string());
            match opened.and_then(|session| self.registered(session, lane)) {
                Ok(session) => self.sessions[lane] = session,
                Err(error) => self.lose(lane, &error),
            }
        }
        true
    }

    /// A connection that is being opened has an event.
    #[cold]
    pub(super) fn go_on_opening(&mut self, lane: usize, is_writable: bool) {
        let session = &mut self.sessions[lane];
        // Whoever shakes hands is connected. The handshake goes on by both.
        let is_connected = is_writable || session.is_handshaking();
        let filled = session.flush(&mut self.pool).and_then(|_| session.fill(&mut self.pool, 1));
        let failure = match filled {
            Ok(Fill::Closed) => "closed by the server".to_owned(),
            Ok(_) => {
                session.release(&mut self.pool);
                if is_connected && !session.is_handshaking() {
                    let now = self.now();
                    self.links.opened(lane, now);
                    self.begin(lane, now);
                }
                return;
            }
            Err(error) => error.to_string(),
        };
        self.lose(lane, &failure);
    }

    /// Sends the greeting and the first requests on a new connection.
    fn begin(&mut self, lane: usize, now: u64) {
        self.player.renew(lane, now);
        self.write(lane, |player, out| player.greet(lane, now, out));
        self.write(lane, |player, out| player.refill(lane, now, out));
        self.flush(lane);
    }

    fn registered(&self, mut session: Session, lane: usize) -> Result<Session, String> {
        register(&self.poll, &mut session, lane).map_err(|error| error.to_string())?;
        Ok(session)
    }
}

/// A duration in nanoseconds. One that does not fit 64 bits becomes the longest that does: no run lasts as long.
pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
