// SPDX-License-Identifier: Apache-2.0
//! [`StringsOptions`]: facts about the server in which the service runs.

use std::time::Duration;

/// Facts about the server, which `INFO` and `CONFIG GET` show.
///
/// Only `value_max` changes the behaviour of the service. The others are only shown to clients, and
/// should be true.
///
/// ```
/// use protocol_resp::strings::StringsOptions;
///
/// let options = StringsOptions::new().software("cachename 1.0").threads(8);
/// assert_eq!(options.value_max, 1 << 20);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StringsOptions {
    /// The largest value in bytes; 1 MiB unless set. The codec must be given the same limit.
    pub value_max: usize,
    /// Name and version of the server.
    pub software: String,
    /// Threads that serve requests.
    pub threads: usize,
    /// The name of the eviction policy.
    pub memory_policy: String,
    /// The most connections at a time.
    pub connections_max: usize,
    /// The TCP port; 0 is none.
    pub port: u16,
    /// After how long without a request a connection is closed; zero is never.
    pub idle_timeout: Duration,
}

impl Default for StringsOptions {
    fn default() -> Self {
        StringsOptions {
            value_max: 1 << 20,
            software: concat!("shoebill ", env!("CARGO_PKG_VERSION")).to_owned(),
            threads: 1,
            memory_policy: "noeviction".to_owned(),
            connections_max: 10_000,
            port: 0,
            idle_timeout: Duration::ZERO,
        }
    }
}

/// Makes a setter for each field of a plain type.
macro_rules! setters {
    ($($(#[$doc:meta])* $field:ident: $type:ty),* $(,)?) => {
        impl StringsOptions {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $field(mut self, $field: $type) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}

setters! {
    /// Sets the largest value in bytes.
    value_max: usize,
    /// Sets the number of threads that serve requests.
    threads: usize,
    /// Sets the most connections at a time.
    connections_max: usize,
    /// Sets the TCP port.
    port: u16,
    /// Sets after how long without a request a connection is closed.
    idle_timeout: Duration,
}

impl StringsOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets name and version of the server.
    #[must_use]
    pub fn software(mut self, software: impl Into<String>) -> Self {
        self.software = software.into();
        self
    }

    /// Sets the name of the eviction policy.
    #[must_use]
    pub fn memory_policy(mut self, policy: impl Into<String>) -> Self {
        self.memory_policy = policy.into();
        self
    }
}
