// SPDX-License-Identifier: Apache-2.0
//! Redis's protocol: the codec of both directions, the command table, and the service.
//!
//! Where to look:
//!
//! * [`parse`]: bytes to requests.
//! * [`reply`]: replies to bytes.
//! * [`table`]: the commands as data.
//! * [`glob`]: patterns.
//! * [`client`]: the other direction of both.
#![forbid(unsafe_code)]

pub mod client;
pub mod glob;
pub mod parse;
pub mod reply;
pub mod table;
