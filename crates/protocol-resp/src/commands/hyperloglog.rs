// SPDX-License-Identifier: Apache-2.0
//! HyperLogLogs: PFADD, PFCOUNT, PFMERGE, PFDEBUG, PFSELFTEST.
//!
//! A HyperLogLog is a string, of the same bytes that Redis makes: clients may copy it from one server to the other.
//!
//! * `sketch.rs`: the string, and what is done to it. It is stored in one of two ways: `dense.rs`, `sparse.rs`.
//! * `hash.rs`: from elements to registers. `estimate.rs`: from registers to a number. `estimator.rs`:
//!   both, for elements of sets.
//! * `add.rs`, `count.rs`, `merge.rs`, `debug.rs`: the commands.

// Clients store any strings, and arithmetic on what is in them must not wrap. This lint covers all modules below
// this one: an operation that could overflow is allowed only with a reason why it cannot.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod add;
mod count;
mod debug;
mod dense;
mod estimate;
mod estimator;
mod hash;
mod merge;
mod sketch;
mod sparse;

pub(crate) use add::pfadd;
pub(crate) use count::pfcount;
pub(crate) use debug::{pfdebug, pfselftest};
pub(crate) use estimator::Estimator;
pub(crate) use merge::pfmerge;

use crate::host::events::{Class, Event};
use crate::wire::fault::Fault;

/// How many registers there are: 2 to the power of [`INDEX_BITS`].
const REGISTERS: usize = 1 << INDEX_BITS;

/// So many bits of a hash choose the register.
const INDEX_BITS: u32 = 14;

/// The largest value of a register of a hash: all other bits are 0.
const RUN_MAX: u8 = 51;

/// All registers, one in each byte.
type Registers = [u8; REGISTERS];

/// All registers, as a dense HyperLogLog has them.
type Packed = [u8; dense::LEN];

/// The string is in no way a HyperLogLog.
const NOT_ONE: Fault = Fault::new("WRONGTYPE Key is not a valid HyperLogLog string value.");

/// The string begins as a HyperLogLog does, and goes on in another way.
const CORRUPT: Fault = Fault::new("INVALIDOBJ Corrupted HLL object detected");

/// Elements were noted.
const PFADD: Event = Event::of(Class::STRING, "pfadd");
