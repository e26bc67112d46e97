// SPDX-License-Identifier: Apache-2.0
//! Replication: a server on its own, which is its own master.

use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use keyspace::View;

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
    let (mut timeout, mut has_host, mut is_forced) = (0, false, false);
    let mut words = call.args.tail(1).iter();
    let count = words.len();
    while let Some(word) = words.next() {
        match (word.to_ascii_lowercase().as_slice(), words.len()) {
            (b"timeout", 1..) if timeout == 0 => {
                let ms = words.next().and_then(values::parse_i64).ok_or(Fault::NOT_INTEGER)?;
                if ms <= 0 {
                    return Err(Fault::new("ERR FAILOVER timeout must be greater than 0"));
                }
                timeout = ms;
            }
            (b"to", 2..) if !has_host => {
                let port = words.nth(1).and_then(values::parse_i64);
                port.ok_or(Fault::NOT_INTEGER)?;
                has_host = true;
            }
            (b"abort", _) if count == 1 => return Err(Fault::new("ERR No failover in progress.")),
            (b"force", _) if !is_forced => is_forced = true,
            _ => return Err(Fault::SYNTAX),
        }
    }
    Err(Fault::new("ERR FAILOVER requires connected replicas."))
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
