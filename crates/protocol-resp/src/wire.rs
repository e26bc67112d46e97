// SPDX-License-Identifier: Apache-2.0
//! The wire format: bytes to requests, replies to bytes, and the other direction of both.
//!
//! * [`parse`]: requests. [`reply`]: replies. [`client`]: the client's side of both.
//! * [`codec`]: the format alone. [`fault`]: errors as replies.
//! * [`glob`], [`quote`]: patterns, and bytes as text.
//!
//! Nothing here knows a command.

pub mod client;
pub(crate) mod codec;
pub(crate) mod fault;
pub mod glob;
pub mod parse;
pub mod quote;
pub mod reply;
