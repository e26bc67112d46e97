// SPDX-License-Identifier: Apache-2.0
//! [`Uploads`]: which values are arriving, for which requests, and what they hold outside of the store.

use crate::command::CommandId;
use crate::op::{Meta, Op, Upload};
use crate::request::{Form, Request};
use clock::Ticks;
use protocol::ConnectionId;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use storage::Draft;

/// The values that are arriving, on all workers, may hold this share of the store's memory limit outside of it: three
/// quarters. A value that arrives alone may have any size that the store takes.
const OUTSIDE_SHARE: (u64, u64) = (3, 4);

/// What the values that are arriving on all workers hold outside of the store.
#[derive(Debug, Default)]
pub(in crate::service) struct Outside(AtomicU64);

impl Outside {
    fn add(&self, bytes: u64) {
        self.0.fetch_add(bytes, Relaxed);
    }

    fn sub(&self, bytes: u64) {
        self.0.fetch_sub(bytes, Relaxed);
    }

    /// Whether it is too much under this limit, of which `own` belong to the value that is asked about.
    pub(super) fn is_too_much(&self, own: u64, limit: u64) -> bool {
        let all = self.0.load(Relaxed);
        let (of, parts) = OUTSIDE_SHARE;
        all > own && all > limit / parts * of
    }
}

/// The values that are arriving on a worker's connections.
#[derive(Debug)]
pub(in crate::service) struct Uploads<D> {
    arriving: HashMap<ConnectionId, Arriving<D>>,
    /// Bytes that drafts hold outside of the store.
    outside: u64,
    /// Bytes of the buffers of the worker's connections.
    buffers: u64,
}

/// A value that is arriving.
#[derive(Debug)]
pub(super) struct Arriving<D> {
    /// `None` once another value has needed its memory: its client is told when it is heard of next.
    pub(super) draft: Option<D>,
    /// When its last bytes came.
    fed: Ticks,
    /// Its share of [`Uploads::outside`].
    outside: u64,
    pub(super) request: Announcement,
}

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

    /// The request, as it was parsed.
    pub(super) fn request(&self) -> Request<'_> {
        let op = match self.kind() {
            Kind::Set(upload) => Op::Upload(upload),
            Kind::Meta(meta) => Op::UploadMeta(meta),
        };
        Request { op, form: self.form, command: self.command }
    }
}

impl<D> Default for Uploads<D> {
    fn default() -> Self {
        Uploads { arriving: HashMap::new(), outside: 0, buffers: 0 }
    }
}

/// Those of another worker are its own.
impl<D> Clone for Uploads<D> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<D: Draft> Uploads<D> {
    pub(in crate::service) fn set_buffers(&mut self, bytes: u64) {
        self.buffers = bytes;
    }

    /// What the worker holds outside of the store.
    pub(super) fn held(&self) -> u64 {
        self.buffers + self.outside
    }

    pub(super) fn is_empty(&self) -> bool {
        self.arriving.is_empty()
    }

    /// The draft of a connection to which bytes have come, if it has a value that is arriving.
    pub(super) fn feed(&mut self, connection: ConnectionId, now: Ticks) -> Option<&mut Option<D>> {
        let arriving = self.arriving.get_mut(&connection)?;
        arriving.fed = now;
        Some(&mut arriving.draft)
    }

    /// Gives up the value that has waited longest for its next bytes, if one has waited at all. That of `connection` is
    /// the one that the memory is for. Returns whether there was one.
    pub(super) fn give_up_stalled(
        &mut self,
        connection: ConnectionId,
        now: Ticks,
        all: &Outside,
    ) -> bool {
        let others = self.arriving.iter_mut().filter(|(id, arriving)| {
            **id != connection && arriving.draft.is_some() && arriving.fed < now
        });
        let Some((_, stalled)) = others.min_by_key(|(_, arriving)| arriving.fed) else {
            return false;
        };
        stalled.draft = None;
        let held = std::mem::take(&mut stalled.outside);
        self.outside -= held;
        all.sub(held);
        true
    }

    pub(super) fn begin(
        &mut self,
        connection: ConnectionId,
        draft: D,
        request: Announcement,
        now: Ticks,
    ) {
        let arriving = Arriving { draft: Some(draft), fed: now, outside: 0, request };
        let before = self.arriving.insert(connection, arriving);
        debug_assert!(before.is_none(), "the value before has ended");
    }

    /// Counts the memory of a draft. Returns what it is if it has changed.
    pub(super) fn recount(&mut self, connection: ConnectionId, all: &Outside) -> Option<u64> {
        let arriving = self.arriving.get_mut(&connection)?;
        let now = arriving.draft.as_ref()?.outside_bytes() as u64;
        let before = std::mem::replace(&mut arriving.outside, now);
        if now == before {
            return None;
        }
        self.outside = self.outside - before + now;
        all.add(now);
        all.sub(before);
        Some(now)
    }

    pub(super) fn end(&mut self, connection: ConnectionId, all: &Outside) -> Option<Arriving<D>> {
        let ended = self.arriving.remove(&connection)?;
        self.outside -= ended.outside;
        all.sub(ended.outside);
        Some(ended)
    }
}
