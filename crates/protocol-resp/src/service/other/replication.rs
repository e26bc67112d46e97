// SPDX-License-Identifier: Apache-2.0
//! Replication: a server on its own, which is its own master.

use crate::service::call::Call;
use crate::service::fault::{Done, Fault};
use storage::keyspace::View;

const NO_REPLICAS: Fault = Fault::new("ERR this server does not replicate");

/// A master without replicas.
pub(crate) fn role<V: View>(call: &mut Call<'_, V>) -> Done {
    call.out.array(3);
    call.out.bulk(b"master");
    call.out.integer(0);
    call.out.array(0);
    Ok(())
}

/// Follows nobody, which is what NO ONE asks for.
pub(crate) fn replicaof<V: View>(call: &mut Call<'_, V>) -> Done {
    let (host, port) = (call.arg(1), call.arg(2));
    if host.eq_ignore_ascii_case(b"no") && port.eq_ignore_ascii_case(b"one") {
        call.out.ok();
        return Ok(());
    }
    match values::parse_i64(port) {
        Some(0..=65_535) => Err(NO_REPLICAS),
        _ => Err(Fault::new("ERR Invalid master port")),
    }
}

/// [`replicaof`] by its old name.
pub(crate) fn slaveof<V: View>(call: &mut Call<'_, V>) -> Done {
    replicaof(call)
}

/// There are no replicas to fail over to.
pub(crate) fn failover<V: View>(call: &mut Call<'_, V>) -> Done {
    let is_abort = call.args.get(1).is_some_and(|word| word.eq_ignore_ascii_case(b"abort"));
    Err(match (is_abort, call.args.len()) {
        (true, 2) => Fault::new("ERR No failover in progress."),
        (true, _) => Fault::SYNTAX,
        _ => Fault::new("ERR FAILOVER requires connected replicas."),
    })
}

/// Sent by a replica that is about to follow.
pub(crate) fn replconf<V: View>(_: &mut Call<'_, V>) -> Done {
    Err(NO_REPLICAS)
}

/// Sent by a replica that wants to follow.
pub(crate) fn psync<V: View>(_: &mut Call<'_, V>) -> Done {
    Err(NO_REPLICAS)
}

/// Sent by a replica that wants to follow.
pub(crate) fn sync<V: View>(_: &mut Call<'_, V>) -> Done {
    Err(NO_REPLICAS)
}
