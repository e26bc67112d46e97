// SPDX-License-Identifier: Apache-2.0
//! [`StreamIter`] and [`StreamRevIter`]: the items of a range, forwards and backwards.

use super::StreamId;
use super::chunks::Elements;
use super::node::{Node, StreamItem};

/// Items of a stream, in their order.
#[derive(Clone, Debug)]
pub struct StreamIter<'a> {
    nodes: Elements<'a, Node>,
    /// The node of the next item, and where in it the item is.
    node: Option<(&'a Node, usize)>,
    start: StreamId,
    end: StreamId,
}

impl<'a> StreamIter<'a> {
    /// The items from `start` to `end` of these nodes.
    pub(super) fn new(nodes: Elements<'a, Node>, start: StreamId, end: StreamId) -> Self {
        StreamIter { nodes, node: None, start, end }
    }
}

impl<'a> Iterator for StreamIter<'a> {
    type Item = StreamItem<'a>;

    fn next(&mut self) -> Option<StreamItem<'a>> {
        loop {
            let (node, at) = match self.node {
                Some(place) => place,
                None => {
                    let node = self.nodes.next()?;
                    (node, node.start())
                }
            };
            let Some(item) = node.item_at(at) else {
                self.node = None;
                continue;
            };
            if item.id > self.end {
                self.node = Some((node, at));
                return None;
            }
            self.node = Some((node, item.range().end));
            if item.id >= self.start {
                return Some(item);
            }
        }
    }
}

/// Items of a stream, in the opposite order. Allocates to remember where the items of a node are.
#[derive(Clone, Debug)]
pub struct StreamRevIter<'a> {
    nodes: Elements<'a, Node>,
    /// The node of the next items, and where in it they are.
    node: Option<&'a Node>,
    places: Vec<u32>,
    start: StreamId,
    end: StreamId,
}

impl<'a> StreamRevIter<'a> {
    /// The items from `end` back to `start` of these nodes.
    pub(super) fn new(nodes: Elements<'a, Node>, start: StreamId, end: StreamId) -> Self {
        StreamRevIter { nodes, node: None, places: Vec::new(), start, end }
    }
}

impl<'a> Iterator for StreamRevIter<'a> {
    type Item = StreamItem<'a>;

    fn next(&mut self) -> Option<StreamItem<'a>> {
        loop {
            while let (Some(node), Some(at)) = (self.node, self.places.pop()) {
                let item = node.item_at(at as usize)?;
                if item.id <= self.end {
                    return (item.id >= self.start).then_some(item);
                }
            }
            let node = self.nodes.next_back()?;
            self.node = Some(node);
            self.places.extend(node.items().map(|item| item.range().start as u32));
        }
    }
}
