// SPDX-License-Identifier: Apache-2.0
//! Walking over members in steps: SSCAN.

use super::super::generic::walk::{self, Options, Walked};
use crate::engine::call::Call;
use crate::wire::fault::Done;
use keyspace::View;

/// Takes a step of a walk over the members of a set.
#[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
pub(crate) fn sscan<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    let cursor = walk::cursor(call.arg(2))?;
    let Some(set) = call.keys.set(key)? else {
        let start = call.out.begin_array();
        walk::end_step(&mut call.out, start, 0, 0);
        call.missed(key);
        return Ok(());
    };
    let options = Options::parse(call.args.tail(3).iter(), Walked::Members)?;
    let (out, mut found) = (&mut call.out, 0);
    let start = out.begin_array();
    let next = set.scan(cursor, options.count, |member| {
        if options.matches(&member) {
            out.bulk(&member);
            found += 1;
        }
    });
    walk::end_step(out, start, next, found);
    Ok(())
}
