// SPDX-License-Identifier: Apache-2.0
//! The configuration of `rds`: the sections that all servers share, and `[redis]`.
//!
//! It comes from a TOML file, from a `redis.conf`, or from neither; then from the command line. What
//! Redis says by a parameter and all our servers by a section goes into the section.

use crate::directive::{self, Conf, Directive, merge};
use crate::listening::Listening;
use crate::parameters::Parameters;
use crate::users;
use config::Span;
use protocol_resp::service::Host;
use protocol_resp::service::config::{Outcome, Parameter, parameter};
use serde::{Deserialize, Serialize};
use server::settings::{
    Admin, ClientAuth, DebugLog, Klog, Listen, LogLevel, Sections, Server, SocketMode, Tls, Worker,
};
use std::path::Path;
use std::time::Duration;

/// The port that is listened on by default.
pub(crate) const PORT: u16 = 6379;

/// The whole file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) server: Server,
    pub(crate) worker: Worker,
    pub(crate) redis: Parameters,
    pub(crate) admin: Admin,
    pub(crate) tls: Tls,
    pub(crate) debug: DebugLog,
    pub(crate) klog: Klog,
}

/// A configuration, and what should be known of how it came about.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) config: Config,
    /// What is said without effect, a line each.
    pub(crate) warnings: Vec<String>,
    /// Whether it comes from a file of ours, and not as Redis is configured.
    pub(crate) is_ours: bool,
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Toml(#[from] config::Error),
    #[error(transparent)]
    Directive(#[from] directive::Error),
}

impl Loaded {
    /// The configuration of `file`, if there is one, changed by `flags`.
    ///
    /// Without a file of ours there is no admin plane unless a flag asks for it: who starts the
    /// server as Redis is started, perhaps several times, expects Redis's ports and no other.
    pub(crate) fn load(file: Option<&Path>, flags: Vec<Directive>) -> Result<Self, Error> {
        let mut loaded = Loaded::default();
        let mut directives = Vec::new();
        loaded.config.admin.enabled = false;
        match file {
            None => {}
            Some(file) => {
                let text = config::read(file)?;
                if is_toml(file, &text) {
                    loaded.config = config::parse(text, &config::name(file))?;
                    loaded.is_ours = true;
                } else {
                    let conf = Conf::parse(&String::from_utf8_lossy(&text), file)?;
                    loaded.warn_of_unknown(file, &conf);
                    directives = conf.directives;
                }
            }
        }
        directives.extend(flags);
        loaded.apply(merge(directives))?;
        Ok(loaded)
    }

    fn warn_of_unknown(&mut self, file: &Path, conf: &Conf) {
        if !conf.unknown.is_empty() {
            let names: Vec<_> =
                conf.unknown.iter().map(|(name, place)| format!("{name} ({place})")).collect();
            let names = names.join(", ");
            let file = config::name(file);
            self.warnings.push(format!("{file}: unknown, without effect: {names}"));
        }
    }

    /// Puts what directives say in place of what was said before.
    fn apply(&mut self, directives: Vec<Directive>) -> Result<(), directive::Error> {
        let mut listening = Listening::default();
        let mut idle = Vec::new();
        for mut directive in directives {
            let parameter = directive.parameter;
            let shown = parameter.canonical(directive.value.as_bytes());
            let shown = shown.map_err(|problem| directive.refused(problem))?;
            if parameter.place().is_some() {
                directive.value = String::from_utf8_lossy(&shown).into_owned();
                if !listening.take(&directive)? {
                    self.config.set_shared(&directive);
                }
                continue;
            }
            if self.take_user(&directive)? {
                continue;
            }
            let outcome = self.config.redis.set(parameter, &directive.value);
            match outcome.map_err(|problem| directive.refused(problem))? {
                Outcome::Set => {}
                Outcome::NoEffect(why) => {
                    idle.push(format!("{} ({}: {why})", parameter.name(), directive.place));
                }
            }
        }
        if !idle.is_empty() {
            self.warnings.push(format!("without effect: {}", idle.join(", ")));
        }
        listening.apply(&mut self.config.server, &mut self.config.tls)
    }
}

/// Whether a file is in our own format: by its name, or else by its first line that says something.
fn is_toml(file: &Path, text: &[u8]) -> bool {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => true,
        Some("conf") => false,
        _ => {
            let text = String::from_utf8_lossy(text);
            let says = |line: &&str| !line.is_empty() && !line.starts_with('#');
            let first = text.lines().map(str::trim).find(says).unwrap_or_default();
            first.starts_with('[') || first.contains('=')
        }
    }
}

impl Loaded {
    /// Takes what a directive says of users, if it does, as a password; whether it does.
    fn take_user(&mut self, directive: &Directive) -> Result<bool, directive::Error> {
        let refused = |problem: String| directive.refused(problem);
        let password = match directive.parameter.name() {
            "user" => Some(users::password(&directive.value).map_err(refused)?),
            "aclfile" if !directive.value.is_empty() => {
                let text = config::read(&directive.value)?;
                users::password_in_file(&String::from_utf8_lossy(&text)).map_err(refused)?
            }
            _ => return Ok(false),
        };
        if let Some(password) = password {
            let parameter = parameter(b"requirepass").expect("the table has it");
            self.config.redis.set(parameter, &password).map_err(refused)?;
        }
        Ok(true)
    }
}

