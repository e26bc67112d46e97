// SPDX-License-Identifier: Apache-2.0
//! Replies to bytes.
//!
//! A [`Writer`] appends replies to an [`Output`], in the version of the protocol that the client
//! has chosen. The output is a connection's send buffer, or a plain vector for what goes to other
//! connections. No reply is built in memory first: a command's code calls the writer as it runs.
//!
//! * `writer.rs`: [`Writer`], one method per type of reply.
//! * `header.rs`: the line of type, number and line end with which most replies begin.
//! * `double.rs`: floating-point numbers as text.
//! * `output.rs`: the destination of replies.

mod double;
mod header;
mod output;
mod writer;

pub use double::Digits;
pub use output::Output;
pub use writer::{Version, Writer};

pub(crate) use header::Header;
