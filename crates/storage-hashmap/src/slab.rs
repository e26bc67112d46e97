// SPDX-License-Identifier: Apache-2.0
//! [`Slab`]: the entries of a shard, in chunks that never move.
//!
//! An entry is half a cache line, so looking at one costs one line. Chunks have a fixed size: the
//! slab grows by one chunk and copies nothing. A chunk whose last item goes is given back. Chunks
//! with a free slot queue up and are filled oldest first, so those that eviction empties drain.

use crate::record::Record;

/// No entry: the end of a chain.
pub(crate) const NONE: u32 = (1 << ERA_AT) - 1;

/// The bit of [`Entry::link`] that says whether the item was used since the hand came by.
const VISITED: u32 = 1 << 31;

/// The bits of [`Entry::link`] in which the number of the item's era begins.
const ERA_AT: u32 = 28;
const ERA_MASK: u32 = (ERAS - 1) << ERA_AT;

/// Eras that can be told from each other.
pub(crate) const ERAS: u32 = 8;

/// The time between two clears of a shard with items, as a number that comes again after [`ERAS`].
///
/// A clear begins another era and touches no item. The version of an item could not tell whether it was written before
/// or after: clients may choose versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Era(u32);

impl Era {
    pub(crate) const FIRST: Era = Era(0);

    pub(crate) fn next(self) -> Self {
        Era((self.0 + (1 << ERA_AT)) & ERA_MASK)
    }
}

const _: () = assert!(VISITED & ERA_MASK == 0 && NONE & ERA_MASK == 0, "the parts of a link");

/// "Never", in milliseconds.
pub(crate) const NEVER_MS: u64 = u64::MAX;

/// An item's place in the index.
#[derive(Debug)]
#[repr(align(32))]
pub(crate) struct Entry {
    /// The low half of the key's hash: it picks the bucket and rejects other keys.
    pub(crate) tag: u32,
    /// The next entry of the chain, or the next free slot of the chunk; [`VISITED`]; and the item's era.
    link: u32,
    /// When the item stops being readable, in milliseconds, or [`NEVER_MS`].
    pub(crate) expiry_ms: u64,
    /// The item itself.
    pub(crate) record: Record,
}

const _: () = assert!(size_of::<Entry>() == 32, "an entry is half a cache line");

impl Entry {
    /// The next entry of the chain, or [`NONE`].
    #[inline]
    pub(crate) fn next(&self) -> u32 {
        self.link & NONE
    }

    pub(crate) fn set_next(&mut self, next: u32) {
        self.link = (self.link & !NONE) | next;
    }

    pub(crate) fn is_visited(&self) -> bool {
        self.link & VISITED != 0
    }

    /// Marks the item as used. Writes nothing when it is marked already.
    #[inline]
    pub(crate) fn visit(&mut self) {
        if !self.is_visited() {
            self.link |= VISITED;
        }
    }

    #[inline]
    pub(crate) fn era(&self) -> Era {
        Era(self.link & ERA_MASK)
    }

    #[inline]
    pub(crate) fn set_era(&mut self, era: Era) {
        self.link = (self.link & !ERA_MASK) | era.0;
    }

    pub(crate) fn forget_visit(&mut self) {
        self.link &= !VISITED;
    }
}

/// The bookkeeping of a chunk.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// Items in it.
    pub(crate) live: u32,
    /// The first free slot of it, or [`NONE`].
    free: u32,
    /// No item in it expires before this; may be too early, never too late.
    pub(crate) due_ms: u64,
    /// Its neighbours among the chunks with a free slot, or [`NONE`].
    before: u32,
    after: u32,
}

/// The entries of a shard.
#[derive(Debug)]
pub(crate) struct Slab {
    entries: Vec<Box<[Entry]>>,
    chunks: Vec<Chunk>,
    /// The ends of the list of chunks with a free slot: the next to be filled, and the last.
    open_first: u32,
    open_last: u32,
    /// Chunks without memory.
    absent: Vec<u32>,
    live: u32,
    shift: u32,
}

