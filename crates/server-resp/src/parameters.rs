// SPDX-License-Identifier: Apache-2.0
//! [`Redis`]: the parameters of `protocol-resp` as a table for reading files and flags.

use protocol_resp::parse;
use protocol_resp::service::Host;
use protocol_resp::service::config::{Outcome, Parameter, parameter, parameters};
use server::dialect::redis::{self, Name, ParameterTable, RedisConfiguration};

/// The parameter that is the password of the user `default`.
const PASSWORD: &str = "requirepass";

/// Redis's parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Redis;

/// The row of a parameter that [`Redis`] has found.
fn row(name: &str) -> &'static Parameter {
    parameter(name.as_bytes()).expect("the table has it")
}

/// Sets every parameter of a configuration on the service: those with Redis's names, and those that sections set.
pub fn configure<C: RedisConfiguration<Table = Redis>>(config: &mut C, host: &Host) {
    let set = |name: &str, value: &str| {
        host.configure(row(name), value.as_bytes()).expect("a value of the right kind");
    };
    // What the file of users, or a line of a user, says of `default` counts, as in Redis.
    let (password, others): (Vec<_>, Vec<_>) =
        config.parameters_mut().iter().partition(|(name, _)| *name == PASSWORD);
    for (name, value) in password.into_iter().chain(others) {
        set(name, value);
    }
    for (name, value) in redis::shown(&config.sections(), C::PORT) {
        set(name, &value);
    }
}

fn name(parameter: &'static Parameter) -> Name {
    Name {
        name: parameter.name(),
        default: parameter.default(),
        about: parameter.about(),
        place: parameter.place(),
        is_list: parameter.is_list(),
        is_secret: parameter.is_secret(),
        adds_up: parameter.adds_up(),
    }
}

impl ParameterTable for Redis {
    fn all() -> impl Iterator<Item = Name> {
        parameters().map(name)
    }

    fn find(given: &[u8]) -> Option<Name> {
        parameter(given).map(name)
    }

    fn canonical(name: Name, value: &str) -> Result<String, String> {
        let shown = row(name.name).canonical(value.as_bytes())?;
        Ok(String::from_utf8_lossy(&shown).into_owned())
    }

    fn without_effect(name: Name, value: &str) -> Result<Option<&'static str>, String> {
        match row(name.name).check(value.as_bytes())? {
            Outcome::Set => Ok(None),
            Outcome::NoEffect(why) => Ok(Some(why)),
        }
    }

    fn words(line: &str) -> Option<Vec<String>> {
        let words = parse::words(line.as_bytes())?;
        Some(words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_an_inline_request() {
        assert_eq!(Redis::words("save \"900 1\" ''").unwrap(), ["save", "900 1", ""]);
        assert_eq!(Redis::words("requirepass \"open"), None);
        assert_eq!(Redis::words(""), None);
    }

    #[test]
    fn secrets_are_parameters() {
        for secret in ["requirepass", "masterauth", "tls-client-key-file-pass", "user"] {
            assert!(Redis::find(secret.as_bytes()).is_some_and(|name| name.is_secret), "{secret}");
        }
        assert_eq!(Redis::all().filter(|name| name.is_secret).count(), 6);
    }
}
