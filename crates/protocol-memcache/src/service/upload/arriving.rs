// SPDX-License-Identifier: Apache-2.0
//! [`Uploads`]: which values are arriving, for which requests, and what they hold outside of the store.

use super::incoming::Incoming;
use super::queue::{Queue, Queued};
use crate::command::CommandId;
use crate::op::{Meta, Mode, Op, Upload};
use crate::parse::meta::Letters;
use crate::request::{Form, Request};
use crate::service::meta::{mode, stored_with, with_shown};
use clock::{Now, Ticks};
use protocol::ConnectionId;
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use storage::{Announced, Draft};

/// The values that are arriving, on all workers, may hold this share of the store's memory limit outside of it: three
/// quarters. A value that arrives alone may have any size that the store takes.
const OUTSIDE_SHARE: (u64, u64) = (3, 4);

/// A worker looks more often than this, as long as it has the time.
const AWAY: Duration = Duration::from_millis(300);

/// A value that is not whole after so long is slow: it counts with what it will have soon, not with all that it has
/// announced. Others need not wait for memory that it does not use.
const SLOW: Duration = Duration::from_secs(1);

/// How far ahead that is: it has then what comes in so long at its speed.
const SOON: Duration = Duration::from_secs(1);

/// Between two looks no more than this counts as time that a value was under way: in the rest its worker had no time for it.
const STEP: Duration = Duration::from_millis(25);

/// How often it is reckoned how much slow values need.
const RECKON_EVERY: Duration = Duration::from_millis(50);

/// Values begin beside others as long as what all of them need is this part of the memory limit, as a divisor,
/// whatever the store admits: it may hold them outside.
const ADMITTED_PART: u64 = 2;

/// What the values that are arriving on all workers come to.
#[derive(Debug, Default)]
pub(in crate::service) struct AllUploads {
    /// Bytes that they need.
    needed: AtomicU64,
    /// Bytes that they hold outside of the store.
    outside: AtomicU64,
    /// How many wait for others.
    queued: AtomicUsize,
    line: Mutex<Line>,
}

/// The order in which values begin that wait, on whatever worker.
#[derive(Debug, Default)]
struct Line {
    /// Their numbers: the least is the next to begin.
    waiting: BTreeSet<u64>,
    /// The last number that was given.
    last: u64,
}

impl AllUploads {
    fn add(&self, bytes: u64) {
        self.outside.fetch_add(bytes, Relaxed);
    }

    fn sub(&self, bytes: u64) {
        self.outside.fetch_sub(bytes, Relaxed);
    }

    /// Counts a further one of so many bytes if it may begin under this limit, and if the store admits as much as all of
    /// them come to. One alone always may.
    pub(super) fn admit(&self, len: usize, limit: u64, admits: impl Fn(u64) -> bool) -> bool {
        let may_begin = |needed: u64| {
            let with_this = needed + len as u64;
            let fits = needed == 0 || with_this <= limit / ADMITTED_PART && admits(with_this);
            fits.then_some(with_this)
        };
        self.needed.fetch_update(Relaxed, Relaxed, may_begin).is_ok()
    }

    /// Counts one of so many bytes in any case.
    fn admit_anyway(&self, len: usize) {
        self.needed.fetch_add(len as u64, Relaxed);
    }

    /// One of so many bytes that was counted does not begin.
    pub(super) fn refuse(&self, len: usize) {
        self.needed.fetch_sub(len as u64, Relaxed);
    }

