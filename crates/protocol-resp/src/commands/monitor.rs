// SPDX-License-Identifier: Apache-2.0
//! MONITOR.

use crate::engine::call::Call;
use crate::session::client::Client;
use crate::session::marks::Marks;
use crate::wire::fault::{Done, Fault};
use keyspace::View;

/// Shows every command from here on.
pub(crate) fn monitor<V: View>(call: &mut Call<'_, V>) -> Done {
    if call.in_transaction {
        return Err(Fault::new("ERR MONITOR isn't allowed for DENY BLOCKING client"));
    }
    if call.conn.is_monitor() {
        // As Redis: a second one is not even answered.
        return Ok(());
    }
    call.conn.marks.set(Marks::MONITOR, true);
    call.monitors().enter(call.id);
    if let Some(client) = &call.conn.client {
        client.set(Client::MONITOR, true);
    }
    call.out.ok();
    Ok(())
}
