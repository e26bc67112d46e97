// SPDX-License-Identifier: Apache-2.0
//! Authentication and the protocol version: AUTH, HELLO.

use super::names::check_name;
use crate::acl::DEFAULT;
use crate::engine::any_call::{AnyCall, CallParts};
use crate::host::version::REDIS_VERSION;
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::Version;

/// Says who the client is: a user, or the default one, and its password.
pub(crate) fn auth<'c>(call: &mut impl AnyCall<'c>) -> Done {
    let CallParts { args, .. } = call.parts();
    let (user, password) = match args.len() {
        2 if !call.asks_for_password() => {
            return Err(Fault::new(
                "ERR AUTH <password> called without any password configured for the default user. \
                 Are you sure your configuration is correct?",
            ));
        }
        2 => (DEFAULT, args.arg(1)),
        3 => (args.arg(1), args.arg(2)),
        _ => return Err(Fault::SYNTAX),
    };
    let_in(call, user, password)?;
    call.parts().out.ok();
    Ok(())
}

fn let_in<'c>(call: &mut impl AnyCall<'c>, user: &[u8], password: &[u8]) -> Done {
    if call.log_in(user, password) {
        return Ok(());
    }
    Err(Fault::new("WRONGPASS invalid username-password pair or user is disabled."))
}

/// What HELLO is asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wishes<'a> {
    version: Option<Version>,
    credentials: Option<(&'a [u8], &'a [u8])>,
    name: Option<&'a [u8]>,
}

impl<'a> Wishes<'a> {
    fn parse(mut words: impl ExactSizeIterator<Item = &'a [u8]>) -> Result<Self, Fault> {
        let mut wishes = Wishes::default();
        if let Some(word) = words.next() {
            wishes.version = Some(version(word)?);
        }
        while let Some(word) = words.next() {
            if word.eq_ignore_ascii_case(b"auth") && words.len() >= 2 {
                wishes.credentials = words.next().zip(words.next());
            } else if word.eq_ignore_ascii_case(b"setname") && words.len() >= 1 {
                wishes.name = words.next();
                check_name(wishes.name.unwrap_or_default(), usize::MAX)?;
            } else {
                let text = [b"ERR Syntax error in HELLO option '", word, b"'"].concat();
                return Err(Fault::made(text));
            }
        }
        Ok(wishes)
    }
}

fn version(word: &[u8]) -> Result<Version, Fault> {
    match values::parse_i64(word) {
        Some(2) => Ok(Version::Resp2),
        Some(3) => Ok(Version::Resp3),
        Some(_) => Err(Fault::new("NOPROTO unsupported protocol version")),
        None => Err(Fault::new("ERR Protocol version is not an integer or out of range")),
    }
}

/// Chooses the version of the protocol, and describes the server.
pub(crate) fn hello<'c, C: AnyCall<'c>>(call: &mut C) -> Done {
    let wishes = Wishes::parse(call.parts().args.tail(1).iter())?;
    check_name(wishes.name.unwrap_or_default(), C::NAME_MAX)?;
    if let Some((user, password)) = wishes.credentials {
        let_in(call, user, password)?;
    }
    if !call.parts().user.is_logged_in() && call.asks_for_password() {
        return Err(Fault::new(
            "NOAUTH HELLO must be called with the client already authenticated, otherwise the \
             HELLO AUTH <user> <pass> option can be used to authenticate the client and select the \
             RESP protocol version at the same time",
        ));
    }
    if let Some(name) = wishes.name {
        call.parts().set_name(name);
    }
    if let Some(version) = wishes.version {
        call.set_version(version);
    }
    let mode = if call.is_in_cluster() { "cluster" } else { "standalone" };
    describe(call.parts(), mode);
    Ok(())
}

fn describe(parts: CallParts<'_, '_>, mode: &str) {
    let CallParts { out, version, id, .. } = parts;
    out.map(7);
    out.bulk(b"server");
    out.bulk(b"redis");
    out.bulk(b"version");
    out.bulk(REDIS_VERSION.as_bytes());
    out.bulk(b"proto");
    out.integer(version.number().into());
    out.bulk(b"id");
    out.integer(id.serial() as i64);
    out.bulk(b"mode");
    out.bulk(mode.as_bytes());
    out.bulk(b"role");
    out.bulk(b"master");
    out.bulk(b"modules");
    out.array(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hello_takes_its_options_in_any_order() {
        let parse = |line: &'static str| {
            let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
            Wishes::parse(words.into_iter())
        };
        let all = parse("3 SetName me auth a b").expect("good options");
        assert_eq!(all.version, Some(Version::Resp3));
        assert_eq!(all.credentials, Some((&b"a"[..], &b"b"[..])));
        assert_eq!(all.name, Some(&b"me"[..]));
        assert_eq!(Wishes::parse([].into_iter()), Ok(Wishes::default()));
        for wrong in ["4", "3x", "3 auth a", "3 setname", "3 setname \n", "2 more"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
