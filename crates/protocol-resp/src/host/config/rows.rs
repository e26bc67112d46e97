// SPDX-License-Identifier: Apache-2.0
//! The rows of the table of parameters: those of Redis 7, as far as an existing configuration or a
//! tool may name them.

mod absent;
mod cluster;
mod data;
mod network;
mod observe;
mod process;
mod users;

use super::parameter::Parameter;

/// All of them, a file after the other.
pub(super) static ALL: [&[Parameter]; 7] = [
    data::ROWS,
    network::ROWS,
    observe::ROWS,
    process::ROWS,
    users::ROWS,
    cluster::ROWS,
    absent::ROWS,
];

/// The largest value of integers that Redis keeps in 32 bits.
const INT_MAX: i64 = i32::MAX as i64;

/// The smallest of these.
const INT_MIN: i64 = i32::MIN as i64;

/// The largest value of those it keeps in 64.
const LONG_MAX: i64 = i64::MAX;
