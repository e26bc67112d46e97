// SPDX-License-Identifier: Apache-2.0
//! The command line: memcached's flags, as far as they have a meaning here, beside those that all
//! servers share. A flag overrides the configuration file.

use crate::config::{Config, PORT};
use crate::options::Extended;
use clap::{ArgAction, Parser};
use config::ByteSize;
use server::cli::CommonArgs;
use server::settings::{Listen, LogLevel, SocketMode};
use server::{Background, Builder, Error};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

pub(crate) const NAME: &str = "segcache";
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A memcached replacement.
#[derive(Debug, Parser)]
#[command(name = NAME, version = VERSION)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) common: CommonArgs,

    /// TCP port to listen on [default: 11211]
    #[arg(short = 'p', long, value_name = "NUM")]
    port: Option<u16>,

    /// TCP port on which RESP, Redis's protocol, is spoken over the same items [default: none]
    #[arg(long, value_name = "NUM")]
    resp_port: Option<u16>,

    /// Unix socket to listen on (instead of TCP)
    #[arg(short = 's', long, value_name = "FILE")]
    unix_socket: Option<PathBuf>,

    /// Access mask of the unix socket, in octal [default: 0700]
    #[arg(short = 'a', long, value_name = "MASK")]
    unix_mask: Option<SocketMode>,

    /// Addresses to listen on, as ADDR or ADDR:PORT, with notls: in front for plain text while TLS is
    /// configured [default: 127.0.0.1]
    #[arg(short = 'l', long, value_name = "ADDR", value_delimiter = ',')]
    listen: Vec<Interface>,

    /// Memory for items, their index and connections' buffers, in megabytes [default: 64]
    #[arg(short = 'm', long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..1 << 30))]
    memory_limit: Option<u64>,

    /// Refuse writes when the memory is used up, instead of evicting
    #[arg(short = 'M', long)]
    disable_evictions: bool,

    /// Ask for huge pages
    #[arg(short = 'L', long)]
    enable_largepages: bool,

    /// Connections served at once [default: 10000]
    #[arg(short = 'c', long, value_name = "NUM")]
    conn_limit: Option<usize>,

    /// Threads that serve requests [default: 1]
    #[arg(short = 't', long, value_name = "NUM")]
    threads: Option<usize>,

    /// Largest value in bytes, or with suffix k or m [default: 1m]
    #[arg(short = 'I', long, value_name = "SIZE", value_parser = item_size)]
    max_item_size: Option<ByteSize>,

    /// Connections that may wait to be accepted [default: 1024]
    #[arg(short = 'b', long, value_name = "NUM")]
    listen_backlog: Option<u32>,

    /// Log more: -v debug, -vv trace
    #[arg(short = 'v', long, action = ArgAction::Count)]
    verbose: u8,

    /// UDP port: only 0, there is no UDP
    #[arg(short = 'U', long, value_name = "NUM", value_parser = clap::value_parser!(u16).range(0..=0))]
    udp_port: Option<u16>,

    /// Go to the background
    #[arg(short = 'd', long)]
    daemon: bool,

    /// File to write the process's number to
    #[arg(short = 'P', long, value_name = "FILE")]
    pidfile: Option<PathBuf>,

    /// User to become, when started by root
    #[arg(short = 'u', long, value_name = "NAME")]
    user: Option<String>,

    /// Keep all memory from being swapped out
    #[arg(short = 'k', long)]
    lock_memory: bool,

    /// Allow core dumps of any size
    #[arg(short = 'r', long)]
    enable_coredumps: bool,

    /// Requests a connection is served before others have their turn [default: 256]
    #[arg(short = 'R', long, value_name = "NUM")]
    max_reqs_per_event: Option<usize>,

    /// Encrypt, with the files of -o ssl_chain_cert=FILE,ssl_key=FILE
    #[arg(short = 'Z', long)]
    enable_ssl: bool,

    /// Options of memcached's: idle_timeout=SECONDS, ssl_chain_cert=FILE, ssl_key=FILE,
    /// ssl_ca_cert=FILE, ssl_verify_mode=NUM, ssl_min_version=NAME; others have no effect
    #[arg(short = 'o', long, value_name = "NAME[=VALUE]", value_delimiter = ',')]
    extended: Vec<Extended>,

    #[command(flatten)]
    idle: Idle,
}

