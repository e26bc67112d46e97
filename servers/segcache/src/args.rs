// SPDX-License-Identifier: Apache-2.0
//! The command line: memcached's flags. The rows for flags about the cache are here, all others in `server`.
//! A flag overrides the configuration file.

use crate::config::Config;
use clap::{Command, value_parser as is};
use config::ByteSize;
use protocol_memcache::settings::Spoken;
use server::dialect::memcached::{self, Flag, flag, item_size};
use std::path::PathBuf;

/// The variable by which a memcached that is built with `--enable-sasl-pwdb` finds its users.
const SASL_FILE: &str = "MEMCACHED_SASL_PWDB";

pub(crate) const NAME: &str = "segcache";
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn command() -> Command {
    Command::new(NAME).version(VERSION).about("A memcached replacement")
}

/// All flags, in the order of the help.
pub(crate) fn flags() -> Vec<Flag<Config>> {
    memcached::flags([ports(), commands(), login(), cache()].into_iter().flatten().collect())
}

fn ports() -> Vec<Flag<Config>> {
    vec![
        // Before `-l`, whose addresses have the TCP port, which is the UDP port if nothing else is said.
        flag("-U", "udp-port")
            .after("port")
            .value("NUM", is!(u16))
            .about("UDP port to receive on, and TCP port unless that is given too; 0 is none [default: 0]")
            .over("[udp] port")
            .sets(|said, port| {
                said.config.udp.port = Some(port).filter(|&port| port != 0);
                said.config.udp.listen.clear();
                if port != 0 {
                    said.config.server.port.get_or_insert(port);
                    // On the same addresses as TCP.
                    said.config.udp.listen = said.elsewhere(port);
                }
            }),
        flag("--resp-port", "resp-port")
            .after("port")
            .value("NUM", is!(u16))
            .about("TCP port on which RESP, Redis's protocol, is spoken over the same items [default: none]")
            .over("[resp] port")
            .sets(|said, port| {
                said.config.resp.port = Some(port);
                // On the same addresses as memcache.
                said.config.resp.listen = said.elsewhere(port);
            }),
    ]
}

/// What is spoken, and what clients may do.
fn commands() -> Vec<Flag<Config>> {
    vec![
        flag("-B", "protocol")
            .after("listen")
            .value("NAME", is!(Spoken))
            .about("What is spoken: auto, ascii or binary [default: auto]")
            .over("[memcache] protocol")
            .sets(|said, spoken| said.config.memcache.protocol = spoken),
        flag("-A", "enable-shutdown")
            .after("protocol")
            .about("Let clients stop the server: shutdown")
            .over("[memcache] shutdown")
            .does(|said| said.config.memcache.shutdown = true),
        flag("-F", "disable-flush-all")
            .after("enable-shutdown")
            .about("Refuse flush_all")
            .over("[memcache] flush")
            .does(|said| said.config.memcache.flush = false),
        flag("-X", "disable-dumping")
            .after("disable-flush-all")
            .about("Refuse to list items: lru_crawler metadump, mgdump, stats cachedump")
            .over("[memcache] dump")
            .does(|said| said.config.memcache.dump = false),
        flag("-W", "disable-watch")
            .after("disable-dumping")
            .about("Refuse to show clients what happens in the server: watch")
            .over("[memcache] watch")
            .does(|said| said.config.memcache.watch = false),
        flag("-D", "")
            .after("disable-watch")
            .value("CHAR", is!(String))
            .about("Count requests by the prefix of their key, which this character ends: stats detail")
            .over("[memcache] detail")
            .sets(|said, delimiter: String| {
                // As memcached, the first character of what is given.
                let first = delimiter.chars().next();
                said.config.memcache.prefix_delimiter = first.into_iter().collect();
                said.config.memcache.detail = true;
            }),
    ]
}

fn login() -> Vec<Flag<Config>> {
    vec![
        flag("-Y", "auth-file")
            .after("protocol")
            .value("FILE", is!(PathBuf))
            .about(
                "Have clients log in as one of the users of this file, lines of user:password; text alone is spoken \
                 unless -B or -S is given",
            )
            .over("[memcache] auth_file")
            .sets(|said, file| {
                said.config.memcache.auth_file = Some(file);
                if !said.has("protocol") {
                    said.config.memcache.protocol = Spoken::Ascii;
                }
            }),
        flag("-S", "enable-sasl")
            .after("auth-file")
            .about(
                "Have clients log in by SASL, as one of the users of -Y FILE, [memcache] auth_file or \
                 $MEMCACHED_SASL_PWDB; the binary protocol alone is spoken unless -B or -Y is given",
            )
            .over("[memcache] auth_file")
            .does(|said| {
                let file = &mut said.config.memcache.auth_file;
                // Without a name it is refused, in the words of its key.
                let named = || std::env::var_os(SASL_FILE).map(PathBuf::from);
                *file = Some(file.take().or_else(named).unwrap_or_default());
                if !said.has("protocol") {
                    let both = said.has("auth-file");
                    said.config.memcache.protocol = if both { Spoken::Auto } else { Spoken::Binary };
                }
            }),
    ]
}

fn cache() -> Vec<Flag<Config>> {
    vec![
        flag("-m", "memory-limit")
            .after("listen")
            .value("MB", is!(u64).range(1..=(1 << 30) - 1))
            .about("Memory for items, their index and connections' buffers, in megabytes [default: 64]")
            .over("[cache] memory")
            .sets(|said, megabytes: u64| said.config.cache.memory = ByteSize(megabytes << 20)),
        flag("-M", "disable-evictions")
            .after("memory-limit")
            .about("Refuse writes when the memory is used up, instead of evicting")
            .over("[seg] eviction")
            .does(|said| said.config.disable_evictions()),
        flag("-L", "enable-largepages")
            .after("disable-evictions")
            .about("Ask for huge pages")
            .over("[seg] huge_pages")
            .does(|said| said.config.seg.huge_pages = true),
        flag("-I", "max-item-size")
            .after("threads")
            .value("SIZE", item_size as fn(&str) -> Result<ByteSize, String>)
            .about("Largest value in bytes, or with suffix k, m or g [default: 1m]")
            .over("[cache] value_max")
            .sets(|said, size| said.config.cache.set_value_max(size)),
    ]
}

#[cfg(test)]
mod tests;
