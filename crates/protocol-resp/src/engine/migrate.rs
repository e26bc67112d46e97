// SPDX-License-Identifier: Apache-2.0
//! The end of migrations: values that another server has stored are removed here.

use crate::engine::function::Commands;
use crate::engine::service::Engine;
use crate::host::events::Event;
use crate::host::migrations::{Job, Sent, Transfer};
use crate::wire::fault::code_of;
use bytes::Bytes;
use clock::Now;
use keyspace::{Keyspace, View};
use protocol::{Context, Directory, Outbox};
use std::sync::atomic::Ordering::Relaxed;
use values::serial;

/// A value that was sent is not the one that is here.
const CHANGED: &str =
    "ERR A value changed while it was sent: it is still here, and as it was on the target instance";

impl<K: Keyspace> Engine<K> {
    /// Ends the migrations of this worker's clients that are done.
    #[inline]
    pub(super) fn end_migrations<C: Commands>(&mut self, now: Now, outbox: &mut Outbox) {
        if !self.worker.migrations.is_none() {
            self.end_some::<C>(now, outbox);
        }
    }

    #[cold]
    fn end_some<C: Commands>(&mut self, now: Now, outbox: &mut Outbox) {
        for Sent { job, mut outcome } in self.worker.migrations.take(self.host.migrations(), now) {
            for transfer in &job.transfers {
                if transfer.is_there && !job.copies && !self.remove(&job, transfer, now, outbox) {
                    outcome = outcome.and(Err(CHANGED.to_owned()));
                }
                self.host.key_events().mark_no_more(job.db, &transfer.key, &transfer.mark);
            }
            if !self.worker.pending.ready.is_empty() {
                let directory = Directory::new();
                self.serve_everywhere::<C>(&mut Context::new(now, job.id, outbox, &directory));
            }
            let reply = match outcome {
                Ok(()) => "+OK\r\n".to_owned(),
                Err(text) => {
                    self.host.stats().error(code_of(text.as_bytes()));
                    format!("-{}\r\n", text.replace(['\r', '\n'], " "))
                }
            };
            outbox.resume(job.id, job.ticket, Bytes::from(reply));
        }
    }

    /// Removes a value if it is the one that was sent; whether it is gone.
    fn remove(&mut self, job: &Job, transfer: &Transfer, now: Now, outbox: &mut Outbox) -> bool {
        let Engine { keyspace, host, worker, .. } = self;
        let key = &*transfer.key;
        let scope = keyspace.scope(key);
        let mut view = keyspace.view(scope, now.unix_ms);
        let Some(entry) = view.peek(job.db, key) else { return true };
        // Not every change is one for those who watch a key, such as those of consumer groups. So the value is
        // compared, too, as of the time when it was read: fields that have expired since are still in it.
        let mut payload = Vec::new();
        let version = serial::write(entry, job.read_ms, &mut payload);
        serial::seal(&mut payload, version);
        let is_same = payload == transfer.payload && entry.expiry() == transfer.expiry;
        if transfer.mark.load(Relaxed) || !is_same {
            return false;
        }
        if let Some(entry) = view.take(job.db, key) {
            view.dispose(entry);
        }
        worker.changes += 1;
        let pending = &mut worker.pending;
        host.key_events().changed((job.db, key), (Event::DEL, &[]), job.id, pending, outbox);
        true
    }
}