/// Flags of memcached's that change nothing here. Those that would lead somebody to believe in what does
/// not happen, such as a password, are refused.
#[derive(Debug, Default, clap::Args)]
struct Idle {
    #[arg(short = 'f', long, value_name = "NUM", hide = true)]
    slab_growth_factor: Option<f64>,
    #[arg(short = 'n', long, value_name = "BYTES", hide = true)]
    slab_min_size: Option<u64>,
    #[arg(short = 'D', value_name = "CHAR", hide = true)]
    delimiter: Option<char>,
    #[arg(short = 'C', long, hide = true)]
    disable_cas: bool,
    #[arg(short = 'B', long, value_name = "NAME", hide = true)]
    protocol: Option<String>,
    #[arg(short = 'X', long, hide = true)]
    disable_dumping: bool,
    #[arg(short = 'W', long, hide = true)]
    disable_watch: bool,
    #[arg(short = 'A', long, hide = true)]
    enable_shutdown: bool,
    #[arg(short = 'S', long, hide = true)]
    enable_sasl: bool,
    #[arg(short = 'F', long, hide = true)]
    disable_flush_all: bool,
    #[arg(short = 'Y', long, value_name = "FILE", hide = true)]
    auth_file: Option<PathBuf>,
    #[arg(short = 'e', long, value_name = "FILE", hide = true)]
    memory_file: Option<PathBuf>,
}

