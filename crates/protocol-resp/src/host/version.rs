// SPDX-License-Identifier: Apache-2.0
//! The versions that clients are told.

/// The Redis whose behaviour this is: clients read it to know which commands there are. The newest
/// of them came with this version.
pub(crate) const REDIS_VERSION: &str = "7.4.0";

/// Our own.
pub(crate) const SHOEBILL_VERSION: &str = env!("CARGO_PKG_VERSION");
