// SPDX-License-Identifier: Apache-2.0
//! Measures the longest steps of the keyspace of `rds` in this process: `pauses [NUMBER]`.
//!
//! With NUMBER (10,000,000 unless said otherwise) keys that expire at once, fields of a hash that is
//! deleted, and twice as many keys while the table grows. The times are those of the wall clock: what
//! the system does meanwhile is in them, so the least of several runs tells most.

use allocator::{SlabAllocator, SlabHeap};
use std::process::ExitCode;
use tikv_jemallocator::Jemalloc;

/// With `_RJEM_MALLOC_CONF=cache_oblivious:false` in the environment the allocator of `rds`, of whose time a part of each
/// step is.
#[global_allocator]
static ALLOCATOR: SlabAllocator<Jemalloc> = SlabAllocator::new(&HEAP);
static HEAP: SlabHeap<Jemalloc> = SlabHeap::new(Jemalloc);

fn main() -> ExitCode {
    // As in `rds`: memory goes back to the system in a thread of the allocator's own.
    tikv_jemalloc_ctl::background_thread::write(true).expect("this allocator has such a thread");
    match std::env::args().nth(1).map_or(Ok(10_000_000), |number| number.parse()) {
        Ok(number) => {
            benches::pauses::run(number);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("pauses [NUMBER]: {error}");
            ExitCode::FAILURE
        }
    }
}