impl Args {
    /// What memcached does by some flag and this server does not, if such a flag is given: to go on
    /// without would do harm.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let Idle {
            enable_shutdown, enable_sasl, disable_flush_all, auth_file, memory_file, ..
        } = &self.idle;
        let refused: [(bool, &str, &str); 5] = [
            (*enable_shutdown, "-A", "there is no command shutdown: send SIGTERM"),
            (
                *enable_sasl,
                "-S",
                "there is no SASL: have clients show a certificate ([tls] client_auth)",
            ),
            (auth_file.is_some(), "-Y", "there are no passwords: use [tls] client_auth"),
            (*disable_flush_all, "-F", "flush_all cannot be switched off"),
            (memory_file.is_some(), "-e", "nothing is kept over a restart: leave it out"),
        ];
        let given = refused.into_iter().find(|(is_given, ..)| *is_given);
        let flag =
            given.map(|(_, key, problem)| Error::Setting { key, problem: problem.to_owned() });
        let needs_files = self.enable_ssl && !self.extended.iter().any(Extended::is_key);
        match flag {
            Some(error) => Err(error),
            None if needs_files => {
                let problem = "needs -o ssl_chain_cert=FILE,ssl_key=FILE".to_owned();
                Err(Error::Setting { key: "-Z", problem })
            }
            None => Ok(()),
        }
    }

    /// What is accepted and has no effect, in a line.
    pub(crate) fn warning(&self) -> Option<String> {
        let Idle { slab_growth_factor, slab_min_size, delimiter, protocol, .. } = &self.idle;
        let Idle { disable_cas, disable_dumping, disable_watch, .. } = self.idle;
        let is_restricted =
            protocol.as_ref().is_some_and(|name| name != "auto" && name != "auto-negotiate");
        let flags = [
            (slab_growth_factor.is_some(), "-f"),
            (slab_min_size.is_some(), "-n"),
            (delimiter.is_some(), "-D"),
            (is_restricted, "-B"),
            (disable_cas, "-C"),
            (disable_dumping, "-X"),
            (disable_watch, "-W"),
        ];
        let flags = flags.into_iter().filter(|(given, _)| *given).map(|(_, flag)| flag.to_owned());
        let options = self.extended.iter().filter_map(Extended::without_effect);
        let all: Vec<String> = flags.chain(options).collect();
        (!all.is_empty()).then(|| format!("without effect: {}", all.join(", ")))
    }

    /// Tells `builder` what becomes of the process, and lets go of the terminal if so asked.
    pub(crate) fn start(&self, mut builder: Builder) -> Result<Builder, Error> {
        if self.daemon {
            builder = builder.background(Background::enter()?);
        }
        if let Some(path) = &self.pidfile {
            builder = builder.pid_file(path);
        }
        if let Some(user) = &self.user {
            builder = builder.user(user);
        }
        if self.lock_memory {
            builder = builder.lock_memory();
        }
        Ok(if self.enable_coredumps { builder.core_dumps() } else { builder })
    }

    /// Puts what the command line says in place of what the file said.
    pub(crate) fn apply(&self, config: &mut Config) {
        self.apply_listen(config);
        self.common.apply_admin(&mut config.admin);
        self.common.apply_worker(&mut config.worker);
        let set = |to: &mut usize, from: Option<usize>| *to = from.unwrap_or(*to);
        set(&mut config.worker.threads, self.threads);
        set(&mut config.server.max_connections, self.conn_limit);
        if let Some(backlog) = self.listen_backlog {
            config.server.backlog = backlog;
        }
        if let Some(megabytes) = self.memory_limit {
            config.cache.memory = ByteSize(megabytes << 20);
        }
        if let Some(size) = self.max_item_size {
            config.cache.set_value_max(size);
        }
        set(&mut config.worker.requests_per_turn, self.max_reqs_per_event);
        for option in &self.extended {
            option.apply(config);
        }
        if self.disable_evictions {
            config.disable_evictions();
        }
        if self.enable_largepages {
            config.seg.huge_pages = true;
        }
        match self.verbose {
            0 => {}
            1 => config.debug.log_level = LogLevel::Debug,
            _ => config.debug.log_level = LogLevel::Trace,
        }
    }

    fn apply_listen(&self, config: &mut Config) {
        let server = &mut config.server;
        if let Some(mask) = self.unix_mask {
            server.socket_mode = mask;
        }
        if let Some(port) = self.port {
            server.port = Some(port);
            server.listen.clear();
        }
        let port = *server.port.get_or_insert(PORT);
        if !self.listen.is_empty() {
            server.listen = self.listen.iter().map(|interface| interface.at(port)).collect();
        }
        if let Some(path) = &self.unix_socket {
            server.listen = vec![Listen::Unix(path.clone())];
        }
        if let Some(port) = self.resp_port {
            config.resp.port = Some(port);
            // On the same addresses as memcache, each once.
            let mut seen = Vec::new();
            let mut is_new = |interface: &Interface| {
                let is_new = !seen.contains(&interface.ip);
                seen.push(interface.ip);
                is_new
            };
            let interfaces = self.listen.iter().filter(|interface| is_new(interface));
            let at = |interface: &Interface| Interface { port: None, ..*interface }.at(port);
            config.resp.listen = interfaces.map(at).collect();
        }
    }
}

/// An address of `-l`, with or without a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interface {
    ip: IpAddr,
    port: Option<u16>,
    plain: bool,
}

impl Interface {
    fn at(self, port: u16) -> Listen {
        let address = SocketAddr::new(self.ip, self.port.unwrap_or(port));
        Listen::Tcp { address, plain: self.plain }
    }
}

impl std::str::FromStr for Interface {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (rest, plain) = match text.strip_prefix("notls:") {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let named = rest.replacen("localhost", "127.0.0.1", 1);
        let bare = named.trim_start_matches('[').trim_end_matches(']');
        if let Ok(ip) = bare.parse() {
            return Ok(Interface { ip, port: None, plain });
        }
        match named.parse::<SocketAddr>() {
            Ok(address) => Ok(Interface { ip: address.ip(), port: Some(address.port()), plain }),
            Err(_) => Err("expected an IP address, with :PORT if it differs from -p".to_owned()),
        }
    }
}

