// SPDX-License-Identifier: Apache-2.0
//! Commands that wait for members: BZPOPMIN, BZPOPMAX, BZMPOP.

use super::super::options::{count_option, numkeys, timeout};
use super::pop::{end, pop_from};
use crate::engine::call::Call;
use crate::session::waiting::Wants;
use crate::wire::fault::Done;
use crate::wire::parse::Args;
use keyspace::View;
use std::time::Duration;
use values::{End, Type};

/// Takes the member with the lowest score of the first sorted set that has one, or waits for one.
pub(crate) fn bzpopmin<V: View>(call: &mut Call<'_, V>) -> Done {
    pop_one(call, End::Front)
}

/// Takes the member with the highest score of the first sorted set that has one, or waits for one.
pub(crate) fn bzpopmax<V: View>(call: &mut Call<'_, V>) -> Done {
    pop_one(call, End::Back)
}

fn pop_one<V: View>(call: &mut Call<'_, V>, from: End) -> Done {
    let last = call.args.len().saturating_sub(1);
    let wait = timeout(call.arg(last), call.unix_ms())?;
    pop_or_wait(call, call.args.head(last).tail(1), from, None, wait)
}

/// Takes members of the first sorted set that has some, or waits for some.
pub(crate) fn bzmpop<V: View>(call: &mut Call<'_, V>) -> Done {
    let (keys, rest) = numkeys(call.args.tail(2))?;
    let from = end(rest.get(0))?;
    let count = count_option(rest.tail(1))?;
    let wait = timeout(call.arg(1), call.unix_ms())?;
    pop_or_wait(call, keys, from, Some(count), wait)
}

fn pop_or_wait<V: View>(
    call: &mut Call<'_, V>,
    keys: Args<'_>,
    from: End,
    count: Option<usize>,
    wait: Option<Duration>,
) -> Done {
    for key in keys.iter() {
        if pop_from(call, key, from, count)? {
            return Ok(());
        }
    }
    let wants = match count {
        Some(count) => Wants::PopManyScored { from, count },
        None => Wants::PopScored { from },
    };
    call.block(keys, Type::Zset, wants, wait);
    Ok(())
}
