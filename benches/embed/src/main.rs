// SPDX-License-Identifier: Apache-2.0
//! In-process caches compared at equal resident memory: hit ratio and CPU time per read.
//!
//! ```console
//! $ cargo run --release --manifest-path benches/embed/Cargo.toml                # everything, at 24 MiB
//! $ cargo run --release --manifest-path benches/embed/Cargo.toml -- all 64      # at 64 MiB
//! $ cargo run --release --manifest-path benches/embed/Cargo.toml -- run quick_cache moving 2 12000000
//! ```
//!
//! A limit means something else in each cache, so the limit of each is searched with which its process grows by the
//! given memory. Each run is a process of its own, with the system's allocator: its traces are made first, then
//! memory is looked at, the cache made, and a first half of the trace read to fill it. The second half is measured. A read
//! that misses writes a value of 100 bytes.
#![forbid(unsafe_code)]

mod caches;
mod trace;

use caches::{Moka, Quick, Reads, Shoebill};
use nix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::process::Command;
use std::sync::Barrier;
use trace::Trace;

type Failure = Box<dyn Error>;

const CACHES: [&str; 3] = ["shoebill-cache", "moka", "quick_cache"];

/// Reads of a run, over all threads, half of them to fill the cache.
const READS: usize = 4_000_000;

/// How near the resident memory is brought to what is wanted.
const TOLERANCE: f64 = 0.01;

/// What a run has found.
#[derive(Clone, Copy, Debug)]
struct Found {
    resident: u64,
    hit_ratio: f64,
    cpu_ns: f64,
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [] => compare(24 << 20),
        ["all", mib] => compare(mib.parse::<u64>()? << 20),
        ["run", cache, trace, threads, limit] => {
            let found = run(cache, Trace::named(trace)?, threads.parse()?, limit.parse()?)?;
            println!("{} {} {}", found.resident, found.hit_ratio, found.cpu_ns);
            Ok(())
        }
        _ => Err("arguments: none, or all MIB, or run CACHE TRACE THREADS LIMIT".into()),
    }
}

/// Searches the limit of each cache, and prints a table.
fn compare(memory: u64) -> Result<(), Failure> {
    println!("| trace | threads | cache | resident, MiB | hit ratio | CPU per read, ns |");
    println!("|---|---|---|---|---|---|");
    let mut limits = Vec::new();
    for cache in CACHES {
        limits.push((cache, limit_for(cache, memory)?));
    }
    for trace in ["zipf", "moving"] {
        for threads in [1, 2, 4] {
            for &(cache, limit) in &limits {
                let found = in_process(cache, trace, threads, limit)?;
                let mib = found.resident as f64 / f64::from(1 << 20);
                let (hit_ratio, cpu_ns) = (found.hit_ratio, found.cpu_ns);
                println!(
                    "| {trace} | {threads} | {cache} | {mib:.1} | {hit_ratio:.3} | {cpu_ns:.0} |"
                );
            }
        }
    }
    for (cache, limit) in limits {
        println!("limit of {cache}: {limit} bytes");
    }
    Ok(())
}

/// The limit with which a cache takes so much memory.
fn limit_for(cache: &str, memory: u64) -> Result<u64, Failure> {
    let mut limit = memory;
    for _ in 0..8 {
        let ratio = in_process(cache, "zipf", 2, limit)?.resident as f64 / memory as f64;
        if (ratio - 1.0).abs() < TOLERANCE {
            return Ok(limit);
        }
        limit = (limit as f64 / ratio) as u64;
    }
    Ok(limit)
}

/// A run in a process of its own.
fn in_process(cache: &str, trace: &str, threads: usize, limit: u64) -> Result<Found, Failure> {
    let (threads, limit) = (threads.to_string(), limit.to_string());
    let mut command = Command::new(std::env::current_exe()?);
    let output = command.args(["run", cache, trace, &threads, &limit]).output()?;
    let text = String::from_utf8(output.stdout)?;
    match text.split_whitespace().collect::<Vec<_>>()[..] {
        [resident, hit_ratio, cpu_ns] if output.status.success() => Ok(Found {
            resident: resident.parse()?,
            hit_ratio: hit_ratio.parse()?,
            cpu_ns: cpu_ns.parse()?,
        }),
        _ => Err(String::from_utf8_lossy(&output.stderr).into()),
    }
}

fn run(cache: &str, trace: Trace, threads: usize, limit: u64) -> Result<Found, Failure> {
    match cache {
        "shoebill-cache" => measure::<Shoebill>(trace, threads, limit),
        "moka" => measure::<Moka>(trace, threads, limit),
        "quick_cache" => measure::<Quick>(trace, threads, limit),
        _ => Err(format!("no cache {cache}: {}", CACHES.join(", ")).into()),
    }
}

fn measure<C: Reads>(trace: Trace, threads: usize, limit: u64) -> Result<Found, Failure> {
    let keys: Vec<_> = trace.keys(READS, threads);
    let before = resident()?;
    let cache = C::new(limit);
    let (filled, begun) = (Barrier::new(threads + 1), Barrier::new(threads + 1));
    let (cpu, hits) = std::thread::scope(|scope| {
        let run = |keys: &[u32]| {
            let (first, second) = keys.split_at(keys.len() / 2);
            reads(&cache, first);
            filled.wait();
            begun.wait();
            reads(&cache, second)
        };
        let threads: Vec<_> = keys.iter().map(|keys| scope.spawn(move || run(keys))).collect();
        filled.wait();
        let start = cpu_ns();
        begun.wait();
        let hits = threads.into_iter().map(|thread| thread.join().expect("it does not panic"));
        let hits: usize = hits.sum();
        (cpu_ns() - start, hits)
    });
    let resident = resident()? - before;
    drop(cache);
    let measured: usize = keys.iter().map(|keys| keys.len() - keys.len() / 2).sum();
    Ok(Found {
        resident,
        hit_ratio: hits as f64 / measured as f64,
        cpu_ns: cpu as f64 / measured as f64,
    })
}

/// Reads each key, and returns how many were there.
fn reads(cache: &impl Reads, keys: &[u32]) -> usize {
    keys.iter().filter(|key| cache.read(u64::from(**key))).count()
}

/// The CPU time of this process.
fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).expect("every machine has it");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// Bytes of memory that this process has, without what lies in files.
fn resident() -> Result<u64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let lines = status.lines().filter_map(|line| {
        line.strip_prefix("RssAnon:").or_else(|| line.strip_prefix("RssShmem:"))
    });
    let kib = lines.map(|line| line.trim().trim_end_matches(" kB").trim().parse::<u64>());
    Ok(kib.sum::<Result<u64, _>>()? << 10)
}
