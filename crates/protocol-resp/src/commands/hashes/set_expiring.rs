// SPDX-License-Identifier: Apache-2.0
//! Setting fields together with their expiry: HSETEX.

use super::super::deadline::Deadline;
use super::super::named::visit_named;
use super::{HDEL, HEXPIRE, HSET, moment};
use crate::commands::access::Only;
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use keyspace::View;
use values::{HashMut, Type};

/// When fields expire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expiry {
    Never,
    /// When they did before.
    Keep,
    /// Then, or they are removed if the time has passed.
    At(u64),
}

/// What HSETEX is to do.
#[derive(Clone, Copy, Debug)]
struct Options<'a> {
    /// Fields are set if the key is there, or is not.
    key: Only,
    /// They are set if all of them are there, or none is.
    only: Only,
    expiry: Expiry,
    /// Fields, each with its value.
    pairs: Args<'a>,
}

impl<'a> Options<'a> {
    /// Reads the arguments.
    #[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
    fn parse(args: Args<'a>, now: u64, command: &str) -> Result<Self, Fault> {
        let (mut key, mut only, mut expiry) = (Only::Always, Only::Always, Expiry::Never);
        let mut at = 2;
        while let Some(word) = args.get(at) {
            let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
            let unit = Deadline::option(word);
            if is(b"fields") {
                let pairs = pairs(args, at, command)?;
                return Ok(Options { key, only, expiry, pairs });
            } else if unit.is_some() || is(b"keepttl") {
                if expiry != Expiry::Never {
                    let text =
                        "ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified";
                    return Err(Fault::new(text));
                }
                expiry = Expiry::Keep;
                if let Some(unit) = unit {
                    at += 1;
                    let time = args.get(at).ok_or(Fault::new("ERR missing expire time"))?;
                    expiry = Expiry::At(moment::parse(unit, time, now, command)?);
                }
            } else if is(b"fnx") || is(b"fxx") {
                if only != Only::Always {
                    let text = "ERR Only one of FXX or FNX arguments can be specified";
                    return Err(Fault::new(text));
                }
                only = if is(b"fnx") { Only::IfAbsent } else { Only::IfPresent };
            } else if is(b"nx") || is(b"xx") {
                let given = if is(b"nx") { Only::IfAbsent } else { Only::IfPresent };
                if key != Only::Always && key != given {
                    return Err(Fault::SYNTAX);
                }
                key = given;
            } else {
                let mut text = b"ERR unknown argument: ".to_vec();
                text.extend_from_slice(word);
                return Err(Fault::made(text));
            }
            at += 1;
        }
        Err(Fault::arity(command))
    }

    /// Whether the fields that are there allow to set them.
    fn allow(&self, hash: &HashMut<'_>, now: u64) -> bool {
        let mut fields = self.pairs.iter().step_by(2);
        match self.only {
            Only::Always => true,
            Only::IfAbsent => !fields.any(|field| hash.read().contains(field, now)),
            Only::IfPresent => fields.all(|field| hash.read().contains(field, now)),
        }
    }

    /// Sets the fields.
    fn apply(&self, hash: &mut HashMut<'_>, now: u64) {
        visit_named(hash, self.pairs, 0, |hash, [field, value]| {
            match self.expiry {
                Expiry::Never => hash.set(field, value, now),
                Expiry::Keep => hash.set_keeping_expiry(field, value, now),
                Expiry::At(moment) if moment <= now => hash.remove(field, now),
                Expiry::At(moment) => {
                    hash.set_keeping_expiry(field, value, now);
                    hash.set_expiry(field, Some(moment), now)
                }
            };
        });
    }
}

/// The fields and values behind the word `FIELDS`, which is at `at`.
#[expect(clippy::arithmetic_side_effects, reason = "positions among the arguments")]
fn pairs<'a>(args: Args<'a>, at: usize, command: &str) -> Result<Args<'a>, Fault> {
    let pairs = args.tail(at + 2);
    if pairs.len() < 2 {
        return Err(Fault::arity(command));
    }
    let number = values::parse_i64(args.arg(at + 1));
    let number = number.filter(|number| (1..=i64::from(i32::MAX)).contains(number));
    let number = number.ok_or(Fault::new("ERR invalid number of fields"))?;
    if i64::try_from(pairs.len()).ok() != number.checked_mul(2) {
        Err(Fault::arity(command))
    } else {
        Ok(pairs)
    }
}

