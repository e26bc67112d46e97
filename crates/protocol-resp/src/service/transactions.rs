// SPDX-License-Identifier: Apache-2.0
//! MULTI, DISCARD, WATCH, UNWATCH; and EXEC, which runs the others' commands (`run.rs`).

use super::RespService;
use super::call::Call;
use super::fault::{Done, Fault};
use super::resp::Resp;
use crate::parse::Args;
use crate::reply::Writer;
use crate::table::CommandId;
use buffer::SendBuf;
use clock::Timer;
use keyspace::{Keyspace, View};
use protocol::{Context, Control};

/// Begins a transaction.
pub(crate) fn multi<V: View>(call: &mut Call<'_, V>) -> Done {
    if call.conn.transaction.is_some() {
        return Err(Fault::new("ERR MULTI calls can not be nested"));
    }
    call.conn.begin_transaction();
    call.out.ok();
    Ok(())
}

/// Drops the commands of a transaction.
pub(crate) fn discard<V: View>(call: &mut Call<'_, V>) -> Done {
    if call.conn.end_transaction().is_none() {
        return Err(Fault::new("ERR DISCARD without MULTI"));
    }
    call.conn.unwatch(call.host);
    call.out.ok();
    Ok(())
}

/// Lets the next transaction fail if one of the keys changes before.
pub(crate) fn watch<V: View>(call: &mut Call<'_, V>) -> Done {
    if call.conn.transaction.is_some() {
        return Err(Fault::new("ERR WATCH inside MULTI is not allowed"));
    }
    for key in call.args.tail(1).iter() {
        let was_there = call.keys.peek(key).is_some();
        call.conn.watching.add(call.host, call.keys.db, key, was_there);
    }
    call.conn.note_transaction();
    call.out.ok();
    Ok(())
}

/// Forgets all watched keys.
pub(crate) fn unwatch<V: View>(call: &mut Call<'_, V>) -> Done {
    call.conn.unwatch(call.host);
    call.out.ok();
    Ok(())
}

/// Carries out the commands of a transaction. Reached by itself only: [`RespService::exec`] has
/// taken care of it otherwise.
pub(crate) fn exec<V: View>(_: &mut Call<'_, V>) -> Done {
    Err(Fault::new("ERR EXEC without MULTI"))
}

impl<K: Keyspace> RespService<K> {
    /// Carries out the commands of the connection's transaction, if there is one.
    pub(super) fn exec(
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
            conn.unwatch(&self.host);
            self.fail(b"EXECABORT Transaction discarded because of previous errors.", conn, out);
        } else {
            control = self.run_transaction(conn, &transaction, out, context);
        }
        let tally = self.desk.tally.of(CommandId::EXEC.index());
        tally.calls.add(1);
        tally.time(timer.nanos(), self.host.latency.is_tracking());
        if !self.host.monitors.is_empty() {
            self.host.monitors.feed(CommandId::EXEC.spec(), args, conn, context);
        }
        Some(control)
    }

    /// Answers an EXEC that may not run: its transaction is no more.
    #[cold]
    pub(super) fn refuse_exec(&mut self, conn: &mut Resp, fault: &Fault, out: &mut SendBuf) {
        drop(conn.end_transaction());
        conn.unwatch(&self.host);
        let reason = fault.text();
        let reason = reason.strip_prefix(b"ERR ").unwrap_or(reason);
        let text = [b"EXECABORT Transaction discarded because of: ", reason].concat();
        self.fail(&text, conn, out);
    }

    /// Writes an error and counts it.
    #[cold]
    pub(super) fn fail(&mut self, text: &[u8], conn: &Resp, out: &mut SendBuf) {
        let fault = Fault::made(text);
        self.host.stats.error(fault.code());
        Writer::new(out, conn.version).error(fault.text());
    }
}
