// SPDX-License-Identifier: Apache-2.0
//! `stats conns`: the connections there are, some of them in each step.

use clock::Now;
use protocol::{ConnectionId, Peer};
use std::io::Write;
use std::sync::Arc;
use std::vec::IntoIter;

/// Connections in a step: some 16 KiB of lines.
const STEP: usize = 128;

/// The connections of the moment when they were asked for.
#[derive(Debug)]
pub(super) struct Connections {
    peers: IntoIter<Arc<Peer>>,
}

impl Connections {
    pub(super) fn new(peers: Vec<Arc<Peer>>) -> Self {
        Connections { peers: peers.into_iter() }
    }

    /// Shows some more. Returns whether these were the last. Only the connection that asks is active; all others are
    /// shown as waiting.
    pub(super) fn step(&mut self, asking: ConnectionId, now: Now, piece: &mut Vec<u8>) -> bool {
        for peer in self.peers.by_ref().take(STEP) {
            let id = peer.id.serial();
            let state = if peer.id == asking { "conn_parse_cmd" } else { "conn_read" };
            let idle_s = now.ticks.since(peer.last_request()).as_secs();
            let (remote, local) = (&peer.remote, &peer.local);
            // Writing to a vector cannot fail.
            let _ = write!(
                piece,
                "STAT {id}:addr {remote}\r\nSTAT {id}:listen_addr {local}\r\nSTAT {id}:state {state}\r\n\
                 STAT {id}:secs_since_last_cmd {idle_s}\r\n"
            );
        }
        self.peers.len() == 0
    }
}
