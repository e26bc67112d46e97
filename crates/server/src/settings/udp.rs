// SPDX-License-Identifier: Apache-2.0
//! `[udp]`: a section for servers whose protocol is also spoken in UDP datagrams.

use super::{Listen, Server};
use reactor::{AnswerLimits, Quota};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// Datagrams for each source and second, unless the configuration has another number.
const PER_SECOND: u32 = 10_000;

config::section! {
    /// The same protocol in UDP datagrams. Off unless it has a `port` or addresses, for anybody can write a
    /// datagram with a source address that is not theirs.
    pub struct Udp in "udp" {
        /// Where to receive, unless `listen` names addresses.
        pub host: Option<IpAddr> = None,
            absent "that of `[server]`", example "127.0.0.1";
        /// The UDP port that goes with `host`; 0 lets the system choose.
        pub port: Option<u16> = None, example 11211;
        /// Receive on these instead. Datagrams are not encrypted: if `[tls]` has a key, each needs `notls:`.
        pub listen: Vec<Listen> = Vec::new(), takes "list of addresses",
            example ["127.0.0.1:11211", "[::1]:11211"], rule Udp::listen_problem;
        /// The most datagrams of one answer, of 1,400 bytes each; a longer answer is refused.
        pub answer_datagrams: usize = 16, within 1..=1000;
        /// The most datagrams that one source is sent in a second. An IPv4 address is a source, as is the /64
        /// network of an IPv6 address. Requests beyond that are dropped.
        pub datagrams_per_second: Option<u32> = None, takes "number, at least 1",
            absent "10000, and any number to loopback addresses", example 10000, rule Udp::rate_problem;
    }
}

impl Udp {
    /// Where requests are received: nowhere unless the configuration says so.
    #[must_use]
    pub fn places(&self, server: &Server) -> Vec<Listen> {
        let Some(port) = self.port.filter(|_| self.listen.is_empty()) else {
            return self.listen.clone();
        };
        let address = SocketAddr::new(self.host.unwrap_or(server.host), port);
        vec![Listen::Tcp { address, plain: false }]
    }

    /// The addresses of [`Udp::places`].
    #[must_use]
    pub fn addresses(&self, server: &Server) -> Vec<SocketAddr> {
        let address = |place: &Listen| match place {
            Listen::Tcp { address, .. } => Some(*address),
            Listen::Unix(_) => None,
        };
        self.places(server).iter().filter_map(address).collect()
    }

    /// How much is answered.
    #[must_use]
    pub fn limits(&self) -> AnswerLimits {
        let quota = match self.datagrams_per_second {
            Some(number) => Quota::new(number),
            None => Quota::new(PER_SECOND).sparing_loopback(),
        };
        AnswerLimits { datagrams: self.answer_datagrams, quota: Some(Arc::new(quota)) }
    }

    /// What is wrong with receiving datagrams in clear while connections are encrypted, if it is.
    #[must_use]
    pub fn encryption_problem(&self, server: &Server) -> Option<(&'static str, String)> {
        let is_meant = |place: &Listen| matches!(place, Listen::Tcp { plain: true, .. });
        let places = self.places(server);
        let unmeant = places.iter().find(|place| !is_meant(place))?;
        let problem = format!(
            "datagrams are not encrypted, and [tls] has a key: write \"notls:{unmeant}\" if that is meant"
        );
        Some(("[udp] listen", problem))
    }

    fn rate_problem(&self) -> Option<String> {
        (self.datagrams_per_second == Some(0)).then(|| "0 would answer nobody".to_owned())
    }

    fn listen_problem(&self) -> Option<String> {
        let unix = self.listen.iter().find(|place| matches!(place, Listen::Unix(_)))?;
        Some(format!("{unix} is not an address of UDP"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::Section;

    fn section(text: &str) -> Udp {
        #[derive(serde::Deserialize)]
        struct File {
            #[serde(default)]
            udp: Udp,
        }
        config::parse::<File>(text, "test.toml").unwrap().udp
    }

    fn addresses(text: &str) -> Vec<String> {
        let addresses = section(text).addresses(&Server::default());
        addresses.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn it_is_off_unless_it_is_configured() {
        assert_eq!(addresses(""), [""; 0]);
        assert_eq!(addresses("[udp]\nhost = \"::1\"\n"), [""; 0]);
        assert_eq!(addresses("[udp]\nport = 1\n"), ["127.0.0.1:1"]);
        assert_eq!(addresses("[udp]\nport = 1\nhost = \"::1\"\n"), ["[::1]:1"]);
        assert_eq!(addresses("[udp]\nport = 1\nlisten = [\"notls:[::1]:2\"]\n"), ["[::1]:2"]);
        assert!(section("[udp]\nlisten = [\"unix:/x\"]\n").problem().is_some());
        assert!(section("[udp]\nanswer_datagrams = 0\n").problem().is_some());
        assert!(section("[udp]\ndatagrams_per_second = 0\n").problem().is_some());
    }

    #[test]
    fn receiving_in_clear_beside_tls_has_to_be_said() {
        let problem = |text: &str| section(text).encryption_problem(&Server::default());
        assert_eq!(problem(""), None);
        assert_eq!(problem("[udp]\nlisten = [\"notls:127.0.0.1:1\"]\n"), None);
        let (_, told) = problem("[udp]\nport = 1\n").expect("a problem");
        assert!(told.contains("\"notls:127.0.0.1:1\""), "{told}");
        assert!(problem("[udp]\nlisten = [\"notls:127.0.0.1:1\", \"[::1]:1\"]\n").is_some());
    }

    #[test]
    fn answers_are_limited_in_any_case() {
        let source: IpAddr = "192.0.2.1".parse().unwrap();
        let here: IpAddr = "127.0.0.1".parse().unwrap();
        let takes = |text: &str, source, n| {
            let limits = section(text).limits();
            limits.quota.is_some_and(|quota| quota.take(source, clock::Ticks::ZERO, n))
        };
        assert!(takes("", source, 10_000) && !takes("", source, 10_001));
        assert!(takes("", here, 1_000_000));
        let few = "[udp]\ndatagrams_per_second = 5\n";
        assert!(takes(few, here, 5) && !takes(few, here, 6), "it is said for all");
        assert_eq!(section("").limits().datagrams, 16);
    }
}
