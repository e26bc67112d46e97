// SPDX-License-Identifier: Apache-2.0
//! Some members at random: ZRANDMEMBER.

use super::super::random_count::{self, Count, Element};
use super::shape::Shape;
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::Writer;
use keyspace::View;
use values::ZsetRef;

/// Picks a member, or several, with their scores or without.
pub(crate) fn zrandmember<V: View>(call: &mut Call<'_, V>) -> Done {
    let Some(count) = call.args.get(2) else { return one(call) };
    let count = Count::parse(count)?;
    let with_scores = match (call.args.get(3), call.args.len()) {
        (None, _) => false,
        (Some(word), 4) if word.eq_ignore_ascii_case(b"withscores") => true,
        _ => return Err(Fault::SYNTAX),
    };
    if with_scores && count.number() > i64::MAX as usize / 2 {
        return Err(Fault::OUT_OF_RANGE);
    }
    let (key, bytes_max) = (call.arg(1), call.bulk_max());
    let Some(set) = call.keys.zset(key)? else {
        call.out.array(0);
        call.missed(key);
        return Ok(());
    };
    let (out, worker) = (&mut call.out, &mut *call.worker);
    let shape = Shape::new(with_scores, out.version());
    match count {
        Count::Distinct(count) => {
            shape.begin(out, count.min(set.len()));
            let write = |member: &[u8], score| shape.write(out, member, score);
            set.sample_distinct(count, || worker.random(), write);
            Ok(())
        }
        Count::Repeated(count) => repeated(out, set, (count, bytes_max), shape, || worker.random()),
    }
}

/// Picks one member.
fn one<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    let random = call.worker.random();
    match call.keys.zset(key)? {
        Some(set) => call.out.bulk_or_null(set.sample(random).map(|(member, _)| member)),
        None => {
            call.out.null();
            call.missed(key);
        }
    }
    Ok(())
}

/// Picks a member `count` times, for a reply of up to `bytes_max`.
#[expect(clippy::arithmetic_side_effects, reason = "not by zero, which the arm before takes")]
fn repeated(
    out: &mut Writer<'_>,
    set: ZsetRef<'_>,
    (count, bytes_max): (usize, usize),
    shape: Shape,
    mut random: impl FnMut() -> u64,
) -> Done {
    let is_listed = random_count::lists(set.len(), set.has_index(), count);
    let element = |(member, score)| (Element::new(member), score);
    let listed: Vec<_> = if is_listed { set.iter().map(element).collect() } else { Vec::new() };
    let mark = out.begin_array();
    shape.begin(out, count);
    random_count::repeat(out, mark, count, bytes_max, |out| match listed.len() as u64 {
        0 => {
            if let Some((member, score)) = set.sample(random()) {
                shape.write(out, member, score);
            }
        }
        len => {
            let (member, score) = &listed[(random() % len) as usize];
            shape.write_with(out, *score, |out| member.write(out));
        }
    })
}
