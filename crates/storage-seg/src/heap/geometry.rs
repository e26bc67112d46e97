// SPDX-License-Identifier: Apache-2.0
//! [`Geometry`]: where segments and locations are, as numbers.

use crate::index::Location;
use std::ops::RangeInclusive;

/// The sizes a segment can have.
const SEGMENT_BYTES: RangeInclusive<usize> = 64 << 10..=8 << 20;

/// Where the first item of a segment begins.
pub(crate) const FIRST_OFFSET: u32 = 16;

/// Bytes of the smallest unit, as a power of two: a header's words are aligned to it.
const UNIT_SHIFT_MIN: u32 = 2;

/// Bytes of the largest unit, as a power of two: the first item of a segment is aligned to it.
const UNIT_SHIFT_MAX: u32 = FIRST_OFFSET.ilog2();

const _: () = assert!(usize::BITS == 64, "a heap is larger than 4 GiB");

/// The sizes of a heap. Locations count *units*, which are larger in a heap too large to count in
/// words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    segments: u32,
    segment_shift: u32,
    unit_shift: u32,
}

impl Geometry {
    /// `None` when there are more bytes than locations.
    ///
    /// # Panics
    ///
    /// When there are no segments, or `segment_bytes` is not a power of two in [`SEGMENT_BYTES`].
    pub(super) fn new(segments: u32, segment_bytes: usize) -> Option<Self> {
        assert!(segments > 0, "a heap without segments");
        assert!(
            segment_bytes.is_power_of_two() && SEGMENT_BYTES.contains(&segment_bytes),
            "segments of {segment_bytes} bytes"
        );
        let segment_shift = segment_bytes.ilog2();
        let bytes = u64::from(segments) << segment_shift;
        let unit_shift = (UNIT_SHIFT_MIN..=UNIT_SHIFT_MAX)
            .find(|shift| (bytes - 1) >> shift <= Location::MAX)?;
        Some(Geometry { segments, segment_shift, unit_shift })
    }

    pub(super) fn segment_bytes(self) -> usize {
        1 << self.segment_shift
    }

    /// Bytes of the whole heap.
    #[inline]
    pub(super) fn bytes(self) -> usize {
        (self.segments as usize) << self.segment_shift
    }

    /// Bytes of a unit.
    pub(super) fn unit(self) -> usize {
        1 << self.unit_shift
    }

    /// The heap's byte at `offset` of a segment.
    #[inline]
    pub(super) fn byte(self, segment: u32, offset: u32) -> usize {
        assert!(segment < self.segments, "there is no segment {segment}");
        assert!(offset as usize <= self.segment_bytes(), "offset {offset} is not in a segment");
        ((segment as usize) << self.segment_shift) + offset as usize
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

    #[inline]
    pub(super) fn place(self, location: Location) -> (u32, u32) {
        let byte = self.byte_of(location);
        let offset = byte & (self.segment_bytes() - 1);
        ((byte >> self.segment_shift) as u32, offset as u32)
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
            let geometry = Geometry::new(segments, segment_bytes).expect("it is not too large");
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
    fn more_than_a_tebibyte_has_no_locations() {
        assert_eq!(Geometry::new((1 << 17) + 1, 8 << 20), None);
        assert_eq!(Geometry::new(u32::MAX, 8 << 20), None);
    }

    #[test]
    #[should_panic(expected = "segments of 65537 bytes")]
    fn segments_are_powers_of_two() {
        let _ = Geometry::new(1, (64 << 10) + 1);
    }

    #[test]
    #[should_panic(expected = "there is no segment 4")]
    fn a_segment_that_is_not_there_has_no_locations() {
        let _ = Geometry::new(4, 64 << 10).expect("it is small").location(4, FIRST_OFFSET);
    }
}
