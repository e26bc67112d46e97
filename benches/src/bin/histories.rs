// SPDX-License-Identifier: Apache-2.0
//! Checks histories of concurrent clients of `segcache` and `rds` for linearizability, see
//! `benches::history` and `docs/dev/testing.md`.

use benches::engines;
use benches::history::runs::{Seen, cases};
use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Random histories of segcache and rds, checked for linearizability.
#[derive(Debug, Parser)]
struct Arguments {
    /// How long to run, over all cases.
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// The seed of what clients ask for; another each time unless given. How requests of several clients
    /// mix is not repeated by it.
    #[arg(long)]
    seed: Option<u64>,
    /// Only cases with this in their names, such as "rds, io_uring".
    #[arg(long, default_value = "")]
    only: String,
    /// Where segcache and rds are; beside this program unless given.
    #[arg(long)]
    binaries: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("FAIL: {what}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let seed = arguments.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
    let binaries = engines::binaries(arguments.binaries.as_deref())?;
    let mut cases = cases(seed);
    cases.retain(|case| case.to_string().contains(&arguments.only));
    engines::retain(&mut cases, |case| case.engine)?;
    if cases.is_empty() {
        return Err(format!("no case has {:?} in its name", arguments.only));
    }
    println!("seed {seed}, {} cases", cases.len());
    let span = Duration::from_secs(arguments.seconds) / cases.len() as u32;
    let mut total = Seen::default();
    for case in &cases {
        let run = case.run(&binaries, seed, span);
        let seen = run.map_err(|what| format!("{case}, seed {seed}: {what}"))?;
        println!("{case}: {seen}");
        if seen.hits == 0 {
            return Err(format!("{case}: nothing was found, so nothing was checked"));
        }
        total.add(seen);
    }
    println!("{total}");
    // Each stands for thousands of operations that were not checked.
    if total.undecided > cases.len() / 10 {
        return Err("too many searches were given up".to_owned());
    }
    Ok(())
}
