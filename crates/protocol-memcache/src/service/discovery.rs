// SPDX-License-Identifier: Apache-2.0
//! Auto discovery: `config get cluster`, and the key by which older clients ask for the same.

use super::MemcacheService;
use super::outcome::Outcome;
use crate::cluster::Cluster;
use crate::reply::Dialect;
use buffer::SendBuf;
use std::sync::Arc;
use storage::{Expiry, Item, Receive, Version};

/// The key that older clients read.
pub(super) const CLUSTER_KEY: &[u8] = b"AmazonElastiCache:cluster";

/// The nodes as an item under that key.
pub(super) struct Nodes(Arc<Cluster>);

impl Item for Nodes {
    fn key(&self) -> &[u8] {
        CLUSTER_KEY
    }

    fn value(&self) -> &[u8] {
        &self.0.text
    }

    fn flags(&self) -> u32 {
        0
    }

    fn version(&self) -> Version {
        Version::new(self.0.version).expect("a version of nodes is from 1 on")
    }

    fn expiry(&self) -> Expiry {
        Expiry::NEVER
    }
}

impl<S: Receive> MemcacheService<S> {
    /// The nodes, if this is the key for them and there are any.
    #[cold]
    pub(super) fn nodes(&self, key: &[u8]) -> Option<Nodes> {
        let file = self.shared.options.cluster.as_ref().filter(|_| key == CLUSTER_KEY)?;
        Some(Nodes(file.cluster()))
    }

    /// `config get <what>`
    #[cold]
    #[inline(never)]
    pub(super) fn config<D: Dialect>(&self, what: &[u8], reply: D, out: &mut SendBuf) -> Outcome {
        let Some(file) = &self.shared.options.cluster else { return Outcome::NoTopic };
        if what == b"cluster" {
            let text = &file.cluster().text;
            out.put(format!("CONFIG cluster 0 {}\r\n", text.len()).as_bytes());
            out.put(text);
            out.put(b"\r\n");
        }
        reply.stats_end(out);
        Outcome::Shown
    }
}
