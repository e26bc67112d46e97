// SPDX-License-Identifier: Apache-2.0
//! The versions that clients are told.

/// The newest Redis all of whose commands for a cache are there. Clients read it to know which commands they may
/// send; many newer ones are there, too (docs/adr/0027-the-version-that-clients-are-told.md).
pub(crate) const REDIS_VERSION: &str = "7.4.0";

/// Our own.
pub(crate) const SHOEBILL_VERSION: &str = env!("CARGO_PKG_VERSION");
