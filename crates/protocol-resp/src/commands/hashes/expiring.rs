// SPDX-License-Identifier: Apache-2.0
//! Reading fields and changing their expiry, or removing them: HGETEX, HGETDEL.

use super::super::deadline::Deadline;
use super::super::named::visit_named;
use super::{HDEL, HEXPIRE, HPERSIST, Noted, fields, moment};
use crate::engine::call::Call;
use crate::host::events::Event;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use keyspace::View;
use values::HashMut;

/// What becomes of a field that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// Nothing.
    Keep,
    /// It does not expire any more.
    Persist,
    /// It expires then.
    Expire(u64),
    /// It is removed.
    Remove,
}

impl Then {
    /// Does it to a field that is there; whether that changed anything.
    fn apply(self, hash: &mut HashMut<'_>, field: &[u8], now: u64) -> bool {
        match self {
            Then::Keep => false,
            Then::Persist => {
                let expires = hash.read().expiry_of(field, now).flatten().is_some();
                expires && hash.set_expiry(field, None, now)
            }
            Then::Expire(moment) => hash.set_expiry(field, Some(moment), now),
            Then::Remove => hash.remove(field, now),
        }
    }

    fn event(self) -> Event {
        match self {
            Then::Keep | Then::Expire(_) => HEXPIRE,
            Then::Persist => HPERSIST,
            Then::Remove => HDEL,
        }
    }
}

/// Reads fields and changes when they expire.
pub(crate) fn hgetex<V: View>(call: &mut Call<'_, V>) -> Done {
    let parsed = parse(call.args, call.unix_ms(), call.spec.name);
    let (fields, then) = call.keys.if_hash(call.args.arg(1), parsed)?;
    read(call, fields, then)
}

/// Reads the arguments of HGETEX.
fn parse<'a>(args: Args<'a>, now: u64, command: &str) -> Result<(Args<'a>, Then), Fault> {
    let word = args.arg(2);
    let (then, at) = if let Some(unit) = Deadline::option(word) {
        let moment = moment::parse(unit, args.arg(3), now, command)?;
        (if moment > now { Then::Expire(moment) } else { Then::Remove }, 4)
    } else if word.eq_ignore_ascii_case(b"persist") {
        (Then::Persist, 3)
    } else {
        (Then::Keep, 2)
    };
    let last = args.len().checked_sub(1);
    if last == Some(at) && args.arg(at).eq_ignore_ascii_case(b"fields") {
        return Err(Fault::arity(command));
    }
    Ok((fields::parse(args, at, fields::NOT_POSITIVE)?, then))
}

/// Reads fields and removes them.
pub(crate) fn hgetdel<V: View>(call: &mut Call<'_, V>) -> Done {
    let fields = fields::parse(call.args, 2, fields::NOT_POSITIVE);
    let fields = call.keys.if_hash(call.args.arg(1), fields)?;
    read(call, fields, Then::Remove)
}

/// Reads each field, then does something to it.
fn read<V: View>(call: &mut Call<'_, V>, fields: Args<'_>, then: Then) -> Done {
    let (key, now) = (call.arg(1), call.unix_ms());
    let mut noted = Noted::new(call);
    let out = &mut call.out;
    let edited = call.keys.edit_hash_if_any(key, |hash| {
        out.array(fields.len());
        let mut changed = false;
        visit_named(hash, fields, 0, |hash, [field]| {
            let value = hash.read().get(field, now);
            out.bulk_or_null(value);
            if value.is_some() && then.apply(hash, field, now) {
                noted.note(field);
                changed = true;
            }
        });
        (changed, hash.len() == 0)
    })?;
    let Some((changed, is_empty)) = edited else {
        call.out.array(fields.len());
        fields.iter().for_each(|_| call.out.null());
        return Ok(());
    };
    if changed {
        call.modified_fields(key, then.event(), || noted.fields);
    }
    if is_empty {
        call.remove_if_empty(key);
    }
    Ok(())
}