    fn set_needed(&self, needed: &mut u64, to: u64) {
        self.needed.fetch_add(to.wrapping_sub(std::mem::replace(needed, to)), Relaxed);
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a value that waits its number.
    fn line_up(&self) -> u64 {
        self.queued.fetch_add(1, Relaxed);
        let mut line = self.line();
        line.last += 1;
        let number = line.last;
        line.waiting.insert(number);
        number
    }

    /// Takes a number back: its value begins, or has ended.
    fn leave_line(&self, number: u64) {
        self.queued.fetch_sub(1, Relaxed);
        self.line().waiting.remove(&number);
    }

    /// Whether no value of any worker has waited for longer than that with this number.
    fn is_next(&self, number: u64) -> bool {
        self.line().waiting.first() == Some(&number)
    }

    /// Whether they hold too much outside under this limit, of which `own` belong to the value that is asked about.
    pub(super) fn are_too_much(&self, own: u64, limit: u64) -> bool {
        let all = self.outside.load(Relaxed);
        let (of, parts) = OUTSIDE_SHARE;
        all > own && all > limit / parts * of
    }

    /// How many wait for others, on whatever worker.
    pub(super) fn queued(&self) -> usize {
        self.queued.load(Relaxed)
    }
}

/// The values that are arriving on a worker's connections.
#[derive(Debug)]
pub(in crate::service) struct Uploads<D> {
    arriving: HashMap<ConnectionId, Arriving<D>>,
    queue: Queue,
    /// When it was last looked whether one has stalled.
    looked: Ticks,
    /// The time in which the worker could have received values.
    active: Duration,
    /// When it was last reckoned what slow ones need.
    reckoned: Ticks,
    /// Bytes that drafts hold outside of the store.
    outside: u64,
    /// Bytes of the buffers of the worker's connections.
    buffers: u64,
}

/// A value that is arriving.
#[derive(Debug)]
pub(super) struct Arriving<D> {
    /// `None` once another value has needed its memory: its client is told when it is heard of next.
    pub(super) incoming: Option<Incoming<D>>,
    /// When its last bytes came.
    fed: Ticks,
    /// Its share of [`Uploads::outside`].
    outside: u64,
    /// [`Uploads::active`] when it began.
    begun: Duration,
    /// Bytes that have arrived.
    arrived: u64,
    /// Bytes that it needs; none once it was given up.
    needed: u64,
    pub(super) request: Announcement,
}

impl<D> Arriving<D> {
    /// Whether it needs less than it has announced for now.
    fn is_slow(&self) -> bool {
        self.needed < self.request.value_len() as u64
    }

    /// What it needs, if it goes on as in this time.
    fn needed_after(&self, under_way: Duration) -> u64 {
        let announced = self.request.value_len() as u64;
        if under_way < SLOW {
            return announced;
        }
        let pace = SOON.as_secs_f64() / under_way.as_secs_f64();
        announced.min(self.arrived + (self.arrived as f64 * pace) as u64)
    }
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

impl<D> Default for Uploads<D> {
    fn default() -> Self {
        Uploads {
            arriving: HashMap::new(),
            queue: Queue::default(),
            looked: Ticks::default(),
            active: Duration::ZERO,
            reckoned: Ticks::default(),
            outside: 0,
            buffers: 0,
        }
    }
}

/// Those of another worker are its own.
impl<D> Clone for Uploads<D> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<D: Draft> Uploads<D> {
    /// Sets what the buffers of the worker's connections have. Returns what they had.
    pub(super) fn set_buffers(&mut self, bytes: u64) -> u64 {
        std::mem::replace(&mut self.buffers, bytes)
    }

    /// What the worker holds outside of the store.
    pub(super) fn held(&self) -> u64 {
        self.buffers + self.outside
    }

    pub(in crate::service) fn is_empty(&self) -> bool {
        self.arriving.is_empty() && self.queue.is_empty()
    }

    /// Whether values wait for others.
    #[inline]
    pub(in crate::service) fn are_queued(&self) -> bool {
        !self.queue.is_empty()
    }

    /// When to look at those.
    pub(in crate::service) fn look_at(&self) -> Option<Ticks> {
        self.queue.look_at()
    }

    pub(super) fn queue(&mut self, queued: Queued, all: &AllUploads) {
        self.queue.push(queued, all.line_up());
    }

    /// Whether the worker has not looked for so long that it may have had no time for bytes that are there.
    pub(super) fn was_away(&mut self, now: Ticks) -> bool {
        let looked = std::mem::replace(&mut self.looked, now);
        self.active += now.since(looked).min(STEP);
        looked + AWAY < now
    }

