// SPDX-License-Identifier: Apache-2.0
//! Commands between MULTI and EXEC, and the keys that are watched for them.

use super::memory::{MemoryKind, text_bytes};
use crate::session::client::Client;
use crate::session::connection::Resp;
use crate::table::{CommandId, Flags};
use crate::wire::parse::Request;
use std::sync::atomic::Ordering::Relaxed;

/// A transaction, begun by MULTI.
#[derive(Debug, Default)]
pub(crate) struct Transaction {
    pub(crate) queue: Vec<Queued>,
    /// Bytes of the commands' arguments.
    text_bytes: u64,
    /// A command was refused when it was queued, so EXEC executes none.
    pub(crate) is_spoilt: bool,
    /// The flags of all its commands.
    pub(crate) flags: Flags,
    /// The database that the last SELECT among them selects.
    pub(crate) selected: Option<usize>,
}

/// A command that waits for EXEC.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) id: CommandId,
    pub(crate) request: Request<'static>,
}

impl Transaction {
    /// Appends a command.
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

/// Flags of the commands that a pause of writes holds: they change data or send messages to other
/// clients.
pub(crate) const WRITES: Flags = Flags::WRITE.with(Flags::MAY_REPLICATE);

impl Resp {
    /// Begins a transaction.
    pub(crate) fn begin_transaction(&mut self) {
        self.transaction = Some(Box::default());
        self.note_transaction();
    }

    /// Queues a command for EXEC, which selects a database or does not.
    pub(crate) fn queue(&mut self, id: CommandId, request: Request<'_>, selected: Option<usize>) {
        if let Some(transaction) = &mut self.transaction {
            transaction.queue(id, request);
            transaction.selected = selected.or(transaction.selected);
        }
        self.note_transaction();
    }

    /// Ends the transaction and returns it, if there was one.
    pub(crate) fn end_transaction(&mut self) -> Option<Box<Transaction>> {
        let ended = self.transaction.take();
        self.note_transaction();
        ended
    }

    /// Updates the transaction's state in the client's entry.
    pub(crate) fn note_transaction(&self) {
        let Some(client) = &self.client else { return };
        let (queued, bytes) = match &self.transaction {
            Some(transaction) => (transaction.queue.len(), transaction.bytes()),
            None => (0, 0),
        };
        client.set(Client::IN_TRANSACTION, self.transaction.is_some());
        client.queued.store(queued as u32, Relaxed);
        client.memory.set(MemoryKind::Queue, bytes);
        client.memory.set(MemoryKind::Watch, self.watching.bytes());
        client.watched.store(self.watching.keys().len() as u32, Relaxed);
    }
}
