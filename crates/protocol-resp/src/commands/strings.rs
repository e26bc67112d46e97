// SPDX-License-Identifier: Apache-2.0
//! Strings, and the numbers in them.
//!
//! * `get.rs`: what reads whole strings. `set.rs`: what stores them. `number.rs`: the numbers.
//! * `increx.rs`: a number with bounds and an expiry.
//! * `part.rs`: parts of strings. `lcs.rs`: the longest common subsequence of two.
//! * `options.rs`: the options of SET and GETEX. `compare.rs`: conditions on the string that is there.
//!
//! All but LCS are functions over [`StringAccess`](super::access::StringAccess), which both services have.

// Clients send numbers, and arithmetic on them must not wrap. This lint covers all modules below this one: an
// operation that could overflow is allowed only with a reason why it cannot.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod compare;
mod get;
mod increx;
mod lcs;
mod number;
mod options;
mod part;
mod set;

pub(crate) use compare::{delex, delifeq, digest};
pub(crate) use get::{get, getdel, getex, mget, strlen};
pub(crate) use increx::increx;
pub(crate) use lcs::lcs;
pub(crate) use number::{decr, decrby, incr, incrby, incrbyfloat};
pub(crate) use options::{ExpiryChange, SetOptions};
pub(crate) use part::{PIN_MIN, append, getrange, setrange};
pub(crate) use set::{getset, mset, msetex, msetnx, psetex, set, setex, setnx};

use super::access::StringValue;
use crate::wire::reply::Writer;
use bytes::Bytes;
use values::Digits;

/// Writes a string: a large one by reference.
#[inline]
fn reply<V: StringValue>(value: &V, out: &mut Writer<'_>) {
    match value.pin() {
        Some(pinned) => by_reference::<V>(pinned, out),
        None => out.bulk(value.text(&mut Digits::new())),
    }
}

/// Writes a string of a service by reference, or a part of it.
#[inline]
fn by_reference<V: StringValue>(text: Bytes, out: &mut Writer<'_>) {
    if V::COUNTS_HELD { out.bulk_shared(text) } else { out.bulk_pinned(text) }
}

/// Writes a string, or that there is none.
#[inline]
fn reply_or_null(value: Option<impl StringValue>, out: &mut Writer<'_>) {
    match value {
        Some(value) => reply(&value, out),
        None => out.null(),
    }
}
