// SPDX-License-Identifier: Apache-2.0
//! Walking over fields in steps: HSCAN.

use super::super::generic::walk::{self, Options, Walked};
use crate::engine::call::Call;
use crate::wire::fault::Done;
use keyspace::View;

/// Takes a step of a walk over the fields of a hash.
#[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
pub(crate) fn hscan<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, now) = (call.arg(1), call.unix_ms());
    let cursor = walk::cursor(call.arg(2))?;
    let Some(hash) = call.keys.hash(key)? else {
        let start = call.out.begin_array();
        walk::end_step(&mut call.out, start, 0, 0);
        call.missed(key);
        return Ok(());
    };
    let options = Options::parse(call.args.tail(3).iter(), Walked::Fields)?;
    let (out, mut found) = (&mut call.out, 0);
    let start = out.begin_array();
    let next = hash.scan(cursor, options.count, now, |field, value| {
        if options.matches(field) {
            out.bulk(field);
            found += 1;
            if !options.names_only {
                out.bulk(value);
                found += 1;
            }
        }
    });
    walk::end_step(out, start, next, found);
    Ok(())
}
