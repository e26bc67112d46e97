// SPDX-License-Identifier: Apache-2.0
//! Cluster commands: what a node tells of the cluster, and how a client reads and asks.
//!
//! `show.rs`: nodes, slots and shards. `keys.rs`: the keys of slots. `scan.rs`: CLUSTERSCAN.

mod keys;
mod scan;
mod show;

pub(crate) use keys::{countkeysinslot, getkeysinslot, keyslot, slot_stats};
pub(crate) use scan::clusterscan;
pub(crate) use show::{
    count_failure_reports, info, links, myid, myshardid, nodes, replicas, shards, slots,
};

use crate::cluster::Topology;
use crate::engine::call::Call;
use crate::session::client::Client;
use crate::session::marks::Marks;
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use std::sync::Arc;

/// The nodes, if this server is in a cluster.
fn topology<V: View>(call: &mut Call<'_, V>) -> Result<Arc<Topology>, Fault> {
    check(call)?;
    Ok(Arc::clone(call.worker.topology.latest(call.cluster())))
}

/// What Redis answers that is not in a cluster.
fn check<V: View>(call: &Call<'_, V>) -> Done {
    if call.cluster().is_on() {
        return Ok(());
    }
    Err(Fault::new("ERR This instance has cluster support disabled"))
}

/// Would change the nodes or their slots.
pub(crate) fn fixed<V: View>(call: &mut Call<'_, V>) -> Done {
    check(call)?;
    Err(Fault::new(
        "ERR The nodes and their slots are those of a file (cluster-config-file), which this server only reads",
    ))
}

/// Lets the next command use a slot that is still on its way here.
pub(crate) fn asking<V: View>(call: &mut Call<'_, V>) -> Done {
    mark(call, Marks::ASKING, true)
}

/// Allows reads from a replica.
pub(crate) fn readonly<V: View>(call: &mut Call<'_, V>) -> Done {
    read_only(call, true)
}

/// Ends that.
pub(crate) fn readwrite<V: View>(call: &mut Call<'_, V>) -> Done {
    read_only(call, false)
}

fn read_only<V: View>(call: &mut Call<'_, V>, on: bool) -> Done {
    mark(call, Marks::READS_ONLY, on)?;
    if let Some(client) = &call.conn.client {
        client.set(Client::READS_ONLY, on);
    }
    Ok(())
}

fn mark<V: View>(call: &mut Call<'_, V>, mark: Marks, on: bool) -> Done {
    check(call)?;
    call.conn.marks.set(mark, on);
    call.out.ok();
    Ok(())
}
