// SPDX-License-Identifier: Apache-2.0
//! When keys expire: the EXPIRE and TTL families, PERSIST.

use super::super::access::{KeyAccess, KeyChange};
use super::super::deadline::{Deadline, invalid};
use crate::wire::fault::{Done, Fault};

/// On what condition an expiry is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Condition {
    if_none: bool,
    if_any: bool,
    if_later: bool,
    if_earlier: bool,
}

impl Condition {
    /// Reads the options behind the time.
    fn parse<'a>(words: impl Iterator<Item = &'a [u8]>) -> Result<Self, Fault> {
        let mut condition = Condition::default();
        for word in words {
            match word.to_ascii_lowercase().as_slice() {
                b"nx" => condition.if_none = true,
                b"xx" => condition.if_any = true,
                b"gt" => condition.if_later = true,
                b"lt" => condition.if_earlier = true,
                _ => {
                    let mut text = b"ERR Unsupported option ".to_vec();
                    text.extend_from_slice(word);
                    return Err(Fault::made(text));
                }
            }
        }
        let bounds = condition.if_any || condition.if_later || condition.if_earlier;
        if condition.if_none && bounds {
            let text = "ERR NX and XX, GT or LT options at the same time are not compatible";
            return Err(Fault::new(text));
        }
        if condition.if_later && condition.if_earlier {
            let text = "ERR GT and LT options at the same time are not compatible";
            return Err(Fault::new(text));
        }
        Ok(condition)
    }

    /// Whether an expiry at `new` may take the place of the one at `old`. None is later than any.
    fn allows(self, old: Option<u64>, new: i64) -> bool {
        let old_moment = old.map(|moment| moment as i64);
        !(self.if_none && old.is_some()
            || self.if_any && old.is_none()
            || self.if_later && old_moment.is_none_or(|old| new <= old)
            || self.if_earlier && old_moment.is_some_and(|old| new >= old))
    }
}

/// Lets a key expire after some seconds.
pub(crate) fn expire<'c>(call: &mut impl KeyAccess<'c>) -> Done {
    expire_by(call, Deadline::EX)
}

/// Lets a key expire after some milliseconds.
pub(crate) fn pexpire<'c>(call: &mut impl KeyAccess<'c>) -> Done {
    expire_by(call, Deadline::PX)
}

/// Lets a key expire at a time in seconds.
pub(crate) fn expireat<'c>(call: &mut impl KeyAccess<'c>) -> Done {
    expire_by(call, Deadline::EXAT)
}

/// Lets a key expire at a time in milliseconds.
pub(crate) fn pexpireat<'c>(call: &mut impl KeyAccess<'c>) -> Done {
    expire_by(call, Deadline::PXAT)
}

fn expire_by<'c>(call: &mut impl KeyAccess<'c>, unit: Deadline) -> Done {
    let (args, now) = (call.args(), call.unix_ms());
    let condition = Condition::parse(args.tail(3).iter())?;
    let moment = unit.moment(args.integer(2)?, now).ok_or_else(|| invalid(call.spec().name))?;
    let change = match u64::try_from(moment) {
        Ok(moment) if moment > now => KeyChange::Expire(moment),
        // Before 1970, too.
        _ => KeyChange::Remove,
    };
    let done = call.change_key(args.arg(1), |old| {
        if condition.allows(old, moment) { change } else { KeyChange::Keep }
    })?;
    call.out().integer(done.into());
    Ok(())
}

/// Takes a key's expiry away.
pub(crate) fn persist<'c>(call: &mut impl KeyAccess<'c>) -> Done {
    let key = call.args().arg(1);
    let done = call.change_key(key, |old| match old {
        Some(_) => KeyChange::Persist,
        None => KeyChange::Keep,
    })?;
    call.out().integer(done.into());
    Ok(())
}

/// Tells in how many seconds a key expires.
pub(crate) fn ttl<'c>(call: &mut impl KeyAccess<'c>) -> Done {
    let now = call.unix_ms();
    tell(call, |moment| moment.saturating_sub(now).saturating_add(500) / 1000)
}

/// Tells in how many milliseconds a key expires.
pub(crate) fn pttl<'c>(call: &mut impl KeyAccess<'c>) -> Done {
    let now = call.unix_ms();
    tell(call, |moment| moment.saturating_sub(now))
}

/// Tells at what second a key expires.
pub(crate) fn expiretime<'c>(call: &mut impl KeyAccess<'c>) -> Done {
    tell(call, |moment| moment.saturating_add(500) / 1000)
}

/// Tells at what millisecond a key expires.
pub(crate) fn pexpiretime<'c>(call: &mut impl KeyAccess<'c>) -> Done {
    tell(call, |moment| moment)
}

/// -2 without a key, -1 without an expiry, else what `show` makes of the moment.
fn tell<'c>(call: &mut impl KeyAccess<'c>, show: impl Fn(u64) -> u64) -> Done {
    let number = match call.expiry(call.args().arg(1)) {
        None => -2,
        Some(None) => -1,
        Some(Some(moment)) => show(moment) as i64,
    };
    call.out().integer(number);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(words: &[&str]) -> Result<Condition, Fault> {
        Condition::parse(words.iter().map(|word| word.as_bytes()))
    }

    #[test]
    fn no_expiry_is_later_than_any() {
        let later = condition(&["gt"]).unwrap();
        assert!(later.allows(Some(5), 6) && !later.allows(Some(5), 5) && !later.allows(None, 6));
        let earlier = condition(&["LT"]).unwrap();
        assert!(earlier.allows(Some(5), 4) && !earlier.allows(Some(5), 5));
        assert!(earlier.allows(None, 6));
        let both = condition(&["xx", "lt"]).unwrap();
        assert!(both.allows(Some(5), -4) && !both.allows(None, 4));
    }

    #[test]
    fn conditions_that_exclude_each_other_are_refused() {
        for words in [["nx", "xx"], ["nx", "gt"], ["gt", "lt"], ["nx", "foo"]] {
            assert!(condition(&words).is_err(), "{words:?}");
        }
        assert!(condition(&["xx", "gt"]).is_ok());
    }
}
