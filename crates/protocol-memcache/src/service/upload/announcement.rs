// SPDX-License-Identifier: Apache-2.0
//! [`Announcement`]: a request whose value is arriving.

use crate::command::CommandId;
use crate::op::{Meta, Mode, Op, Upload};
use crate::parse::meta::Letters;
use crate::request::{Form, Request};
use crate::service::meta::{mode, stored_with, with_shown};
use clock::Now;
use storage::Announced;

/// The request that has announced a value, kept until the value is whole.
#[derive(Debug)]
pub(super) struct Announcement {
    /// The key, or the line of a meta command from its key on.
    words: Box<[u8]>,
    kind: Kind<'static>,
    pub(super) form: Form,
    command: CommandId,
}

/// What was asked for; without its words where those are kept beside it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind<'a> {
    Set(Upload<'a>),
    Meta(Meta<'a>),
}

impl Announcement {
    pub(super) fn of_set(upload: &Upload<'_>, request: &Request<'_>) -> Self {
        let &Upload { key, value_len, cas, flags, exptime, mode } = upload;
        let kind = Kind::Set(Upload { key: b"", value_len, cas, flags, exptime, mode });
        Announcement { words: key.into(), kind, form: request.form, command: request.command }
    }

    pub(super) fn of_meta(meta: &Meta<'_>, request: &Request<'_>) -> Self {
        let kind = Kind::Meta(meta.on(b""));
        let words = meta.line().into();
        Announcement { words, kind, form: request.form, command: request.command }
    }

    /// What was asked for.
    pub(super) fn kind(&self) -> Kind<'_> {
        let key = &*self.words;
        match self.kind {
            Kind::Set(upload) => Kind::Set(Upload { key, ..upload }),
            Kind::Meta(meta) => Kind::Meta(meta.on(&self.words)),
        }
    }

    /// Bytes of the value.
    pub(super) fn value_len(&self) -> usize {
        match self.kind() {
            Kind::Set(Upload { value_len, .. }) => value_len as usize,
            Kind::Meta(meta) => meta.announced_len(),
        }
    }

    /// Whether the request does more with the value than to store it under a condition: it extends the value there is, gives
    /// the item a version, or depends on the item that is there.
    pub(super) fn needs_whole(&self) -> bool {
        let mode = match self.kind() {
            Kind::Set(Upload { mode, .. }) => mode,
            Kind::Meta(meta) if meta.flags().has(const { Letters::of(b"EIN") }) => return true,
            Kind::Meta(meta) => mode(&meta.flags()),
        };
        matches!(mode, Mode::Append | Mode::Prepend)
    }

    /// Calls `with` with what the store is told of the value.
    pub(super) fn announced<R>(&self, now: Now, with: impl FnOnce(Announced<'_>) -> R) -> R {
        let len = self.value_len();
        match self.kind() {
            Kind::Set(Upload { key, flags, exptime, .. }) => {
                with(Announced::new(key, len).flags(flags).expiry(exptime.expiry(now)))
            }
            Kind::Meta(ref meta) => with_shown(meta, now, |shown| {
                let (flags, expiry) = stored_with(shown);
                with(Announced::new(shown.key, len).flags(flags).expiry(expiry))
            }),
        }
    }

    /// The request, as it was parsed.
    pub(super) fn request(&self) -> Request<'_> {
        let op = match self.kind() {
            Kind::Set(upload) => Op::Upload(upload),
            Kind::Meta(meta) => Op::UploadMeta(meta),
        };
        Request { op, form: self.form, command: self.command }
    }
}
