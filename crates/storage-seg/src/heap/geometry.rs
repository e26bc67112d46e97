// SPDX-License-Identifier: Apache-2.0
//! [`Geometry`]: the arithmetic of segments, offsets and locations.

use crate::builder::SEGMENT_BYTES;
use crate::index::Location;

/// Where the last item of a segment may begin, at most: a version has no bits for larger offsets.
pub(crate) const OFFSET_MAX: usize = 32 << 20;

/// The most bytes that a wide segment can grow to. An item that begins at a segment's start may be larger than
/// [`OFFSET_MAX`]; then it is alone. Offsets have 32 bits.
pub(crate) const WIDE_BYTES_MAX: usize = 2 << 30;

/// Where the first item of a segment begins.
pub(crate) const FIRST_OFFSET: u32 = 16;

/// Bytes of the smallest unit, as a power of two: a header's words are aligned to it.
const UNIT_SHIFT_MIN: u32 = 2;

/// Bytes of the largest unit, as a power of two: the first item of a segment is aligned to it.
const UNIT_SHIFT_MAX: u32 = FIRST_OFFSET.ilog2();

const _: () = assert!(usize::BITS == 64, "a heap is larger than 4 GiB");

/// Bytes of a block of address space of lone segments.
pub(crate) const BLOCK_BYTES: usize = 1 << BLOCK_SHIFT;
pub(super) const BLOCK_SHIFT: u32 = 16;

/// The address space of lone segments, as a factor of the memory at first, where growth would take it, and at most. Each
/// may have twice what its item needs, and items of other sizes may need others.
const LONE_AT_FIRST: u64 = 2;
const LONE_MOST: u64 = 10;

/// How many wide segments there may be, and the address space of each: a power of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wide {
    pub(crate) count: u32,
    pub(crate) bytes: usize,
}

impl Wide {
    /// No wide segments.
    pub(crate) const NONE: Wide = Wide { count: 0, bytes: 0 };

    /// As many of these wide segments as locations can address beside the others, without larger
    /// units.
    pub(crate) fn within(self, segments: u32, segment_bytes: usize) -> Self {
        let own = u64::from(segments) * segment_bytes as u64;
        let most = addressable(segments, segment_bytes).saturating_sub(own);
        let count = u64::from(self.count).min(most / self.bytes as u64);
        if count == 0 { Wide::NONE } else { Wide { count: count as u32, ..self } }
    }

    /// As many of these wide segments, each with half the address space or less, if there is not enough for all of
    /// it. So that there are many is more important than that they are larger than [`OFFSET_MAX`].
    fn narrowed(self, segments: u32, segment_bytes: usize) -> Self {
        let mut wide = self;
        while wide.bytes > OFFSET_MAX && wide.within(segments, segment_bytes).count < wide.count {
            wide.bytes /= 2;
        }
        wide
    }

    fn address_space(self) -> u64 {
        u64::from(self.count) * self.bytes as u64
    }
}

/// How many lone segments there may be, and the address space of all of them together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lone {
    pub(crate) count: u32,
    pub(crate) blocks: u32,
}

impl Lone {
    /// No lone segments.
    pub(crate) const NONE: Lone = Lone { count: 0, blocks: 0 };

    /// Those of at least `least` bytes each that this much address space suffices for.
    fn within(bytes: u64, least: usize) -> Self {
        let blocks = (bytes >> BLOCK_SHIFT).min(u32::MAX.into()) as u32;
        Lone { count: blocks / super::lone::blocks_for(least), blocks }
    }

    fn address_space(self) -> u64 {
        u64::from(self.blocks) << BLOCK_SHIFT
    }
}

/// Bytes that locations can address without larger units than so many segments need; 0 if those are too many.
fn addressable(segments: u32, segment_bytes: usize) -> u64 {
    let alone = Geometry::new(segments, segment_bytes, Wide::NONE);
    alone.map_or(0, |alone| (Location::MAX + 1) << alone.unit_shift)
}

/// How many segments a heap has numbers and address space for: those that it needs at first, and more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) segments: u32,
    pub(crate) wide: Wide,
    pub(crate) lone: Lone,
}

