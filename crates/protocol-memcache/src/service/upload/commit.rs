// SPDX-License-Identifier: Apache-2.0
//! The end of a value that has arrived in pieces: it is stored, or refused, and its client is told.

use super::MemcacheService;
use super::announcement::{Announcement, Kind};
use super::arriving::Arriving;
use super::incoming::Incoming;
use crate::metrics;
use crate::op::{Meta, Mode, Upload};
use crate::reply::Text;
use crate::reply::meta::Shown;
use crate::reply::text::BAD_DATA;
use crate::request::Form;
use crate::service::meta::{mode, with_shown};
use crate::service::outcome::Outcome;
use buffer::SendBuf;
use clock::Now;
use protocol::Context;
use storage::{Condition, Receive, StoreError, Version};

/// A value that is whole, or why it is given up.
type Whole<D> = Result<Incoming<D>, StoreError>;

impl<S: Receive> MemcacheService<S> {
    /// Makes the value readable, which is whole.
    pub(super) fn commit_upload(&mut self, out: &mut SendBuf, context: &Context<'_>) {
        // What it held outside of the store is room for it within.
        let Some(Arriving { incoming, request, .. }) = self.take_upload(context.connection) else {
            return;
        };
        self.end_with(&request, incoming.ok_or(StoreError::OutOfMemory), out, context);
    }

    /// Gives the value up: it does not end where it has to.
    pub(super) fn drop_bad_upload(&mut self, out: &mut SendBuf, context: &Context<'_>) {
        let Some(Arriving { request, .. }) = self.take_upload(context.connection) else { return };
        metrics::MALFORMED.increment();
        metrics::STORE_BAD_DATA.increment();
        match request.form {
            Form::Text(Text::Quiet) => {}
            Form::Text(Text::Whole | Text::Listed) | Form::Meta => out.put(BAD_DATA.as_bytes()),
            Form::Binary(_) => unreachable!("its length alone says where it ends"),
        }
    }

    /// Ends a request with its value, tells what has come of it, and shows it to those who look on.
    pub(super) fn end_with(
        &mut self,
        announcement: &Announcement,
        whole: Whole<S::Draft>,
        out: &mut SendBuf,
        context: &Context<'_>,
    ) {
        let request = announcement.request();
        let before = self.before(&request, out, context);
        let outcome = match announcement.kind() {
            Kind::Meta(ref meta) => {
                with_shown(meta, context.now, |shown| self.end_meta(meta, shown, whole, out))
            }
            Kind::Set(ref upload) => {
                let outcome = self.end_set(upload, whole, context.now);
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

    fn end_set(&mut self, upload: &Upload<'_>, whole: Whole<S::Draft>, now: Now) -> Outcome {
        let &Upload { key, mode, cas, .. } = upload;
        let stored = match whole {
            Ok(Incoming::Collected(value)) => {
                return self.set(&upload.with_value(value.value()), now);
            }
            Ok(Incoming::Draft(draft)) => self.commit(key, (mode, cas), draft, now),
            Err(error) => Err(error),
        };
        self.outcome_of_set(key, mode, stored, now)
    }

    fn end_meta(
        &mut self,
        meta: &Meta<'_>,
        shown: &Shown<'_>,
        whole: Whole<S::Draft>,
        out: &mut SendBuf,
    ) -> Outcome {
        let (mode, cas) = (mode(&shown.flags), shown.flags.number(b'C'));
        let stored = match whole {
            Ok(Incoming::Collected(value)) => return self.meta_set(shown, value.value(), out),
            Ok(Incoming::Draft(draft)) => {
                self.commit(shown.key, (mode, cas.unwrap_or_default()), draft, shown.now)
            }
            Err(error) => Err(error),
        };
        self.tell_stored(shown, mode, stored, meta.announced_len(), out)
    }

    /// Makes a value readable that is in the store.
    fn commit(
        &mut self,
        key: &[u8],
        (mode, cas): (Mode, u64),
        draft: S::Draft,
        now: Now,
    ) -> Result<Version, StoreError> {
        let condition = match mode {
            Mode::Set => Condition::Always,
            Mode::Add => Condition::IfAbsent,
            Mode::Replace => Condition::IfPresent,
            Mode::Cas => match Version::new(cas) {
                Some(version) => Condition::IfVersion(version),
                // No item has version 0.
                None => {
                    let is_there = self.store.peek(key, now.ticks).is_some();
                    return Err(if is_there { StoreError::Exists } else { StoreError::NotFound });
                }
            },
            Mode::Append | Mode::Prepend => unreachable!("what extends a value is collected"),
        };
        self.store.commit(draft, condition, now.ticks)
    }
}
