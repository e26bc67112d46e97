// SPDX-License-Identifier: Apache-2.0
//! Commands that do not apply to a cache but have a reply all the same.
//!
//! The reply is a constant where one is true: there are no modules, and the server has no replicas. For an
//! operation that is not supported the reply is an error: `OK` to a client that wants data saved would be a
//! lie.

mod replication;

pub(crate) use replication::{failover, psync, replconf, replicaof, role, slaveof, sync};

use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use keyspace::View;

const NO_DISK: Fault = Fault::new("ERR this server keeps nothing on disk");
const NO_MODULES: Fault =
    Fault::new("ERR MODULE command not allowed: this server loads no modules");

/// There is no file to write.
pub(crate) fn save<V: View>(_: &mut Call<'_, V>) -> Done {
    Err(NO_DISK)
}

/// There is no file to write.
pub(crate) fn bgsave<V: View>(call: &mut Call<'_, V>) -> Done {
    match call.args.get(1) {
        Some(word) if call.args.len() > 2 || !word.eq_ignore_ascii_case(b"schedule") => {
            Err(Fault::SYNTAX)
        }
        _ => Err(NO_DISK),
    }
}

/// There is no file to write.
pub(crate) fn bgrewriteaof<V: View>(_: &mut Call<'_, V>) -> Done {
    Err(NO_DISK)
}

/// The start of the server, as if it had been saved then: what Redis says that has never saved.
pub(crate) fn lastsave<V: View>(call: &mut Call<'_, V>) -> Done {
    call.out.integer(call.startup().unix_seconds as i64);
    Ok(())
}

/// There are none.
pub(crate) fn module_list<V: View>(call: &mut Call<'_, V>) -> Done {
    call.out.array(0);
    Ok(())
}

/// None can be loaded.
pub(crate) fn module_load<V: View>(_: &mut Call<'_, V>) -> Done {
    Err(NO_MODULES)
}

/// None can be loaded.
pub(crate) fn module_loadex<V: View>(_: &mut Call<'_, V>) -> Done {
    Err(NO_MODULES)
}

/// None was loaded.
pub(crate) fn module_unload<V: View>(_: &mut Call<'_, V>) -> Done {
    Err(NO_MODULES)
}
