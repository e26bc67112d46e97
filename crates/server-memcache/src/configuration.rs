// SPDX-License-Identifier: Apache-2.0
//! [`MemcacheConfiguration`]: a configuration with memcache's sections, and what follows from it.

use protocol_memcache::settings::Memcache;
use protocol_memcache::{ServiceOptions, TlsFiles};
use server::settings::{ClientAuth, Configuration, Tls, TlsVersion, Udp};
use std::net::SocketAddr;
use std::path::Path;

/// The memcached version whose behaviour is reproduced. Clients and tools derive from the reply to `version` what a server
/// can do, and some take nothing but numbers: our own version is in `stats`.
const MEMCACHED_VERSION: &str = "1.6.45";

/// The configuration of a server that speaks memcache's protocol.
pub trait MemcacheConfiguration: Configuration {
    /// The port that is listened on by default.
    const PORT: u16;

    /// What is spoken, by connections and by datagrams.
    fn memcache(&self) -> (&Memcache, &Udp);

    /// The same, to be changed.
    fn memcache_mut(&mut self) -> (&mut Memcache, &mut Udp);
}

/// The options of the memcache service that follow from the sections, which it shows in `stats settings`: all but
/// those of the storage. `name` and `version` are the server's own.
pub fn options<C: MemcacheConfiguration>(config: &C, name: &str, version: &str) -> ServiceOptions {
    let (sections, (memcache, udp)) = (config.sections(), config.memcache());
    let address = sections.server.main_address(C::PORT);
    let options = ServiceOptions::new()
        .version(MEMCACHED_VERSION)
        .software(format!("{name} {version}"))
        .threads(sections.worker.threads)
        .connections_max(sections.server.max_connections)
        .port(address.port)
        .udp_port(udp.addresses(sections.server).first().map_or(0, SocketAddr::port))
        .listen(address.host)
        .backlog(sections.server.backlog)
        .idle_timeout(sections.server.idle_timeout.0)
        .tls(sections.tls.private_key.is_some())
        .forms(memcache.forms())
        .tls_files(tls_files(sections.tls))
        .requests_per_turn(sections.worker.requests_per_turn)
        .socket_mode(sections.server.socket_mode.0)
        .flush(memcache.flush)
        .shutdown(memcache.shutdown)
        .dump(memcache.dump)
        .watch(memcache.watch)
        .prefix_delimiter(memcache.delimiter())
        .detail(memcache.detail);
    match address.socket {
        Some(path) => options.socket_path(path),
        None => options,
    }
}

/// What is wrong with `[udp]`, by itself and beside other sections, if something is: the key and the problem.
pub fn udp_problem<C: MemcacheConfiguration>(config: &C) -> Option<(&'static str, String)> {
    use config::Section;

    let (sections, (memcache, udp)) = (config.sections(), config.memcache());
    let encrypts = sections.tls.private_key.is_some();
    let in_clear = || encrypts.then(|| udp.encryption_problem(sections.server)).flatten();
    let is_open = || memcache.auth_file.is_some() && !udp.addresses(sections.server).is_empty();
    let why = "nobody can log in by datagrams: leave them out, or [memcache] auth_file";
    let in_the_open = || is_open().then(|| ("[udp] port", why.to_owned()));
    udp.problem().or_else(in_clear).or_else(in_the_open)
}

/// What TLS is configured with, in memcached's words.
fn tls_files(tls: &Tls) -> TlsFiles {
    let path = |path: Option<&Path>| path.map(|path| path.display().to_string());
    TlsFiles {
        chain: path(tls.certificate_chain.as_deref()),
        key: path(tls.private_key.as_deref()),
        ca: path(tls.ca_file.as_deref()),
        verify_mode: match tls.client_auth {
            ClientAuth::None => 0,
            ClientAuth::Optional => 1,
            ClientAuth::Required => 2,
        },
        version_min: match tls.min_version {
            TlsVersion::Tls12 => "tlsv1.2",
            TlsVersion::Tls13 => "tlsv1.3",
        },
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    server::configuration! {
        /// That of a server for memcache and nothing else.
        pub(crate) struct Config {
            memcache: Memcache,
            udp: Udp,
        }
    }

    impl MemcacheConfiguration for Config {
        const PORT: u16 = 11211;

        fn memcache(&self) -> (&Memcache, &Udp) {
            (&self.memcache, &self.udp)
        }

        fn memcache_mut(&mut self) -> (&mut Memcache, &mut Udp) {
            (&mut self.memcache, &mut self.udp)
        }
    }

    fn read(text: &str) -> Config {
        config::parse(text, "test.toml").unwrap()
    }

    #[test]
    fn options_follow_from_the_sections() {
        let text = "[server]\nport = 5\nbacklog = 7\n[worker]\nthreads = 3\n[udp]\nport = 6\n\
                    [memcache]\nflush = false\nprotocol = \"binary\"\n\
                    [tls]\ncertificate_chain = \"/c\"\nprivate_key = \"/k\"\nmin_version = \"1.3\"\n";
        let options = options(&read(text), "mine", "1.2.3");
        assert_eq!((options.port, options.udp_port, options.backlog), (5, 6, 7));
        assert_eq!((options.threads, options.flush, options.tls), (3, false, true));
        assert_eq!((&options.version[..], &options.software[..]), ("1.6.45", "mine 1.2.3"));
        let files = options.tls_files;
        assert_eq!((files.chain.as_deref(), files.verify_mode), (Some("/c"), 0));
        assert_eq!(files.version_min, "tlsv1.3");
    }

    #[test]
    fn datagrams_pass_by_no_password_and_no_encryption() {
        let problem = |text: &str| udp_problem(&read(text)).map(|(key, _)| key);
        assert_eq!(problem("[udp]\nport = 5\n"), None);
        let users = "[memcache]\nauth_file = \"/x\"\n";
        assert_eq!(problem(users), None);
        assert_eq!(problem(&format!("{users}[udp]\nport = 5\n")), Some("[udp] port"));
        let tls = "[tls]\ncertificate_chain = \"/c\"\nprivate_key = \"/k\"\n";
        assert_eq!(problem(&format!("{tls}[udp]\nport = 5\n")), Some("[udp] listen"));
        assert_eq!(
            problem("[udp]\ndatagrams_per_second = 0\n"),
            Some("[udp] datagrams_per_second")
        );
    }
}
