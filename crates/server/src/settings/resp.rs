// SPDX-License-Identifier: Apache-2.0
//! `[resp]`: a section for servers that speak Redis's protocol beside another one.

use super::{Listen, Server};
use std::net::{IpAddr, SocketAddr};

config::section! {
    /// RESP, the protocol of Redis, beside memcache and over the same items. Off unless it has a `port` or
    /// addresses.
    pub struct Resp in "resp" {
        /// Where to listen, unless `listen` names addresses.
        pub host: Option<IpAddr> = None,
            absent "that of `[server]`", example "127.0.0.1";
        /// The TCP port that goes with `host`; 0 lets the system choose.
        pub port: Option<u16> = None, example 6379;
        /// Listen on these instead, with TLS and `socket_mode` as in `[server]`.
        pub listen: Vec<Listen> = Vec::new(), takes "list of listen addresses",
            example ["127.0.0.1:6379", "unix:/run/shoebill-segcache/resp"];
    }
}

impl Resp {
    /// Where RESP is spoken: nowhere unless the configuration says so.
    #[must_use]
    pub fn places(&self, server: &Server) -> Vec<Listen> {
        let Resp { host, port, listen } = self;
        let Some(port) = port.filter(|_| listen.is_empty()) else { return listen.clone() };
        let address = SocketAddr::new(host.unwrap_or(server.host), port);
        vec![Listen::Tcp { address, plain: false }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default, serde::Deserialize)]
    #[serde(default)]
    struct File {
        server: Server,
        resp: Resp,
    }

    fn listen(text: &str) -> Vec<String> {
        let file: File = config::parse(text, "test.toml").unwrap();
        file.resp.places(&file.server).iter().map(ToString::to_string).collect()
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
}
