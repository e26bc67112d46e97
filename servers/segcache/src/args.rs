// SPDX-License-Identifier: Apache-2.0
//! The command line: memcached's flags. The rows for flags about the cache are here, all others in `server` and
//! `server-memcache`. A flag overrides the configuration file.

use crate::config::Config;
use clap::{Command, value_parser as is};
use config::ByteSize;
use server::dialect::memcached::{self, Flag, flag, item_size};

pub(crate) const NAME: &str = "segcache";
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn command() -> Command {
    Command::new(NAME).version(VERSION).about("A memcached replacement")
}

/// All flags, in the order of the help.
pub(crate) fn flags() -> Vec<Flag<Config>> {
    let mut own = server_memcache::flags();
    own.push(resp());
    own.extend(cache());
    memcached::flags(own)
}

fn resp() -> Flag<Config> {
    flag("--resp-port", "resp-port")
        .after("port")
        .value("NUM", is!(u16))
        .about("TCP port on which RESP, Redis's protocol, is spoken over the same items [default: none]")
        .over("[resp] port")
        .sets(|said, port| {
            said.config.resp.port = Some(port);
            // On the same addresses as memcache.
            said.config.resp.listen = said.elsewhere(port);
        })
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
            .about("Ask for huge pages, as it does unless [seg] huge_pages is false")
            .over("[seg] huge_pages")
            .does(|said| said.config.seg.huge_pages = Some(true)),
        flag("-I", "max-item-size")
            .after("threads")
            .value("SIZE", item_size as fn(&str) -> Result<ByteSize, String>)
            .about("Largest item in bytes, or with suffix k, m or g [default: 1m]")
            .over("[cache] value_max")
            .sets(|said, size| said.config.cache.set_value_max(size)),
    ]
}

#[cfg(test)]
mod tests;
