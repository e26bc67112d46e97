// SPDX-License-Identifier: Apache-2.0
//! `refresh_certs`: files are read again, on another thread, and the client waits for what comes of it.

use super::MemcacheService;
use super::outcome::Outcome;
use crate::reply::Refusal;
use bytes::Bytes;
use clock::{Now, Ticks};
use protocol::{ConnectionId, Context, Outbox, Ticket};
use std::time::Duration;
use storage::Receive;

/// How often it is looked whether files have been read.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The clients of this worker that wait.
#[derive(Debug, Default)]
pub(super) struct Rereads {
    /// One for each connection at most: they execute nothing meanwhile.
    waiting: Vec<Waiting>,
    look_at: Ticks,
}

#[derive(Debug)]
struct Waiting {
    connection: ConnectionId,
    ticket: Ticket,
    /// The number of the read.
    read: u64,
}

/// Those of another worker are its own.
impl Clone for Rereads {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Rereads {
    /// Whether there are none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Forgets a connection that has ended.
    pub(super) fn end(&mut self, connection: ConnectionId) {
        self.waiting.retain(|one| one.connection != connection);
    }

    /// When to look next.
    pub(super) fn look_at(&self) -> Option<Ticks> {
        (!self.is_empty()).then_some(self.look_at)
    }
}

impl<S: Receive> MemcacheService<S> {
    /// Has the files read again.
    pub(super) fn reread(&mut self, context: &Context<'_>) -> Outcome {
        if !self.shared.options.tls {
            return Outcome::Refused(Refusal::NoTls);
        }
        let read = self.shared.platform.reread();
        let (connection, ticket) = (context.connection, context.ticket);
        self.rereads.waiting.push(Waiting { connection, ticket, read });
        self.rereads.look_at = context.now.ticks;
        self.chores_wait = true;
        Outcome::Awaited
    }

    /// Answers the clients whose files have been read.
    #[cold]
    pub(super) fn answer_rereads(&mut self, now: Now, outbox: &mut Outbox) {
        if now.ticks < self.rereads.look_at {
            return;
        }
        self.rereads.look_at = now.ticks + LOOK_EVERY;
        let platform = &self.shared.platform;
        self.rereads.waiting.retain(|one| {
            let Some(outcome) = platform.reread_outcome(one.read) else { return true };
            let reply = match outcome {
                Ok(()) => Bytes::from_static(b"OK\r\n"),
                Err(problem) => {
                    let line = problem.replace(['\r', '\n'], " ");
                    Bytes::from(format!("Error {line}\r\n"))
                }
            };
            outbox.resume(one.connection, one.ticket, reply);
            false
        });
    }
}
