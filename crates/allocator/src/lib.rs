// SPDX-License-Identifier: Apache-2.0
//! A memory allocator for caches: small blocks of dense size classes, in slabs that say how full they are.
//!
//! A cache holds millions of blocks of whatever sizes its clients choose. A general allocator has four size classes to
//! each doubling, so a ninth of such memory is unused, on average. Here a fortieth is.
//!
//! * [`SlabHeap`] and [`SlabAllocator`] (`global.rs`): a global allocator over another one, which is asked for slabs, for
//!   large blocks, and for those with an alignment of more than eight bytes.
//! * [`size_class`] (`class.rs`): the memory that a block takes, for those who account for it.
//! * `slab.rs`: memory that is divided into blocks of one size. `bin.rs`: the slabs of one size. `cache.rs`: free blocks
//!   that a thread keeps for itself.
//!
//! A *block* is what a request for memory gets here, not one of those that `buffer` lends. It is taken from those that the
//! thread keeps, which come from the fullest slab of their class, under a lock. Any thread may free it. A slab without a block
//! in use goes back to the allocator below, except for one of each class.
//!
//! [`SlabHeap::each`] tells how full slabs are, and [`SlabHeap::directly`] moves blocks together, so that slabs become empty.
//!
//! Locks are those of the standard library, which allocate nothing on Linux. Where they do, this must not be the global
//! allocator.
//!
//! The allocator below has to give aligned memory without much around it. jemalloc does with `cache_oblivious:false`.
//!
//! The design is that of Bonwick's [slabs](https://www.usenix.org/legacy/publications/library/proceedings/bos94/bonwick.html)
//! with [magazines](https://www.usenix.org/conference/2001-usenix-annual-technical-conference/magazines-and-vmem-extending-slab-allocator-many-cpus-and)
//! of free blocks for each thread.
#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod bin;
#[allow(unsafe_code)]
mod cache;
mod class;
#[allow(unsafe_code)]
mod global;
#[allow(unsafe_code)]
mod slab;

use std::io::{self, Write};
use std::process;

pub use class::{SMALL_MAX, class_number, size_class};
pub use global::{SlabAllocator, SlabHeap, SlabUse};

/// Ends the process if an invariant does not hold, in builds with debug assertions. An allocator must not panic: that
/// allocates, and unwinds through code that does not expect it.
#[inline]
fn assert_invariant(holds: bool, name: &str) {
    if cfg!(debug_assertions) && !holds {
        let _ = writeln!(io::stderr(), "{name} does not hold in the allocator");
        process::abort();
    }
}
