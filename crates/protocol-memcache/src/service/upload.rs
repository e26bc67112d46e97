// SPDX-License-Identifier: Apache-2.0
//! Large values, which arrive in pieces: each goes to the store's draft of the value as it comes, and the last one makes
//! the value readable.
//!
//! A connection has at most one such value. What is wrong with it is told at once, and the pieces that still come find
//! no draft and are dropped. Where memory is full of values that are arriving, the one that has waited longest for its
//! next bytes is given up, so that clients that stop in the middle keep nobody from storing. The condition of the request is that of the moment when the value is whole, as in memcached.

mod arriving;

use super::MemcacheService;
use super::meta::{mode, with_shown};
use super::outcome::Outcome;
use crate::metrics;
use crate::op::{Meta, Mode, Piece, Upload};
use crate::reply::Text;
use crate::reply::meta::Shown;
use crate::reply::text::BAD_DATA;
use crate::request::{Form, Request};
use arriving::{Announcement, Arriving, Kind};
pub(super) use arriving::{Outside, Uploads};
use buffer::SendBuf;
use clock::Now;
use protocol::{ConnectionId, Context};
use storage::{Announced, Condition, Receive, StoreError, Version};

impl<S: Receive> MemcacheService<S> {
    /// Counts against the store's limit what its worker holds outside of it.
    #[inline]
    pub(super) fn reserve(&mut self) {
        self.store.reserve(self.uploads.held());
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
        let ended = self.uploads.end(connection, &self.shared.outside)?;
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
        let &Upload { key, value_len, flags, exptime, mode, .. } = upload;
        let now = context.now;
        let announced = Announced::new(key, value_len as usize).flags(flags);
        match self.begin_draft(announced.expiry(exptime.expiry(now)), context) {
            Ok(draft) => {
                let request = Announcement::of_set(upload, request);
                self.uploads.begin(context.connection, draft, request, now.ticks);
                Outcome::Arriving
            }
            Err(error) => self.not_stored(key, mode, error, metrics::of_set(mode), now),
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
        with_shown(meta, context.now, |shown| {
            let announced = shown.announced(meta.announced_len());
            match self.begin_draft(announced, context) {
                Ok(draft) => {
                    let request = Announcement::of_meta(meta, request);
                    self.uploads.begin(context.connection, draft, request, context.now.ticks);
                    Outcome::Arriving
                }
                Err(error) => self.not_set(shown, error, out),
            }
        })
    }

    fn begin_draft(
        &mut self,
        announced: Announced<'_>,
        context: &Context<'_>,
    ) -> Result<S::Draft, StoreError> {
        loop {
            match self.store.begin(announced, context.now.ticks) {
                Err(StoreError::OutOfMemory) if self.give_up_stalled(context) => {}
                begun => return begun,
            }
        }
    }

    /// Gives up another value that is arriving, for memory. Returns whether there was one that waits.
    #[cold]
    fn give_up_stalled(&mut self, context: &Context<'_>) -> bool {
        let (connection, now) = (context.connection, context.now.ticks);
        let gave_up = self.uploads.give_up_stalled(connection, now, &self.shared.outside);
        if gave_up {
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
        let draft = self.uploads.feed(connection, now)?.as_mut()?;
        self.store.place(draft, most, now)
    }

    /// So many bytes have been received there.
    pub(super) fn note_placed(&mut self, n: usize, context: &Context<'_>) {
        let fed = self.uploads.feed(context.connection, context.now.ticks);
        if let Some(Some(draft)) = fed {
            self.store.placed(draft, n);
        }
    }

    fn append_piece(&mut self, bytes: &[u8], out: &mut SendBuf, context: &Context<'_>) {
        let (connection, now) = (context.connection, context.now.ticks);
        let appended = loop {
            let appended = match self.uploads.feed(connection, now) {
                None => return,
                Some(None) => break Err(StoreError::OutOfMemory),
                Some(Some(draft)) => self.store.append(draft, bytes, now),
            };
            if appended != Err(StoreError::OutOfMemory) || !self.give_up_stalled(context) {
                break appended;
            }
        };
        if let Err(error) = appended.and_then(|()| self.count_growth(context))
            && let Some(Arriving { draft, request, .. }) = self.take_upload(connection)
        {
            drop(draft);
            self.end_with(&request, |_| Err(error), out, context);
        }
    }

    /// Counts the memory of a value that may have grown outside of the store, where there is a bound on it.
    fn count_growth(&mut self, context: &Context<'_>) -> Result<(), StoreError> {
        let Some(own) = self.uploads.recount(context.connection, &self.shared.outside) else {
            return Ok(());
        };
        self.reserve();
        let limit = self.store.stats().limit_bytes;
        while self.shared.outside.is_too_much(own, limit) {
            if !self.give_up_stalled(context) {
                return Err(StoreError::OutOfMemory);
            }
        }
        Ok(())
    }

    /// Makes the value readable, which is whole.
    fn commit_upload(&mut self, out: &mut SendBuf, context: &Context<'_>) {
        // What it held outside of the store is room for it within.
        let Some(Arriving { draft, request, .. }) = self.take_upload(context.connection) else {
            return;
        };
        let commit = |write: Writing<'_, S>| match draft {
            Some(draft) => write.commit(draft, context.now),
            None => Err(StoreError::OutOfMemory),
        };
        self.end_with(&request, commit, out, context);
    }

    /// Gives the value up: it does not end where it has to.
    fn drop_bad_upload(&mut self, out: &mut SendBuf, context: &Context<'_>) {
        let Some(Arriving { request, .. }) = self.take_upload(context.connection) else { return };
        metrics::MALFORMED.increment();
        match request.form {
            Form::Text(Text::Quiet) => {}
            Form::Text(Text::Whole | Text::Listed) | Form::Meta => out.put(BAD_DATA.as_bytes()),
            Form::Binary(_) => unreachable!("its length alone says where it ends"),
        }
    }

    /// Ends a request by `write`, tells what has come of it, and shows it to those who look on.
    fn end_with(
        &mut self,
        announcement: &Announcement,
        write: impl FnOnce(Writing<'_, S>) -> Result<Version, StoreError>,
        out: &mut SendBuf,
        context: &Context<'_>,
    ) {
        let request = announcement.request();
        let before = self.before(&request, out, context);
        let outcome = match announcement.kind() {
            Kind::Meta(ref meta) => with_shown(meta, context.now, |shown| {
                let (mode, cas) = (mode(&shown.flags), shown.flags.number(b'C'));
                let cas = cas.unwrap_or_default();
                let stored = write(Writing { store: &mut self.store, key: shown.key, mode, cas });
                self.tell_stored(shown, mode, stored, meta.announced_len(), out)
            }),
            Kind::Set(Upload { key, mode, cas, .. }) => {
                let stored = write(Writing { store: &mut self.store, key, mode, cas });
                let outcome = self.outcome_of_set(key, mode, stored, context.now);
                match request.form {
                    Form::Text(text) => outcome.tell(text, out),
                    Form::Binary(binary) => outcome.tell(binary, out),
                    Form::Meta => unreachable!("it has an operation of its own"),
                }
            }
        };
        if let Some(before) = &before {
            self.after(before, &request, outcome, out, context);
        }
    }
}

/// What is needed to make a value readable.
struct Writing<'a, S> {
    store: &'a mut S,
    key: &'a [u8],
    mode: Mode,
    cas: u64,
}

impl<S: Receive> Writing<'_, S> {
    fn commit(self, draft: S::Draft, now: Now) -> Result<Version, StoreError> {
        let condition = match self.mode {
            Mode::Set => Condition::Always,
            Mode::Add => Condition::IfAbsent,
            Mode::Replace => Condition::IfPresent,
            Mode::Cas => match Version::new(self.cas) {
                Some(version) => Condition::IfVersion(version),
                // No item has version 0.
                None => {
                    let is_there = self.store.peek(self.key, now.ticks).is_some();
                    return Err(if is_there { StoreError::Exists } else { StoreError::NotFound });
                }
            },
            Mode::Append | Mode::Prepend => unreachable!("what extends a value is collected"),
        };
        self.store.commit(draft, condition, now.ticks)
    }
}

impl Shown<'_> {
    /// The value that an `ms` announces.
    fn announced(&self, value_len: usize) -> Announced<'_> {
        let (flags, expiry) = super::meta::stored_with(self);
        Announced::new(self.key, value_len).flags(flags).expiry(expiry)
    }
}
