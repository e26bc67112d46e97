// SPDX-License-Identifier: Apache-2.0
//! The command line: memcached's flags, as far as they have a meaning here, beside those that all
//! servers share. A flag overrides the configuration file.

use crate::config::{Config, PORT};
use clap::{ArgAction, Parser};
use config::ByteSize;
use server::cli::CommonArgs;
use server::settings::{Listen, LogLevel, SocketMode};
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
}

impl Args {
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
            config.cache.value_max = size;
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
        assert_eq!(config("segcache -I 2m").cache.value_max, ByteSize(2 << 20));
        assert_eq!(config("segcache -I 512K").cache.value_max, ByteSize(512 << 10));
        assert_eq!(config("segcache -I 4096").cache.value_max, ByteSize(4096));
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
