// SPDX-License-Identifier: Apache-2.0
//! Prefetching: asking the CPU for memory ahead of its use, so that cache misses overlap with work
//! and with each other.
//!
//! * [`Stage`] (`stage.rs`): how far a prefetch goes along a request's chain of dependent memory
//!   accesses. The contracts of protocols, stores and keyspaces share it.
//! * [`Hint`] (`hint.rs`): a few cache lines, recorded under a lock and prefetched without it.
//! * [`Memos`] (`memos.rs`): what one stage leaves for the next.
//! * [`read`], [`write()`] and [`address`] (`line.rs`): one cache line, prefetched at once. Nothing
//!   else in the workspace executes the prefetch instruction.
//! * [`copy_past_caches`] (`past.rs`): the contrary, for many bytes that nobody reads soon.
//!
//! A prefetch has no effect except on time:
//!
//! ```
//! use prefetch::Hint;
//!
//! let table = [7_u64; 1024];
//! prefetch::read(&table[512]); // one line, now
//! let hint = Hint::at(&table[0]); // two lines, later
//! hint.fetch();
//! assert_eq!(table[512], 7);
//! ```
#![deny(unsafe_code)]

mod hint;
#[allow(unsafe_code)]
mod line;
mod memos;
#[allow(unsafe_code)]
mod past;
mod stage;

pub use hint::Hint;
pub use line::{address, read, write};
pub use memos::Memos;
pub use past::{MANY_BYTES, copy_past_caches};
pub use stage::Stage;
