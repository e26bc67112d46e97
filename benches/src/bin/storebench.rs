// SPDX-License-Identifier: Apache-2.0
//! Measures a storage engine in this process: `storebench [get|set|scale|all] [--memory BYTES]
//! [--millis N] [--storage seg|hashmap] [--eviction NAME] [--huge-pages] [--integrity]`.
//!
//! * `get`: reads of random resident items, one at a time and in batches of 16 with prefetch.
//! * `set`: writes of new items with eviction running: mean, and percentiles of single writes.
//! * `scale`: one thread against two on one shared store: reads, writes, and writes of one TTL.
//!
//! Keys have 20 bytes and values 64. Each line gives the median and the spread of several rounds.
//!
//! `storebench trace FILE... [--memory SIZE] [--max RECORDS] [--after RECORDS] [--storage seg|hashmap]
//! [--eviction NAME] [--goal objects|bytes | --size-exponent X] [--segment SIZE] [--times]` replays recorded requests
//! instead and prints a line per file: object and byte miss ratio, refused sets, resident items,
//! nanoseconds per operation with those for making and checking keys and values. Sizes may end in `k`,
//! `m` or `g`. With `--after` the first records warm up, and count neither as hit nor as miss. With `--times` the time of the store is that of the records, else the real one.
//! `--storage lru`, `gdsf` or `lfuda` simulates a cache that judges each item by itself, with the times
//! of the records. The format: `benches::trace`.

use benches::storebench::{self, Options};
use benches::trace;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1).peekable();
    let outcome = match args.next_if(|arg| arg == "trace") {
        Some(_) => trace::Options::parse(args).and_then(|options| trace::run(&options)),
        None => Options::parse(args).map(|options| storebench::run(&options)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}
