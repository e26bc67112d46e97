// SPDX-License-Identifier: Apache-2.0
//! What a node tells of the cluster.

use super::topology;
use crate::cluster::Topology;
use crate::cluster::node::{ClusterNode, Endpoint, Health};
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::Writer;
use keyspace::View;

/// Tells about the state of the cluster. What nodes of Redis tell each other is nothing here.
pub(crate) fn info<V: View>(call: &mut Call<'_, V>) -> Done {
    let topology = topology(call)?;
    let is_down = call.cluster().when_down().needs_all_slots && !topology.is_whole();
    let [assigned, suspected, failed] = topology.slot_counts();
    let own = topology.own_node();
    let primary = own.map(|own| own.primary.map_or(own, |place| &topology.nodes()[place]));
    let lines = [
        ("cluster_slots_assigned", assigned as u64),
        ("cluster_slots_ok", (assigned - suspected - failed) as u64),
        ("cluster_slots_pfail", suspected as u64),
        ("cluster_slots_fail", failed as u64),
        ("cluster_known_nodes", topology.nodes().len() as u64),
        ("cluster_size", topology.size() as u64),
        ("cluster_current_epoch", topology.epoch()),
        ("cluster_my_epoch", primary.map_or(0, |node| node.epoch)),
        ("cluster_stats_messages_sent", 0),
        ("cluster_stats_messages_received", 0),
        ("total_cluster_links_buffer_limit_exceeded", 0),
    ];
    let mut text = format!("cluster_state:{}\r\n", if is_down { "fail" } else { "ok" });
    text.extend(lines.iter().map(|(name, value)| format!("{name}:{value}\r\n")));
    call.out.verbatim(b"txt", text.as_bytes());
    Ok(())
}

/// Describes the nodes, as text.
pub(crate) fn nodes<V: View>(call: &mut Call<'_, V>) -> Done {
    let topology = topology(call)?;
    let text = topology.text_for(call.uses_tls());
    call.out.verbatim(b"txt", text.as_bytes());
    Ok(())
}

/// Tells the name of this node.
pub(crate) fn myid<V: View>(call: &mut Call<'_, V>) -> Done {
    let topology = topology(call)?;
    let id = topology.own_node().map_or("", |node| &node.id);
    call.out.bulk(id.as_bytes());
    Ok(())
}

/// Tells the name of this node's shard.
pub(crate) fn myshardid<V: View>(call: &mut Call<'_, V>) -> Done {
    let topology = topology(call)?;
    let shard = topology.myself().map_or("", |place| topology.shard_of(place));
    call.out.bulk(shard.as_bytes());
    Ok(())
}

/// Lists the connections between nodes. There are none.
pub(crate) fn links<V: View>(call: &mut Call<'_, V>) -> Done {
    topology(call)?;
    call.out.array(0);
    Ok(())
}

/// The place of the node that an argument names.
fn named<V: View>(call: &Call<'_, V>, topology: &Topology) -> Result<usize, Fault> {
    let id = call.arg(2);
    topology.place_of(id).ok_or_else(|| Fault::made([b"ERR Unknown node ", id].concat()))
}

/// Lists the replicas of a node.
pub(crate) fn replicas<V: View>(call: &mut Call<'_, V>) -> Done {
    let topology = topology(call)?;
    let place = named(call, &topology)?;
    if topology.nodes()[place].primary.is_some() {
        return Err(Fault::new("ERR The specified node is not a master"));
    }
    let tls = call.uses_tls();
    let lines: Vec<_> =
        topology.replicas_of(place).map(|replica| topology.line(replica, tls)).collect();
    call.out.array(lines.len());
    for line in lines {
        call.out.bulk(line.as_bytes());
    }
    Ok(())
}

/// Counts who has reported a node as failing: nobody does.
pub(crate) fn count_failure_reports<V: View>(call: &mut Call<'_, V>) -> Done {
    let topology = topology(call)?;
    named(call, &topology)?;
    call.out.integer(0);
    Ok(())
}