impl Extent {
    /// Up to `factor` times as many segments, as far as locations can address them in units of the same size.
    /// `wide` tells the wide ones for a number of others: of those, there are at least as many as for the segments
    /// at first. A lone one has room for `lone` bytes at least; there are none if that is 0.
    pub(crate) fn up_to(
        factor: u32,
        segments: u32,
        segment_bytes: usize,
        wide: impl Fn(u32) -> Wide,
        lone: usize,
    ) -> Self {
        let narrowed = wide(segments).narrowed(segments, segment_bytes);
        let at_first = narrowed.within(segments, segment_bytes);
        let others = addressable(segments, segment_bytes).saturating_sub(at_first.address_space());
        let memory = |segments: u32| u64::from(segments) * segment_bytes as u64;
        let own = memory(segments);
        let lone_at_first = (LONE_AT_FIRST * own).min(others.saturating_sub(own) / 2);
        let others = if lone > 0 { others - lone_at_first } else { others };
        let most = u64::from(segments) * u64::from(factor);
        let most = most.min(others / segment_bytes as u64).max(segments.into()) as u32;
        let wide = Wide { bytes: narrowed.bytes, ..wide(most) }.within(most, segment_bytes);
        if lone == 0 {
            return Extent { segments: most, wide, lone: Lone::NONE };
        }
        let used = memory(most) + wide.address_space();
        let left = addressable(segments, segment_bytes).saturating_sub(used);
        Extent {
            segments: most,
            wide,
            lone: Lone::within(left.min(LONE_MOST * memory(most)), lone),
        }
    }
}

/// The sizes of a heap. Locations count *units*: words, or more bytes in a heap that is too large
/// to be counted in words. Wide segments lie behind the others and have the numbers after theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    segments: u32,
    segment_shift: u32,
    wide: u32,
    wide_shift: u32,
    lone: Lone,
    /// Where those begin, in bytes.
    lone_from: usize,
    unit_shift: u32,
}

impl Geometry {
    /// `None` when there are more bytes than locations can address.
    ///
    /// # Panics
    ///
    /// When there are no segments, or `segment_bytes` is not a power of two in [`SEGMENT_BYTES`].
    pub(super) fn new(segments: u32, segment_bytes: usize, wide: Wide) -> Option<Self> {
        assert!(segments > 0, "a heap without segments");
        assert!(
            segment_bytes.is_power_of_two() && SEGMENT_BYTES.contains(&(segment_bytes as u64)),
            "segments of {segment_bytes} bytes"
        );
        assert!(
            wide == Wide::NONE
                || wide.bytes.is_power_of_two()
                    && (segment_bytes..=WIDE_BYTES_MAX).contains(&wide.bytes),
            "{wide:?}"
        );
        let segment_shift = segment_bytes.ilog2();
        let wide_shift = wide.bytes.max(1).ilog2();
        let bytes = (u64::from(segments) << segment_shift) + (u64::from(wide.count) << wide_shift);
        let unit_shift = (UNIT_SHIFT_MIN..=UNIT_SHIFT_MAX)
            .find(|shift| (bytes - 1) >> shift <= Location::MAX)?;
        let lone_from = bytes as usize;
        let wide = wide.count;
        let lone = Lone::NONE;
        Some(Geometry { segments, segment_shift, wide, wide_shift, lone, lone_from, unit_shift })
    }

    /// The same with lone segments behind the others. `None` when units would have to be larger for that.
    pub(super) fn with_lone(self, lone: Lone) -> Option<Self> {
        let with_lone = Geometry { lone, ..self };
        let last = (with_lone.bytes() as u64 - 1) >> self.unit_shift;
        (last <= Location::MAX).then_some(with_lone)
    }

    pub(super) fn segment_bytes(self) -> usize {
        1 << self.segment_shift
    }

    /// How many segments are not wide.
    pub(super) fn segments(self) -> u32 {
        self.segments
    }

    pub(super) fn wide(self) -> u32 {
        self.wide
    }

    pub(super) fn lone(self) -> Lone {
        self.lone
    }

    /// The number of a lone segment among these.
    pub(super) fn lone_at(self, segment: u32) -> Option<u32> {
        segment.checked_sub(self.segments + self.wide)
    }

    /// Where the address space of lone segments begins.
    #[inline]
    pub(super) fn lone_from(self) -> usize {
        self.lone_from
    }

    /// The most bytes of a wide segment; 0 when there are none.
    pub(super) fn wide_bytes(self) -> usize {
        if self.wide == 0 { 0 } else { 1 << self.wide_shift }
    }

