// SPDX-License-Identifier: Apache-2.0
//! Taking memory from the system before it is written to, in huge pages.
//!
//! Memory in huge pages costs fewer misses of the TLB, but to take one the system clears 2 MiB: 0.1 to 0.4 ms, and
//! milliseconds on a virtual machine whose host has not given them yet. In the middle of a request that is a pause. So
//! the memory of a cache is taken ahead of the writes to it, on a thread that no client waits for.
//!
//! * [`take`], [`keep_small`] and [`page_bytes`] (`advice.rs`): what to tell the system about a mapping of one's own.
//! * [`Pool`] (`pool.rs`): huge pages that a thread keeps ready, for an allocator.
//!
//! ```
//! let map = memmap2::MmapMut::map_anon(4 * pages::HUGE_PAGE)?;
//! let page = pages::huge_page_from(map.as_ptr(), 0);
//! // Before Linux 5.14 it cannot be done. Whether the page is huge, the system decides.
//! let taken = pages::take(true, |advice| map.advise_range(advice, page.start, page.len()));
//! # drop(taken);
//! # Ok::<(), std::io::Error>(())
//! ```
#![deny(unsafe_code)]

mod advice;
mod pool;

pub use advice::{HUGE_PAGE, huge_page_from, keep_small, page_bytes, take};
pub use pool::Pool;
