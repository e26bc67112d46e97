// SPDX-License-Identifier: Apache-2.0
//! Large values, which arrive in pieces: each goes to the store's draft of the value as it comes, and the last one makes
//! the value readable. What extends another value is collected outside of the store (`upload/incoming.rs`).
//!
//! A connection has at most one such value. What is wrong with it is told at once, and the pieces that still come find
//! no draft and are dropped. Where memory is full of values that are arriving, the one that has waited longest for its
//! next bytes is given up, so that clients that stop in the middle keep nobody from storing. Before it comes to that, values
//! wait for others to be whole (`upload/queue.rs`). The condition of the request is that of the moment when the value is whole, as in
//! memcached.

mod all;
mod announcement;
mod arriving;
mod commit;
mod incoming;
mod queue;

use super::MemcacheService;
use super::meta::with_shown;
use super::outcome::Outcome;
use crate::metrics;
use crate::op::{Meta, Piece, Upload};
use crate::request::Request;
pub(super) use all::AllUploads;
use announcement::Announcement;
use arriving::Arriving;
pub(super) use arriving::Uploads;
use buffer::SendBuf;
use bytes::Bytes;
use clock::{Now, Ticks};
use incoming::Incoming;
use protocol::{ConnectionId, Context, Outbox};
use queue::Queued;
use storage::{Receive, StoreError};

impl<S: Receive> MemcacheService<S> {
    /// Counts against the store's limit what its worker holds outside of it.
    #[inline]
    pub(super) fn reserve(&mut self) {
        self.store.reserve(self.uploads.held());
    }

    /// Counts the memory of the buffers of the worker's connections.
    pub(super) fn count_buffers(&mut self, bytes: u64) {
        let before = self.uploads.set_buffers(bytes);
        self.shared.crowd.note(before, bytes, self.store.limit_bytes());
        self.reserve();
    }

    /// A connection has ended, on which a value may have been arriving.
    #[inline]
    pub(super) fn end_upload(&mut self, connection: ConnectionId) {
        if !self.uploads.is_empty() {
            self.take_upload(connection);
        }
    }

    /// The value that is arriving on a connection, which has ended one way or another.
    fn take_upload(&mut self, connection: ConnectionId) -> Option<Arriving<S::Draft>> {
        let ended = self.uploads.end(connection, &self.shared.uploads)?;
        self.reserve();
        Some(ended)
    }

    /// Begins a value.
    pub(super) fn begin_upload(
        &mut self,
        upload: &Upload<'_>,
        request: &Request<'_>,
        context: &Context<'_>,
    ) -> Outcome {
        let announcement = Announcement::of_set(upload, request);
        match self.begin_or_queue(announcement, context) {
            Ok(outcome) => outcome,
            Err(error) => {
                let metrics = metrics::of_set(upload.mode);
                self.not_stored(upload.key, upload.mode, error, metrics, context.now)
            }
        }
    }

    /// The same for an `ms`.
    pub(super) fn begin_meta_upload(
        &mut self,
        meta: &Meta<'_>,
        request: &Request<'_>,
        out: &mut SendBuf,
        context: &Context<'_>,
    ) -> Outcome {
        let announcement = Announcement::of_meta(meta, request);
        match self.begin_or_queue(announcement, context) {
            Ok(outcome) => outcome,
            Err(error) => with_shown(meta, context.now, |shown| self.not_set(shown, error, out)),
        }
    }

    /// Begins a value, or lets it wait for memory that others have.
    fn begin_or_queue(
        &mut self,
        request: Announcement,
        context: &Context<'_>,
    ) -> Result<Outcome, StoreError> {
        let &Context { connection, ticket, now, .. } = context;
        self.chores_wait = true;
        if self.shared.uploads.queued() > 0 || !self.admits(request.value_len()) {
            let queued = Queued { connection, ticket, request, since: now.ticks };
            self.uploads.queue(queued, &self.shared.uploads);
            metrics::LARGE_WAITED.increment();
            return Ok(Outcome::Queued);
        }
        let incoming = self.begin_incoming(&request, connection, now).inspect_err(|_| {
            self.shared.uploads.refuse(request.value_len());
        })?;
        self.uploads.begin(connection, Some(incoming), request, now.ticks, &self.shared.uploads);
        Ok(Outcome::Arriving)
    }

    /// Begins values that have waited, in their order, as far as there is memory for them. If any have to wait on, also on
    /// another worker, one that has stalled is given up for them.
    pub(super) fn tend_uploads(&mut self, now: Now, outbox: &mut Outbox) {
        let was_away = self.uploads.was_away(now.ticks);
        loop {
            let queued = self.shared.uploads.queued();
            if queued > 0 {
                self.uploads.reckon(now.ticks, &self.shared.uploads);
                self.begin_queued(now, outbox);
            }
            let queued = self.shared.uploads.queued();
            let stall = queue::stall(queued);
            let gave_up =
                queued > 0 && !was_away && self.give_up(None, |fed| fed + stall <= now.ticks);
            if !gave_up || !self.uploads.are_queued() {
                return;
            }
        }
    }