/// Sets fields, all or none, and when they expire.
pub(crate) fn hsetex<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, now) = (call.arg(1), call.unix_ms());
    let options = Options::parse(call.args, now, call.spec.name)?;
    if options.key != Only::Always {
        let is_there = call.keys.get_mut(key, Type::Hash)?.is_some();
        if !options.key.allows(is_there) {
            call.out.integer(0);
            return Ok(());
        }
    }
    let set = |hash: &mut HashMut<'_>| {
        let is_set = options.allow(hash, now);
        if is_set {
            options.apply(hash, now);
        }
        (is_set, hash.len() == 0)
    };
    let (is_set, is_empty) = if options.only == Only::IfPresent {
        call.keys.edit_hash_if_any(key, set)?.unwrap_or_default()
    } else {
        call.keys.edit_hash(key, |hash| Ok(set(hash)))?
    };
    if is_set {
        let fields = || options.pairs.iter().step_by(2).collect::<Vec<_>>();
        call.modified_fields(key, HSET, fields);
        if let Expiry::At(moment) = options.expiry {
            let fields = if call.names_fields() { fields() } else { Vec::new() };
            call.notify_fields(key, if moment > now { HEXPIRE } else { HDEL }, &fields);
        }
    }
    if is_empty {
        call.remove_if_empty(key);
    }
    call.out.integer(is_set.into());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::parse;
    use crate::wire::parse::{Cursor, Framing};
    use protocol::Parsed;

    fn parsed(line: &str) -> Result<(Only, Expiry, usize), String> {
        let line = format!("{line}\r\n");
        let mut cursor = Cursor::default();
        let step = parse::parse(
            &Framing { restricted: false, ..Framing::default() },
            &mut cursor,
            line.as_bytes(),
        );
        let Ok(Parsed::Request { request, .. }) = step else { panic!("{step:?}") };
        let mut spans = Vec::new();
        let options = Options::parse(request.args(&mut spans), 1000, "hsetex");
        let options =
            options.map_err(|fault| String::from_utf8_lossy(fault.text()).into_owned())?;
        Ok((options.only, options.expiry, options.pairs.len()))
    }

    #[test]
    fn options_come_in_any_order() {
        let all = Ok((Only::IfPresent, Expiry::At(3000), 2));
        assert_eq!(parsed("HSETEX h FXX EX 2 FIELDS 1 a b"), all);
        assert_eq!(parsed("HSETEX h pxat 3000 fxx fields 1 a b"), all);
        assert_eq!(parsed("HSETEX h FIELDS 2 a b c d"), Ok((Only::Always, Expiry::Never, 4)));
        assert_eq!(
            parsed("HSETEX h KEEPTTL FNX FIELDS 1 a b"),
            Ok((Only::IfAbsent, Expiry::Keep, 2))
        );
    }

    #[test]
    fn what_is_not_right_is_refused() {
        let arity = "ERR wrong number of arguments for 'hsetex' command";
        for (line, error) in [
            ("HSETEX h FIELDS 1 a", arity),
            ("HSETEX h FIELDS 2 a b", arity),
            ("HSETEX h FIELDS 1 a b c", arity),
            ("HSETEX h FXX EX 10", arity),
            ("HSETEX h FIELDS 0 a b", "ERR invalid number of fields"),
            ("HSETEX h FIELDS x a b", "ERR invalid number of fields"),
            (
                "HSETEX h FXX FNX FIELDS 1 a b",
                "ERR Only one of FXX or FNX arguments can be specified",
            ),
            ("HSETEX h FOO FIELDS 1 a b", "ERR unknown argument: FOO"),
            ("HSETEX h FXX EX", "ERR missing expire time"),
        ] {
            assert_eq!(parsed(line), Err(error.to_owned()), "{line}");
        }
        assert!(parsed("HSETEX h EX 1 KEEPTTL FIELDS 1 a b").is_err());
    }
}
