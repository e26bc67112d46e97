// SPDX-License-Identifier: Apache-2.0
//! Members by rank, score or name: ZRANGE; ZRANGESTORE, which keeps them; ZREVRANGE, ZRANGEBYSCORE,
//! ZREVRANGEBYSCORE, ZRANGEBYLEX, ZREVRANGEBYLEX, whose names say what is an option of ZRANGE.

use super::event;
use super::request::{Axis, Named, Request};
use super::shape::Shape;
use crate::engine::call::Call;
use crate::wire::fault::Done;
use keyspace::View;
use values::NewZset;

/// Shows a range of members.
pub(crate) fn zrange<V: View>(call: &mut Call<'_, V>) -> Done {
    show(call, Named::default())
}

/// Shows a range of ranks from the end.
pub(crate) fn zrevrange<V: View>(call: &mut Call<'_, V>) -> Done {
    show_named(call, Axis::Ranks, true)
}

/// Shows a range of scores.
pub(crate) fn zrangebyscore<V: View>(call: &mut Call<'_, V>) -> Done {
    show_named(call, Axis::Scores, false)
}

/// Shows a range of scores from its end.
pub(crate) fn zrevrangebyscore<V: View>(call: &mut Call<'_, V>) -> Done {
    show_named(call, Axis::Scores, true)
}

/// Shows a range of names.
pub(crate) fn zrangebylex<V: View>(call: &mut Call<'_, V>) -> Done {
    show_named(call, Axis::Names, false)
}

/// Shows a range of names from its end.
pub(crate) fn zrevrangebylex<V: View>(call: &mut Call<'_, V>) -> Done {
    show_named(call, Axis::Names, true)
}

fn show_named<V: View>(call: &mut Call<'_, V>, axis: Axis, reverse: bool) -> Done {
    show(call, Named { axis: Some(axis), reverse: Some(reverse), stores: false })
}

fn show<V: View>(call: &mut Call<'_, V>, named: Named) -> Done {
    let key = call.arg(1);
    let request = Request::parse(call.args.tail(2), named)?;
    let Some(set) = call.keys.zset(key)? else {
        call.out.array(0);
        call.missed(key);
        return Ok(());
    };
    let shape = Shape::new(request.with_scores, call.out.version());
    shape.write_all(&mut call.out, request.members_of(set));
    Ok(())
}

/// Keeps a range of members under another key.
pub(crate) fn zrangestore<V: View>(call: &mut Call<'_, V>) -> Done {
    let (destination, source, limits) = (call.arg(1), call.arg(2), call.keys.limits);
    let request = Request::parse(call.args.tail(3), Named { stores: true, ..Named::default() })?;
    let mut made = NewZset::new(destination);
    let mut result = made.edit(limits);
    match call.keys.zset(source)? {
        Some(set) => request.members_of(set).for_each(|(member, score)| {
            result.insert(member, score);
        }),
        None => call.missed(source),
    }
    call.store_zset(destination, made, event("zrangestore"));
    Ok(())
}
