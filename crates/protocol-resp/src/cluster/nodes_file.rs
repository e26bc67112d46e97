// SPDX-License-Identifier: Apache-2.0
//! Reads a file of nodes, in the format of the `nodes.conf` that nodes of Redis write, which is that of CLUSTER
//! NODES:
//!
//! ```text
//! id ip:port@bus-port,hostname,tls-port=6380 flags primary ping pong epoch link-state slot from-to [slot->-id] [slot-<-id]
//! vars currentEpoch 6 lastVoteEpoch 0
//! ```
//!
//! A file can be shared by all nodes, or be written for one, which has the flag `myself` then. Empty lines and lines
//! that begin with `#` are skipped. Nothing of the file is taken if a line is wrong.

use super::node::{ClusterNode, Health, ID_LEN};
use super::slots::{SLOTS, slot_number};
use super::topology::{Move, NOBODY, Owners};
use std::collections::HashMap;

/// The largest file in bytes: a thousand nodes, and slots scattered among them.
pub const FILE_BYTES_MAX: u64 = 1 << 20;

/// The most nodes.
const NODES_MAX: usize = 1000;

/// What a file says.
#[derive(Debug)]
pub(super) struct NodesFile {
    pub(super) nodes: Vec<ClusterNode>,
    pub(super) owners: Owners,
    /// For each node the slots that come or go.
    pub(super) moves: Vec<Vec<(u16, Move)>>,
    /// The node that the file calls `myself`.
    pub(super) myself: Option<usize>,
    pub(super) epoch: u64,
}

/// The words of a line that name other nodes, to be read when all nodes are known.
#[derive(Debug)]
struct Later<'a> {
    line: usize,
    primary: &'a str,
    slots: Vec<&'a str>,
}

/// Reads a file.
///
/// # Errors
///
/// What is wrong, with the number of the line.
pub(super) fn read(text: &[u8]) -> Result<NodesFile, String> {
    let text = str::from_utf8(text).map_err(|_| "it is not text".to_owned())?;
    let mut file = NodesFile {
        nodes: Vec::new(),
        owners: Box::new([NOBODY; SLOTS]),
        moves: Vec::new(),
        myself: None,
        epoch: 0,
    };
    let mut later = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line_number = number + 1;
        let told = |problem: String| format!("line {line_number}: {problem}");
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            None => {}
            Some(word) if word.starts_with('#') => {}
            Some("vars") => file.read_vars(words).map_err(told)?,
            Some(id) => {
                let (primary, slots) = file.read_node(id, words).map_err(told)?;
                later.push(Later { line: line_number, primary, slots });
            }
        }
    }
    file.resolve(&later)?;
    Ok(file)
}

