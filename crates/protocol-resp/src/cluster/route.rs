// SPDX-License-Identifier: Apache-2.0
//! [`Route`]: who serves a request, from the slots of its keys. The rules are those of Redis.

use super::node::Endpoint;
use super::slots::slot_of;
use super::topology::{Move, Topology};
use crate::wire::fault::Fault;

/// What is known of a request besides its keys.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    /// It changes data.
    pub(crate) writes: bool,
    /// It is about shard channels.
    pub(crate) is_on_channels: bool,
    /// The client has said READONLY.
    pub(crate) reads_only: bool,
    /// The client has said ASKING, or the command says so itself.
    pub(crate) is_asking: bool,
    /// It is what moves slots.
    pub(crate) moves_slots: bool,
}

/// The parameters that decide what is served while some slots are not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WhenDown {
    /// `cluster-require-full-coverage`
    pub(crate) needs_all_slots: bool,
    /// `cluster-allow-reads-when-down`
    pub(crate) serves_reads: bool,
    /// `cluster-allow-pubsubshard-when-down`
    pub(crate) serves_channels: bool,
}

/// Why a request is not served here. Nodes are places in the topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Redirection {
    Moved {
        slot: u16,
        node: usize,
    },
    Ask {
        slot: u16,
        node: usize,
    },
    /// Its keys have different slots.
    CrossSlot,
    /// Some of its keys have moved to another node already.
    TryAgain,
    /// No node has the slot.
    Unserved,
    Down,
    DownForWrites,
}

/// Follows the keys of a request.
#[derive(Debug)]
pub(crate) struct Route<'t, 'k> {
    topology: &'t Topology,
    first: Option<(u16, &'k [u8])>,
    /// The slot moves, and is the first key's.
    moving: Option<Move>,
    has_different_keys: bool,
    crosses: bool,
    here: usize,
    gone: usize,
}

impl<'t, 'k> Route<'t, 'k> {
    /// Of a request whose keys are still to be seen.
    pub(crate) fn new(topology: &'t Topology) -> Self {
        Route {
            topology,
            first: None,
            moving: None,
            has_different_keys: false,
            crosses: false,
            here: 0,
            gone: 0,
        }
    }

    /// Sees a key. Whether it `is_here` is asked only while its slot moves.
    pub(crate) fn key(&mut self, key: &'k [u8], is_here: impl FnOnce(&[u8]) -> bool) {
        self.see(key);
        if self.moving.is_some() && !self.crosses {
            if is_here(key) { self.here += 1 } else { self.gone += 1 }
        }
    }

    /// Whether its slot moves, so that the request may be served here now and elsewhere soon.
    pub(crate) fn is_moving(&self) -> bool {
        self.moving.is_some()
    }

    /// Sees a shard channel. Until the slot has moved, it is served where it was.
    pub(crate) fn channel(&mut self, name: &'k [u8]) {
        self.see(name);
    }

    fn see(&mut self, key: &'k [u8]) {
        let slot = slot_of(key);
        match self.first {
            None => {
                self.first = Some((slot, key));
                self.moving = self.topology.moving(slot);
            }
            Some((first, _)) if first != slot => self.crosses = true,
            Some((_, first)) => self.has_different_keys |= first != key,
        }
    }

    /// Whether this server serves the request, or else why not.
    pub(crate) fn decide(self, asked: Asked, when_down: WhenDown) -> Result<(), Redirection> {
        let Some((slot, _)) = self.first else { return Ok(()) };
        let topology = self.topology;
        let owner = topology.owner(slot).ok_or(Redirection::Unserved)?;
        if self.crosses {
            return Err(Redirection::CrossSlot);
        }
        if when_down.needs_all_slots && !topology.is_whole() {
            match asked {
                Asked { is_on_channels: true, .. } if when_down.serves_channels => {}
                Asked { is_on_channels: true, .. } => return Err(Redirection::Down),
                _ if !when_down.serves_reads => return Err(Redirection::Down),
                Asked { writes: true, .. } => return Err(Redirection::DownForWrites),
                _ => {}
            }
        }
        match self.moving {
            Some(_) if asked.moves_slots => return Ok(()),
            Some(Move::To(_)) if self.gone > 0 && self.here > 0 => {
                return Err(Redirection::TryAgain);
            }
            Some(Move::To(node)) if self.gone > 0 => return Err(Redirection::Ask { slot, node }),
            Some(Move::From(_)) if asked.is_asking => {
                let is_torn = self.has_different_keys && self.gone > 0;
                return if is_torn { Err(Redirection::TryAgain) } else { Ok(()) };
            }
            _ => {}
        }
        let is_own = topology.is_mine(slot);
        let is_of_primary = topology.own_node().is_some_and(|node| node.primary == Some(owner));
        let serves_copy =
            (asked.reads_only || asked.is_on_channels) && !asked.writes && is_of_primary;
        if is_own || serves_copy { Ok(()) } else { Err(Redirection::Moved { slot, node: owner }) }
    }
}

impl Redirection {
    /// The reply.
    #[cold]
    pub(crate) fn fault(self, topology: &Topology, endpoint: Endpoint, tls: bool) -> Fault {
        let to = |word: &str, slot: u16, node: usize| {
            let node = &topology.nodes()[node];
            let (place, port) = (node.endpoint(endpoint), node.port_for(tls));
            Fault::made(format!("{word} {slot} {place}:{port}"))
        };
        match self {
            Redirection::Moved { slot, node } => to("MOVED", slot, node),
            Redirection::Ask { slot, node } => to("ASK", slot, node),
            Redirection::CrossSlot => {
                Fault::new("CROSSSLOT Keys in request don't hash to the same slot")
            }
            Redirection::TryAgain => {
                Fault::new("TRYAGAIN Multiple keys request during rehashing of slot")
            }
            Redirection::Unserved => Fault::new("CLUSTERDOWN Hash slot not served"),
            Redirection::Down => Fault::new("CLUSTERDOWN The cluster is down"),
            Redirection::DownForWrites => {
                Fault::new("CLUSTERDOWN The cluster is down and only accepts read commands")
            }
        }
    }
}

/// Whether an error is one of a redirection.
pub(crate) fn is_redirection(fault: &Fault) -> bool {
    matches!(fault.code(), b"MOVED" | b"ASK" | b"CROSSSLOT" | b"TRYAGAIN" | b"CLUSTERDOWN")
}

#[cfg(test)]
mod tests;
