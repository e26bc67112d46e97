// SPDX-License-Identifier: Apache-2.0
//! `[resp]`: where Redis's protocol is spoken.

use super::Config;
use protocol_resp::strings::StringsOptions;
use serde::{Deserialize, Serialize};
use server::settings::Listen;
use std::net::{IpAddr, SocketAddr};

/// `[resp]`: RESP beside memcache, over the same items. Off unless it has a port or addresses.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Resp {
    /// The address that goes with `port`; that of `[server]` when absent.
    pub(crate) host: Option<IpAddr>,
    /// The TCP port to listen on.
    pub(crate) port: Option<u16>,
    /// Addresses to listen on, instead of `host` and `port`.
    pub(crate) listen: Vec<Listen>,
}

impl Config {
    /// Where RESP is spoken: nowhere unless the configuration says so.
    pub(crate) fn resp_listen(&self) -> Vec<Listen> {
        let Resp { host, port, listen } = &self.resp;
        let Some(port) = port.filter(|_| listen.is_empty()) else { return listen.clone() };
        let address = SocketAddr::new(host.unwrap_or(self.server.host), port);
        vec![Listen::Tcp { address, plain: false }]
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
            .memory_max(self.cache.memory.0)
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
