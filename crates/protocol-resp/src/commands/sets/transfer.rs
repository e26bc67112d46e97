// SPDX-License-Identifier: Apache-2.0
//! A member goes from one set to another: SMOVE.

use super::{SADD, SREM, members};
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use values::Type;

/// Moves a member; tells whether it was there.
pub(crate) fn smove<V: View>(call: &mut Call<'_, V>) -> Done {
    let (from, to, member) = (call.arg(1), call.arg(2), call.arg(3));
    let is_other = call.keys.touch(to).is_some_and(|entry| entry.data_type() != Type::Set);
    let moves = match call.keys.set(from)? {
        Some(set) => set.contains(member),
        None => {
            call.out.integer(0);
            return Ok(());
        }
    };
    if is_other {
        return Err(Fault::WRONG_TYPE);
    }
    if moves && from != to {
        let is_empty = call.keys.edit_set_if_any(from, |set| {
            set.remove(member);
            set.len() == 0
        })?;
        call.modified(from, SREM);
        if is_empty == Some(true) {
            call.remove_if_empty(from);
        }
        if members::add(&mut call.keys, to, call.args.tail(3))? > 0 {
            call.modified(to, SADD);
        }
    }
    call.out.integer(moves.into());
    Ok(())
}
