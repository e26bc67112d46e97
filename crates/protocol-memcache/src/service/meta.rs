// SPDX-License-Identifier: Apache-2.0
//! The meta commands. What one asks for is in its flags, so each is executed by a function of its own; a key in
//! base64 is decoded here, on the stack.
//!
//! A command that needs no more than the store's plain operations uses them. All others read, decide and write in
//! one atomic step ([`update_versioned`](storage::Store::update_versioned)).

mod arith;
mod delete;
mod get;
mod set;

pub(super) use set::{mode, stored_with};

use super::MemcacheService;
use super::outcome::Outcome;
use super::set::refused;
use crate::op::{Act, Meta};
use crate::parse::meta::{Flags, base64};
use crate::reply::Text;
use crate::reply::meta::{BASE64, Shown};
use buffer::SendBuf;
use clock::Now;
use storage::{Receive, StoreError, Version};

impl<S: Receive> MemcacheService<S> {
    /// Executes a meta command and writes its reply.
    #[inline(never)]
    pub(super) fn meta(&mut self, meta: &Meta<'_>, out: &mut SendBuf, now: Now) -> Outcome {
        with_shown(meta, now, |shown| match meta.act {
            Act::Get => self.meta_get(shown, out),
            Act::Set => self.meta_set(shown, meta.value, out),
            Act::SetTooLarge => self.not_set(shown, StoreError::TooLarge, out),
            Act::Delete => self.meta_delete(shown, out),
            Act::Arith => self.meta_arith(shown, out),
            Act::Describe => self.describe(shown, out),
            Act::Noop => {
                out.put(b"MN\r\n");
                Outcome::Shown
            }
        })
    }
}

/// Calls `with` with what the replies to a command show.
#[inline(always)]
pub(super) fn with_shown<R>(meta: &Meta<'_>, now: Now, with: impl FnOnce(&Shown<'_>) -> R) -> R {
    let decoded;
    let (mut key, flags) = (meta.key(), meta.flags());
    if flags.has(BASE64) {
        decoded = base64::decode(key);
        key = decoded.as_ref().map_or(key, base64::Decoded::as_bytes);
    }
    with(&Shown { key, flags, now })
}

/// The version that a client gives an item. No item has version 0: it asks for one that the store makes.
fn given_version(flags: &Flags<'_>) -> Option<Version> {
    flags.number(b'E').and_then(Version::new)
}

/// Tells a failure of the store, which a quiet request is told as well.
#[cold]
fn failed(error: StoreError, out: &mut SendBuf) -> Outcome {
    refused(error).tell(Text::Whole, out)
}
