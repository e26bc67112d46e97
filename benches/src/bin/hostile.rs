// SPDX-License-Identifier: Apache-2.0
//! Sends hostile commands to `rds` and `segcache`, see `benches::hostile` and `docs/dev/testing.md`.

use benches::checks::{self, Plan};
use benches::hostile::attacker::Score;
use benches::hostile::siege::sieges;
use clap::Parser;
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;

/// Every command with extreme arguments, from many clients, in little memory.
#[derive(Debug, Parser)]
struct Arguments {
    /// How long to send requests, over all servers.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    #[command(flatten)]
    checks: checks::Arguments,
}

fn main() -> ExitCode {
    checks::end(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let Plan { seed, binaries, cases, span } =
        arguments.checks.plan(|_| sieges(), |case| case.engine, arguments.seconds)?;
    let score = Score::new();
    for (number, siege) in cases.iter().enumerate() {
        let seed_of_siege = seed.wrapping_add(number as u64);
        let run = siege.run(&binaries, seed_of_siege, span, &score);
        let held = run.map_err(|what| format!("{siege}, seed {seed}: {what}"))?;
        println!("{siege}: {held}");
    }
    let connections = score.connections.load(Relaxed);
    println!("{} requests of {connections} connections", score.requests());
    match score.left_out()[..] {
        [] => Ok(()),
        ref left_out => Err(format!("never sent: {}", left_out.join(", "))),
    }
}
