// SPDX-License-Identifier: Apache-2.0
//! Measures two workers of `rds` against one in this process, on GET and SET of 64 bytes in pipelines of
//! 32: `workers [MILLISECONDS]` of a round, 500 unless said otherwise.

use allocator::{SlabAllocator, SlabHeap};
use std::process::ExitCode;
use tikv_jemallocator::Jemalloc;

/// With `_RJEM_MALLOC_CONF=cache_oblivious:false` in the environment the allocator of `rds`.
#[global_allocator]
static ALLOCATOR: SlabAllocator<Jemalloc> = SlabAllocator::new(&HEAP);
static HEAP: SlabHeap<Jemalloc> = SlabHeap::new(Jemalloc);

fn main() -> ExitCode {
    match std::env::args().nth(1).map_or(Ok(500), |number| number.parse()) {
        Ok(millis) => {
            benches::workers::run(millis);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("workers [MILLISECONDS]: {error}");
            ExitCode::FAILURE
        }
    }
}
