// SPDX-License-Identifier: Apache-2.0
//! Strings, and the numbers in them.
//!
//! * `get.rs`: what reads whole strings. `set.rs`: what stores them. `many.rs`: several at once.
//! * `number.rs`: integers. `float.rs`: floating-point numbers.
//! * `part.rs`: parts of strings. `lcs.rs`: the longest common subsequence of two.
//! * `options.rs`: the options of SET and GETEX.

// Clients send numbers, and arithmetic on them must not wrap. This lint covers all modules below this one: an
// operation that could overflow is allowed only with a reason why it cannot.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod float;
mod get;
mod lcs;
mod many;
mod number;
mod options;
mod part;
mod set;

pub(crate) use float::{incrbyfloat, sum};
pub(crate) use get::{get, getdel, getex, strlen};
pub(crate) use lcs::lcs;
pub(crate) use many::{mget, mset, msetnx};
pub(crate) use number::{decr, decrby, incr, incrby};
pub(crate) use options::{Expiry, ExpiryChange, Only, SetOptions};
pub(crate) use part::{append, getrange, part, setrange};
pub(crate) use set::{getset, psetex, set, setex, setnx};

use crate::host::Host;
use crate::host::events::{Class, Event};
use crate::session::connection::BULK_MAX_LEAST;
use crate::wire::fault::Fault;
use crate::wire::reply::Writer;
use buffer::SendBuf;
use values::{Digits, Entry};

/// A string was stored.
const SET: Event = Event::of(Class::STRING, "set");

/// A key was given an expiry.
const EXPIRE: Event = Event::of(Class::GENERIC, "expire");

/// Writes a string: a large one by reference.
#[inline]
fn reply(entry: &Entry, out: &mut Writer<'_, SendBuf>) {
    match entry.pin() {
        Some(value) => out.bulk_pinned(value),
        None => out.bulk(entry.text(&mut Digits::new())),
    }
}

/// Refuses to make a string of so many bytes: no string is longer than an argument may be.
fn check_length(host: &Host, len: usize) -> Result<(), Fault> {
    if len > BULK_MAX_LEAST && len > host.bulk_max() {
        return Err(Fault::TOO_LONG);
    }
    Ok(())
}
