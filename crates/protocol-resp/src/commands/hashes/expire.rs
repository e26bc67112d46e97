// SPDX-License-Identifier: Apache-2.0
//! When fields expire: HEXPIRE, HPEXPIRE, HEXPIREAT, HPEXPIREAT, HPERSIST.

use super::super::deadline::Deadline;
use super::{HDEL, HEXPIRE, HPERSIST, Noted, fields, moment};
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use crate::wire::reply::Writer;
use keyspace::View;
use values::HashMut;

/// The reply for a field that is not there.
const NO_FIELD: i64 = -2;
/// The reply for a field that HPERSIST finds without an expiry.
const NO_EXPIRY: i64 = -1;
/// The reply for a field that does not meet the condition.
const NOT_MET: i64 = 0;
/// The reply for a field whose expiry was changed.
const CHANGED: i64 = 1;
/// The reply for a field that was removed, because the time has passed.
const REMOVED: i64 = 2;

/// On what condition an expiry is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Always,
    IfNone,
    IfAny,
    IfLater,
    IfEarlier,
}

impl Condition {
    fn parse(word: &[u8]) -> Self {
        match word.to_ascii_lowercase().as_slice() {
            b"nx" => Condition::IfNone,
            b"xx" => Condition::IfAny,
            b"gt" => Condition::IfLater,
            b"lt" => Condition::IfEarlier,
            _ => Condition::Always,
        }
    }

    /// Whether an expiry at `new` may take the place of the one at `old`. None is later than any.
    fn allows(self, old: Option<u64>, new: u64) -> bool {
        match self {
            Condition::Always => true,
            Condition::IfNone => old.is_none(),
            Condition::IfAny => old.is_some(),
            Condition::IfLater => old.is_some_and(|old| new > old),
            Condition::IfEarlier => old.is_none_or(|old| new < old),
        }
    }
}

/// What a command wants to be done to fields.
struct Wanted<'a> {
    moment: u64,
    condition: Condition,
    fields: Args<'a>,
}

impl<'a> Wanted<'a> {
    fn parse(args: Args<'a>, unit: Deadline, now: u64, command: &str) -> Result<Self, Fault> {
        let moment = moment::parse(unit, args.arg(2), now, command)?;
        let condition = Condition::parse(args.arg(3));
        let at = if condition == Condition::Always { 3 } else { 4 };
        let text = "ERR Parameter `numFields` should be greater than 0";
        Ok(Wanted { moment, condition, fields: fields::parse(args, at, text)? })
    }
}

/// Lets fields expire after some seconds.
pub(crate) fn hexpire<V: View>(call: &mut Call<'_, V>) -> Done {
    expire_by(call, Deadline::EX)
}

/// Lets fields expire after some milliseconds.
pub(crate) fn hpexpire<V: View>(call: &mut Call<'_, V>) -> Done {
    expire_by(call, Deadline::PX)
}

/// Lets fields expire at a time in seconds.
pub(crate) fn hexpireat<V: View>(call: &mut Call<'_, V>) -> Done {
    expire_by(call, Deadline::EXAT)
}

/// Lets fields expire at a time in milliseconds.
pub(crate) fn hpexpireat<V: View>(call: &mut Call<'_, V>) -> Done {
    expire_by(call, Deadline::PXAT)
}

fn expire_by<V: View>(call: &mut Call<'_, V>, unit: Deadline) -> Done {
    let (key, now) = (call.arg(1), call.unix_ms());
    let wanted = Wanted::parse(call.args, unit, now, call.spec.name);
    let Wanted { moment, condition, fields } = call.keys.if_hash(key, wanted)?;
    let set = |hash: &mut HashMut<'_>, field: &[u8]| match hash.read().expiry_of(field, now) {
        None => NO_FIELD,
        Some(old) if !condition.allows(old, moment) => NOT_MET,
        Some(_) if moment <= now => {
            hash.remove(field, now);
            REMOVED
        }
        Some(_) => {
            hash.set_expiry(field, Some(moment), now);
            CHANGED
        }
    };
    let mut noted = Noted::new(call);
    let out = &mut call.out;
    let edited = call.keys.edit_hash_if_any(key, |hash| {
        (answer(out, fields, &mut noted, |field| set(hash, field)), hash.len() == 0)
    })?;
    let Some((answered, is_empty)) = edited else {
        answer(&mut call.out, fields, &mut noted, |_| NO_FIELD);
        return Ok(());
    };
    // The time is the same for all fields, so either some were removed or some were changed.
    if answered.removed > 0 {
        call.modified_fields(key, HDEL, || noted.fields);
    } else if answered.changed > 0 {
        call.modified_fields(key, HEXPIRE, || noted.fields);
    }
    if is_empty {
        call.remove_if_empty(key);
    }
    Ok(())
}

/// How many fields were answered so.
#[derive(Clone, Copy, Debug, Default)]
struct Answered {
    changed: usize,
    removed: usize,
}

/// Answers for each field what `change` says of it, and notes those that it has changed or removed.
#[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
fn answer<'a>(
    out: &mut Writer<'_>,
    fields: Args<'a>,
    noted: &mut Noted<'a>,
    mut change: impl FnMut(&[u8]) -> i64,
) -> Answered {
    let mut answered = Answered::default();
    out.array(fields.len());
    for field in fields.iter() {
        let code = change(field);
        if code == CHANGED || code == REMOVED {
            noted.note(field);
        }
        answered.changed += usize::from(code == CHANGED);
        answered.removed += usize::from(code == REMOVED);
        out.integer(code);
    }
    answered
}

/// Takes the expiry of fields away.
pub(crate) fn hpersist<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, now) = (call.arg(1), call.unix_ms());
    let fields = fields::parse(call.args, 2, fields::NOT_POSITIVE);
    let fields = call.keys.if_hash(key, fields)?;
    let keep = |hash: &mut HashMut<'_>, field: &[u8]| match hash.read().expiry_of(field, now) {
        None => NO_FIELD,
        Some(None) => NO_EXPIRY,
        Some(Some(_)) => {
            hash.set_expiry(field, None, now);
            CHANGED
        }
    };
    let mut noted = Noted::new(call);
    let out = &mut call.out;
    let edited = call
        .keys
        .edit_hash_if_any(key, |hash| answer(out, fields, &mut noted, |field| keep(hash, field)))?;
    match edited {
        Some(answered) if answered.changed > 0 => {
            call.modified_fields(key, HPERSIST, || noted.fields);
        }
        Some(_) => {}
        None => {
            answer(&mut call.out, fields, &mut noted, |_| NO_FIELD);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_expiry_is_later_than_any() {
        let allows = |word: &[u8], old, new| Condition::parse(word).allows(old, new);
        assert!(allows(b"GT", Some(5), 6) && !allows(b"gt", Some(5), 5) && !allows(b"gt", None, 6));
        assert!(allows(b"lt", Some(5), 4) && !allows(b"lt", Some(5), 5) && allows(b"lt", None, 6));
        assert!(allows(b"nx", None, 6) && !allows(b"nx", Some(5), 6));
        assert!(allows(b"xx", Some(5), 6) && !allows(b"xx", None, 6));
        assert!(allows(b"fields", None, 6) && allows(b"fields", Some(7), 6));
    }
}
