// SPDX-License-Identifier: Apache-2.0
//! Commands between MULTI and EXEC, and the keys that are watched for them.

use super::clients::Client;
use super::holdings::{Holding, name_bytes, text_bytes};
use super::host::Host;
use super::resp::Resp;
use super::watch::Mark;
use crate::parse::Request;
use crate::table::{CommandId, Flags};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::Ordering::Relaxed;

/// What MULTI has begun.
#[derive(Debug, Default)]
pub(crate) struct Transaction {
    pub(crate) queue: Vec<Queued>,
    /// Bytes of the commands' arguments.
    text_bytes: u64,
    /// A command was refused when it was queued: EXEC executes none.
    pub(crate) is_spoilt: bool,
    /// The flags of all its commands.
    pub(crate) flags: Flags,
}

/// A command that waits for EXEC.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) id: CommandId,
    pub(crate) request: Request<'static>,
}

impl Transaction {
    /// Puts a command behind those that wait.
    fn queue(&mut self, id: CommandId, request: Request<'_>) {
        let request = request.into_owned();
        self.text_bytes += text_bytes(request.body_len());
        self.flags = self.flags.with(id.spec().flags);
        self.queue.push(Queued { id, request });
    }

    /// Memory of the queue in bytes.
    fn bytes(&self) -> u64 {
        self.text_bytes + (self.queue.capacity() * size_of::<Queued>()) as u64
    }
}

/// Commands that a pause of writes holds: they change data, or tell others of something.
pub(crate) const WRITES: Flags = Flags::WRITE.with(Flags::MAY_REPLICATE);

/// The keys a connection watches.
#[derive(Debug, Default)]
pub(crate) struct Watching {
    /// Set by those who change one of the keys.
    mark: Mark,
    /// Each key with its database, and whether there was a live entry when the watch began: if its
    /// time comes before EXEC, the key has changed, though nobody has touched it.
    keys: HashMap<(usize, Box<[u8]>), bool>,
    /// Memory of the keys in bytes.
    bytes: u64,
}

/// One watched key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watched<'a> {
    pub(crate) db: usize,
    pub(crate) key: &'a [u8],
    /// There was a live entry when the watch began.
    pub(crate) was_there: bool,
}

impl Watching {
    /// What those set who change one of the keys.
    pub(crate) fn mark(&self) -> Mark {
        Mark::clone(&self.mark)
    }

    /// Whether a watched key was changed by anybody.
    pub(crate) fn is_marked(&self) -> bool {
        self.mark.load(Relaxed)
    }

    /// The watched keys.
    pub(crate) fn keys(&self) -> impl ExactSizeIterator<Item = Watched<'_>> {
        self.keys.iter().map(|(place, was_there)| Watched {
            db: place.0,
            key: &place.1,
            was_there: *was_there,
        })
    }

    /// Watches a key. The caller holds the lock of its shard.
    pub(crate) fn add(&mut self, host: &Host, db: usize, key: &[u8], was_there: bool) {
        if let Entry::Vacant(place) = self.keys.entry((db, key.into())) {
            host.watches.watch(&host.hot, db, key, &self.mark, was_there);
            place.insert(was_there);
            self.bytes += name_bytes(key.len());
        }
    }

    /// Watches nothing any more.
    pub(crate) fn clear(&mut self, host: &Host) {
        if self.keys.is_empty() {
            return;
        }
        self.bytes = 0;
        for ((db, key), _) in std::mem::take(&mut self.keys) {
            host.watches.unwatch(&host.hot, db, &key, &self.mark);
        }
        // Marks are set under the lock of the table that this one is no longer in: nobody does now.
        self.mark.store(false, Relaxed);
    }
}

impl Resp {
    /// Begins a transaction.
    pub(crate) fn begin_transaction(&mut self) {
        self.transaction = Some(Box::default());
        self.note_transaction();
    }

    /// Puts a command behind those that wait for EXEC.
    pub(crate) fn queue(&mut self, id: CommandId, request: Request<'_>) {
        if let Some(transaction) = &mut self.transaction {
            transaction.queue(id, request);
        }
        self.note_transaction();
    }

    /// Ends the transaction; its commands, if there was one.
    pub(crate) fn end_transaction(&mut self) -> Option<Box<Transaction>> {
        let ended = self.transaction.take();
        self.note_transaction();
        ended
    }

    /// Watches nothing any more.
    pub(crate) fn unwatch(&mut self, host: &Host) {
        self.watching.clear(host);
        self.note_transaction();
    }

    /// Shows others how far the transaction is.
    pub(crate) fn note_transaction(&self) {
        let Some(client) = &self.client else { return };
        let (queued, bytes) = match &self.transaction {
            Some(transaction) => (transaction.queue.len(), transaction.bytes()),
            None => (0, 0),
        };
        client.set(Client::IN_TRANSACTION, self.transaction.is_some());
        client.queued.store(queued as u32, Relaxed);
        client.holdings.set(Holding::Queue, bytes);
        client.holdings.set(Holding::Watch, self.watching.bytes);
        client.watched.store(self.watching.keys().len() as u32, Relaxed);
    }
}
