// SPDX-License-Identifier: Apache-2.0
//! The configuration of `rds`: the sections that all servers share, and `[redis]`.
//!
//! It is read from a TOML file, from a `redis.conf`, or from neither; then the command line overrides it.
//! A Redis parameter that sets the same as a key of a shared section is stored in the section.

use server::dialect::redis::{self, Parameters, RedisConfiguration};
use server_resp::Redis;

/// The port that is listened on by default.
pub(crate) const PORT: u16 = 6379;

server::configuration! {
    /// The whole file.
    pub(crate) struct Config {
        redis: Parameters<Redis>,
    }
}

/// A configuration, the warnings about it, and the kind of its file.
pub(crate) type Loaded = redis::Loaded<Config>;

impl RedisConfiguration for Config {
    type Table = Redis;

    const PORT: u16 = PORT;

    fn parameters_mut(&mut self) -> &mut Parameters<Redis> {
        &mut self.redis
    }
}

impl Config {
    /// The configuration with defaults of Redis filled in: nobody is closed for being slow, or for leaving replies unread,
    /// unless there are too many.
    pub(crate) fn settle(&mut self) {
        self.server.read_timeout.get_or_insert_default();
        self.server.write_timeout.get_or_insert_default();
    }

    /// Whether there are users in a file of users and beside it. The first ACL LOAD would forget those.
    pub(crate) fn has_users_twice(&self) -> bool {
        !self.redis.get("aclfile").is_empty() && !self.redis.get("user").is_empty()
    }

    /// How many databases there are.
    pub(crate) fn databases(&self) -> usize {
        self.redis.get("databases").parse().expect("a value of the right kind")
    }

    /// Whether memory is taken in huge pages ahead of its use.
    pub(crate) fn takes_huge_pages(&self) -> bool {
        self.redis.get("huge-pages") == "yes"
    }

    /// Whether the system makes no huge pages of its own accord.
    pub(crate) fn disables_huge_pages(&self) -> bool {
        self.redis.get("disable-thp") == "yes"
    }

    /// The largest request in bytes.
    pub(crate) fn request_bytes(&self) -> usize {
        let value = self.redis.get("client-query-buffer-limit");
        value.parse().expect("a value of the right kind")
    }

    /// The configuration as text, with passwords redacted.
    pub(crate) fn text(&self) -> Result<String, config::Error> {
        let mut shown = self.clone();
        shown.redis = self.redis.without_secrets();
        config::print(&shown)
    }
}

#[cfg(test)]
mod tests;
