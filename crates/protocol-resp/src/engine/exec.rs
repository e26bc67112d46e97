// SPDX-License-Identifier: Apache-2.0
//! EXEC, which runs the commands of a transaction (`run.rs`).

use crate::cluster::route::is_redirection;
use crate::engine::function::Commands;
use crate::engine::service::Engine;
use crate::session::connection::Resp;
use crate::table::CommandId;
use crate::wire::fault::Fault;
use crate::wire::parse::Args;
use crate::wire::reply::Writer;
use buffer::SendBuf;
use clock::Timer;
use keyspace::Keyspace;
use protocol::{Context, Control};

impl<K: Keyspace> Engine<K> {
    /// Executes the commands of the connection's transaction, if there is one.
    pub(super) fn exec<C: Commands>(
        &mut self,
        conn: &mut Resp,
        args: Args<'_>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Option<Control> {
        let transaction = conn.end_transaction()?;
        let timer = Timer::start();
        let mut control = Control::Continue;
        if transaction.is_spoilt {
            self.host.key_events().unwatch(conn);
            self.fail(b"EXECABORT Transaction discarded because of previous errors.", conn, out);
            self.worker.counts.of(CommandId::Exec.index()).failed.add(1);
        } else {
            control = self.run_transaction::<C>(conn, &transaction, timer, out, context);
        }
        let counts = self.worker.counts.of(CommandId::Exec.index());
        counts.calls.add(1);
        let nanos = timer.nanos();
        counts.time(nanos, self.host.latency().is_tracking());
        self.host.latency().note_command(CommandId::Exec.spec(), nanos, context.now.unix_seconds());
        if !self.host.monitors().is_empty() {
            self.host.monitors().feed(CommandId::Exec.spec(), args, conn, context);
        }
        Some(control)
    }

    /// Replies to an EXEC that may not run, and ends its transaction.
    #[cold]
    pub(super) fn refuse_exec(&mut self, conn: &mut Resp, fault: &Fault, out: &mut SendBuf) {
        drop(conn.end_transaction());
        self.host.key_events().unwatch(conn);
        if is_redirection(fault) {
            return self.fail(fault.text(), conn, out);
        }
        let reason = fault.text();
        let reason = reason.strip_prefix(b"ERR ").unwrap_or(reason);
        let text = [b"EXECABORT Transaction discarded because of: ", reason].concat();
        self.fail(&text, conn, out);
    }

    /// Writes an error and counts it.
    #[cold]
    pub(super) fn fail(&mut self, text: &[u8], conn: &Resp, out: &mut SendBuf) {
        let fault = Fault::made(text);
        self.host.stats().error(fault.code());
        Writer::new(out, conn.version).error(fault.text());
    }
}
