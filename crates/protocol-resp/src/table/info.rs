// SPDX-License-Identifier: Apache-2.0
//! What `COMMAND` answers, in the shapes of Redis 7.0.
//!
//! Each function writes one whole reply, or nothing and returns why. They are
//! functions of a [`Catalogue`](super::Catalogue), but for those that look into one given command.
//!
//! * `entry.rs`: `COMMAND`, `COMMAND INFO`, `COMMAND COUNT`.
//! * `docs.rs`: `COMMAND DOCS`, from which `redis-cli` makes its help and its completion.
//! * `list.rs`: `COMMAND LIST`.
//! * `keys.rs`: `COMMAND GETKEYS`, `COMMAND GETKEYSANDFLAGS`.
//! * `help.rs`: `HELP` of any container.
//!
//! ```
//! use protocol_resp::reply::{Version, Writer};
//! use protocol_resp::table::info;
//!
//! let mut out = Vec::new();
//! let words = ["rename", "a", "b"];
//! info::keys(&mut Writer::new(&mut out, Version::Resp2), &words[..]).expect("it has keys");
//! assert_eq!(out, b"*2\r\n$1\r\na\r\n$1\r\nb\r\n");
//! ```

mod docs;
mod entry;
mod help;
mod keys;
mod list;

pub use keys::{NoKeys, keys, keys_and_flags};
pub use list::Filter;

use crate::wire::reply::{Output, Writer};

/// A text as a string.
fn text(out: &mut Writer<'_, impl Output>, text: &str) {
    out.bulk(text.as_bytes());
}

/// A key of a map with a text.
fn pair(out: &mut Writer<'_, impl Output>, key: &str, value: &str) {
    text(out, key);
    text(out, value);
}

/// A set of words.
fn words<W: Iterator<Item = &'static str> + Clone>(out: &mut Writer<'_, impl Output>, words: W) {
    out.set(words.clone().count());
    for word in words {
        out.simple(word);
    }
}
