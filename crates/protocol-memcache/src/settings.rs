// SPDX-License-Identifier: Apache-2.0
//! The section `[memcache]` of a server's configuration. Needs the feature `settings`.
//!
//! ```
//! use protocol_memcache::Forms;
//! use protocol_memcache::settings::Memcache;
//!
//! #[derive(serde::Deserialize)]
//! struct File {
//!     memcache: Memcache,
//! }
//!
//! let file: File = config::parse("[memcache]\nprotocol = \"ascii\"", "cache.toml")?;
//! assert_eq!(file.memcache.forms(), Forms::Text);
//! # Ok::<(), config::Error>(())
//! ```

use crate::{ClusterFile, Forms, UserFile};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

config::section! {
    /// memcache's protocol.
    pub struct Memcache in "memcache" {
        /// Which of its forms: text, binary, or either, which the first byte of a connection tells.
        pub protocol: Spoken = Spoken::Auto;
        /// Users with their passwords, a line of `user:password` for each; read again on SIGHUP. With it, clients must
        /// log in before anything else.
        pub auth_file: Option<PathBuf> = None, example "/etc/shoebill/users",
            rule Memcache::auth_file_problem;
        /// The servers of the cluster that this one is a part of, for clients that discover them: a version, and
        /// `host|address|port` for each; read again on SIGHUP and when it has changed.
        pub cluster_file: Option<PathBuf> = None, example "/etc/shoebill/cluster";
        /// Whether clients may make all items unreadable (`flush_all`).
        pub flush: bool = true;
        /// Whether clients may stop the server (`shutdown`).
        pub shutdown: bool = false;
        /// Whether clients may list all items (`lru_crawler metadump`, `stats cachedump`).
        pub dump: bool = true;
        /// Whether clients may watch what happens in the server (`watch`).
        pub watch: bool = true;
        /// What ends the prefix of a key, by which `stats detail` counts requests: one character.
        pub prefix_delimiter: String = String::from(":"), rule Memcache::prefix_delimiter_problem;
        /// Whether requests are counted by prefix from the start, without `stats detail on`.
        pub detail: bool = false;
    }
}

config::choices! {
    /// The forms that are spoken.
    #[derive(Default)]
    pub enum Spoken {
        /// Both.
        #[default]
        Auto = "auto",
        /// Text alone.
        Ascii = "ascii",
        /// The binary protocol alone.
        Binary = "binary",
    }
}

impl Memcache {
    /// Reads the users.
    ///
    /// # Errors
    ///
    /// The key and the problem, when the file cannot be read or a line of it is no user.
    pub fn users(&self) -> Result<Option<Arc<UserFile>>, (&'static str, String)> {
        let Some(path) = &self.auth_file else { return Ok(None) };
        let file = UserFile::read(path);
        let file = file.map_err(|error| ("[memcache] auth_file", error.to_string()))?;
        Ok(Some(Arc::new(file)))
    }

    /// Reads the servers of the cluster.
    ///
    /// # Errors
    ///
    /// The key and the problem, when the file cannot be read or names no servers.
    pub fn cluster(&self) -> Result<Option<Arc<ClusterFile>>, (&'static str, String)> {
        let Some(path) = &self.cluster_file else { return Ok(None) };
        let file = ClusterFile::read(path);
        let file = file.map_err(|error| ("[memcache] cluster_file", error.to_string()))?;
        Ok(Some(Arc::new(file)))
    }

    fn auth_file_problem(&self) -> Option<String> {
        let is_unnamed = self.auth_file.as_ref().is_some_and(|path| path.as_os_str().is_empty());
        is_unnamed.then(|| {
            "names no file; -S needs one, by -Y FILE or the variable MEMCACHED_SASL_PWDB".to_owned()
        })
    }

    fn prefix_delimiter_problem(&self) -> Option<String> {
        let is_one = matches!(self.prefix_delimiter.as_bytes(), [byte] if byte.is_ascii_graphic());
        (!is_one)
            .then(|| format!("{:?} is not one printable ASCII character", self.prefix_delimiter))
    }

    /// What ends the prefix of a key.
    #[must_use]
    pub fn delimiter(&self) -> u8 {
        self.prefix_delimiter.bytes().next().unwrap_or(b':')
    }

    /// What the codec accepts.
    #[must_use]
    pub fn forms(&self) -> Forms {
        match self.protocol {
            Spoken::Auto => Forms::Auto,
            Spoken::Ascii => Forms::Text,
            Spoken::Binary => Forms::Binary,
        }
    }
}

/// The names that memcached's flag `-B` has for them.
impl FromStr for Spoken {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" | "auto-negotiate" => Ok(Spoken::Auto),
            "ascii" => Ok(Spoken::Ascii),
            "binary" => Ok(Spoken::Binary),
            _ => Err("expected auto, ascii or binary".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memcacheds_names_are_known() {
        for (name, expected) in [
            ("auto", Spoken::Auto),
            ("auto-negotiate", Spoken::Auto),
            ("ascii", Spoken::Ascii),
            ("binary", Spoken::Binary),
        ] {
            assert_eq!(name.parse(), Ok(expected));
        }
        assert!("text".parse::<Spoken>().is_err());
    }
}
