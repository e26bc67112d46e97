// SPDX-License-Identifier: Apache-2.0
//! Where a new item goes: the open segments of a handle, one for each stream and TTL class in use, and
//! a wide one for large items (`wide.rs`).

use crate::class::Class;
use crate::heap::FIRST_OFFSET;
use crate::order::{KEPT, NEW};
use crate::segment::NEVER_MS;
use crate::shared::Shared;
use crate::store::SegStore;
use crate::wide::{NARROW_SHARE, OPEN_FEW};
use clock::Ticks;

mod drafted;

pub(crate) use drafted::Lease;

/// Items that lie together because they are likely to die at about the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// As clients write them.
    Written,
    /// What evictions kept.
    Kept,
    /// New items that were live when their segment was compacted. They have segments of their own: many items
    /// just written are soon overwritten, so in a segment with those, they would be copied again and again.
    Settled,
}

const STREAMS: usize = 3;

impl Stream {
    /// The stream of a tier.
    pub(crate) fn of_tier(tier: u8) -> Self {
        if tier == KEPT { Stream::Kept } else { Stream::Written }
    }

    /// The tier of its segments.
    fn tier(self) -> u8 {
        if self == Stream::Kept { KEPT } else { NEW }
    }
}

/// A handle's open segments.
#[derive(Debug)]
pub(crate) struct OpenSegments {
    /// Indexed by kind, stream and class; segments that are not wide come first.
    open: Box<[Option<Open>]>,
    classes: usize,
    /// How many of them are open.
    count: usize,
    /// Wide segments that were given back before anything was written to them.
    given_back: u64,
    /// When they were last checked for stale ones, and the number of the last clear then.
    looked: Option<(Ticks, u64)>,
}

/// A segment that this handle fills.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    pub(crate) segment: u32,
    /// Where the next item begins.
    pub(crate) at: u32,
    birth: u64,
    opened: Ticks,
}

/// Room for one item. It belongs to the caller until it asks for the next one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    pub(crate) segment: u32,
    pub(crate) offset: u32,
    pub(crate) birth: u64,
    pub(crate) base_ms: u64,
    keeper: Keeper,
}

/// Whose segment a spot is in.
#[derive(Clone, Copy, Debug)]
enum Keeper {
    /// The handle's open one at this place among them.
    Handle(usize),
    /// A draft's, which has it open.
    Draft,
    /// Nobody's: the item is alone in it, in a lone segment or a row.
    Alone,
}

/// Why there is no room for an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lack {
    /// There would be room with this many free grains, besides the spare ones.
    Free(usize),
    /// It is too large for any segment, or all wide ones are in use: it needs a row.
    Wide,
}

/// An item to find room for.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    stream: Stream,
    class: Class,
    len: usize,
    /// Free grains that it must leave free.
    spare: usize,
}

impl OpenSegments {
    pub(crate) fn new(classes: usize) -> Self {
        OpenSegments {
            open: vec![None; 2 * STREAMS * classes].into(),
            classes,
            count: 0,
            given_back: 0,
            looked: None,
        }
    }

    fn number(&self, is_wide: bool, stream: Stream, class: Class) -> usize {
        let line = usize::from(is_wide) * STREAMS + stream as usize;
        line * self.classes + usize::from(class)
    }

    fn is_wide(&self, number: usize) -> bool {
        number >= STREAMS * self.classes
    }

    /// The open segment of the class nearest to this one, of the same kind and stream.
    fn nearest(&self, is_wide: bool, stream: Stream, class: Class) -> Option<usize> {
        let from = self.number(is_wide, stream, 0);
        (from..from + self.classes)
            .filter(|&number| self.open[number].is_some())
            .min_by_key(|&number| number.abs_diff(from + usize::from(class)))
    }
}

impl SegStore {
    /// The most segments this handle keeps open, so that open segments do not take too much of the
    /// memory.
    pub(crate) fn open_max(&self) -> usize {
        let pool = &self.shared.pool;
        let segments = pool.target() / pool.grains();
        (segments / (8 * self.shared.workers())).max(1)
    }

    /// How many segments this handle has open.
    pub(crate) fn open_count(&self) -> usize {
        self.open.count
    }

    /// Room for a new item of `len` bytes, if there is some without emptying a segment.
    #[inline]
    pub(crate) fn place_new(&mut self, class: Class, len: usize, now: Ticks) -> Result<Spot, Lack> {
        // Most items are small, and most segments have room for one more.
        let number = self.open.number(false, Stream::Written, class);
        let segment_bytes = self.shared.heap.segment_bytes();
        if len <= segment_bytes / NARROW_SHARE
            && let Some(open) = self.open.open[number]
            && open.at as usize + len <= segment_bytes
            && open.birth >= self.shared.cleared_before()
        {
            return Ok(self.spot(number, open));
        }
        self.place_elsewhere(class, len, now)
    }

