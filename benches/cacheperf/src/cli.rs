// SPDX-License-Identifier: Apache-2.0
//! The command line.

mod compare;
mod line;
mod load;
mod output;
mod replay;
mod sweep;

use crate::live::Live;
use crate::{Error, Outcome};
use clap::{Parser, Subcommand};
use compare::CompareArgs;
use load::LoadArgs;
use output::OutputArgs;
use replay::ReplayArgs;
use std::process::ExitCode;
use sweep::SweepArgs;

/// Loads caches and measures them.
#[derive(Debug, Parser)]
#[command(name = "cacheperf", version, args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    run: RunArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run one load (what happens without a command)
    Run(Box<RunArgs>),
    Sweep(Box<SweepArgs>),
    Compare(Box<CompareArgs>),
    Replay(Box<ReplayArgs>),
}

#[derive(Debug, clap::Args)]
struct RunArgs {
    #[command(flatten)]
    load: LoadArgs,

    #[command(flatten)]
    output: OutputArgs,
}

impl Args {
    /// Does what was asked, and prints what it found.
    pub fn execute(self) -> ExitCode {
        let done = match self.command {
            None => run(&self.run),
            Some(Command::Run(args)) => run(&args),
            Some(Command::Sweep(args)) => args.execute(),
            Some(Command::Compare(args)) => args.execute(),
            Some(Command::Replay(args)) => args.execute(),
        };
        match done {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => {
                eprintln!("cacheperf: {error}");
                ExitCode::from(2)
            }
        }
    }
}

/// Whether nothing went wrong during a run.
fn is_clean(outcome: &Outcome) -> bool {
    outcome.errors == 0
}

fn run(args: &RunArgs) -> Result<bool, Error> {
    let plan = args.load.plan()?;
    let mut live = Live::new("");
    let outcome = crate::run(&plan, &mut |event| live.watch(event))?;
    args.output.tell(&outcome)?;
    Ok(is_clean(&outcome))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }

    /// `UPDATE_SETTINGS=1` writes the files anew.
    #[test]
    fn man_pages_and_completions_follow_from_the_flags() {
        let exits = [
            ("0", "Nothing went wrong, and what was asked for was found."),
            ("1", "There were errors among the answers, or a bound was not met."),
            (
                "2",
                "The command line is wrong, or a server cannot be used; standard error says why.",
            ),
        ];
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        manual::Manual::new(Args::command()).section("EXIT STATUS", &exits).keep(&root);
    }
}
