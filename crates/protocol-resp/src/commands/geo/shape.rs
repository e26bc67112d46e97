// SPDX-License-Identifier: Apache-2.0
//! [`Region`]: what is searched in.

use super::place::{Angle, EARTH_RADIUS_M, Place};

/// A shape around its centre.
#[derive(Clone, Debug)]
pub(super) struct Region {
    pub(super) centre: Place,
    pub(super) shape: Shape,
}

/// Lengths are in meters.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Circle { radius: f64 },
    Box { width: f64, height: f64 },
    Polygon(Vec<Place>),
}

/// A rectangle of longitudes and latitudes. It may reach beyond the map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) west: f64,
    pub(super) south: f64,
    pub(super) east: f64,
    pub(super) north: f64,
}

impl Region {
    /// A polygon; distances are from the middle of its corners.
    pub(super) fn polygon(corners: Vec<Place>) -> Self {
        let (mut x, mut y, mut z) = (0.0, 0.0, 0.0);
        for corner in &corners {
            let (lon, lat) = (corner.lon.to_radians_exactly(), corner.lat.to_radians_exactly());
            x += EARTH_RADIUS_M * lat.cos() * lon.cos();
            y += EARTH_RADIUS_M * lat.cos() * lon.sin();
            z += EARTH_RADIUS_M * lat.sin();
        }
        let count = corners.len() as f64;
        let (x, y, z) = (x / count, y / count, z / count);
        let lon = y.atan2(x).to_degrees_exactly();
        let lat = z.atan2((x * x + y * y).sqrt()).to_degrees_exactly();
        Region { centre: Place { lon, lat }, shape: Shape::Polygon(corners) }
    }

    /// How far a place within is from the centre; `None` of one that is not.
    pub(super) fn distance_within_m(&self, place: Place) -> Option<f64> {
        let distance = || self.centre.distance_m(place);
        match &self.shape {
            Shape::Circle { radius } => Some(distance()).filter(|near| is_up_to(*near, *radius)),
            Shape::Box { width, height } => {
                let beside = Place { lon: self.centre.lon, lat: place.lat };
                let is_within = self.centre.distance_of_latitudes_m(place) <= height / 2.0
                    && is_up_to(place.distance_m(beside), width / 2.0);
                is_within.then(distance)
            }
            Shape::Polygon(corners) => contains(corners, place).then(distance),
        }
    }

    /// What it lies in. The higher the latitude, the more longitudes are needed for a width: that of the side that
    /// needs more is taken.
    pub(super) fn bounds(&self) -> Bounds {
        let (width, height) = match &self.shape {
            Shape::Circle { radius } => (*radius, *radius),
            Shape::Box { width, height } => (width / 2.0, height / 2.0),
            Shape::Polygon(corners) => return bounds_of(corners),
        };
        let Place { lon, lat } = self.centre;
        let lat_delta = (height / EARTH_RADIUS_M).to_degrees_exactly();
        let far_lat = if lat < 0.0 { lat - lat_delta } else { lat + lat_delta };
        let lon_delta =
            (width / EARTH_RADIUS_M / far_lat.to_radians_exactly().cos()).to_degrees_exactly();
        Bounds {
            west: lon - lon_delta,
            south: lat - lat_delta,
            east: lon + lon_delta,
            north: lat + lat_delta,
        }
    }

    /// How far its places are from the centre at most, about.
    pub(super) fn reach_m(&self, bounds: &Bounds) -> f64 {
        match &self.shape {
            Shape::Circle { radius } => *radius,
            Shape::Box { width, height } => {
                ((width / 2.0) * (width / 2.0) + (height / 2.0) * (height / 2.0)).sqrt()
            }
            Shape::Polygon(_) => {
                let Bounds { west, south, east, north } = *bounds;
                let corners = [(west, north), (east, north), (west, south), (east, south)];
                let distance = |(lon, lat)| self.centre.distance_m(Place { lon, lat });
                corners.map(distance).into_iter().fold(0.0, f64::max)
            }
        }
    }
}

/// Whether a distance is not larger than another. That to the other side of the earth may be no number, and counts
/// as near, as in Redis.
fn is_up_to(distance: f64, most: f64) -> bool {
    distance <= most || distance.is_nan()
}

fn bounds_of(corners: &[Place]) -> Bounds {
    let lons = || corners.iter().map(|corner| corner.lon);
    let lats = || corners.iter().map(|corner| corner.lat);
    Bounds {
        west: lons().fold(f64::INFINITY, f64::min),
        south: lats().fold(f64::INFINITY, f64::min),
        east: lons().fold(f64::NEG_INFINITY, f64::max),
        north: lats().fold(f64::NEG_INFINITY, f64::max),
    }
}

/// Whether a line from a place to the east crosses the sides of a polygon an odd number of times.
fn contains(corners: &[Place], place: Place) -> bool {
    let before = corners.iter().cycle().skip(corners.len().saturating_sub(1));
    let crosses = |(a, b): (&Place, &Place)| {
        (a.lat > place.lat) != (b.lat > place.lat)
            && place.lon < (b.lon - a.lon) * (place.lat - a.lat) / (b.lat - a.lat) + a.lon
    };
    corners.iter().zip(before).filter(|side| crosses(*side)).count() % 2 == 1
}