    /// Room for an item, where the open segment of its class has none.
    fn place_elsewhere(&mut self, class: Class, len: usize, now: Ticks) -> Result<Spot, Lack> {
        let wanted = Wanted { stream: Stream::Written, class, len, spare: self.shared.spare() };
        self.place(&wanted, now)
    }

    /// Room in a stream for an item of a segment that is being emptied. It may take the last free
    /// segment, since the emptied one is about to be free. Without any, and where nothing is evicted, it may join items that
    /// are unlike it: else the segment would never be.
    pub(crate) fn place_kept(
        &mut self,
        stream: Stream,
        class: Class,
        len: usize,
        now: Ticks,
    ) -> Result<Spot, Lack> {
        let is_few = stream == Stream::Settled && self.open_max() < OPEN_FEW;
        let stream = if is_few { Stream::Written } else { stream };
        let wanted = Wanted { stream, class, len, spare: 0 };
        match self.place(&wanted, now) {
            Err(lack) if !self.shared.evicts() => self.place_anywhere(&wanted).ok_or(lack),
            placed => placed,
        }
    }

    /// Room in any open segment, of the kind for such items or the other, that needs no more memory for it.
    #[cold]
    fn place_anywhere(&self, wanted: &Wanted) -> Option<Spot> {
        let cleared_before = self.shared.cleared_before();
        let (number, open) = self.open.open.iter().enumerate().find_map(|(number, open)| {
            let open = (*open).filter(|open| open.birth >= cleared_before)?;
            let span = self.shared.pool.segment(open.segment).span() as usize;
            // A wide segment that was just opened may have no memory yet.
            let room = (span * self.shared.heap.grain_bytes()).saturating_sub(open.at as usize);
            (wanted.len <= room).then_some((number, open))
        })?;
        Some(self.spot(number, open))
    }

    fn place(&mut self, wanted: &Wanted, now: Ticks) -> Result<Spot, Lack> {
        let &Wanted { stream, class, len, spare } = wanted;
        if self.shared.is_lone(len)
            && let Some(placed) = self.place_lone((stream, class), len, spare, now)
        {
            return placed;
        }
        let is_wide = self.is_wide(wanted.len)?;
        match self.place_in(is_wide, wanted, now) {
            Err(Lack::Wide) if wanted.len <= self.shared.heap.room_in_segment() => {
                self.place_in(false, wanted, now)
            }
            placed => placed,
        }
    }

    /// Room in the open segment of this kind, stream and class, or else in a new one. When many segments
    /// are open, a class without one shares that of the nearest class.
    fn place_in(&mut self, is_wide: bool, wanted: &Wanted, now: Ticks) -> Result<Spot, Lack> {
        let &Wanted { stream, class, len, spare } = wanted;
        let mut number = self.open.number(is_wide, stream, class);
        if self.open.open[number].is_none() && self.open.count >= self.open_max() {
            number = self.open.nearest(is_wide, stream, class).unwrap_or(number);
        }
        if let Some(open) = self.open.open[number] {
            if open.birth >= self.shared.cleared_before() && self.takes(is_wide, open, wanted)? {
                return Ok(self.spot(number, open));
            }
            self.seal(number);
        }
        let segment = if is_wide {
            self.shared.take_wide(len, spare)?
        } else {
            self.shared.take(spare).ok_or(Lack::Free(self.shared.pool.grains()))?
        };
        self.compactor.remind();
        let class = (number - self.open.number(is_wide, stream, 0)) as Class;
        let open = self.begin(segment, stream.tier(), class, now);
        self.open.open[number] = Some(open);
        self.open.count += 1;
        let is_taken = self.takes(is_wide, open, wanted)?;
        debug_assert!(is_taken, "a new segment has room");
        Ok(self.spot(number, open))
    }

    /// Whether an open segment takes the item. A wide one may grow for it.
    fn takes(&self, is_wide: bool, open: Open, wanted: &Wanted) -> Result<bool, Lack> {
        let &Wanted { stream, len, spare, .. } = wanted;
        if is_wide {
            return self.shared.widen(open, len, spare, stream == Stream::Written && spare > 0);
        }
        Ok(open.at as usize + len <= self.shared.heap.segment_bytes())
    }

    /// Begins to use a segment that was taken from the pool.
    fn begin(&self, segment: u32, tier: u8, class: Class, now: Ticks) -> Open {
        let birth = self.shared.next_birth();
        let at = FIRST_OFFSET;
        self.shared.pool.segment(segment).open(birth, now.as_millis(), class, tier, at);
        Open { segment, at, birth, opened: now }
    }

    fn spot(&self, number: usize, open: Open) -> Spot {
        let Open { segment, at, birth, .. } = open;
        let base_ms = self.shared.pool.segment(segment).base_ms();
        Spot { segment, offset: at, birth, base_ms, keeper: Keeper::Handle(number) }
    }

    /// Room for an item that is alone in a segment that was taken from the pool.
    pub(crate) fn alone_spot(&self, segment: u32, tier: u8, class: Class, now: Ticks) -> Spot {
        let Open { segment, at, birth, .. } = self.begin(segment, tier, class, now);
        Spot { segment, offset: at, birth, base_ms: now.as_millis(), keeper: Keeper::Alone }
    }

