// SPDX-License-Identifier: Apache-2.0
//! The parameters: one table for `CONFIG`, the command line and configuration files.
//!
//! A row contains the name of a parameter, its allowed values, and where its value is stored: in
//! the part of the server that uses it, or here if the parameter is accepted but unused. So each
//! value is stored in one place, and all ways to set it accept and refuse the same values.
//!
//! * `kind.rs`: the syntax of values. `special.rs`: values with a syntax of their own.
//! * `parameter.rs`: a row. `rows/`: the rows, by subject.
//! * `settings.rs`: the settings of connections and encodings. `rewrite.rs`: CONFIG REWRITE.
//! * `config.rs`: [`Host::configure`] and [`Host::configured`], for the program that starts the server, and
//!   the parts of `CONFIG` (`commands/server/config.rs`).

mod kind;
mod parameter;
mod rewrite;
mod rows;
mod settings;
mod special;

pub(crate) use kind::Value;
pub use parameter::Parameter;
pub(crate) use parameter::{Access, Home};
pub use rewrite::ConfigFile;
pub(crate) use settings::{ConnectionSettings, SharedLimits};
pub use special::BufferLimit;

use crate::host::Host;
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// The values of accepted but unused parameters that differ from the default, and the lock under
/// which parameters change.
#[derive(Debug, Default)]
pub(crate) struct Config {
    kept: Mutex<BTreeMap<&'static str, Value>>,
    /// Held while the configuration file is written.
    rewriting: Mutex<()>,
}

/// The effect of a value that was given at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The value is in force.
    Set,
    /// The value is valid but has no effect, for this reason.
    NoEffect(&'static str),
}

/// All parameters.
pub fn parameters() -> impl Iterator<Item = &'static Parameter> {
    rows::ALL.iter().flat_map(|rows| rows.iter())
}

/// The parameter with this name or alias, in any case.
#[must_use]
pub fn parameter(name: &[u8]) -> Option<&'static Parameter> {
    parameters().find(|parameter| parameter.is_called(name))
}

impl Host {
    /// Gives a parameter its value before the server starts.
    ///
    /// # Errors
    ///
    /// What is wrong with the value.
    pub fn configure(&self, parameter: &'static Parameter, text: &[u8]) -> Result<Outcome, String> {
        let outcome = parameter.check(text)?;
        let value = parameter.kind.read(text)?;
        match parameter.home {
            Home::Live { set, .. } | Home::Written { set } => set(self, &value),
            Home::Start | Home::Kept => self.config.keep(parameter, value),
            Home::Fixed(_) | Home::Ignored(_) | Home::Unheeded(_) | Home::Directive(_) => {}
        }
        Ok(outcome)
    }

    /// The value of a parameter, as `CONFIG GET` shows it.
    #[must_use]
    pub fn configured(&self, parameter: &'static Parameter) -> Vec<u8> {
        parameter.kind.show(&self.value(parameter))
    }

    /// The value of a parameter.
    pub(crate) fn value(&self, parameter: &'static Parameter) -> Value {
        match parameter.home {
            Home::Live { get, .. } => get(self),
            Home::Start | Home::Kept | Home::Unheeded(_) => self.config.kept(parameter),
            Home::Fixed(_) | Home::Ignored(_) | Home::Directive(_) | Home::Written { .. } => {
                parameter.default_value()
            }
        }
    }

    /// The value of the parameter with this name.
    pub(crate) fn value_of(&self, name: &str) -> Value {
        self.value(parameter(name.as_bytes()).expect("the table has it"))
    }