    /// Reckons how much slow values need, from time to time.
    pub(super) fn reckon(&mut self, now: Ticks, all: &AllUploads) {
        if now < self.reckoned + RECKON_EVERY {
            return;
        }
        self.reckoned = now;
        for arriving in self.arriving.values_mut().filter(|arriving| arriving.incoming.is_some()) {
            let needed = arriving.needed_after(self.active - arriving.begun);
            all.set_needed(&mut arriving.needed, needed);
        }
    }

    /// The next one, if it may begin: as `admits` tells for its length, or because it has waited for long. It is counted.
    pub(super) fn next_queued(
        &mut self,
        now: Ticks,
        admits: impl FnOnce(usize) -> bool,
        all: &AllUploads,
    ) -> Option<Queued> {
        let (next, number) = self.queue.pop(now, |number, len, is_due| {
            if is_due {
                all.admit_anyway(len);
            }
            is_due || all.is_next(number) && admits(len)
        })?;
        all.leave_line(number);
        Some(next)
    }

    /// The value of a connection to which so many bytes have come, if it has one that is arriving.
    pub(super) fn feed(
        &mut self,
        connection: ConnectionId,
        bytes: usize,
        now: Ticks,
    ) -> Option<&mut Option<Incoming<D>>> {
        let arriving = self.arriving.get_mut(&connection)?;
        arriving.fed = now;
        arriving.arrived += bytes as u64;
        Some(&mut arriving.incoming)
    }

    /// Gives up the value that has waited longest for its next bytes, of those that have waited as long as `is_stalled`
    /// says of the time of the last ones; slow ones first. That of `connection` is the one that the memory is for. Returns whether there was
    /// one.
    pub(super) fn give_up_stalled(
        &mut self,
        connection: Option<ConnectionId>,
        is_stalled: impl Fn(Ticks) -> bool,
        all: &AllUploads,
    ) -> bool {
        let others = self.arriving.iter_mut().filter(|(id, arriving)| {
            Some(**id) != connection && arriving.incoming.is_some() && is_stalled(arriving.fed)
        });
        let Some((_, stalled)) =
            others.min_by_key(|(_, arriving)| (!arriving.is_slow(), arriving.fed))
        else {
            return false;
        };
        stalled.incoming = None;
        all.set_needed(&mut stalled.needed, 0);
        let held = std::mem::take(&mut stalled.outside);
        self.outside -= held;
        all.sub(held);
        true
    }

    /// Begins a value that was counted; without one if there was no memory for it after all.
    pub(super) fn begin(
        &mut self,
        connection: ConnectionId,
        incoming: Option<Incoming<D>>,
        request: Announcement,
        now: Ticks,
        all: &AllUploads,
    ) {
        let (begun, needed) = (self.active, request.value_len() as u64);
        let mut arriving =
            Arriving { incoming, fed: now, outside: 0, begun, arrived: 0, needed, request };
        if arriving.incoming.is_none() {
            all.set_needed(&mut arriving.needed, 0);
        }
        let before = self.arriving.insert(connection, arriving);
        debug_assert!(before.is_none(), "the value before has ended");
    }

    /// Counts the memory of a value. Returns what it is if it has changed.
    pub(super) fn recount(&mut self, connection: ConnectionId, all: &AllUploads) -> Option<u64> {
        let arriving = self.arriving.get_mut(&connection)?;
        let now = arriving.incoming.as_ref()?.outside_bytes() as u64;
        let before = std::mem::replace(&mut arriving.outside, now);
        if now == before {
            return None;
        }
        self.outside = self.outside - before + now;
        all.add(now);
        all.sub(before);
        Some(now)
    }

    pub(super) fn end(
        &mut self,
        connection: ConnectionId,
        all: &AllUploads,
    ) -> Option<Arriving<D>> {
        let Some(mut ended) = self.arriving.remove(&connection) else {
            if let Some(number) = self.queue.remove(connection) {
                all.leave_line(number);
            }
            return None;
        };
        all.set_needed(&mut ended.needed, 0);
        self.outside -= ended.outside;
        all.sub(ended.outside);
        Some(ended)
    }
}
