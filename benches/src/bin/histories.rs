// SPDX-License-Identifier: Apache-2.0
//! Checks histories of concurrent clients of `segcache` and `rds` for linearizability, see
//! `benches::history` and `docs/dev/testing.md`.

use benches::checks::{self, Plan};
use benches::history::runs::{Seen, cases};
use clap::Parser;
use std::process::ExitCode;

/// Random histories of segcache and rds, checked for linearizability.
#[derive(Debug, Parser)]
struct Arguments {
    /// How long to run, over all cases.
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    #[command(flatten)]
    checks: checks::Arguments,
}

fn main() -> ExitCode {
    checks::end(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let Plan { seed, binaries, cases, span } =
        arguments.checks.plan(cases, |case| case.engine, arguments.seconds)?;
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
