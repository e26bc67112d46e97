// SPDX-License-Identifier: Apache-2.0
//! Strings as arrays of bits. The first bit is the highest of the first byte.
//!
//! * `bit.rs`: single bits. `count.rs`: counting and finding them. `combine.rs`: several strings at once.
//! * `field.rs`: integers of any width; `integer.rs` has their arithmetic.
//! * `bytes.rs`: what is done to many bytes, without keys and replies.
//! * `string.rs`: the string that is changed.

// Clients send numbers, and arithmetic on them must not wrap. This lint covers all modules below this one: an
// operation that could overflow is allowed only with a reason why it cannot.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod bit;
mod bytes;
mod combine;
mod count;
mod field;
mod integer;
mod string;

pub(crate) use bit::{getbit, setbit};
pub(crate) use combine::bitop;
pub(crate) use count::{bitcount, bitpos};
pub(crate) use field::{bitfield, bitfield_ro};

use crate::host::events::{Class, Event};

/// Bits of a string were changed.
const SETBIT: Event = Event::of(Class::STRING, "setbit");
