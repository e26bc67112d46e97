// SPDX-License-Identifier: Apache-2.0
//! INCREX: adds to a number within bounds, and says when it expires, in one step.

mod arithmetic;

use self::arithmetic::{Bounded, Decimal, Outcome};
use crate::commands::access::{Counted, Number, Only, StringAccess, Until};
use crate::commands::deadline::Deadline;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;

/// What becomes of the expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Keep,
    Persist,
    /// To a moment in unix milliseconds; with ENX only if there is none.
    At(u64, bool),
}

/// The words of a command, before numbers are read.
#[derive(Clone, Copy, Debug, Default)]
struct Words<'a> {
    by_integer: Option<&'a [u8]>,
    by_float: Option<&'a [u8]>,
    lower: Option<&'a [u8]>,
    upper: Option<&'a [u8]>,
    saturates: bool,
    deadline: Option<(Deadline, &'a [u8])>,
    persists: bool,
    if_none: bool,
    only: Option<Only>,
}

impl<'a> Words<'a> {
    /// Reads the options, in any order, each of which is given once.
    fn parse(args: Args<'a>) -> Result<Self, Fault> {
        let mut words = Words::default();
        let mut args = args.iter();
        while let Some(word) = args.next() {
            let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
            let mut value = || args.next().ok_or(Fault::SYNTAX);
            if is(b"byint") && words.by_integer.is_none() && words.by_float.is_none() {
                words.by_integer = Some(value()?);
            } else if is(b"byfloat") && words.by_integer.is_none() && words.by_float.is_none() {
                words.by_float = Some(value()?);
            } else if is(b"lbound") && words.lower.is_none() {
                words.lower = Some(value()?);
            } else if is(b"ubound") && words.upper.is_none() {
                words.upper = Some(value()?);
            } else if is(b"saturate") && !words.saturates {
                words.saturates = true;
            } else if is(b"persist") && !words.persists && !words.if_none {
                words.persists = true;
            } else if is(b"enx") && !words.if_none && !words.persists {
                words.if_none = true;
            } else if is(b"nx") && words.only.is_none() {
                words.only = Some(Only::IfAbsent);
            } else if is(b"xx") && words.only.is_none() {
                words.only = Some(Only::IfPresent);
            } else if let Some(unit) = Deadline::option(word)
                && words.deadline.is_none()
            {
                words.deadline = Some((unit, value()?));
            } else {
                return Err(Fault::SYNTAX);
            }
        }
        if words.persists && words.deadline.is_some() {
            return Err(Fault::SYNTAX);
        }
        if words.if_none && words.deadline.is_none() {
            return Err(Fault::new("ERR ENX flag requires an expiration"));
        }
        Ok(words)
    }

    /// The sum and its bounds.
    fn bounded<D: Decimal>(&self, by: Option<&[u8]>) -> Result<Bounded<D>, Fault> {
        let bounded = Bounded {
            by: by.map_or(Ok(D::ONE), D::increment)?,
            lower: self.lower.map_or(Ok(D::LEAST), |text| D::bound(text, "LBOUND"))?,
            upper: self.upper.map_or(Ok(D::MOST), |text| D::bound(text, "UBOUND"))?,
            saturates: self.saturates,
        };
        if bounded.lower > bounded.upper {
            return Err(Fault::new("ERR LBOUND can't be greater than UBOUND"));
        }
        Ok(bounded)
    }

    fn then(&self, unix_ms: u64, command: &str) -> Result<Then, Fault> {
        match self.deadline {
            Some((unit, number)) => {
                Ok(Then::At(unit.positive(number, unix_ms, command)?, self.if_none))
            }
            None if self.persists => Ok(Then::Persist),
            None => Ok(Then::Keep),
        }
    }
}

impl Then {
    /// What is stored, and until when.
    fn put<D: Decimal>(self, number: D, old: Option<Number<'_>>, now: u64) -> Counted {
        let has_expiry = old.is_some_and(|old| old.has_expiry);
        let until = match self {
            Then::At(_, true) if has_expiry => Until::Keep,
            Then::At(moment, _) if moment <= now => return Counted::Remove,
            Then::At(moment, _) => Until::At(moment),
            Then::Persist if has_expiry => Until::Persist,
            Then::Persist | Then::Keep => Until::Keep,
        };
        Counted::Put(number.stored(), until)
    }
}

/// Adds to a number within bounds. The reply is the new number and what was added.
pub(crate) fn increx<'c>(call: &mut impl StringAccess<'c>) -> Done {
    let words = Words::parse(call.args().tail(2))?;
    match words.by_float {
        Some(by) => add::<arithmetic::Float>(call, &words, Some(by)),
        None => add::<i64>(call, &words, words.by_integer),
    }
}

fn add<'c, D: Decimal>(
    call: &mut impl StringAccess<'c>,
    words: &Words<'_>,
    by: Option<&[u8]>,
) -> Done {
    let (key, now) = (call.args().arg(1), call.unix_ms());
    let bounded = words.bounded::<D>(by)?;
    let then = words.then(now, call.spec().name)?;
    let only = words.only.unwrap_or(Only::Always);
    let (new, added) = call.count(key, |old| {
        let number = old.map_or(Ok(D::ZERO), |old| D::value(old.text))?;
        if !only.allows(old.is_some()) {
            return Ok((Counted::Keep, (number, D::ZERO)));
        }
        Ok(match bounded.add(number)? {
            Outcome::Refused => (Counted::Keep, (number, D::ZERO)),
            Outcome::Sum { new, added } => (then.put(new, old, now), (new, added)),
        })
    })?;
    call.out().array(2);
    new.reply(call.out());
    added.reply(call.out());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::parse::{self, Cursor, Framing};
    use protocol::Parsed;

    fn parsed(line: &str) -> Result<(), String> {
        let line = format!("INCREX k {line}\r\n");
        let framing = Framing { restricted: false, ..Framing::default() };
        let step = parse::parse(&framing, &mut Cursor::default(), line.as_bytes());
        let Ok(Parsed::Request { request, .. }) = step else { panic!("{step:?}") };
        let mut spans = Vec::new();
        let words = Words::parse(request.args(&mut spans).tail(2));
        words.map(|_| ()).map_err(|fault| String::from_utf8_lossy(fault.text()).into_owned())
    }

    #[test]
    fn options_come_in_any_order_and_once() {
        for line in [
            "",
            "BYINT 5",
            "EX 10 BYINT 5 ENX",
            "lbound 0 byfloat 1.5 ubound 9 saturate persist",
            "ENX PXAT 5 XX",
        ] {
            assert_eq!(parsed(line), Ok(()), "{line}");
        }
        for line in [
            "FOO",
            "BYINT",
            "BYINT 1 BYINT 2",
            "BYINT 1 BYFLOAT 2",
            "LBOUND 1 LBOUND 2",
            "UBOUND",
            "SATURATE SATURATE",
            "PERSIST PERSIST",
            "PERSIST ENX",
            "ENX PERSIST",
            "EX 1 PERSIST",
            "PERSIST EX 1",
            "EX 1 EX 1",
            "EX 1 PX 1",
            "NX XX",
            "KEEPTTL",
        ] {
            assert_eq!(parsed(line), Err("ERR syntax error".to_owned()), "{line}");
        }
        assert_eq!(parsed("ENX"), Err("ERR ENX flag requires an expiration".to_owned()));
    }
}
