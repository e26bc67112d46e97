// SPDX-License-Identifier: Apache-2.0
//! The code of the guides in `docs/dev`, compiled and run as they stand: the crate of
//! `add-a-protocol.md` is this one, its wiring is [`wire`], and the test of `add-a-storage.md` is in `tests/storage.rs`.
//!
//! `build.rs` takes the blocks out of the guides; nothing is written twice.
#![forbid(unsafe_code)]

use server::settings::Sections;

include!(concat!(env!("OUT_DIR"), "/protocol.rs"));

/// A configuration, as a server has it.
pub trait Config {
    /// The sections that all servers share.
    fn sections(&self) -> Sections<'_>;
}

/// What the guide's `main.rs` ends with.
///
/// # Errors
///
/// Those of the server.
pub fn wire(builder: server::Builder, config: &impl Config) -> Result<(), server::Error> {
    include!(concat!(env!("OUT_DIR"), "/wiring.rs"))
}
