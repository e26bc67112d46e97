// SPDX-License-Identifier: Apache-2.0
//! [`Topology`]: the nodes of a cluster and the slots that they have.

use super::identity::Identity;
use super::node::{ClusterNode, Health, ID_LEN};
use super::nodes_file::{self, NodesFile};
use super::slots::SLOTS;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// For each slot the place of the node that has it.
pub(crate) type Owners = Box<[u16; SLOTS]>;

/// The owner of a slot that no node has.
pub(crate) const NOBODY: u16 = u16::MAX;

/// A slot that moves from one node to another, as seen by one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// To the node at this place.
    To(usize),
    /// From the node at this place.
    From(usize),
}

/// Ranges of slots with the place of their owner, in order.
fn owned_ranges(owners: &Owners) -> Vec<(u16, u16, usize)> {
    let mut ranges: Vec<(u16, u16, usize)> = Vec::new();
    for (slot, owner) in (0..).zip(owners.iter()).filter(|(_, owner)| **owner != NOBODY) {
        let owner = usize::from(*owner);
        match ranges.last_mut() {
            Some((_, end, last)) if *last == owner && *end + 1 == slot => *end = slot,
            _ => ranges.push((slot, slot, owner)),
        }
    }
    ranges
}

/// The nodes of a cluster, which of them this server is, and which slots each has.
///
/// ```
/// use protocol_resp::cluster::Topology;
///
/// let text = b"07c37dfeb235213a872192d90877d0cd55635b91 127.0.0.1:7000@0 myself,master - 0 0 1 connected 0-16383\n";
/// let topology = Topology::read(text)?;
/// assert_eq!(topology.to_text(), String::from_utf8_lossy(text));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct Topology {
    nodes: Vec<ClusterNode>,
    owners: Owners,
    /// For each node its slots, as ranges.
    ranges: Vec<Vec<(u16, u16)>>,
    /// For each node the slots that come or go.
    moves: Vec<Vec<(u16, Move)>>,
    /// The place of this server among the nodes, if it is one of them.
    myself: Option<usize>,
    /// The slots that come here or go from here.
    own_moves: BTreeMap<u16, Move>,
    epoch: u64,
    /// Every slot has an owner that has not failed.
    is_whole: bool,
}

impl Topology {
    /// Reads a file of nodes.
    ///
    /// # Errors
    ///
    /// What is wrong with it, with the number of the line.
    pub fn read(text: &[u8]) -> Result<Self, String> {
        let NodesFile { nodes, owners, moves, myself, epoch } = nodes_file::read(text)?;
        let epoch = nodes.iter().map(|node| node.epoch).fold(epoch, u64::max);
        let is_whole = owners.iter().all(|owner| {
            nodes.get(usize::from(*owner)).is_some_and(|node| node.health != Health::Failed)
        });
        let mut ranges = vec![Vec::new(); nodes.len()];
        for (first, last, owner) in owned_ranges(&owners) {
            ranges[owner].push((first, last));
        }
        let mut topology = Topology {
            nodes,
            owners,
            ranges,
            moves,
            myself: None,
            own_moves: BTreeMap::new(),
            epoch,
            is_whole,
        };
        topology.become_node(myself);
        Ok(topology)
    }

    /// A cluster without nodes, before a file was read.
    pub(crate) fn empty() -> Self {
        Topology::read(b"").expect("no line is wrong")
    }

    /// Finds out which node this server is; returns whether it is one. A server that is none gets a node without
    /// slots, with the name `id`.
    pub(crate) fn identify(&mut self, identity: &Identity, id: &str) -> bool {
        let found = identity.find(&self.nodes, self.myself);
        let is_known = found.is_some();
        let place = found.unwrap_or_else(|| {
            debug_assert_eq!(id.len(), ID_LEN, "it is shown as the name of a node");
            self.nodes.push(identity.stranger(id));
            self.ranges.push(Vec::new());
            self.moves.push(Vec::new());
            self.nodes.len() - 1
        });
        self.become_node(Some(place));
        is_known
    }

    fn become_node(&mut self, place: Option<usize>) {
        self.myself = place;
        self.own_moves = place.map_or_else(BTreeMap::new, |place| {
            // A slot goes from its owner, and comes to another.
            let fits = |(slot, direction): &&(u16, Move)| {
                let is_mine = self.owners[usize::from(*slot)] == place as u16;
                is_mine == matches!(direction, Move::To(_))
            };
            self.moves[place].iter().filter(fits).copied().collect()
        });
    }

    /// The nodes, in the order of the file.
    pub(crate) fn nodes(&self) -> &[ClusterNode] {
        &self.nodes
    }

    /// The place of this server among the nodes.
    pub(crate) fn myself(&self) -> Option<usize> {
        self.myself
    }

    /// This server's node.
    pub(crate) fn own_node(&self) -> Option<&ClusterNode> {
        self.myself.map(|place| &self.nodes[place])
    }

