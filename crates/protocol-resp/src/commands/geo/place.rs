// SPDX-License-Identifier: Apache-2.0
//! [`Place`]: longitude and latitude, and the score that is a place.

use super::cell::{Cell, STEPS_MAX};

/// Longitudes are up to this, in either direction.
pub(super) const LON_MAX: f64 = 180.0;

/// Latitudes are up to this, in either direction: those of a map of Mercator's that is a square.
pub(super) const LAT_MAX: f64 = 85.051_128_78;

/// The quadratic mean radius of the earth, as WGS 84 has it, in meters.
pub(super) const EARTH_RADIUS_M: f64 = 6_372_797.560_856;

/// A place, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) lon: f64,
    pub(super) lat: f64,
}

impl Place {
    /// A place, unless it is beyond the map.
    pub(super) fn new(lon: f64, lat: f64) -> Option<Self> {
        let is_known = lon.abs() <= LON_MAX && lat.abs() <= LAT_MAX;
        is_known.then_some(Place { lon, lat })
    }

    /// The place that a score is. Any number is one.
    pub(super) fn of_score(score: f64) -> Self {
        let (lon, lat) = Cell { bits: score as i64 as u64, steps: STEPS_MAX }.area();
        let middle = |(min, max): (f64, f64), limit: f64| ((min + max) / 2.0).clamp(-limit, limit);
        Place { lon: middle(lon, LON_MAX), lat: middle(lat, LAT_MAX) }
    }

    /// The score that is about this place.
    pub(super) fn score(self) -> f64 {
        Cell::at(self, STEPS_MAX).scores().0
    }

    /// The distance to another place along the surface, in meters.
    pub(super) fn distance_m(self, to: Place) -> f64 {
        let (from_lat, to_lat) = (self.lat.to_radians_exactly(), to.lat.to_radians_exactly());
        let half_lon = ((to.lon.to_radians_exactly() - self.lon.to_radians_exactly()) / 2.0).sin();
        if half_lon == 0.0 {
            return self.distance_of_latitudes_m(to);
        }
        let half_lat = ((to_lat - from_lat) / 2.0).sin();
        let a = half_lat * half_lat + from_lat.cos() * to_lat.cos() * half_lon * half_lon;
        2.0 * EARTH_RADIUS_M * a.sqrt().asin()
    }

    /// The distance between the latitudes of two places, in meters.
    pub(super) fn distance_of_latitudes_m(self, to: Place) -> f64 {
        EARTH_RADIUS_M * (to.lat.to_radians_exactly() - self.lat.to_radians_exactly()).abs()
    }
}

/// Degrees and radians, rounded as Redis does: distances are compared with its own to the last bit.
pub(super) trait Angle {
    fn to_radians_exactly(self) -> Self;
    fn to_degrees_exactly(self) -> Self;
}

const RADIANS: f64 = std::f64::consts::PI / 180.0;

impl Angle for f64 {
    fn to_radians_exactly(self) -> f64 {
        self * RADIANS
    }

    fn to_degrees_exactly(self) -> f64 {
        self / RADIANS
    }
}