impl Slab {
    /// An empty slab of chunks of `2^shift` entries, for about `expected` entries.
    pub(crate) fn new(shift: u32, expected: usize) -> Self {
        let chunks = expected >> shift;
        Slab {
            entries: Vec::with_capacity(chunks),
            chunks: Vec::with_capacity(chunks),
            open_first: NONE,
            open_last: NONE,
            absent: Vec::new(),
            live: 0,
            shift,
        }
    }

    /// Items.
    pub(crate) fn live(&self) -> u32 {
        self.live
    }

    /// Slots ever made: one past the largest index there is.
    pub(crate) fn slots(&self) -> u32 {
        (self.chunks.len() as u32) << self.shift
    }

    /// Entries of a chunk.
    pub(crate) fn chunk_len(&self) -> u32 {
        1 << self.shift
    }

    /// Memory of a chunk, including the bookkeeping for it.
    pub(crate) fn chunk_cost(&self) -> u64 {
        let tables = size_of::<Box<[Entry]>>() + size_of::<Chunk>();
        ((size_of::<Entry>() << self.shift) + tables) as u64
    }

    /// Chunks that have memory.
    pub(crate) fn present(&self) -> usize {
        self.chunks.len() - self.absent.len()
    }

    /// Whether [`Slab::insert`] needs [`Slab::grow`] first.
    pub(crate) fn is_full(&self) -> bool {
        self.open_first == NONE
    }

    /// The chunk in which `slot` lies.
    pub(crate) fn chunk_of(&self, slot: u32) -> u32 {
        slot >> self.shift
    }

    pub(crate) fn chunk(&self, chunk: u32) -> &Chunk {
        &self.chunks[chunk as usize]
    }

    pub(crate) fn chunk_mut(&mut self, chunk: u32) -> &mut Chunk {
        &mut self.chunks[chunk as usize]
    }

    #[inline]
    pub(crate) fn entry(&self, slot: u32) -> &Entry {
        let mask = (1 << self.shift) - 1;
        &self.entries[(slot >> self.shift) as usize][(slot & mask) as usize]
    }

    #[inline]
    pub(crate) fn entry_mut(&mut self, slot: u32) -> &mut Entry {
        let mask = (1 << self.shift) - 1;
        &mut self.entries[(slot >> self.shift) as usize][(slot & mask) as usize]
    }

    /// Whether another chunk's slots would still have valid numbers.
    pub(crate) fn can_grow(&self) -> bool {
        !self.absent.is_empty() || self.slots() < NONE - self.chunk_len()
    }

    /// Adds a chunk of free slots.
    pub(crate) fn grow(&mut self) {
        debug_assert!(self.can_grow(), "INV-SLOT");
        let chunk = self.absent.pop().unwrap_or(self.chunks.len() as u32);
        let first = chunk << self.shift;
        let last = first + self.chunk_len() - 1;
        let entries = (first..=last)
            .map(|slot| Entry {
                tag: 0,
                link: if slot == last { NONE } else { slot + 1 },
                expiry_ms: NEVER_MS,
                record: Record::vacant(),
            })
            .collect();
        let state = Chunk { live: 0, free: first, due_ms: NEVER_MS, before: NONE, after: NONE };
        if chunk as usize == self.chunks.len() {
            self.entries.push(entries);
            self.chunks.push(state);
        } else {
            self.entries[chunk as usize] = entries;
            self.chunks[chunk as usize] = state;
        }
        self.open(chunk);
    }

    /// Puts an item into a free slot, as the first of the chain that goes on with `next`.
    ///
    /// # Panics
    ///
    /// When the slab is full.
    pub(crate) fn insert(
        &mut self,
        tag: u32,
        next: u32,
        era: Era,
        expiry_ms: u64,
        record: Record,
    ) -> u32 {
        let chunk = self.open_first;
        let slot = self.chunk(chunk).free;
        let following = self.entry(slot).next();
        *self.entry_mut(slot) = Entry { tag, link: next | era.0, expiry_ms, record };
        let state = self.chunk_mut(chunk);
        state.live += 1;
        state.due_ms = state.due_ms.min(expiry_ms);
        state.free = following;
        if following == NONE {
            self.close(chunk);
        }
        self.live += 1;
        slot
    }