impl Config {
    /// Whether the server is to leave who has started it, unless that is a service manager which waits
    /// for its word.
    pub(crate) fn goes_behind(&self, has: impl Fn(&str) -> bool) -> bool {
        let is_supervised = match self.redis.get("supervised") {
            "systemd" => has("NOTIFY_SOCKET"),
            "upstart" => has("UPSTART_JOB"),
            "auto" => has("NOTIFY_SOCKET") || has("UPSTART_JOB"),
            _ => false,
        };
        self.redis.get("daemonize") == "yes" && !is_supervised
    }

    /// What Redis says when it accepts connections, a line for each kind. Who waits for it may look for
    /// the mark of its level, too.
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

    /// The sections as the `server` crate takes them.
    pub(crate) fn sections(&self) -> Sections<'_> {
        Sections {
            server: &self.server,
            worker: &self.worker,
            admin: &self.admin,
            tls: &self.tls,
            debug: &self.debug,
            klog: &self.klog,
        }
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

    /// The same without what nobody else should see.
    pub(crate) fn text(&self) -> Result<String, config::Error> {
        let shown = Config {
            server: self.server.clone(),
            worker: self.worker.clone(),
            redis: self.redis.without_secrets(),
            admin: self.admin.clone(),
            tls: self.tls.clone(),
            debug: self.debug.clone(),
            klog: self.klog.clone(),
        };
        config::print(&shown)
    }

    /// Sets what a section says that all servers share, from a value of the right kind.
    fn set_shared(&mut self, directive: &Directive) {
        let value = directive.value.as_str();
        let number = || value.parse::<u64>().expect("a value of the right kind");
        match directive.parameter.name() {
            "tcp-backlog" => self.server.backlog = number() as u32,
            "maxclients" => self.server.max_connections = number() as usize,
            "timeout" => self.server.idle_timeout = Span(Duration::from_secs(number())),
            "io-threads" => self.worker.threads = number() as usize,
            "unixsocketperm" => {
                let mode = u32::from_str_radix(value, 8).expect("a value of the right kind");
                self.server.socket_mode =
                    if mode == 0 { SocketMode::default() } else { SocketMode(mode) };
            }
            "logfile" => self.debug.log_file = (!value.is_empty()).then(|| value.into()),
            "loglevel" => {
                self.debug.log_level = match value {
                    "debug" => LogLevel::Trace,
                    "verbose" => LogLevel::Debug,
                    "warning" => LogLevel::Warn,
                    "nothing" => LogLevel::Off,
                    _ => LogLevel::Info,
                }
            }
            other => unreachable!("{other} has its place in a section"),
        }
    }

    /// Tells the service every parameter: those of `[redis]`, and those that sections say.
    pub(crate) fn configure(&self, host: &Host) {
        let set = |parameter: &'static Parameter, value: &str| {
            host.configure(parameter, value.as_bytes()).expect("a value of the right kind");
        };
        for (parameter, value) in self.redis.iter() {
            set(parameter, value);
        }
        for (name, value) in self.shared() {
            set(parameter(name.as_bytes()).expect("the table has it"), &value);
        }
    }

    /// What sections say, by the names of Redis.
    fn shared(&self) -> Vec<(&'static str, String)> {
        let Config { server, worker, tls, debug, .. } = self;
        let default = [Listen::Tcp {
            address: (server.host, server.port.unwrap_or(PORT)).into(),
            plain: false,
        }];
        let listen = if server.listen.is_empty() { &default[..] } else { &server.listen };
        let is_tls = tls.private_key.is_some();
        let mut bind: Vec<String> = Vec::new();
        let (mut port, mut tls_port, mut unix) = (0, 0, String::new());
        for place in listen {
            match place {
                Listen::Tcp { address, plain } => {
                    let host = address.ip().to_string();
                    if !bind.contains(&host) {
                        bind.push(host);
                    }
                    let first = if is_tls && !plain { &mut tls_port } else { &mut port };
                    *first = if *first == 0 { address.port() } else { *first };
                }
                Listen::Unix(path) => unix = path.display().to_string(),
            }
        }
        let path = |path: &Option<std::path::PathBuf>| {
            path.as_ref().map_or_else(String::new, |path| path.display().to_string())
        };
        let client_auth = match tls.client_auth {
            ClientAuth::None => "no",
            ClientAuth::Optional => "optional",
            ClientAuth::Required => "yes",
        };
        let level = match debug.log_level {
            LogLevel::Trace => "debug",
            LogLevel::Debug => "verbose",
            LogLevel::Info => "notice",
            LogLevel::Warn | LogLevel::Error => "warning",
            LogLevel::Off => "nothing",
        };
        vec![
            ("bind", bind.join(" ")),
            ("port", port.to_string()),
            ("tls-port", tls_port.to_string()),
            ("unixsocket", unix),
            ("unixsocketperm", format!("{:o}", server.socket_mode.0)),
            ("tcp-backlog", server.backlog.to_string()),
            ("io-threads", worker.threads.to_string()),
            ("maxclients", server.max_connections.to_string()),
            ("timeout", server.idle_timeout.0.as_secs().to_string()),
            ("tls-cert-file", path(&tls.certificate_chain)),
            ("tls-key-file", path(&tls.private_key)),
            ("tls-ca-cert-file", path(&tls.ca_file)),
            ("tls-auth-clients", client_auth.to_owned()),
            ("loglevel", level.to_owned()),
            ("logfile", path(&debug.log_file)),
        ]
    }
}

#[cfg(test)]
mod tests;
