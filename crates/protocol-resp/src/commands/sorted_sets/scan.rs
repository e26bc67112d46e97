// SPDX-License-Identifier: Apache-2.0
//! Walking over members in steps: ZSCAN.

use super::super::generic::walk::{self, Options, Walked};
use crate::engine::call::Call;
use crate::wire::fault::Done;
use crate::wire::reply::Digits;
use keyspace::View;

/// Takes a step of a walk over the members of a sorted set.
#[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
pub(crate) fn zscan<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    let cursor = walk::cursor(call.arg(2))?;
    let Some(set) = call.keys.zset(key)? else {
        let start = call.out.begin_array();
        walk::end_step(&mut call.out, start, 0, 0);
        call.missed(key);
        return Ok(());
    };
    let options = Options::parse(call.args.tail(3).iter(), Walked::ScoredMembers)?;
    let (out, mut found) = (&mut call.out, 0);
    let start = out.begin_array();
    let next = set.scan(cursor, options.count, |member, score| {
        if options.matches(member) {
            out.bulk(member);
            found += 1;
            if !options.names_only {
                // A text also where there is a type for numbers.
                out.bulk(Digits::new(score).as_bytes());
                found += 1;
            }
        }
    });
    walk::end_step(out, start, next, found);
    Ok(())
}