impl NodesFile {
    fn read_vars<'a>(&mut self, mut words: impl Iterator<Item = &'a str>) -> Result<(), String> {
        while let Some(name) = words.next() {
            let value = words.next().ok_or_else(|| format!("{} has no value", Shown(name)))?;
            if name == "currentEpoch" {
                self.epoch = number(value)?;
            }
        }
        Ok(())
    }

    /// Reads a node, except what names other nodes and slots, which is returned.
    fn read_node<'a>(
        &mut self,
        id: &str,
        mut words: impl Iterator<Item = &'a str>,
    ) -> Result<(&'a str, Vec<&'a str>), String> {
        let mut next = |what: &str| words.next().ok_or_else(|| format!("there is no {what}"));
        if id.len() != ID_LEN || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(format!("the name of a node has {ID_LEN} letters and digits"));
        }
        if self.nodes.len() == NODES_MAX {
            return Err(format!("there are more than {NODES_MAX} nodes"));
        }
        let mut node = ClusterNode { id: id.into(), ..ClusterNode::default() };
        read_address(&mut node, next("address")?)?;
        let is_myself = read_flags(&mut node, next("flag")?)?;
        let primary = next("primary; write - for none")?;
        node.seen = [number(next("time of a ping")?)?, number(next("time of an answer")?)?];
        node.epoch = number(next("epoch")?)?;
        node.is_connected = match next("link state")? {
            "connected" => true,
            "disconnected" => false,
            _ => return Err("the link state is connected or disconnected".to_owned()),
        };
        if is_myself && self.myself.replace(self.nodes.len()).is_some() {
            return Err("two nodes have the flag myself".to_owned());
        }
        self.nodes.push(node);
        self.moves.push(Vec::new());
        Ok((primary, words.collect()))
    }

    /// Reads what names other nodes, and gives each its slots.
    fn resolve(&mut self, later: &[Later<'_>]) -> Result<(), String> {
        let mut places = HashMap::new();
        for (place, (node, Later { line, .. })) in self.nodes.iter().zip(later).enumerate() {
            if places.insert(node.id.clone(), place).is_some() {
                return Err(format!("line {line}: this node is there twice"));
            }
        }
        let find = |id: &str| {
            places.get(id).copied().ok_or_else(|| format!("there is no node {}", Shown(id)))
        };
        for (place, Later { line, primary, slots }) in later.iter().enumerate() {
            let told = |problem: String| format!("line {line}: {problem}");
            if *primary != "-" {
                self.nodes[place].primary = Some(find(primary).map_err(told)?);
            }
            for word in slots {
                self.read_slots(place, word, find).map_err(told)?;
            }
        }
        for (node, Later { line, .. }) in self.nodes.iter().zip(later) {
            if node.primary.is_some_and(|primary| self.nodes[primary].primary.is_some()) {
                return Err(format!("line {line}: its primary is a replica itself"));
            }
        }
        Ok(())
    }

    /// Reads a slot, a range of slots, or a slot that moves.
    fn read_slots(
        &mut self,
        place: usize,
        word: &str,
        find: impl Fn(&str) -> Result<usize, String>,
    ) -> Result<(), String> {
        let slot = |text: &str| {
            slot_number(text.as_bytes()).ok_or_else(|| format!("{} is no slot", Shown(text)))
        };
        if let Some(inner) = word.strip_prefix('[').and_then(|word| word.strip_suffix(']')) {
            let (number, direction) = match (inner.split_once("->-"), inner.split_once("-<-")) {
                (Some((number, to)), _) => (number, Move::To(find(to)?)),
                (None, Some((number, from))) => (number, Move::From(find(from)?)),
                (None, None) => {
                    return Err("a slot that moves is [slot->-id] or [slot-<-id]".into());
                }
            };
            self.moves[place].push((slot(number)?, direction));
            return Ok(());
        }
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        let (first, last) = (slot(first)?, slot(last)?);
        if first > last {
            return Err(format!("the range {first}-{last} ends before it begins"));
        }
        if self.nodes[place].primary.is_some() {
            return Err("a replica has no slots of its own".to_owned());
        }
        for slot in first..=last {
            let owner = &mut self.owners[usize::from(slot)];
            if *owner != NOBODY {
                return Err(format!("slot {slot} has two owners"));
            }
            *owner = place as u16;
        }
        Ok(())
    }
}

/// Reads `ip:port@bus-port,hostname,key=value...`; all behind the port may be missing.
fn read_address(node: &mut ClusterNode, word: &str) -> Result<(), String> {
    let mut parts = word.split(',');
    let address = parts.next().unwrap_or_default();
    let (ip, ports) =
        address.rsplit_once(':').ok_or("an address is ip:port@bus-port,hostname".to_owned())?;
    let (port, bus_port) = ports.split_once('@').unwrap_or((ports, "0"));
    node.ip = checked(ip)?.into();
    (node.port, node.bus_port) = (number(port)?, number(bus_port)?);
    node.hostname = checked(parts.next().unwrap_or_default())?.into();
    for part in parts {
        let (key, value) = part.split_once('=').ok_or_else(|| {
            format!("{} is not shard-id=, nodename=, tcp-port= or tls-port=", Shown(part))
        })?;
        match key {
            "shard-id" => node.shard = checked(value)?.into(),
            "nodename" => node.nodename = checked(value)?.into(),
            "tls-port" => node.tls_port = number(value)?,
            "tcp-port" => {
                // A node that speaks TLS with others writes its port for TLS first.
                node.tls_port = node.port;
                node.port = number(value)?;
            }
            // Later versions may write more.
            _ => {}
        }
    }
    Ok(())
}

/// Reads flags; returns whether `myself` is among them.
fn read_flags(node: &mut ClusterNode, word: &str) -> Result<bool, String> {
    let mut is_myself = false;
    for flag in word.split(',') {
        match flag {
            "myself" => is_myself = true,
            "fail?" => node.health = Health::Suspected,
            "fail" => node.health = Health::Failed,
            "nofailover" => node.no_failover = true,
            "master" | "slave" | "handshake" | "noaddr" | "noflags" => {}
            _ => return Err(format!("{} is no flag", Shown(flag))),
        }
    }
    Ok(is_myself)
}

/// A text that can be shown in one word of a reply.
fn checked(text: &str) -> Result<&str, String> {
    let is_right = text.len() <= 255 && text.bytes().all(|byte| byte.is_ascii_graphic());
    if is_right { Ok(text) } else { Err(format!("{} is no address or name", Shown(text))) }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{} is no number that fits", Shown(text)))
}

/// A word of the file, which may have any characters.
struct Shown<'a>(&'a str);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let escaped: String = self.0.chars().take(40).flat_map(char::escape_debug).collect();
        write!(f, "\"{escaped}\"")
    }
}

#[cfg(test)]
mod tests;