    /// Changes parameters while the server runs: all of them, or none if one of the changes is
    /// refused. Then its index is returned with the reason.
    pub(crate) fn reconfigure(
        &self,
        changes: &[(&'static Parameter, &[u8])],
    ) -> Result<(), (usize, String)> {
        let mut ready = Vec::with_capacity(changes.len());
        for (place, (parameter, text)) in changes.iter().enumerate() {
            let value = self.changeable(parameter, text).map_err(|problem| (place, problem))?;
            self.check_room(parameter, &value).map_err(|problem| (place, problem))?;
            ready.push((*parameter, value));
        }
        let mut kept = self.config.kept.lock();
        for (parameter, value) in ready {
            match parameter.home {
                Home::Live { set, .. } => set(self, &value),
                Home::Unheeded(why) => {
                    if value != parameter.default_value() {
                        log::warn!("CONFIG SET {}: no effect, {why}", parameter.name);
                    }
                    kept.insert(parameter.name, value);
                }
                Home::Kept => _ = kept.insert(parameter.name, value),
                // Their values do not change.
                Home::Start
                | Home::Fixed(_)
                | Home::Ignored(_)
                | Home::Directive(_)
                | Home::Written { .. } => {}
            }
        }
        Ok(())
    }

    /// The new value of a parameter, if it may change to that while the server runs.
    fn changeable(&self, parameter: &'static Parameter, text: &[u8]) -> Result<Value, String> {
        let value = parameter.kind.read(text)?;
        match parameter.home {
            Home::Start if value != self.value(parameter) => Err(AT_THE_START.to_owned()),
            Home::Fixed(why) | Home::Ignored(why) if value != parameter.default_value() => {
                Err(why.to_owned())
            }
            Home::Live { .. }
            | Home::Start
            | Home::Kept
            | Home::Written { .. }
            | Home::Fixed(_)
            | Home::Directive(_)
            | Home::Ignored(_)
            | Home::Unheeded(_) => Ok(value),
        }
    }

    /// Whether the system lets a parameter have this value.
    fn check_room(&self, parameter: &'static Parameter, value: &Value) -> Result<(), String> {
        if parameter.name != "maxclients" {
            return Ok(());
        }
        let room =
            self.platform().map(|platform| platform.allow_connections(value.count() as usize));
        match room {
            Some(Err(fewer)) => Err(format!(
                "The operating system is not able to handle the specified number of clients, try \
                 with {fewer}"
            )),
            Some(Ok(())) | None => Ok(()),
        }
    }
}

/// The reason why a parameter that can change in a running Redis cannot change here.
const AT_THE_START: &str = "it is given when this server starts, and stays";

impl Config {
    fn keep(&self, parameter: &'static Parameter, value: Value) {
        self.kept.lock().insert(parameter.name, value);
    }

    /// Whether a value was given to a parameter that is stored here.
    fn is_kept(&self, parameter: &'static Parameter) -> bool {
        self.kept.lock().contains_key(parameter.name)
    }

    fn kept(&self, parameter: &'static Parameter) -> Value {
        let kept = self.kept.lock();
        kept.get(parameter.name).cloned().unwrap_or_else(|| parameter.default_value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_fresh_server_has_the_defaults_of_the_table() {
        let host = Host::new(16);
        for parameter in parameters() {
            let default = parameter.canonical(parameter.default.as_bytes()).expect(parameter.name);
            let shown = host.configured(parameter);
            assert_eq!(shown, default, "{}", parameter.name);
        }
    }

    #[test]
    fn what_somebody_goes_by_says_what_it_is_for() {
        for parameter in parameters() {
            let is_used = matches!(parameter.home, Home::Live { .. } | Home::Start);
            let about = parameter.about;
            assert!(!is_used || about.ends_with('.'), "{}: {about}", parameter.name);
        }
    }

    #[test]
    fn every_name_is_there_once() {
        let mut seen = HashSet::new();
        for name in parameters().flat_map(Parameter::names) {
            assert!(seen.insert(name), "{name}");
            assert_eq!(name, name.to_ascii_lowercase());
        }
        assert_eq!(
            parameter(b"Hash-Max-Ziplist-Value").map(Parameter::name),
            Some("hash-max-listpack-value")
        );
        assert!(parameter(b"nothing").is_none() && parameter(b"").is_none());
    }

    #[test]
    fn several_changes_are_made_or_none() {
        let host = Host::new(16);
        let of = |name: &str| parameter(name.as_bytes()).expect(name);
        let wrong = [(of("hz"), &b"20"[..]), (of("timeout"), b"x")];
        let problem = "argument couldn't be parsed into an integer".to_owned();
        assert_eq!(host.reconfigure(&wrong), Err((1, problem)));
        assert_eq!(host.configured(of("hz")), b"10");
        assert_eq!(host.reconfigure(&[(of("hz"), b"20"), (of("timeout"), b"5")]), Ok(()));
        assert_eq!(
            (host.configured(of("hz")), host.configured(of("timeout"))),
            (b"20".into(), b"5".into())
        );
    }

    #[test]
    fn what_is_fixed_stays_and_what_is_given_at_the_start_does_later() {
        let host = Host::new(16);
        let of = |name: &str| parameter(name.as_bytes()).expect(name);
        assert_eq!(host.configure(of("port"), b"7000"), Ok(Outcome::Set));
        assert_eq!(host.configured(of("port")), b"7000");
        assert_eq!(host.reconfigure(&[(of("port"), b"7000")]), Ok(()), "it is that already");
        assert_eq!(host.reconfigure(&[(of("port"), b"1")]), Err((0, AT_THE_START.to_owned())));
        assert!(host.configure(of("appendonly"), b"yes").is_err());
        assert_eq!(host.configure(of("appendonly"), b"no"), Ok(Outcome::Set));
        assert!(matches!(host.configure(of("save"), b"900 1"), Ok(Outcome::NoEffect(_))));
        assert_eq!(host.configured(of("save")), b"");
        assert_eq!(host.reconfigure(&[(of("save"), b"900 1")]), Ok(()));
        assert_eq!(host.configured(of("save")), b"900 1");
        assert!(host.reconfigure(&[(of("min-replicas-to-write"), b"1")]).is_err());
        assert!(host.configure(of("loadmodule"), b"x.so").is_err());
    }
}