    /// Bytes of all segments that are not wide.
    #[inline]
    pub(super) fn narrow_bytes(self) -> usize {
        (self.segments as usize) << self.segment_shift
    }

    /// Bytes of the whole heap.
    #[inline]
    pub(super) fn bytes(self) -> usize {
        self.lone_from() + self.lone.address_space() as usize
    }

    /// Bytes of a unit.
    pub(super) fn unit(self) -> usize {
        1 << self.unit_shift
    }

    /// The heap's byte at `offset` of a segment that is not a lone one.
    #[inline]
    pub(super) fn byte(self, segment: u32, offset: u32) -> usize {
        if segment >= self.segments {
            return self.byte_of_wide(segment, offset);
        }
        assert!(offset as usize <= self.segment_bytes(), "offset {offset} is not in a segment");
        ((segment as usize) << self.segment_shift) + offset as usize
    }

    fn byte_of_wide(self, segment: u32, offset: u32) -> usize {
        let number = segment - self.segments;
        assert!(number < self.wide, "there is no segment {segment}");
        assert!(offset as usize <= self.wide_bytes(), "offset {offset} is not in a segment");
        self.narrow_bytes() + ((number as usize) << self.wide_shift) + offset as usize
    }

    #[inline]
    pub(super) fn byte_of(self, location: Location) -> usize {
        (location.units() << self.unit_shift) as usize
    }

    #[inline]
    pub(super) fn location(self, segment: u32, offset: u32) -> Location {
        let byte = self.byte(segment, offset);
        debug_assert!(byte.is_multiple_of(self.unit()), "offset {offset} is between units");
        Location::new(byte as u64 >> self.unit_shift)
    }

    /// The location of a byte.
    pub(super) fn location_of(self, byte: usize) -> Location {
        debug_assert!(byte.is_multiple_of(self.unit()), "byte {byte} is between units");
        Location::new(byte as u64 >> self.unit_shift)
    }