    /// Advances past the item at `spot`, which is in the index now.
    #[inline]
    pub(crate) fn commit(&mut self, spot: Spot, len: usize, expiry_ms: Option<u64>) {
        let shared = &*self.shared;
        let segment = shared.pool.segment(spot.segment);
        let end = spot.offset + len as u32;
        let memory = || segment.span() as usize * shared.heap.grain_bytes();
        debug_assert!(end as usize <= memory(), "INV-INSIDE: {spot:?} and {len} bytes");
        segment.add_live(len as u32, shared.settings.exclusive);
        if shared.pool.is_lone(spot.segment) {
            shared.count_lone(len as u64);
        }
        if shared.extend_due(spot.segment, expiry_ms.map(|at| at.max(1))) {
            // It may be due at once.
            self.open.looked = None;
        }
        segment.set_written(end);
        match spot.keeper {
            Keeper::Handle(number) => {
                let Some(open) = &mut self.open.open[number] else { return };
                open.at = end;
                let open = *open;
                if self.open.is_wide(number) && self.shared.is_alone(open, len) {
                    self.seal(number);
                }
            }
            Keeper::Draft => {}
            Keeper::Alone => {
                // It may be gone already, and is a segment of one item.
                let freed = shared.seal(spot.segment);
                debug_assert!(freed.is_none());
            }
        }
    }

    /// Gives up room at which nothing was published. Most is used for the next item; a lone segment or a row is given back,
    /// and so is a wide segment without items, which may have much memory.
    pub(crate) fn abandon(&mut self, spot: Spot) {
        match spot.keeper {
            Keeper::Handle(number) if spot.offset == FIRST_OFFSET && self.open.is_wide(number) => {
                self.seal(number);
            }
            Keeper::Handle(_) | Keeper::Draft => {}
            Keeper::Alone => self.shared.pool.give_back(spot.segment),
        }
    }

    /// Seals an open segment that is full, due or in the way.
    fn seal(&mut self, number: usize) {
        let Some(open) = self.open.open[number].take() else { return };
        self.open.count -= 1;
        self.open.given_back += u64::from(open.at == FIRST_OFFSET && self.open.is_wide(number));
        self.count_freed(self.shared.close(open));
    }

    /// Notes that memory that a write had got was given back.
    pub(crate) fn note_given_back(&mut self) {
        self.open.given_back += 1;
    }

    /// How often memory that a write had got was given back.
    pub(crate) fn given_back(&self) -> u64 {
        self.open.given_back
    }

    /// Gives back the wide segments without items. A write that does not find all its memory leaves one.
    pub(crate) fn give_back_empty(&mut self) {
        for number in 0..self.open.open.len() {
            let is_empty = self.open.open[number].is_some_and(|open| open.at == FIRST_OFFSET);
            if is_empty && self.open.is_wide(number) {
                self.seal(number);
            }
        }
    }

    /// Seals all open segments, so that evictions find them. Returns whether there were any.
    pub(crate) fn seal_all(&mut self) -> bool {
        let had_any = self.open.count > 0;
        for number in 0..self.open.open.len() {
            self.seal(number);
        }
        had_any
    }

    /// Seals the open segments whose items have all expired or were cleared, and those that would
    /// keep expired items for much longer than their time to live.
    pub(crate) fn seal_stale(&mut self, now: Ticks) {
        let cleared_before = self.shared.cleared_before();
        if self.open.count == 0 || self.open.looked == Some((now, cleared_before)) {
            return;
        }
        self.open.looked = Some((now, cleared_before));
        // With little memory to spare, filling a segment is better than freeing it soon.
        let is_roomy = self.shared.is_roomy();
        for number in 0..self.open.open.len() {
            let Some(open) = self.open.open[number] else { continue };
            let due_ms = self.shared.pool.segment(open.segment).due_ms();
            let is_due = due_ms != 0 && due_ms <= now.as_millis();
            let age_ms = now.since(open.opened).as_millis() as u64;
            let limit_ms = (due_ms.saturating_sub(now.as_millis()) / 8).max(1000);
            let is_old = is_roomy && due_ms != NEVER_MS && due_ms != 0 && age_ms > limit_ms;
            if is_due || is_old || open.birth < cleared_before {
                self.seal(number);
            }
        }
    }
}

impl Shared {
    /// Seals a segment that was open, and takes from a wide one the memory that it does not need. One to which
    /// nothing was written is free again. Returns what [`free_dead`](Shared::free_dead) does.
    fn close(&self, open: Open) -> Option<u32> {
        if open.at == FIRST_OFFSET {
            self.pool.give_back(open.segment);
            return None;
        }
        if self.pool.is_wide(open.segment) {
            self.trim(open.segment, open.at);
        }
        self.seal(open.segment)
    }

    /// Whether plenty of segments are free.
    pub(crate) fn is_roomy(&self) -> bool {
        self.pool.available() * 4 > self.pool.target() as isize
    }
}
