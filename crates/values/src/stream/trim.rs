// SPDX-License-Identifier: Apache-2.0
//! Removing the oldest items.

use super::items::Items;
use super::node::Node;
use super::{References, StreamId};

/// Which items stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimTo {
    /// So many of the newest.
    Length(usize),
    /// Those with this id and above.
    Id(StreamId),
}

/// How items are trimmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trim {
    /// Which items stay.
    pub to: TrimTo,
    /// Only whole nodes are removed, which is faster.
    pub by_nodes: bool,
    /// The most items that are removed with their nodes; the last node counts whole.
    pub limit: Option<usize>,
    /// What becomes of items that consumer groups need.
    pub references: References,
}

impl Trim {
    /// Whether no item has to go.
    pub(super) fn is_done(&self, items: &Items) -> bool {
        match self.to {
            TrimTo::Length(len) => items.len <= len,
            TrimTo::Id(_) => items.len == 0,
        }
    }

    /// Whether all items of this node may go.
    pub(super) fn takes(&self, items: &Items, node: &Node) -> bool {
        match self.to {
            TrimTo::Length(len) => items.len - usize::from(node.live) >= len,
            TrimTo::Id(id) => node.last < id,
        }
    }
}

impl Items {
    /// Trims; returns how many items were removed.
    pub(super) fn trim(&mut self, trim: &Trim) -> usize {
        let before = self.len;
        while let Some(node) = self.nodes.first() {
            let reached = before - self.len + usize::from(node.live);
            if trim.is_done(self) || trim.limit.is_some_and(|limit| reached > limit) {
                break;
            }
            if trim.takes(self, node) {
                self.remove_node(self.nodes.start());
                continue;
            }
            if !trim.by_nodes {
                self.trim_first(trim.to);
            }
            break;
        }
        before - self.len
    }

    /// Trims within the first node, some of which stays.
    fn trim_first(&mut self, to: TrimTo) {
        let mut surplus = match to {
            TrimTo::Length(len) => self.len.saturating_sub(len),
            TrimTo::Id(_) => 0,
        };
        self.cut_first(|item| match to {
            TrimTo::Length(_) => {
                let goes = surplus > 0;
                surplus = surplus.saturating_sub(1);
                goes
            }
            TrimTo::Id(id) => item.id < id,
        });
    }
}
