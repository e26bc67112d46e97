// SPDX-License-Identifier: Apache-2.0
//! [`StoreCall`]: everything one run of one command reads and writes.

use super::commands::Shared;
use super::connection::Connection;
use super::dispatch::CATALOGUE;
use crate::engine::any_call::{AnyCall, CallParts};
use crate::host::stats::Lookups;
use crate::session::client::Client;
use crate::table::{Catalogue, Spec};
use crate::wire::parse::Args;
use crate::wire::reply::Writer;
use clock::Now;
use protocol::{ConnectionId, Control, Outbox};
use storage::{Stage, Store};

/// How many databases there are.
pub(super) const DATABASES: usize = 1;

/// The longest name of a client. Names are not part of the store's memory, so they are kept small.
pub(super) const NAME_MAX: usize = 1024;

/// What came of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Done,
    /// The last value that it asked for was there.
    Hit,
    /// It was not there.
    Miss,
    /// The reply is an error.
    Error,
}

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
    /// For the command log.
    pub(super) outcome: Outcome,
    /// What the command has looked up so far.
    pub(super) lookups: Lookups,
}

impl<'c, S: Store + 'static> AnyCall<'c> for StoreCall<'c, S> {
    const CATALOGUE: Catalogue = CATALOGUE;
    const CONNECTION_BYTES: usize = size_of::<Connection>() + size_of::<Client>();
    const NAME_MAX: usize = NAME_MAX;

    #[inline]
    fn spec(&self) -> &'static Spec {
        self.spec
    }

    #[inline]
    fn args(&self) -> Args<'c> {
        self.args
    }

    #[inline]
    fn out(&mut self) -> &mut Writer<'c> {
        &mut self.out
    }

    #[inline]
    fn unix_ms(&self) -> u64 {
        self.now.unix_ms
    }

    fn prefetch<'k>(&self, keys: impl Iterator<Item = &'k [u8]> + Clone) {
        for stage in Stage::ALL {
            keys.clone().for_each(|key| self.store.prefetch(key, stage));
            if !self.store.goes_on_after(stage) {
                return;
            }
        }
        keys.for_each(|key| self.store.prefetch_rest(key));
    }

    fn databases(&self) -> usize {
        DATABASES
    }

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
