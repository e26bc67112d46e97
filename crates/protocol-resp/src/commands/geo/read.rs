// SPDX-License-Identifier: Apache-2.0
//! Members by name: GEOPOS, GEODIST, GEOHASH.

use super::super::named::visit_named;
use super::cell::{Cell, STEPS_MAX};
use super::place::{LON_MAX, Place};
use super::{shown_coordinate, shown_distance, unit};
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::Writer;
use keyspace::View;
use values::Entry;

/// The digits of geohashes.
const DIGITS: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";

/// Tells where members are.
pub(crate) fn geopos<V: View>(call: &mut Call<'_, V>) -> Done {
    each_place(call, |place, out| match place {
        Some(place) => coordinates(place, out),
        None => out.null_array(),
    })
}

/// Tells where members are, as geohashes of eleven digits.
pub(crate) fn geohash<V: View>(call: &mut Call<'_, V>) -> Done {
    each_place(call, |place, out| match place {
        Some(place) => out.bulk(&geohash_of(place)),
        None => out.null(),
    })
}

/// Writes longitude and latitude.
pub(super) fn coordinates(place: Place, out: &mut Writer<'_>) {
    out.array(2);
    out.double_digits(&shown_coordinate(place.lon));
    out.double_digits(&shown_coordinate(place.lat));
}

/// Shows the places of the members that are named, one after the other.
fn each_place<V: View>(
    call: &mut Call<'_, V>,
    mut show: impl FnMut(Option<Place>, &mut Writer<'_>),
) -> Done {
    let (key, members) = (call.arg(1), call.args.tail(2));
    if call.keys.zset(key)?.is_none() {
        call.missed(key);
    }
    call.out.array(members.len());
    match call.keys.peek(key).and_then(Entry::zset) {
        Some(mut set) => visit_named(&mut set, members, 0, |set, [member]| {
            show(set.score(member).map(Place::of_score), &mut call.out);
        }),
        None => members.iter().for_each(|_| show(None, &mut call.out)),
    }
    Ok(())
}

/// The geohash of a place. Unlike scores it goes to the poles; the 52 bits that there are make ten digits of it.
fn geohash_of(place: Place) -> [u8; 11] {
    let bits = Cell::within(place, (LON_MAX, 90.0), STEPS_MAX).bits;
    let mut text = [b'0'; 11];
    for (at, digit) in text.iter_mut().take(10).enumerate() {
        let shift = 47_usize.saturating_sub(at.saturating_mul(5));
        *digit = DIGITS[(bits >> shift & 31) as usize];
    }
    text
}

/// Tells how far two members are from each other.
pub(crate) fn geodist<V: View>(call: &mut Call<'_, V>) -> Done {
    if call.args.len() > 5 {
        return Err(Fault::SYNTAX);
    }
    let meters = call.args.get(4).map_or(Ok(1.0), unit)?;
    let (key, from, to) = (call.arg(1), call.arg(2), call.arg(3));
    let Some(set) = call.keys.zset(key)? else {
        call.missed(key);
        call.out.null();
        return Ok(());
    };
    let place = |member| set.score(member).map(Place::of_score);
    let distance = place(from).zip(place(to)).map(|(from, to)| from.distance_m(to) / meters);
    match distance {
        Some(distance) => call.out.bulk(shown_distance(distance).as_bytes()),
        None => call.out.null(),
    }
    Ok(())
}