    /// The place of the node with this name.
    pub(crate) fn place_of(&self, id: &[u8]) -> Option<usize> {
        self.nodes.iter().position(|node| node.id.as_bytes() == id)
    }

    /// The place of the node that has a slot.
    pub(crate) fn owner(&self, slot: u16) -> Option<usize> {
        let owner = self.owners[usize::from(slot)];
        (owner != NOBODY).then_some(usize::from(owner))
    }

    /// Whether this server has a slot.
    pub(crate) fn is_mine(&self, slot: u16) -> bool {
        self.myself.is_some_and(|place| self.owners[usize::from(slot)] == place as u16)
    }

    /// Whether keys of a slot may be here: it is this server's, or comes here.
    pub(crate) fn may_hold(&self, slot: u16) -> bool {
        self.is_mine(slot) || self.own_moves.contains_key(&slot)
    }

    /// Whether shard channels of a slot are served here: by its owner, and by the owner's replicas.
    pub(crate) fn has_channel(&self, slot: u16) -> bool {
        let is_of_primary =
            |node: &ClusterNode| node.primary.is_some() && node.primary == self.owner(slot);
        self.is_mine(slot) || self.own_node().is_some_and(is_of_primary)
    }

    /// Where a slot goes to or comes from, if it moves.
    pub(crate) fn moving(&self, slot: u16) -> Option<Move> {
        self.own_moves.get(&slot).copied()
    }

    /// The slots of the node at a place, as ranges.
    pub(crate) fn slots_of(&self, place: usize) -> &[(u16, u16)] {
        &self.ranges[place]
    }

    /// Ranges of slots with the place of their owner, in order.
    pub(crate) fn owned_ranges(&self) -> Vec<(u16, u16, usize)> {
        owned_ranges(&self.owners)
    }

    /// The places of the replicas of the node at a place.
    pub(crate) fn replicas_of(&self, place: usize) -> impl Iterator<Item = usize> {
        let is_its = move |node: &ClusterNode| node.primary == Some(place);
        self.nodes.iter().enumerate().filter(move |(_, node)| is_its(node)).map(|(at, _)| at)
    }

    /// The name of the shard of the node at a place.
    pub(crate) fn shard_of(&self, place: usize) -> &str {
        let node = &self.nodes[place];
        let primary = node.primary.map_or(node, |primary| &self.nodes[primary]);
        [&node.shard, &primary.shard]
            .into_iter()
            .find(|shard| !shard.is_empty())
            .unwrap_or(&primary.id)
    }

    /// The highest epoch of the file.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether every slot has an owner that has not failed.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// How many slots have an owner, and how many of those owners are suspected and have failed.
    pub(crate) fn slot_counts(&self) -> [usize; 3] {
        let mut counts = [0; 3];
        for slot in 0..SLOTS as u16 {
            let Some(owner) = self.owner(slot) else { continue };
            counts[0] += 1;
            match self.nodes[owner].health {
                Health::Online => {}
                Health::Suspected => counts[1] += 1,
                Health::Failed => counts[2] += 1,
            }
        }
        counts
    }

    /// How many nodes have slots.
    pub(crate) fn size(&self) -> usize {
        self.ranges.iter().filter(|ranges| !ranges.is_empty()).count()
    }

    /// The line of CLUSTER NODES about the node at a place, without its end.
    pub(crate) fn line(&self, place: usize, tls: bool) -> String {
        let node = &self.nodes[place];
        let ClusterNode { id, ip, bus_port, hostname, seen: [ping, pong], epoch, .. } = node;
        let is_myself = self.myself == Some(place);
        let (port, flags) = (node.port_for(tls), node.flags(is_myself));
        let comma = if hostname.is_empty() { "" } else { "," };
        let primary = node.primary.map_or("-", |primary| &self.nodes[primary].id);
        let link = if node.is_connected || is_myself { "connected" } else { "disconnected" };
        let mut line = format!(
            "{id} {ip}:{port}@{bus_port}{comma}{hostname} {flags} {primary} {ping} {pong} {epoch} {link}"
        );
        for &(first, last) in self.slots_of(place) {
            // Writing to a string cannot fail.
            let _ = if first == last {
                write!(line, " {first}")
            } else {
                write!(line, " {first}-{last}")
            };
        }
        if is_myself {
            for (slot, direction) in &self.own_moves {
                let _ = match direction {
                    Move::To(to) => write!(line, " [{slot}->-{}]", self.nodes[*to].id),
                    Move::From(from) => write!(line, " [{slot}-<-{}]", self.nodes[*from].id),
                };
            }
        }
        line
    }

    /// All nodes, as CLUSTER NODES tells clients without TLS.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.text_for(false)
    }

    /// All nodes, as CLUSTER NODES tells them.
    pub(crate) fn text_for(&self, tls: bool) -> String {
        let lines = (0..self.nodes.len()).map(|place| self.line(place, tls) + "\n");
        lines.collect()
    }
}
