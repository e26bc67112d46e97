// SPDX-License-Identifier: Apache-2.0
//! TTL classes: items that will expire at about the same time are written into the same segments,
//! so that whole segments become free at once.
//!
//! A class is only a label. The expiries of its items decide when a segment is swept
//! ([`Segment::due_ms`](crate::segment::Segment::due_ms)), and each item's own expiry decides
//! whether a read finds it.

/// Times to live of 2 to this power seconds and more share a class.
const OCTAVES: u32 = 31;

/// The most classes there can be: two per octave, one for items that never expire.
pub(crate) const CLASSES_MAX: usize = 2 * OCTAVES as usize + 1;

/// The number of a TTL class. 0 is the class of items that never expire.
pub(crate) type Class = u8;

/// The number by which clients know a class.
pub(crate) fn number_of(class: Class) -> u32 {
    u32::from(class) + 1
}

/// The division of times to live into classes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Classes {
    /// Half octaves per class, as a power of two.
    shift: u32,
}

impl Classes {
    /// The classes for a store of this size. Every class in use keeps segments open, so a store
    /// with few segments has few classes.
    pub(crate) fn for_segments(segments: usize) -> Self {
        let shift = match segments {
            0..256 => 2,
            256..2048 => 1,
            _ => 0,
        };
        Classes { shift }
    }

    /// How many classes there are.
    pub(crate) fn count(self) -> usize {
        usize::from(self.of(Some(u64::MAX))) + 1
    }

    /// The class for items with `ttl_ms` to live; `None` is for ever.
    #[inline]
    pub(crate) fn of(self, ttl_ms: Option<u64>) -> Class {
        let Some(ttl_ms) = ttl_ms else { return 0 };
        let seconds = (ttl_ms / 1000).clamp(1, (1 << OCTAVES) - 1);
        let octave = seconds.ilog2();
        // The bit after the leading one halves the octave.
        let half = ((seconds << 1) >> octave) as u32 & 1;
        (1 + ((2 * octave + half) >> self.shift)) as Class
    }

    /// The shortest time to live of a class in seconds; `None` for the class of no expiry.
    pub(crate) fn shortest_seconds(self, class: Class) -> Option<u64> {
        let halves = (u32::from(class.checked_sub(1)?)) << self.shift;
        let octave = 1_u64 << (halves / 2);
        Some(if halves.is_multiple_of(2) { octave } else { (octave + octave.div_ceil(2)).max(1) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_begins_where_it_says() {
        for segments in [10, 1_000, 10_000] {
            let classes = Classes::for_segments(segments);
            assert_eq!(classes.of(None), 0);
            assert_eq!(classes.shortest_seconds(0), None);
            assert!(classes.count() <= CLASSES_MAX);
            let mut last = 0;
            for seconds in (1..5_000).chain([86_400, 2_592_000, 1 << 30, u64::MAX / 1000]) {
                let class = classes.of(Some(seconds * 1000));
                assert!(class >= last && usize::from(class) < classes.count(), "{seconds} s");
                let from = classes.shortest_seconds(class).expect("it expires");
                assert!(from <= seconds, "{seconds} s is in the class from {from} s");
                last = class;
            }
        }
    }

    #[test]
    fn times_to_live_in_a_class_are_alike() {
        let classes = Classes::for_segments(10_000);
        assert_eq!(classes.of(Some(1)), classes.of(Some(1_999)));
        assert_ne!(classes.of(Some(2_000)), classes.of(Some(3_000)));
        assert_ne!(classes.of(Some(4_000)), classes.of(Some(6_000)));
        assert_eq!(classes.of(Some(6_000)), classes.of(Some(7_999)));
    }
}