/// memcached's item sizes: bytes, or with suffix k or m.
fn item_size(text: &str) -> Result<ByteSize, String> {
    let lower = text.to_ascii_lowercase();
    let (digits, shift) = match lower.strip_suffix(['k', 'm']) {
        Some(digits) if lower.ends_with('k') => (digits, 10),
        Some(digits) => (digits, 20),
        None => (lower.as_str(), 0),
    };
    match digits.parse::<u64>() {
        Ok(number) if number <= u64::MAX >> shift => Ok(ByteSize(number << shift)),
        _ => Err("expected a number of bytes, or one with suffix k or m".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Policy, Storage};

    fn config(line: &str) -> Config {
        let args = Args::try_parse_from(line.split_whitespace()).expect(line);
        let mut config = Config::default();
        args.apply(&mut config);
        config
    }

    fn listen(line: &str) -> String {
        let listen = config(line).server.listen;
        listen.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn addresses_take_the_port_of_p_unless_they_have_their_own() {
        assert_eq!(listen("segcache -l 127.0.0.1,::1 -p 22"), "127.0.0.1:22 [::1]:22");
        assert_eq!(listen("segcache -l [::1]:5 -l notls:10.0.0.1:6"), "[::1]:5 notls:10.0.0.1:6");
        assert_eq!(listen("segcache -l localhost"), "127.0.0.1:11211");
        assert_eq!(config("segcache -p 77").server.port, Some(77));
    }

    #[test]
    fn resp_has_a_port_of_its_own_on_the_same_addresses() {
        let listen = |line: &str| {
            let listen = config(line).resp_listen();
            listen.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(listen("segcache"), "");
        assert_eq!(listen("segcache --resp-port 6379"), "127.0.0.1:6379");
        assert_eq!(listen("segcache --resp-port 7 -s /tmp/x"), "127.0.0.1:7");
        let several = "segcache --resp-port 7 -p 5 -l 10.0.0.1,[::1]:9 -l notls:[::2]:8,[::1]:3";
        assert_eq!(listen(several), "10.0.0.1:7 [::1]:7 notls:[::2]:7");
    }

    #[test]
    fn a_unix_socket_takes_the_place_of_tcp() {
        let config = config("segcache -s /tmp/x -a 0770 -p 5");
        assert_eq!(config.server.listen, [Listen::Unix("/tmp/x".into())]);
        assert_eq!(config.server.socket_mode, SocketMode(0o770));
    }

    #[test]
    fn sizes_are_written_as_for_memcached() {
        assert_eq!(config("segcache -I 2m").cache.value_max(), ByteSize(2 << 20));
        assert_eq!(config("segcache -I 512K").cache.value_max(), ByteSize(512 << 10));
        assert_eq!(config("segcache -I 4096").cache.value_max(), ByteSize(4096));
        assert_eq!(config("segcache -m 100").cache.memory, ByteSize(100 << 20));
        assert!(Args::try_parse_from(["segcache", "-I", "1g"]).is_err());
    }

    #[test]
    fn no_evictions_and_large_pages_are_said_in_the_words_of_the_storage() {
        let with = |line: &str, storage: Storage| {
            let args = Args::try_parse_from(line.split_whitespace()).expect(line);
            let mut config = Config::default();
            config.cache.storage = storage;
            args.apply(&mut config);
            config
        };
        for storage in [Storage::Seg, Storage::HashMap] {
            assert!(with("segcache", storage).evicts());
            assert!(!with("segcache -M", storage).evicts());
        }
        let seg = with("segcache -M -L", Storage::Seg);
        assert_eq!((seg.seg.eviction, seg.cache.evict), (Policy::None, true));
        assert!(seg.seg.huge_pages && seg.warnings().is_empty());
        let hash_map = with("segcache -M -L", Storage::HashMap);
        assert_eq!((hash_map.seg.eviction, hash_map.cache.evict), (Policy::Scored, false));
        assert_eq!(hash_map.warnings().len(), 1, "there are no huge pages");
    }

    #[test]
    fn a_file_that_evicts_nothing_means_it_whatever_the_policy() {
        for storage in [Storage::Seg, Storage::HashMap] {
            let mut config = Config::default();
            config.cache.storage = storage;
            config.cache.evict = false;
            assert!(!config.evicts());
        }
    }

    #[test]
    fn a_small_memory_has_small_values_unless_they_are_asked_for() {
        for (line, kilobytes) in [
            ("segcache -m 1", 256),
            ("segcache -m 2", 512),
            ("segcache -m 3", 768),
            ("segcache -m 4", 1024),
            ("segcache -m 64", 1024),
            ("segcache -m 1 -I 128k", 128),
        ] {
            let config = config(line).settled();
            assert_eq!(config.cache.value_max(), ByteSize(kilobytes << 10), "{line}");
            assert!(config.check().is_ok(), "{line}");
        }
        let mut config = config("segcache -m 1");
        config.cache.storage = Storage::HashMap;
        assert_eq!(config.cache.value_max(), ByteSize(512 << 10));
    }

    #[test]
    fn what_changes_nothing_is_told_in_one_line() {
        let warning = |line: &str| {
            let args = Args::try_parse_from(line.split_whitespace()).expect(line);
            assert!(args.check().is_ok(), "{line}");
            args.warning()
        };
        assert_eq!(warning("segcache -d -P /x -u nobody -k -r -R 20 -B auto"), None);
        let line = "segcache -f 1.5 -n 48 -C -B ascii -o modern,hashpower=20,idle_timeout=5";
        let expected = "without effect: -f, -n, -B, -C, -o modern, -o hashpower";
        assert_eq!(warning(line).as_deref(), Some(expected));
    }

    #[test]
    fn what_would_be_believed_in_is_refused() {
        for flag in ["-A", "-S", "-F", "-Y /x", "-e /x", "-Z"] {
            let line = format!("segcache {flag}");
            let args = Args::try_parse_from(line.split_whitespace()).expect(flag);
            let error = args.check().expect_err(flag).to_string();
            assert!(error.starts_with(&format!("{}: ", &flag[..2])), "{error}");
        }
    }

    #[test]
    fn extended_options_fill_sections() {
        let line = "segcache -Z -R 7 -o ssl_chain_cert=/c,ssl_key=/k,idle_timeout=60 \
                    -o ssl_ca_cert=/a,ssl_verify_mode=2,ssl_min_version=tlsv1.3";
        let config = config(line);
        assert_eq!(config.worker.requests_per_turn, 7);
        assert_eq!(config.server.idle_timeout.0.as_secs(), 60);
        assert_eq!(config.tls.certificate_chain.as_deref(), Some("/c".as_ref()));
        assert_eq!(config.tls.private_key.as_deref(), Some("/k".as_ref()));
        assert_eq!(config.tls.ca_file.as_deref(), Some("/a".as_ref()));
        assert_eq!(config.tls.client_auth, server::settings::ClientAuth::Required);
        assert_eq!(config.tls.min_version, server::settings::TlsVersion::Tls13);
        for wrong in
            ["nonsense", "idle_timeout", "idle_timeout=x", "ssl_verify_mode=9", "ext_path=/x"]
        {
            assert!(Args::try_parse_from(["segcache", "-o", wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn verbosity_counts_and_udp_is_refused() {
        assert_eq!(config("segcache -v").debug.log_level, LogLevel::Debug);
        assert_eq!(config("segcache -vv").debug.log_level, LogLevel::Trace);
        assert!(Args::try_parse_from(["segcache", "-U", "0"]).is_ok());
        assert!(Args::try_parse_from(["segcache", "-U", "11211"]).is_err());
    }

    #[test]
    fn a_second_server_takes_another_admin_port() {
        let admin = config("segcache --admin-port 9998").admin;
        assert_eq!((admin.enabled, admin.port), (true, 9998));
        assert_eq!(config("segcache").admin.port, 9999);
    }

    #[test]
    fn the_cpu_time_of_turns_is_recorded_when_asked_for() {
        assert!(config("segcache --turn-cpu-time").worker.turn_cpu_time);
        assert!(!config("segcache").worker.turn_cpu_time);
    }

    #[test]
    fn limits_of_the_cache_are_checked() {
        assert!(config("segcache -m 1024 -I 1m").check().is_ok());
        assert!(config("segcache -I 100").check().is_err());
        assert!(config("segcache -m 2 -I 2m").check().is_err());
    }
}
