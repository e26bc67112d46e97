// SPDX-License-Identifier: Apache-2.0
//! The classic text commands: lines of words, those of storage commands followed by a body.
//!
//! ```text
//!   input ─┬─ fast.rs: `get <key>` and `set …` as every client writes them
//!          ├─ line.rs: any other line ── by the command's row ─┬─ keys.rs: the first key of a list
//!          │                                                   ├─ set.rs: a line and its body
//!          │                                                   └─ simple.rs: one key or none; crawler.rs: dumps;
//!          │                                                   │  tuning.rs: settings without an effect
//!          └─ keys.rs: inside a list, the next key
//! ```
//!
//! A line that `fast.rs` does not recognise goes to the general parser, `line.rs`. For lines that
//! `fast.rs` recognises both give the same result, which a differential test checks.

mod config;
pub(crate) mod crawler;
mod fast;
pub(super) mod keys;
mod line;
pub(crate) mod set;
pub(crate) mod simple;
#[cfg(test)]
mod tests;
pub(crate) mod tuning;
pub(crate) mod words;

pub(super) use line::foreign;

use super::{Position, Sizes, Step};
use crate::request::Request;
use protocol::Parsed;

/// Finds the next request at the start of a line. Inside of a list of keys, [`keys::next`] does.
#[inline]
pub(super) fn parse<'a>(sizes: &Sizes, position: &mut Position, input: &'a [u8]) -> Step<'a> {
    if let Some(step) = fast::parse(input, sizes.sure_max) {
        return step;
    }
    line::parse(sizes, position, input)
}

/// A whole request.
#[inline]
fn found(request: Request<'_>, consumed: usize) -> Step<'_> {
    Ok(Parsed::Request { request, consumed })
}

/// The end of the line has not arrived.
fn unfinished<'a>() -> Step<'a> {
    Ok(Parsed::NeedMore { at_least: 1 })
}
