// SPDX-License-Identifier: Apache-2.0
//! [`choose`]: the clients to close, by the memory of each ([`Load`]).

use super::{Allowance, GRACE};
use crate::session::client::Client;
use clock::Ticks;
use protocol::{ConnectionId, Peer};
use std::sync::Arc;

/// The memory of one client.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub(super) id: ConnectionId,
    pub(super) peer: Option<Arc<Peer>>,
    pub(super) client: Option<Arc<Client>>,
    /// Bytes of requests that arrive, and of replies that it reads.
    pub(super) moving: u64,
    /// Bytes of replies of which it is not known yet whether it reads them.
    pub(super) doubtful: u64,
    /// Bytes of held state, and of replies that it leaves unread.
    pub(super) lasting: u64,
    /// The part of `lasting` whose memory others may share.
    pub(super) left: u64,
    /// Bytes of values and messages that it has just got, whose memory others may share.
    pub(super) shared: u64,
    /// Bytes of replies that nobody shares, a part of the others.
    pub(super) own_output: u64,
    /// It is never closed to free memory.
    pub(super) is_spared: bool,
}

impl Load {
    pub(super) fn new(id: ConnectionId) -> Self {
        let (peer, client) = (None, None);
        let (moving, doubtful, lasting, left, shared, own_output) = (0, 0, 0, 0, 0, 0);
        let is_spared = false;
        Load { id, peer, client, moving, doubtful, lasting, left, shared, own_output, is_spared }
    }

    /// What a connection takes without the state of its client.
    pub(super) fn of(peer: Arc<Peer>, now: Ticks) -> Self {
        let mut load = Load::new(peer.id);
        load.moving = peer.input_bytes() as u64;
        let taken = peer.output_memory() as u64;
        let shared = (peer.output_bytes() as u64).saturating_sub(taken);
        load.own_output = taken;
        let is_unread = peer.unread_since().is_some_and(|since| now.since(since) >= GRACE);
        match (is_unread, peer.is_reader()) {
            // A message that all others have read takes memory for this one alone.
            (true, _) => (load.lasting, load.left) = (taken + shared, shared),
            (false, true) => (load.moving, load.shared) = (load.moving + taken, shared),
            (false, false) => (load.doubtful, load.shared) = (taken, shared),
        }
        load.peer = Some(peer);
        load
    }

    /// Everything, messages in full, as Redis counts for `maxmemory-clients`.
    pub(super) fn total(&self) -> u64 {
        self.moving + self.doubtful + self.lasting + self.shared
    }

    /// Counts no more of what others may share than `most`.
    fn share_at_most(&mut self, most: u64) {
        let left = self.left.min(most);
        self.lasting -= self.left - left;
        self.left = left;
        self.shared = self.shared.min(most);
    }
}

/// What all clients take together, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    /// All of it.
    pub(super) total: u64,
    /// The part with bytes that wait to be sent.
    pub(super) unsent: u64,
}

/// The clients to close so that the others are within the limit, those that take most first.
pub(super) fn choose(mut loads: Vec<Load>, allowance: Allowance, taken: Taken) -> Vec<Load> {
    // What clients share takes no more memory than they do together, however much it is for each: of strings that
    // their keys still have none.
    let behind = taken.unsent.saturating_sub(sum(&loads, |load| load.own_output));
    loads.iter_mut().for_each(|load| load.share_at_most(behind));
    match allowance {
        Allowance::Together(bytes) => {
            let total = sum(&loads, Load::total).min(taken.total);
            cut(loads, total, bytes, Load::total).0
        }
        Allowance::Apart { lasting, moving } => {
            if let Some(most) = loads.iter_mut().max_by_key(|load| load.doubtful) {
                most.moving += std::mem::take(&mut most.doubtful);
            }
            loads.iter_mut().for_each(|load| load.lasting += std::mem::take(&mut load.doubtful));
            let left = sum(&loads, |load| load.left);
            let total = sum(&loads, |load| load.lasting) - left + left.min(behind);
            let (mut chosen, others) = cut(loads, total, lasting, |load| load.lasting);
            let behind = behind.saturating_sub(left);
            let shared = sum(&others, |load| load.shared).min(behind);
            let total = sum(&others, |load| load.moving) + shared;
            let size = |load: &Load| load.moving + load.shared.min(behind);
            chosen.extend(cut(others, total, moving, size).0);
            chosen
        }
    }
}

fn sum(loads: &[Load], size: impl Fn(&Load) -> u64) -> u64 {
    loads.iter().map(size).sum()
}

/// Splits clients, which take `total` together, into those to close, so that the others take no more than `most`, and the
/// others.
///
/// Who takes no more than an equal share of `most` stays: it is not why there is too much, and the rest is taken by
/// clients that are spared.
fn cut(
    mut loads: Vec<Load>,
    mut total: u64,
    most: u64,
    size: impl Fn(&Load) -> u64,
) -> (Vec<Load>, Vec<Load>) {
    if total <= most {
        return (Vec::new(), loads);
    }
    loads.sort_by_key(|load| std::cmp::Reverse(size(load)));
    let equal_share = most / loads.len() as u64;
    loads.into_iter().partition(|load| {
        let goes = total > most && !load.is_spared && size(load) > equal_share;
        if goes {
            total = total.saturating_sub(size(load));
        }
        goes
    })
}
