// SPDX-License-Identifier: Apache-2.0
//! The configuration of `rds`: the sections that all servers share, and `[redis]`.
//!
//! It is read from a TOML file, from a `redis.conf`, or from neither; then the command line overrides it.
//! A Redis parameter that sets the same as a key of a shared section is stored in the section.

use crate::names::{Redis, row};
use crate::users;
use protocol_resp::service::Host;
use server::dialect::redis::{
    self, Directive, Error, ParameterTable, Parameters, RedisConfiguration,
};
use server::settings::{Configuration, Listen};

/// The port that is listened on by default.
pub(crate) const PORT: u16 = 6379;

server::configuration! {
    /// The whole file.
    pub(crate) struct Config {
        redis: Parameters<Redis>,
    }
}

/// A configuration, the warnings about it, and the kind of its file.
pub(crate) type Loaded = redis::Loaded<Config>;

impl RedisConfiguration for Config {
    type Table = Redis;

    const PORT: u16 = PORT;

    fn parameters_mut(&mut self) -> &mut Parameters<Redis> {
        &mut self.redis
    }

    /// Translates the directives about users into a password.
    fn take(&mut self, directive: &Directive) -> Result<bool, Error> {
        let refused = |problem: String| directive.refused(problem);
        let password = match directive.parameter.name {
            "user" => Some(users::password(&directive.value).map_err(refused)?),
            "aclfile" if !directive.value.is_empty() => {
                let text = config::read(&directive.value)?;
                users::password_in_file(&String::from_utf8_lossy(&text)).map_err(refused)?
            }
            _ => return Ok(false),
        };
        if let Some(password) = password {
            let parameter = Redis::find(b"requirepass").expect("the table has it");
            self.redis.set(parameter, &password).map_err(refused)?;
        }
        Ok(true)
    }
}

impl Config {
    /// Whether the server is to go to the background. It does not if a service manager started it and
    /// waits for its notification.
    pub(crate) fn goes_behind(&self, has: impl Fn(&str) -> bool) -> bool {
        let is_supervised = match self.redis.get("supervised") {
            "systemd" => has("NOTIFY_SOCKET"),
            "upstart" => has("UPSTART_JOB"),
            "auto" => has("NOTIFY_SOCKET") || has("UPSTART_JOB"),
            _ => false,
        };
        self.redis.get("daemonize") == "yes" && !is_supervised
    }

    /// The lines that Redis logs when it accepts connections, one for each kind of listener. They begin with
    /// Redis's mark of the log level, which programs that wait for them may look for.
    pub(crate) fn greetings(&self) -> Vec<String> {
        let is_tls = self.tls.private_key.is_some();
        let mut kinds: Vec<&str> = Vec::new();
        for listen in &self.server.listen {
            let kind = match listen {
                Listen::Tcp { plain: false, .. } if is_tls => "tls",
                Listen::Tcp { .. } => "tcp",
                Listen::Unix(_) => "unix",
            };
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        if self.server.listen.is_empty() {
            kinds.push(if is_tls { "tls" } else { "tcp" });
        }
        kinds.iter().map(|kind| format!("* Ready to accept connections {kind}")).collect()
    }

    /// How many databases there are.
    pub(crate) fn databases(&self) -> usize {
        self.redis.get("databases").parse().expect("a value of the right kind")
    }

    /// The largest request in bytes.
    pub(crate) fn request_bytes(&self) -> usize {
        let value = self.redis.get("client-query-buffer-limit");
        value.parse().expect("a value of the right kind")
    }

    /// The configuration as text, with passwords redacted.
    pub(crate) fn text(&self) -> Result<String, config::Error> {
        let mut shown = self.clone();
        shown.redis = self.redis.without_secrets();
        config::print(&shown)
    }

    /// Sets every parameter on the service: those of `[redis]`, and those that sections set.
    pub(crate) fn configure(&self, host: &Host) {
        let set = |name: &str, value: &str| {
            host.configure(row(name), value.as_bytes()).expect("a value of the right kind");
        };
        for (name, value) in self.redis.iter() {
            set(name, value);
        }
        for (name, value) in redis::shown(&self.sections(), PORT) {
            set(name, &value);
        }
    }
}

#[cfg(test)]
mod tests;
