// SPDX-License-Identifier: Apache-2.0
//! [`RespService`]: Redis over any keyspace: the engine with all command functions.
//!
//! [`Host`] is the state that its workers share, [`Resp`] the state of a connection, [`config`] the
//! parameters.

use crate::commands::run::All;
use crate::engine::service::Engine;
use buffer::SendBuf;
use clock::{Now, Ticks};
use keyspace::Keyspace;
use protocol::{Buffers, Context, Control, Ending, Execute, Malformed, Outbox, Stage};
use std::sync::Arc;
use std::time::Duration;

pub use crate::host::Host;
pub use crate::host::config::{self, BufferLimit, ConfigFile};
pub use crate::host::metric_source::METRICS;
pub use crate::host::platform::{Allocator, Certificate, Channel, Encryption, Platform};
pub use crate::session::command::Command;
pub use crate::session::connection::Resp;
pub use crate::wire::fault::{Done, Fault};

/// Executes commands over a keyspace. Each worker has its own.
///
/// Clones are for other workers: they share the [`Host`], and their keyspace handles share the
/// keys.
#[derive(Debug)]
pub struct RespService<K>(Engine<K>);

impl<K: Keyspace> RespService<K> {
    /// A service over `keyspace`.
    #[must_use]
    pub fn new(keyspace: K, host: Arc<Host>) -> Self {
        RespService(Engine::new(keyspace, host))
    }
}

impl<K: Keyspace> Execute<Resp> for RespService<K> {
    #[inline]
    fn prefetch(&self, conn: &Resp, command: &Command<'_>, stage: Stage) {
        self.0.prefetch(conn, command, stage);
    }

    #[inline]
    fn prefetch_all<'r, 'a: 'r>(
        &self,
        conn: &Resp,
        commands: impl Iterator<Item = &'r Command<'a>>,
        stage: Stage,
    ) -> bool {
        self.0.prefetch_all(conn, commands, stage)
    }

    #[inline]
    fn execute(
        &mut self,
        conn: &mut Resp,
        command: Command<'_>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        self.0.execute::<All>(conn, command, out, context)
    }

    fn rejected(&mut self, _: &Resp, malformed: &Malformed) {
        self.0.rejected(malformed);
    }

    fn closed(&mut self, conn: &mut Resp, _: Ending, context: &mut Context<'_>) {
        self.0.closed(conn, context);
    }

    #[inline]
    fn post(&mut self, outbox: &mut Outbox) {
        self.0.post(outbox);
    }

    fn maintain(&mut self, now: Now, budget: usize, outbox: &mut Outbox) -> bool {
        self.0.maintain::<All>(now, budget, outbox)
    }

    fn wake_at(&self) -> Option<Ticks> {
        self.0.wake_at()
    }

    fn may_nap(&self, now: Now, nap: Duration) -> bool {
        self.0.may_nap(now, nap)
    }

    fn buffers(&mut self, buffers: Buffers) {
        self.0.buffers(buffers);
    }
}

#[cfg(test)]
mod tests;