    /// The segment and the offset of a location in front of lone segments.
    #[inline]
    pub(super) fn place(self, location: Location) -> (u32, u32) {
        let byte = self.byte_of(location);
        match byte.checked_sub(self.narrow_bytes()) {
            None => {
                let offset = byte & (self.segment_bytes() - 1);
                ((byte >> self.segment_shift) as u32, offset as u32)
            }
            Some(byte) => {
                let offset = byte & ((1 << self.wide_shift) - 1);
                (self.segments + (byte >> self.wide_shift) as u32, offset as u32)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn a_location_names_its_place_at_every_extreme() {
        for (segment_bytes, heap_bytes, unit) in [
            (64 << 10, 64 << 10, 4),
            (8 << 20, 8 << 20, 4),
            (64 << 10, 256 * GIB, 4),
            (8 << 20, 256 * GIB, 4),
            (8 << 20, 256 * GIB + (8 << 20), 8),
            (1 << 20, 512 * GIB, 8),
            (64 << 10, 512 * GIB + (64 << 10), 16),
            (8 << 20, 1024 * GIB, 16),
        ] {
            let segments = (heap_bytes / segment_bytes as u64) as u32;
            let geometry =
                Geometry::new(segments, segment_bytes, Wide::NONE).expect("it is not too large");
            assert_eq!((geometry.unit(), geometry.bytes() as u64), (unit, heap_bytes));
            let last = (segment_bytes - unit) as u32;
            for segment in [0, segments / 2, segments - 1] {
                for offset in [FIRST_OFFSET, FIRST_OFFSET + unit as u32, last] {
                    let location = geometry.location(segment, offset);
                    assert_eq!(geometry.place(location), (segment, offset));
                    assert_eq!(geometry.byte_of(location), geometry.byte(segment, offset));
                    assert!((1..=Location::MAX).contains(&location.units()));
                }
            }
        }
    }

    #[test]
    fn wide_segments_lie_behind_the_others() {
        let wide = Wide { count: 3, bytes: 1 << 20 };
        let geometry = Geometry::new(5, 64 << 10, wide).expect("it is small");
        assert_eq!(geometry.bytes(), (5 << 16) + (3 << 20));
        assert_eq!(geometry.place(geometry.location(4, (64 << 10) - 4)), (4, (64 << 10) - 4));
        for segment in 5..8 {
            for offset in [FIRST_OFFSET, 64 << 10, (1 << 20) - 4] {
                let location = geometry.location(segment, offset);
                assert_eq!(geometry.place(location), (segment, offset));
                assert_eq!(geometry.byte_of(location), geometry.byte(segment, offset));
            }
        }
    }

    #[test]
    fn wide_segments_do_not_make_units_larger() {
        let wide = Wide { count: 1 << 13, bytes: 32 << 20 };
        assert_eq!(wide.within(512, 128 << 10), Wide { count: 8190, ..wide });
        assert_eq!(wide.within(1 << 14, 8 << 20), Wide { count: 4096, ..wide });
        assert_eq!(wide.within(1 << 15, 8 << 20), Wide::NONE);
        for segments in [512, 1 << 14, (1 << 15) + 1] {
            let alone = Geometry::new(segments, 8 << 20, Wide::NONE).expect("it is not too large");
            let both = Geometry::new(segments, 8 << 20, wide.within(segments, 8 << 20));
            assert_eq!(both.expect("it is not too large").unit(), alone.unit());
        }
    }

    #[test]
    fn a_heap_can_grow_as_far_as_its_units_allow() {
        let wide = |segments| Wide { count: segments / 2 + 16, bytes: 32 << 20 };
        let grown = |segments| Extent::up_to(16, segments, 8 << 20, wide, 0);
        assert_eq!(grown(512), Extent { segments: 8 << 10, wide: wide(8 << 10), lone: Lone::NONE });
        for segments in [2 << 10, 8 << 10, 16 << 10, 32 << 10, (32 << 10) + 1, 1 << 17] {
            let Extent { segments: most, wide: all, .. } = grown(segments);
            assert!(
                most >= segments && all.count >= wide(segments).within(segments, 8 << 20).count
            );
            let unit = |count, wide| Geometry::new(count, 8 << 20, wide).expect("it fits").unit();
            assert_eq!(unit(most, all), unit(segments, Wide::NONE), "{segments} segments");
        }
        assert!(grown(2 << 10).segments > 27 << 10, "up to 256 GiB less the wide ones at first");
        assert_eq!(grown(1 << 17).segments, 1 << 17);
    }

    #[test]
    fn wide_segments_are_narrower_where_address_space_does_not_suffice_for_all() {
        let extent = |memory: u64, segment_bytes: usize, bytes: usize| {
            let segments = (memory / segment_bytes as u64) as u32;
            let wide = |segments| Wide { count: segments / 2 + 16, bytes };
            (segments, Extent::up_to(16, segments, segment_bytes, wide, 0))
        };
        for (memory, segment_bytes, bytes, narrowed) in [
            (64 << 20, 128 << 10, 2 << 20, 2 << 20),
            (512 << 20, 1 << 20, 256 << 20, 256 << 20),
            (4 * GIB, 8 << 20, 2 << 30, 512 << 20),
            (8 * GIB, 8 << 20, 2 << 30, 256 << 20),
            (64 * GIB, 8 << 20, 2 << 30, OFFSET_MAX),
        ] {
            let (segments, extent) = extent(memory, segment_bytes, bytes);
            assert_eq!(extent.wide.bytes, narrowed, "{memory} bytes");
            assert!(extent.wide.count >= segments / 2 + 16 && extent.segments >= segments);
            let geometry = Geometry::new(extent.segments, segment_bytes, extent.wide);
            let geometry = geometry.expect("it fits");
            assert_eq!(geometry.unit(), 4);
            let last = extent.segments + extent.wide.count - 1;
            let end = (narrowed - 4) as u32;
            assert_eq!(geometry.place(geometry.location(last, end)), (last, end));
            assert_eq!(geometry.byte(last, narrowed as u32), geometry.bytes());
        }
    }

    #[test]
    fn more_than_a_tebibyte_has_no_locations() {
        assert_eq!(Geometry::new((1 << 17) + 1, 8 << 20, Wide::NONE), None);
        assert_eq!(Geometry::new(u32::MAX, 8 << 20, Wide::NONE), None);
    }

    #[test]
    #[should_panic(expected = "segments of 65537 bytes")]
    fn segments_are_powers_of_two() {
        let _ = Geometry::new(1, (64 << 10) + 1, Wide::NONE);
    }

    #[test]
    #[should_panic(expected = "there is no segment 4")]
    fn a_segment_that_is_not_there_has_no_locations() {
        let geometry = Geometry::new(4, 64 << 10, Wide::NONE).expect("it is small");
        let _ = geometry.location(4, FIRST_OFFSET);
    }
}
