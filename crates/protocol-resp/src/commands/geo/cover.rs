// SPDX-License-Identifier: Apache-2.0
//! The cells that cover a region: the one of its centre and those around it, as far as they are needed.
//!
//! They are those of Redis, in the same order, because that is the order of members that are not sorted.

use super::cell::{Cell, STEPS_MAX};
use super::shape::{Bounds, Region};

/// Half of the way around the earth on a map of Mercator's, in meters.
const MERCATOR_MAX_M: f64 = 20_037_726.37;

/// The centre, and the neighbours to the east and to the north of it, in the order in which they are searched.
const AROUND: [(i8, i8); 9] =
    [(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1)];

/// The cells, without any that comes twice.
pub(super) fn cells(region: &Region) -> Vec<Cell> {
    let bounds = region.bounds();
    let mut steps = steps(region.reach_m(&bounds), region.centre.lat);
    if steps > 1 && !reaches(Cell::at(region.centre, steps), &bounds) {
        steps = steps.saturating_sub(1);
    }
    let centre = Cell::at(region.centre, steps);
    let mut cells: Vec<Cell> = Vec::with_capacity(AROUND.len());
    for (east, north) in AROUND {
        let cell = centre.neighbour(east, north);
        // With very large cells some neighbours are the same.
        if (steps == 1 || is_needed(centre, &bounds, east, north)) && !cells.contains(&cell) {
            cells.push(cell);
        }
    }
    cells
}

/// How small cells may be of which three are at least as long as a region.
fn steps(mut reach_m: f64, lat: f64) -> u8 {
    if reach_m == 0.0 {
        return STEPS_MAX;
    }
    let mut steps: i32 = -1;
    while reach_m < MERCATOR_MAX_M {
        reach_m *= 2.0;
        steps = steps.saturating_add(1);
    }
    // A degree of longitude is shorter near the poles.
    let near_poles = i32::from(lat.abs() > 66.0).saturating_add(i32::from(lat.abs() > 80.0));
    steps.saturating_sub(near_poles).clamp(1, STEPS_MAX.into()) as u8
}

/// Whether a cell and its neighbours reach to all sides of a rectangle.
fn reaches(cell: Cell, bounds: &Bounds) -> bool {
    let area = |east, north| cell.neighbour(east, north).area();
    let falls_short = area(0, 1).1.1 < bounds.north
        || area(0, -1).1.0 > bounds.south
        || area(1, 0).0.1 < bounds.east
        || area(-1, 0).0.0 > bounds.west;
    !falls_short
}

/// Whether any of a rectangle may lie in a neighbour of a cell.
fn is_needed(cell: Cell, bounds: &Bounds, east: i8, north: i8) -> bool {
    let ((west_edge, east_edge), (south_edge, north_edge)) = cell.area();
    !((north < 0 && south_edge < bounds.south)
        || (north > 0 && north_edge > bounds.north)
        || (east < 0 && west_edge < bounds.west)
        || (east > 0 && east_edge > bounds.east))
}

#[cfg(test)]
mod tests {
    use super::super::place::Place;
    use super::super::shape::Shape;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_places_of_a_circle_are_in_its_cells(
            lon in -170.0..170.0_f64, lat in -60.0..60.0_f64, radius in 0.1..500_000.0_f64,
            angle in 0.0..std::f64::consts::TAU, part in 0.0..1.0_f64,
        ) {
            let centre = Place { lon, lat };
            let region = Region { centre, shape: Shape::Circle { radius } };
            let degrees = radius * part / 111_000.0;
            let near = Place { lon: lon + degrees * angle.cos(), lat: lat + degrees * angle.sin() };
            prop_assume!(region.distance_within_m(near).is_some());
            let score = near.score();
            let is_in = |cell: &Cell| (cell.scores().0..cell.scores().1).contains(&score);
            prop_assert!(cells(&region).iter().any(is_in), "{:?} of {:?}", near, region);
        }
    }
}
