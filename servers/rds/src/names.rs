// SPDX-License-Identifier: Apache-2.0
//! [`Redis`]: the parameters of `crates/protocol-resp` as a table for reading files and flags.

use protocol_resp::parse::{self, Cursor, Framing};
use protocol_resp::service::config::{Outcome, Parameter, parameter, parameters};
use server::dialect::redis::{Name, ParameterTable};

/// Parameters whose values are secrets.
const SECRETS: [&str; 3] = ["requirepass", "masterauth", "tls-client-key-file-pass"];

/// Redis's parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Redis;

/// The row of a parameter that [`Redis`] has found.
pub(crate) fn row(name: &str) -> &'static Parameter {
    parameter(name.as_bytes()).expect("the table has it")
}

fn name(parameter: &'static Parameter) -> Name {
    Name {
        name: parameter.name(),
        default: parameter.default(),
        about: parameter.about(),
        place: parameter.place(),
        is_list: parameter.is_list(),
        is_secret: SECRETS.contains(&parameter.name()),
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

    /// A line has the syntax of an inline request.
    fn words(line: &str) -> Option<Vec<String>> {
        let input = format!("{line}\n");
        let parsed =
            parse::parse(&Framing::default(), &mut Cursor::default(), input.as_bytes()).ok()?;
        let mut words = Vec::new();
        parsed.map(|request| {
            words.extend(request.iter().map(|word| String::from_utf8_lossy(word).into_owned()));
        });
        (!words.is_empty()).then_some(words)
    }
}
