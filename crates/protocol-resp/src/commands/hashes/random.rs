// SPDX-License-Identifier: Apache-2.0
//! Some fields at random: HRANDFIELD.

use super::super::random_count::{self, Count, Element};
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::{Version, Writer};
use keyspace::View;
use values::HashRef;

/// Picks a field, or several, with their values or without.
pub(crate) fn hrandfield<V: View>(call: &mut Call<'_, V>) -> Done {
    let Some(count) = call.args.get(2) else { return one(call) };
    let count = Count::parse(count)?;
    let with_values = match (call.args.get(3), call.args.len()) {
        (None, _) => false,
        (Some(word), 4) if word.eq_ignore_ascii_case(b"withvalues") => true,
        _ => return Err(Fault::SYNTAX),
    };
    if with_values && count.number() > i64::MAX as usize / 2 {
        return Err(Fault::OUT_OF_RANGE);
    }
    let (key, now, bytes_max) = (call.arg(1), call.unix_ms(), call.bulk_max());
    let Some(hash) = call.keys.hash(key)? else {
        call.out.array(0);
        call.missed(key);
        return Ok(());
    };
    let (out, worker) = (&mut call.out, &mut *call.worker);
    match count {
        Count::Distinct(count) => {
            head(out, count.min(hash.live(now)), with_values);
            let write = |field: &[u8], value: &[u8]| {
                pick(out, &(Element::new(field), Element::new(value)), with_values);
            };
            hash.sample_distinct(count, now, || worker.random(), write);
            Ok(())
        }
        Count::Repeated(count) => {
            repeated(out, hash, (count, bytes_max), with_values, now, || worker.random())
        }
    }
}

/// Picks one field.
fn one<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, now) = (call.arg(1), call.unix_ms());
    let random = call.worker.random();
    match call.keys.hash(key)? {
        Some(hash) => call.out.bulk_or_null(hash.sample(random, now).map(|(field, _)| field)),
        None => {
            call.out.null();
            call.missed(key);
        }
    }
    Ok(())
}

/// Picks a field `count` times, for a reply of up to `bytes_max`.
#[expect(clippy::arithmetic_side_effects, reason = "not by zero, which the arm before takes")]
fn repeated(
    out: &mut Writer<'_>,
    hash: HashRef<'_>,
    (count, bytes_max): (usize, usize),
    with_values: bool,
    now: u64,
    mut random: impl FnMut() -> u64,
) -> Done {
    let is_listed = random_count::lists(hash.len(), hash.has_index(), count);
    let element = |(field, value)| (Element::new(field), Element::new(value));
    let mut listed: Vec<_> =
        if is_listed { hash.iter(now).map(element).collect() } else { Vec::new() };
    // With nothing to pick from, nothing is picked.
    let count = if listed.is_empty() && hash.sample(0, now).is_none() { 0 } else { count };
    let mark = out.begin_array();
    head(out, count, with_values);
    random_count::repeat(out, mark, count, bytes_max, |out| {
        let random = random();
        if listed.is_empty() {
            if let Some(picked) = hash.draw(random, now) {
                return pick(out, &element(picked), with_values);
            }
            // Most have expired: a walk over all for each pick would take very long.
            listed = hash.iter(now).map(element).collect();
        }
        pick(out, &listed[(random % listed.len() as u64) as usize], with_values);
    })
}

/// Begins a reply of `count` random elements.
fn head(out: &mut Writer<'_>, count: usize, with_values: bool) {
    let is_flat = with_values && out.version() == Version::Resp2;
    out.array(if is_flat { count.saturating_mul(2) } else { count });
}

fn pick(out: &mut Writer<'_>, (field, value): &(Element<'_>, Element<'_>), with_values: bool) {
    if with_values && out.version() == Version::Resp3 {
        out.array(2);
    }
    field.write(out);
    if with_values {
        value.write(out);
    }
}
