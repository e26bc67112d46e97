// SPDX-License-Identifier: Apache-2.0
//! Who the client is, and how it is spoken to: AUTH, HELLO.

use super::super::call::Call;
use super::super::fault::{Done, Fault};
use super::super::host::Host;
use super::super::version::REDIS_VERSION;
use super::names::{check_name, set_name};
use crate::reply::Version;
use std::hint::black_box;
use std::sync::atomic::Ordering::Relaxed;
use storage::keyspace::View;

/// The only user.
pub(crate) const USER: &[u8] = b"default";

/// Says who the client is: the password of the only user.
pub(crate) fn auth<V: View>(call: &mut Call<'_, V>) -> Done {
    let (user, password) = match call.args.len() {
        2 if !call.host.asks_for_password() => {
            return Err(Fault::new(
                "ERR AUTH <password> called without any password configured for the default user. \
                 Are you sure your configuration is correct?",
            ));
        }
        2 => (USER, call.arg(1)),
        3 => (call.arg(1), call.arg(2)),
        _ => return Err(Fault::SYNTAX),
    };
    check(call.host, user, password)?;
    call.conn.framing.authenticated = true;
    call.out.ok();
    Ok(())
}

/// Without a password of its own the user is let in with any.
fn check(host: &Host, user: &[u8], password: &[u8]) -> Done {
    let expected = host.password.read();
    if user == USER && (expected.is_empty() || is_same(password, &expected)) {
        return Ok(());
    }
    Err(Fault::new("WRONGPASS invalid username-password pair or user is disabled."))
}

/// Whether two passwords are the same. The time it takes depends on the length of the first alone:
/// it tells who guesses nothing of the second.
fn is_same(given: &[u8], expected: &[u8]) -> bool {
    let mut difference = given.len() ^ expected.len();
    for (i, byte) in given.iter().enumerate() {
        let other = expected[i % expected.len().max(1)];
        difference |= usize::from(black_box(byte ^ other));
    }
    black_box(difference) == 0
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
                check_name(wishes.name.unwrap_or_default())?;
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
pub(crate) fn hello<V: View>(call: &mut Call<'_, V>) -> Done {
    let wishes = Wishes::parse(call.args.tail(1).iter())?;
    if let Some((user, password)) = wishes.credentials {
        check(call.host, user, password)?;
        call.conn.framing.authenticated = true;
    }
    if !call.conn.framing.authenticated && call.host.asks_for_password() {
        return Err(Fault::new(
            "NOAUTH HELLO must be called with the client already authenticated, otherwise the \
             HELLO AUTH <user> <pass> option can be used to authenticate the client and select the \
             RESP protocol version at the same time",
        ));
    }
    if let Some(name) = wishes.name {
        set_name(call, name);
    }
    if let Some(version) = wishes.version {
        call.set_version(version);
    }
    describe(call);
    Ok(())
}

fn describe<V: View>(call: &mut Call<'_, V>) {
    let (version, id) = (call.conn.version, call.id);
    let out = &mut call.out;
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
    out.bulk(b"standalone");
    out.bulk(b"role");
    out.bulk(b"master");
    out.bulk(b"modules");
    out.array(0);
}

impl<V: View> Call<'_, V> {
    /// Chooses the version of the protocol, from the reply to this command on.
    pub(crate) fn set_version(&mut self, version: Version) {
        self.out.set_version(version);
        self.conn.version = version;
        if let Some(client) = &self.conn.client {
            client.version.store(version.number().into(), Relaxed);
        }
        if let Some(subscriptions) = &self.conn.subscriptions {
            subscriptions.set_version(version);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_compared_in_full() {
        let pairs: [(&str, &str, bool); 8] = [
            ("", "", true),
            ("secret", "secret", true),
            ("secret", "Secret", false),
            ("secret", "secre", false),
            ("secre", "secret", false),
            ("", "secret", false),
            ("aa", "a", false),
            ("secretsecret", "secret", false),
        ];
        for (given, expected, same) in pairs {
            assert_eq!(is_same(given.as_bytes(), expected.as_bytes()), same, "{given} {expected}");
        }
    }

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