    fn begin_queued(&mut self, now: Now, outbox: &mut Outbox) {
        while let Some(next) = self.next_queued(now.ticks) {
            let Queued { connection, ticket, request, .. } = next;
            // One that finds none after all is told so when its next bytes are there.
            let incoming = self.begin_incoming(&request, connection, now).ok();
            self.uploads.begin(connection, incoming, request, now.ticks, &self.shared.uploads);
            outbox.resume(connection, ticket, Bytes::new());
        }
    }

    fn next_queued(&mut self, now: Ticks) -> Option<Queued> {
        let (store, all) = (&self.store, &self.shared.uploads);
        self.uploads.next_queued(now, |len| admits(store, all, len), all)
    }

    fn admits(&self, len: usize) -> bool {
        admits(&self.store, &self.shared.uploads, len)
    }

    fn begin_incoming(
        &mut self,
        request: &Announcement,
        connection: ConnectionId,
        now: Now,
    ) -> Result<Incoming<S::Draft>, StoreError> {
        let is_needed_whole = request.needs_whole();
        request.announced(now, |announced| {
            loop {
                match Incoming::begin(&mut self.store, announced, is_needed_whole, now.ticks) {
                    Err(StoreError::OutOfMemory) if self.give_up_another(connection, now.ticks) => {
                    }
                    begun => return begun,
                }
            }
        })
    }

    /// Gives up another value that is arriving, for the memory of this connection's. Returns whether there was one that
    /// waits for its next bytes.
    fn give_up_another(&mut self, connection: ConnectionId, now: Ticks) -> bool {
        self.give_up(Some(connection), |fed| fed < now)
    }

    #[cold]
    fn give_up(
        &mut self,
        connection: Option<ConnectionId>,
        is_stalled: impl Fn(Ticks) -> bool,
    ) -> bool {
        let gave_up = self.uploads.give_up_stalled(connection, is_stalled, &self.shared.uploads);
        if gave_up {
            metrics::LARGE_GIVEN_UP.increment();
            self.reserve();
        }
        gave_up
    }

    /// Takes a piece of the value that is arriving, or drops it if the value was refused.
    pub(super) fn take_piece(
        &mut self,
        piece: Piece<'_>,
        out: &mut SendBuf,
        context: &Context<'_>,
    ) -> Outcome {
        match piece {
            Piece::More(bytes) => self.append_piece(bytes, out, context),
            Piece::Last(bytes) => {
                self.append_piece(bytes, out, context);
                self.commit_upload(out, context);
            }
            Piece::End(true) => self.commit_upload(out, context),
            Piece::End(false) => self.drop_bad_upload(out, context),
        }
        Outcome::Arriving
    }

    /// Where the next bytes of the value that is arriving are received, if its draft has a place for them. Without memory
    /// for it they come as a piece, which is then refused.
    pub(super) fn place_of_upload(
        &mut self,
        most: usize,
        context: &Context<'_>,
    ) -> Option<&mut [u8]> {
        let (connection, now) = (context.connection, context.now.ticks);
        let draft = self.uploads.feed(connection, 0, now)?.as_mut()?.draft()?;
        self.store.place(draft, most, now)
    }

    /// So many bytes have been received there.
    pub(super) fn note_placed(&mut self, n: usize, context: &Context<'_>) {
        let fed = self.uploads.feed(context.connection, n, context.now.ticks);
        if let Some(Some(incoming)) = fed
            && let Some(draft) = incoming.draft()
        {
            self.store.placed(draft, n);
        }
    }

    fn append_piece(&mut self, bytes: &[u8], out: &mut SendBuf, context: &Context<'_>) {
        let (connection, now) = (context.connection, context.now.ticks);
        let mut arrived = bytes.len();
        let appended = loop {
            let appended = match self.uploads.feed(connection, std::mem::take(&mut arrived), now) {
                None => return,
                Some(None) => break Err(StoreError::OutOfMemory),
                Some(Some(incoming)) => incoming.append(&mut self.store, bytes, now),
            };
            if appended != Err(StoreError::OutOfMemory) || !self.give_up_another(connection, now) {
                break appended;
            }
        };
        if let Err(error) = appended.and_then(|()| self.count_growth(context))
            && let Some(Arriving { incoming, request, .. }) = self.take_upload(connection)
        {
            drop(incoming);
            self.end_with(&request, Err(error), out, context);
        }
    }

    /// Counts the memory of a value that may have grown outside of the store, where there is a bound on it.
    fn count_growth(&mut self, context: &Context<'_>) -> Result<(), StoreError> {
        let Some(own) = self.uploads.recount(context.connection, &self.shared.uploads) else {
            return Ok(());
        };
        self.reserve();
        let limit = self.store.limit_bytes();
        while self.shared.uploads.are_too_much(own, limit) {
            if !self.give_up_another(context.connection, context.now.ticks) {
                return Err(StoreError::OutOfMemory);
            }
        }
        Ok(())
    }
}

/// Whether a value of so many bytes may begin beside those that are arriving.
fn admits(store: &impl Receive, all: &AllUploads, len: usize) -> bool {
    all.admit(len, store.limit_bytes(), |bytes| store.admits(bytes))
}
