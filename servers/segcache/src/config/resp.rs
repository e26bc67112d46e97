// SPDX-License-Identifier: Apache-2.0
//! `[resp]`: where Redis's protocol is spoken.

use super::Config;
use protocol_resp::strings::StringsOptions;
use server::settings::Listen;
use std::net::{IpAddr, SocketAddr};

config::section! {
    /// RESP, the protocol of Redis, beside memcache and over the same items. Off unless it has a `port` or
    /// addresses.
    pub(crate) struct Resp in "resp" {
        /// Where to listen, unless `listen` names addresses.
        pub(crate) host: Option<IpAddr> = None,
            absent "that of `[server]`", example "127.0.0.1";
        /// The TCP port that goes with `host`; 0 lets the system choose.
        pub(crate) port: Option<u16> = None, example 6379;
        /// Listen on these instead, with TLS and `socket_mode` as in `[server]`.
        pub(crate) listen: Vec<Listen> = Vec::new(), takes "list of listen addresses",
            example ["127.0.0.1:6379", "unix:/run/shoebill-segcache/resp"];
    }
}

impl Config {
    /// Where RESP is spoken: nowhere unless the configuration says so.
    pub(crate) fn resp_listen(&self) -> Vec<Listen> {
        let Resp { host, port, listen } = &self.resp;
        let Some(port) = port.filter(|_| listen.is_empty()) else { return listen.clone() };
        let address = SocketAddr::new(host.unwrap_or(self.server.host), port);
        vec![Listen::Tcp { address, plain: false }]
    }

    /// The items must not be open by one protocol while the other asks for a password.
    pub(super) fn resp_problem(&self) -> Option<(&'static str, String)> {
        let is_open = self.memcache.auth_file.is_some() && !self.resp_listen().is_empty();
        let why = "there are no users in RESP: leave out it or [memcache] auth_file";
        is_open.then(|| ("[resp]", why.to_owned()))
    }

    /// What the service of RESP shows in `INFO` and `CONFIG GET`.
    pub(crate) fn resp_options(&self, software: String) -> StringsOptions {
        let port = self.resp_listen().iter().find_map(|listen| match listen {
            Listen::Tcp { address, .. } => Some(address.port()),
            Listen::Unix(_) => None,
        });
        StringsOptions::new()
            .value_max(self.cache.value_max().0 as usize)
            .software(software)
            .threads(self.worker.threads)
            .memory_policy(self.memory_policy())
            .connections_max(self.server.max_connections)
            .port(port.unwrap_or(0))
            .idle_timeout(self.server.idle_timeout.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listen(text: &str) -> Vec<String> {
        let config: Config = ::config::parse(text, "test.toml").unwrap();
        config.resp_listen().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn it_is_off_unless_it_is_configured() {
        assert_eq!(listen(""), [""; 0]);
        assert_eq!(listen("[server]\nport = 1\n[resp]\nhost = \"::1\"\n"), [""; 0]);
        assert_eq!(listen("[resp]\nport = 6379\n"), ["127.0.0.1:6379"]);
        assert_eq!(listen("[server]\nhost = \"::1\"\n[resp]\nport = 6379\n"), ["[::1]:6379"]);
        assert_eq!(listen("[resp]\nhost = \"10.0.0.1\"\nport = 1\n"), ["10.0.0.1:1"]);
        let addresses = "[resp]\nport = 1\nlisten = [\"notls:127.0.0.1:2\", \"unix:/x\"]\n";
        assert_eq!(listen(addresses), ["notls:127.0.0.1:2", "unix:/x"]);
    }

    #[test]
    fn the_policy_is_told_by_its_name() {
        let policy = |text: &str| {
            let config: Config = ::config::parse(text, "test.toml").unwrap();
            config.resp_options(String::new()).memory_policy
        };
        assert_eq!(policy(""), "scored");
        assert_eq!(policy("[seg]\neviction = \"s3fifo\"\n"), "s3fifo");
        assert_eq!(policy("[cache]\nevict = false\n"), "noeviction");
        assert_eq!(policy("[seg]\neviction = \"none\"\n"), "noeviction");
        assert_eq!(policy("[cache]\nstorage = \"hashmap\"\n"), "allkeys-lru");
    }
}