/// Lists which nodes have which slots.
pub(crate) fn slots<V: View>(call: &mut Call<'_, V>) -> Done {
    let topology = topology(call)?;
    let (endpoint, tls) = (call.cluster().endpoint(), call.uses_tls());
    let ranges = topology.owned_ranges();
    call.out.array(ranges.len());
    for (first, last, owner) in ranges {
        let works = |place: &usize| topology.nodes()[*place].health != Health::Failed;
        let replicas: Vec<usize> = topology.replicas_of(owner).filter(works).collect();
        call.out.array(3 + replicas.len());
        call.out.integer(first.into());
        call.out.integer(last.into());
        for place in std::iter::once(owner).chain(replicas) {
            write_place(&mut call.out, &topology.nodes()[place], endpoint, tls);
        }
    }
    Ok(())
}

/// Where a node is: the preferred way, the port, its name, and the other ways.
fn write_place(out: &mut Writer<'_>, node: &ClusterNode, endpoint: Endpoint, tls: bool) {
    out.array(4);
    match endpoint {
        Endpoint::Unknown => out.null(),
        Endpoint::Ip | Endpoint::Hostname => out.bulk(node.endpoint(endpoint).as_bytes()),
    }
    out.integer(node.port_for(tls).into());
    out.bulk(node.id.as_bytes());
    let ip = Some(("ip", &node.ip)).filter(|_| endpoint != Endpoint::Ip);
    let shows_name = endpoint != Endpoint::Hostname && !node.hostname.is_empty();
    let hostname = Some(("hostname", &node.hostname)).filter(|_| shows_name);
    let others: Vec<_> = ip.into_iter().chain(hostname).collect();
    out.map(others.len());
    for (name, value) in others {
        text(out, name, value);
    }
}

/// Describes the shards and their nodes.
pub(crate) fn shards<V: View>(call: &mut Call<'_, V>) -> Done {
    let topology = topology(call)?;
    let endpoint = call.cluster().endpoint();
    let primaries: Vec<usize> =
        (0..topology.nodes().len()).filter(|&at| topology.nodes()[at].primary.is_none()).collect();
    let out = &mut call.out;
    out.array(primaries.len());
    for primary in primaries {
        let slots = topology.slots_of(primary);
        out.map(2);
        out.bulk(b"slots");
        out.array(slots.len() * 2);
        for slot in slots.iter().flat_map(|(first, last)| [*first, *last]) {
            out.integer(slot.into());
        }
        out.bulk(b"nodes");
        let places: Vec<usize> =
            std::iter::once(primary).chain(topology.replicas_of(primary)).collect();
        out.array(places.len());
        for place in places {
            write_node(out, &topology.nodes()[place], endpoint);
        }
    }
    Ok(())
}

/// A node of a shard.
fn write_node(out: &mut Writer<'_>, node: &ClusterNode, endpoint: Endpoint) {
    let ports = [("port", node.port), ("tls-port", node.tls_port)];
    let ports: Vec<_> = ports.into_iter().filter(|(_, port)| *port != 0).collect();
    let has_hostname = !node.hostname.is_empty();
    out.map(6 + ports.len() + usize::from(has_hostname));
    text(out, "id", &node.id);
    for (name, port) in ports {
        out.bulk(name.as_bytes());
        out.integer(port.into());
    }
    text(out, "ip", &node.ip);
    text(out, "endpoint", node.endpoint(endpoint));
    if has_hostname {
        text(out, "hostname", &node.hostname);
    }
    text(out, "role", if node.primary.is_some() { "replica" } else { "master" });
    out.bulk(b"replication-offset");
    out.integer(0);
    text(out, "health", if node.health == Health::Failed { "fail" } else { "online" });
}

fn text(out: &mut Writer<'_>, name: &str, value: &str) {
    out.bulk(name.as_bytes());
    out.bulk(value.as_bytes());
}
