// SPDX-License-Identifier: Apache-2.0
//! Places on the earth: sorted sets, the scores of which are places.
//!
//! * `place.rs`: a place, and its score. `cell.rs`: cells of a grid, each of which is a range of scores.
//! * `shape.rs`: what is searched in: circles, boxes, polygons. `cover.rs`: the cells that cover it.
//! * `add.rs`: GEOADD. `read.rs`: GEOPOS, GEODIST, GEOHASH.
//! * `search.rs`: the commands that search. `request.rs`: their arguments.

// Clients send numbers, and arithmetic on them must not wrap. This lint covers all modules below this one: an
// operation that could overflow is allowed only with a reason why it cannot.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod add;
mod cell;
mod cover;
mod place;
mod read;
mod request;
mod search;
mod shape;

pub(crate) use add::geoadd;
pub(crate) use read::{geodist, geohash, geopos};
pub(crate) use search::{
    georadius, georadius_ro, georadiusbymember, georadiusbymember_ro, geosearch, geosearchstore,
};

use super::double;
use crate::wire::fault::Fault;
use crate::wire::parse::Args;
use place::Place;

/// How many meters a unit has.
fn unit(name: &[u8]) -> Result<f64, Fault> {
    let known: [(&[u8], f64); 4] =
        [(b"m", 1.0), (b"km", 1000.0), (b"ft", 0.3048), (b"mi", 1609.34)];
    let found = known.iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
    let text = "ERR unsupported unit provided. please use M, KM, FT, MI";
    found.map(|(_, meters)| *meters).ok_or(Fault::new(text))
}

/// The place that two arguments are, longitude first.
fn place_at(args: Args<'_>, at: usize) -> Result<Place, Fault> {
    let number = |at| args.get(at).and_then(double::parse).ok_or(Fault::NOT_FLOAT);
    let (lon, lat) = (number(at)?, number(at.saturating_add(1))?);
    Place::new(lon, lat).ok_or_else(|| {
        Fault::made(format!("ERR invalid longitude,latitude pair {lon:.6},{lat:.6}"))
    })
}

/// A distance with the four digits behind the point that clients are shown.
fn shown_distance(distance: f64) -> String {
    let digits = (distance * 10_000.0).round_ties_even() as u64;
    format!("{}.{:04}", digits / 10_000, digits % 10_000)
}

/// A coordinate with all digits that an `f64` has up to the 17th behind the point.
fn shown_coordinate(coordinate: f64) -> String {
    let text = format!("{coordinate:.17}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}
