// SPDX-License-Identifier: Apache-2.0
//! The wire format: parses requests and writes replies, and the reverse for clients.
//!
//! * [`parse`]: requests. [`reply`]: replies. [`client`]: the client's side of both.
//! * [`codec`]: the format alone. [`fault`]: errors as replies.
//! * [`glob`], [`quote`]: patterns, and bytes as text.
//!
//! It contains nothing about single commands.

pub mod client;
pub(crate) mod codec;
pub(crate) mod fault;
pub mod glob;
pub mod parse;
pub mod quote;
pub mod reply;