    /// Removes the item in `slot`. Returns it and whether its chunk was freed.
    pub(crate) fn remove(&mut self, slot: u32) -> (Record, bool) {
        let chunk = self.chunk_of(slot);
        let free = self.chunk(chunk).free;
        let entry = self.entry_mut(slot);
        let record = std::mem::replace(&mut entry.record, Record::vacant());
        entry.link = free;
        entry.expiry_ms = NEVER_MS;
        let state = self.chunk_mut(chunk);
        state.free = slot;
        state.live -= 1;
        let is_empty = state.live == 0;
        if free == NONE {
            self.open(chunk);
        }
        self.live -= 1;
        // The last open chunk stays, so that adding and removing one item does not allocate and
        // free a chunk each time.
        let is_spare = is_empty && self.open_first != self.open_last;
        if is_spare {
            self.close(chunk);
            self.entries[chunk as usize] = Box::default();
            *self.chunk_mut(chunk) =
                Chunk { live: 0, free: NONE, due_ms: NEVER_MS, before: NONE, after: NONE };
            self.absent.push(chunk);
        }
        (record, is_spare)
    }

    /// Appends a chunk to the list of those with a free slot.
    fn open(&mut self, chunk: u32) {
        let last = std::mem::replace(&mut self.open_last, chunk);
        self.chunk_mut(chunk).before = last;
        self.chunk_mut(chunk).after = NONE;
        if last == NONE {
            self.open_first = chunk;
        } else {
            self.chunk_mut(last).after = chunk;
        }
    }

    /// Takes a chunk off the list of those with a free slot.
    fn close(&mut self, chunk: u32) {
        let Chunk { before, after, .. } = *self.chunk(chunk);
        if before == NONE {
            self.open_first = after;
        } else {
            self.chunk_mut(before).after = after;
        }
        if after == NONE {
            self.open_last = before;
        } else {
            self.chunk_mut(after).before = before;
        }
    }

    /// The first item at `from` or after, going around; `from` must be a slot. [`NONE`] without
    /// items. Skips empty chunks in one step each.
    pub(crate) fn next_live(&self, from: u32) -> u32 {
        if self.live == 0 {
            return NONE;
        }
        let mut slot = if from < self.slots() { from } else { 0 };
        loop {
            let chunk = self.chunk_of(slot);
            let end = (chunk + 1) << self.shift;
            if self.chunk(chunk).live > 0 {
                while slot < end {
                    if !self.entry(slot).record.is_vacant() {
                        return slot;
                    }
                    slot += 1;
                }
            }
            slot = if end < self.slots() { end } else { 0 };
        }
    }

    /// Checks INV-SLOT.
    ///
    /// # Panics
    ///
    /// When it does not hold.
    pub(crate) fn check_integrity(&self) {
        let mut open = 0;
        let mut live = 0;
        for (number, state) in self.chunks.iter().enumerate() {
            let entries = &self.entries[number];
            let vacant = entries.iter().filter(|entry| entry.record.is_vacant()).count();
            assert_eq!(state.live as usize, entries.len() - vacant, "INV-SLOT: items of a chunk");
            let mut free = 0;
            let mut slot = state.free;
            while slot != NONE {
                assert!(self.entry(slot).record.is_vacant(), "INV-SLOT: {slot} is not free");
                assert_eq!(self.chunk_of(slot) as usize, number, "INV-SLOT: {slot} is astray");
                free += 1;
                slot = self.entry(slot).next();
            }
            assert_eq!(free, vacant, "INV-SLOT: free slots out of reach");
            open += usize::from(free > 0);
            live += state.live;
        }
        assert_eq!(live, self.live, "INV-SLOT: items");
        let mut listed = 0;
        let (mut chunk, mut before) = (self.open_first, NONE);
        while chunk != NONE {
            assert_eq!(self.chunk(chunk).before, before, "INV-SLOT: the list of open chunks");
            assert!(self.chunk(chunk).free != NONE, "INV-SLOT: a full chunk is open");
            listed += 1;
            (before, chunk) = (chunk, self.chunk(chunk).after);
        }
        assert_eq!((listed, before), (open, self.open_last), "INV-SLOT: open chunks out of reach");
    }
}
