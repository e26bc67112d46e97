// SPDX-License-Identifier: Apache-2.0
//! Sends hostile commands to `rds` and `segcache`, see `benches::hostile` and `docs/dev/testing.md`.

use benches::engines;
use benches::hostile::attacker::Score;
use benches::hostile::siege::sieges;
use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Every command with extreme arguments, from many clients, in little memory.
#[derive(Debug, Parser)]
struct Arguments {
    /// How long to send requests, over all servers.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The seed of what clients ask for; another each time unless given. How requests of several clients
    /// mix is not repeated by it.
    #[arg(long)]
    seed: Option<u64>,
    /// Only servers with this in their names, such as "rds, noeviction".
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
    let mut sieges = sieges();
    sieges.retain(|siege| siege.to_string().contains(&arguments.only));
    engines::retain(&mut sieges, |siege| siege.engine)?;
    if sieges.is_empty() {
        return Err(format!("no server has {:?} in its name", arguments.only));
    }
    println!("seed {seed}, {} servers", sieges.len());
    let span = Duration::from_secs(arguments.seconds) / sieges.len() as u32;
    let score = Score::new();
    for (number, siege) in sieges.iter().enumerate() {
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
