// SPDX-License-Identifier: Apache-2.0
//! [`StoreCall`]: everything one run of one command reads and writes.

use super::commands::Shared;
use super::connection::Connection;
use super::dispatch::CATALOGUE;
use super::metrics::{RESP_KEY_HIT, RESP_KEY_MISS, RESP_STORE_EX};
use crate::engine::any_call::{AnyCall, CallParts};
use crate::session::client::Client;
use crate::table::{Catalogue, Spec};
use crate::wire::fault::Fault;
use crate::wire::parse::Args;
use crate::wire::reply::Writer;
use clock::Now;
use protocol::{ConnectionId, Control, Outbox};
use storage::{Expiry, Item, Store, StoreError};

/// Values of at least this size are sent by reference, if the store can lend them. For smaller
/// ones, one more slice in the gathering write and the reference count cost more than the copy.
pub(super) const PIN_MIN: usize = 16 * 1024;

/// The longest name of a client. Names are not part of the store's memory, so they are kept small.
pub(super) const NAME_MAX: usize = 1024;

/// One run of one command.
///
/// A command function reads `args` (the command's name is argument 0), does its work in `store` and writes
/// exactly one reply to `out`. Or it returns the error that is its reply; then the bytes it has written are
/// removed.
#[derive(Debug)]
pub(super) struct StoreCall<'c, S> {
    pub(super) spec: &'static Spec,
    pub(super) args: Args<'c>,
    pub(super) store: &'c mut S,
    pub(super) out: Writer<'c>,
    /// The connection that sent the command.
    pub(super) conn: &'c mut Connection,
    /// Its number.
    pub(super) id: ConnectionId,
    /// What all workers share.
    pub(super) shared: &'c Shared,
    pub(super) outbox: &'c mut Outbox,
    /// Memory to build a value in.
    pub(super) scratch: &'c mut Vec<u8>,
    pub(super) now: Now,
    /// What becomes of the connection.
    pub(super) control: Control,
    /// A word for the command log.
    pub(super) outcome: &'static str,
}

impl<'c, S> StoreCall<'c, S> {
    /// The argument at `index`, which the command's arity promises.
    #[inline]
    pub(super) fn arg(&self, index: usize) -> &'c [u8] {
        self.args.arg(index)
    }

    /// The argument at `index` as an integer.
    #[inline]
    pub(super) fn integer(&self, index: usize) -> Result<i64, Fault> {
        values::parse_i64(self.arg(index)).ok_or(Fault::NOT_INTEGER)
    }

    /// Counts a look at a value, found or not.
    #[inline]
    pub(super) fn count_read(&mut self, hit: bool) {
        if hit {
            RESP_KEY_HIT.increment();
            self.outcome = "hit";
        } else {
            RESP_KEY_MISS.increment();
            self.outcome = "miss";
        }
    }

    /// The expiry at a moment in unix milliseconds.
    pub(super) fn expiry(&self, unix_ms: u64) -> Expiry {
        Expiry::at(self.now.at_unix(unix_ms))
    }
}

impl<S: Store> StoreCall<'_, S> {
    /// Replaces the value of the first key by one computed from it, or from nothing if there is none, in one
    /// atomic step. Flags and expiry stay. `make` replaces the contents of the vector by the new value; it is
    /// called again if another worker has changed the item meanwhile. Its result is returned.
    pub(super) fn rewrite<R>(
        &mut self,
        mut make: impl FnMut(Option<&[u8]>, &mut Vec<u8>) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        use storage::Change::{Keep, Put};
        let (key, now) = (self.args.arg(1), self.now.ticks);
        let result = loop {
            self.scratch.clear();
            let item = self.store.get(key, now);
            let result = make(item.as_ref().map(Item::value), self.scratch)?;
            let seen = item.map(|item| item.version());
            let value = &self.scratch[..];
            let written = self.store.update(key, now, |item| match (item, seen) {
                (Some(item), Some(seen)) if item.version() == seen => {
                    (Put { value, flags: item.flags(), expiry: item.expiry() }, true)
                }
                (None, None) => (Put { value, flags: 0, expiry: Expiry::NEVER }, true),
                _ => (Keep, false),
            });
            if written.map_err(refused)? {
                break result;
            }
        };
        // One large value is no reason to hold on to so much memory.
        if self.scratch.capacity() > PIN_MIN {
            *self.scratch = Vec::new();
        }
        Ok(result)
    }
}

impl<'c, S> AnyCall<'c> for StoreCall<'c, S> {
    const CATALOGUE: Catalogue = CATALOGUE;
    const CONNECTION_BYTES: usize = size_of::<Connection>() + size_of::<Client>();
    const NAME_MAX: usize = NAME_MAX;

    fn parts(&mut self) -> CallParts<'_, 'c> {
        CallParts {
            spec: self.spec,
            args: self.args,
            out: &mut self.out,
            id: self.id,
            client: self.conn.client.as_ref(),
            user: &mut self.conn.user,
            version: &mut self.conn.version,
            replies: &mut self.conn.replies,
            control: &mut self.control,
            now: self.now.ticks,
            clients: &self.shared.clients,
            // It has connections of other protocols, too.
            directory: None,
            outbox: self.outbox,
        }
    }
}

/// Writes a value: a large one by reference.
#[inline]
pub(super) fn reply(item: &impl Item, out: &mut Writer<'_>) {
    let value = item.value();
    let pinned = if value.len() >= PIN_MIN { item.pin() } else { None };
    match pinned {
        Some(pinned) => out.bulk_pinned(pinned),
        None => out.bulk(value),
    }
}

/// The error for a write that the store refused. The old value is unchanged.
#[cold]
pub(super) fn refused(error: StoreError) -> Fault {
    RESP_STORE_EX.increment();
    match error {
        StoreError::TooLarge => Fault::TOO_LONG,
        StoreError::OutOfMemory => Fault::OUT_OF_MEMORY,
        // A command with a condition handles these itself; without a condition they cannot occur.
        StoreError::Exists | StoreError::NotFound => {
            Fault::new("ERR the key was changed by somebody else meanwhile")
        }
    }
}
