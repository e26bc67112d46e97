// SPDX-License-Identifier: Apache-2.0
//! Members of a region: GEOSEARCH, GEOSEARCHSTORE, and the older GEORADIUS, GEORADIUSBYMEMBER.

use super::place::Place;
use super::read::coordinates;
use super::request::{Form, Order, Request};
use super::shape::Region;
use super::{cover, shown_distance};
use crate::engine::call::Call;
use crate::host::events::{Class, Event};
use crate::wire::fault::Done;
use crate::wire::reply::Writer;
use keyspace::View;
use values::{Entry, NewZset, ScoreBound, ZsetRef};

/// A member that was found.
#[derive(Clone, Copy, Debug)]
struct Found<'a> {
    member: &'a [u8],
    score: f64,
    place: Place,
    /// From the centre, in meters.
    distance: f64,
}

/// Finds members around a place, and returns or stores them.
pub(crate) fn georadius<V: View>(call: &mut Call<'_, V>) -> Done {
    search(call, Form::Radius { stores: true })
}

/// Finds members around a place.
pub(crate) fn georadius_ro<V: View>(call: &mut Call<'_, V>) -> Done {
    search(call, Form::Radius { stores: false })
}

/// Finds members around one of them, and returns or stores them.
pub(crate) fn georadiusbymember<V: View>(call: &mut Call<'_, V>) -> Done {
    search(call, Form::RadiusByMember { stores: true })
}

/// Finds members around one of them.
pub(crate) fn georadiusbymember_ro<V: View>(call: &mut Call<'_, V>) -> Done {
    search(call, Form::RadiusByMember { stores: false })
}

/// Finds the members of a region.
pub(crate) fn geosearch<V: View>(call: &mut Call<'_, V>) -> Done {
    search(call, Form::Search)
}

/// Finds the members of a region and stores them.
pub(crate) fn geosearchstore<V: View>(call: &mut Call<'_, V>) -> Done {
    search(call, Form::SearchStore)
}

fn search<V: View>(call: &mut Call<'_, V>, form: Form) -> Done {
    let source = call.arg(if form == Form::SearchStore { 2 } else { 1 });
    if call.keys.zset(source)?.is_none() {
        call.missed(source);
    }
    let set = call.keys.peek(source).and_then(Entry::zset);
    let request = Request::parse(call.args, form, set)?;
    let (found, unit) = match (set, &request.region) {
        (Some(set), Some((region, unit))) => (find(set, region, &request), *unit),
        _ => (Vec::new(), 1.0),
    };
    let Some((destination, by_distance)) = request.store else {
        reply(&found, &request, unit, &mut call.out);
        return Ok(());
    };
    let mut made = NewZset::new(destination);
    let mut stored = made.edit(call.keys.limits);
    for found in &found {
        let score = if by_distance { found.distance / unit } else { found.score };
        stored.insert(found.member, score);
    }
    let is_search = form == Form::SearchStore;
    let name = if is_search { "geosearchstore" } else { "georadiusstore" };
    call.store_zset(destination, made, Event::of(Class::ZSET, name));
    Ok(())
}

/// The members of a region, in the order and of the number that are asked for.
fn find<'a>(set: ZsetRef<'a>, region: &Region, request: &Request<'_>) -> Vec<Found<'a>> {
    let most = request.count.unwrap_or(usize::MAX);
    let enough = if request.any { most } else { usize::MAX };
    let mut found = Vec::new();
    for cell in cover::cells(region) {
        let (first, behind) = cell.scores();
        let (first, behind) = (ScoreBound::Inclusive(first), ScoreBound::Exclusive(behind));
        let members = set.range(set.ranks_by_score(first, behind));
        let within = members.filter_map(|(member, score)| {
            let place = Place::of_score(score);
            let distance = region.distance_within_m(place)?;
            Some(Found { member, score, place, distance })
        });
        found.extend(within.take(enough.saturating_sub(found.len())));
    }
    match request.order {
        None => {}
        Some(Order::NearFirst) => found.sort_by(|a, b| a.distance.total_cmp(&b.distance)),
        Some(Order::FarFirst) => found.sort_by(|a, b| b.distance.total_cmp(&a.distance)),
    }
    found.truncate(most);
    found
}

fn reply(found: &[Found<'_>], request: &Request<'_>, unit: f64, out: &mut Writer<'_>) {
    let asked = [request.with_distance, request.with_score, request.with_place];
    let more = asked.into_iter().filter(|is_asked| *is_asked).count();
    out.array(found.len());
    for found in found {
        if more > 0 {
            out.array(more.saturating_add(1));
        }
        out.bulk(found.member);
        if request.with_distance {
            out.bulk(shown_distance(found.distance / unit).as_bytes());
        }
        if request.with_score {
            out.integer(found.score as i64);
        }
        if request.with_place {
            coordinates(found.place, out);
        }
    }
}
