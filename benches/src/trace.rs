// SPDX-License-Identifier: Apache-2.0
//! Replays recorded requests against a store in this process: the mode `trace` of the program
//! `storebench`.
//!
//! The format is that of `cacheperf replay`, and so are keys and values ([`cacheperf::Record`]): each value
//! is checked when it is read. Where a get misses, the item is written, as a client would that keeps a
//! cache beside its database.

mod replay;
mod simulated;
#[cfg(test)]
mod tests;

use cacheperf::RECORD_BYTES;
use clock::Ticks;
use replay::{Outcome, mebibytes, replay};
use simulated::{Rank, Simulated};
use std::fs::File;
use std::io::Read;
use storage_hashmap::HashMapStore;
use storage_seg::{Eviction, SegStore};

/// The largest value, as with a server, unless that is more than a quarter of the memory.
const VALUE_MAX: u64 = 1 << 20;
/// Shards of a hash map, as with a server of one worker.
const SHARDS: usize = 16;

/// What to replay, and on what.
#[derive(Clone, Debug)]
pub struct Options {
    files: Vec<String>,
    memory: u64,
    storage: String,
    eviction: Eviction,
    segment: Option<u64>,
    max: u64,
    after: u64,
    by_times: bool,
}

impl Options {
    /// Reads the command line after the word `trace`.
    ///
    /// # Errors
    ///
    /// The argument that makes no sense.
    pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Options {
            files: Vec::new(),
            memory: 64 << 20,
            storage: "seg".into(),
            eviction: Eviction::default(),
            segment: None,
            max: u64::MAX / RECORD_BYTES as u64,
            after: 0,
            by_times: false,
        };
        let mut exponent = None;
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("{arg} needs a value"));
            match arg.as_str() {
                "--memory" => options.memory = number(&value()?)?,
                "--segment" => options.segment = Some(number(&value()?)?),
                "--max" => options.max = number(&value()?)?.min(options.max),
                "--after" => options.after = number(&value()?)?,
                "--storage" => options.storage = value()?,
                "--eviction" => options.eviction = value()?.parse().map_err(|e| format!("{e}"))?,
                "--size-exponent" => {
                    let text = value()?;
                    exponent = Some(text.parse().map_err(|_| format!("{text} is no number"))?);
                }
                "--goal" => exponent = Some(exponent_of(&value()?)?),
                "--times" => options.by_times = true,
                _ if arg.starts_with('-') => return Err(format!("what is {arg}?")),
                _ => options.files.push(arg),
            }
        }
        if let Some(size_exponent) = exponent {
            if !matches!(options.eviction, Eviction::Scored { .. }) {
                return Err("--goal and --size-exponent are for --eviction scored".into());
            }
            options.eviction = Eviction::Scored { size_exponent };
        }
        let storage = options.storage.as_str();
        if !matches!(storage, "seg" | "hashmap") && storage.parse::<Rank>().is_err() {
            return Err(format!("what storage is {storage}?"));
        }
        if options.files.is_empty() {
            return Err("which files are to be replayed?".into());
        }
        Ok(options)
    }
}

/// How much sizes count for a goal, as `[seg] goal` of a server has them.
fn exponent_of(goal: &str) -> Result<f64, String> {
    match goal {
        "objects" => Ok(1.0),
        "bytes" => Ok(0.0),
        _ => Err(format!("what goal is {goal}?")),
    }
}

/// A number with `k`, `m` or `g` after it for powers of 1024.
fn number(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'k') => (&text[..text.len() - 1], 10),
        Some(b'm') => (&text[..text.len() - 1], 20),
        Some(b'g') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    number.ok_or(format!("{text} is no number"))
}

/// Replays each file on a new store and prints a line for it.
///
/// # Errors
///
/// A file that cannot be read or is no trace, a store that cannot be made, a value that is not what
/// was written.
pub fn run(options: &Options) -> Result<(), String> {
    let what = match options.storage.as_str() {
        "seg" => options.eviction.to_string(),
        other => other.to_string(),
    };
    println!("{:20} {:11} {:>9} {}", "trace", "eviction", "memory", Outcome::TITLES);
    for file in &options.files {
        let records = read(file, options.max)?;
        let outcome = replay_on(options, &records)?;
        let name = file.rsplit('/').next().unwrap_or(file);
        let memory = format!("{:.1}M", mebibytes(options.memory));
        println!("{name:20} {what:11} {memory:>9} {outcome}");
        if outcome.wrong > 0 {
            return Err(format!("{file}: {} values are not what was written", outcome.wrong));
        }
    }
    Ok(())
}

fn replay_on(options: &Options, records: &[u8]) -> Result<Outcome, String> {
    let memory = options.memory;
    if let Ok(rank) = options.storage.parse() {
        return Simulated::new(rank, memory).replay(records, options.after);
    }
    let value_max = VALUE_MAX.min(memory / 4);
    if options.storage == "hashmap" {
        let mut store = HashMapStore::builder().memory(memory).shards(SHARDS).build();
        return replay(&mut store, records, options.after, options.by_times);
    }
    let mut builder =
        SegStore::builder().memory(memory).value_max(value_max).eviction(options.eviction);
    if let Some(bytes) = options.segment {
        builder = builder.segment_bytes(bytes);
    }
    let mut store = builder.build().map_err(|error| error.to_string())?;
    let mut outcome = replay(&mut store, records, options.after, options.by_times)?;
    outcome.copies = store.report(Ticks::ZERO).writes.copies();
    Ok(outcome)
}

/// The first `max` records of a file.
fn read(path: &str, max: u64) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|error| format!("{path}: {error}"))?;
    let mut records = Vec::new();
    let mut limited = file.take(max * RECORD_BYTES as u64);
    limited.read_to_end(&mut records).map_err(|error| format!("{path}: {error}"))?;
    if records.len() % RECORD_BYTES == 0 {
        Ok(records)
    } else {
        Err(format!("{path}: no trace: it ends within a record"))
    }
}
