// SPDX-License-Identifier: Apache-2.0
//! [`Cell`]: a cell of a grid over the map.
//!
//! Each step halves both sides of the cells. The bits of the steps are interleaved, those of the longitude before
//! those of the latitude, so the places of a cell are those whose scores begin with the cell's bits.

use super::place::{LAT_MAX, LON_MAX, Place};

/// The steps of a score, which has 52 bits.
pub(super) const STEPS_MAX: u8 = 26;

/// Where the bits of the latitude are.
const LAT_BITS: u64 = 0x5555_5555_5555_5555;

/// Where the bits of the longitude are.
const LON_BITS: u64 = !LAT_BITS;

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) bits: u64,
    /// 1 to [`STEPS_MAX`].
    pub(super) steps: u8,
}

impl Cell {
    /// The cell in which a place is.
    pub(super) fn at(place: Place, steps: u8) -> Self {
        Cell::within(place, (LON_MAX, LAT_MAX), steps)
    }

    /// The cell in which a place is, on a map up to this longitude and latitude.
    pub(super) fn within(place: Place, (lon_max, lat_max): (f64, f64), steps: u8) -> Self {
        let part = |degrees: f64, max: f64| {
            ((degrees + max) / (max + max) * f64::from(1_u32 << steps)) as u32
        };
        let (lon, lat) = (part(place.lon, lon_max), part(place.lat, lat_max));
        Cell { bits: spread(lat) | spread(lon) << 1, steps }
    }

    /// Where its longitudes begin and end, and its latitudes.
    pub(super) fn area(self) -> ((f64, f64), (f64, f64)) {
        let cells = f64::from(1_u32 << self.steps);
        let side = |index: u32, max: f64| {
            let edge = |index: u32| (f64::from(index) / cells) * (max + max) - max;
            (edge(index), edge(index.wrapping_add(1)))
        };
        (side(gather(self.bits >> 1), LON_MAX), side(gather(self.bits), LAT_MAX))
    }

    /// The neighbour so many cells to the east and to the north, -1 to 1. The last one is next to the first.
    pub(super) fn neighbour(self, east: i8, north: i8) -> Self {
        let lon = self.moved(LON_BITS, east);
        let lat = self.moved(LAT_BITS, north);
        Cell { bits: lon | lat, ..self }
    }

    /// The bits of one coordinate, moved by -1 to 1.
    #[expect(clippy::arithmetic_side_effects, reason = "a cell has 1 to 26 steps")]
    fn moved(self, mask: u64, by: i8) -> u64 {
        let bits = self.bits & mask;
        if by == 0 {
            return bits;
        }
        let unused = 64 - u32::from(self.steps) * 2;
        // A carry runs through the bits of the other coordinate.
        let between = !mask >> unused;
        let one = between.wrapping_add(1);
        let moved =
            if by > 0 { bits.wrapping_add(one) } else { (bits | between).wrapping_sub(one) };
        moved & (mask >> unused)
    }

    /// The first score of its places, and the first behind them.
    pub(super) fn scores(self) -> (f64, f64) {
        let unused = u32::from(STEPS_MAX.saturating_sub(self.steps)).saturating_mul(2);
        let score = |bits: u64| (bits << unused) as f64;
        (score(self.bits), score(self.bits.wrapping_add(1)))
    }
}

/// Moves bits apart: bit `n` becomes bit `2n`.
fn spread(bits: u32) -> u64 {
    let mut bits = u64::from(bits);
    for (shift, mask) in STAGES.iter().rev() {
        bits = (bits | bits << shift) & mask;
    }
    bits
}

/// The reverse of [`spread`].
fn gather(bits: u64) -> u32 {
    let mut bits = bits & LAT_BITS;
    let (shifts, masks) = (STAGES.iter(), STAGES.iter().skip(1).map(|(_, mask)| *mask));
    for ((shift, _), mask) in shifts.zip(masks.chain([u64::from(u32::MAX)])) {
        bits = (bits | bits >> shift) & mask;
    }
    bits as u32
}

/// By how much groups of bits are moved, and which they are then.
const STAGES: [(u32, u64); 5] = [
    (1, LAT_BITS),
    (2, 0x3333_3333_3333_3333),
    (4, 0x0f0f_0f0f_0f0f_0f0f),
    (8, 0x00ff_00ff_00ff_00ff),
    (16, 0x0000_ffff_0000_ffff),
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bits_are_spread_and_gathered(bits in any::<u32>()) {
            let expected = (0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| 1_u64 << (2 * bit)).sum();
            prop_assert_eq!(spread(bits), expected);
            prop_assert_eq!(gather(spread(bits)), bits);
            prop_assert_eq!(gather(spread(bits) | LON_BITS), bits);
        }

        #[test]
        fn a_place_is_in_its_cell_and_neighbours_meet(
            lon in -179.0..179.0_f64, lat in -85.0..85.0_f64, steps in 3..=STEPS_MAX,
        ) {
            let place = Place { lon, lat };
            let cell = Cell::at(place, steps);
            let ((west, east), (south, north)) = cell.area();
            prop_assert!(west <= lon && lon <= east && south <= lat && lat <= north);
            prop_assert_eq!(cell.neighbour(1, 0).neighbour(-1, 0), cell);
            prop_assert_eq!(cell.neighbour(1, 1), cell.neighbour(0, 1).neighbour(1, 0));
            if north < LAT_MAX {
                prop_assert_eq!(cell.neighbour(0, 1).area().1.0, north);
            }
            let (first, behind) = cell.scores();
            prop_assert!((first..behind).contains(&place.score()));
        }
    }
}
