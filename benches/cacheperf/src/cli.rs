// SPDX-License-Identifier: Apache-2.0
//! The command line.

mod compare;
mod fan_out;
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

    /// Measure users' requests, each of so many requests on different connections at once, which takes as long as
    /// the slowest of them: 10,100. One alone is always measured, too. In an open loop
    #[arg(
        long,
        value_name = "REQUESTS",
        value_delimiter = ',',
        requires = "rate",
        conflicts_with = "requests",
        help_heading = "Load"
    )]
    fan_out: Vec<usize>,

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
    let provenance = output::provenance(&plan)?;
    if !args.fan_out.is_empty() {
        return fan_out::execute(&plan, &args.fan_out, &args.output, &provenance);
    }
    let mut live = Live::of(&plan);
    let outcome = crate::run(&plan, &mut |event| live.watch(event))?;
    args.output.tell(&outcome, &provenance)?;
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

    /// The words in backquotes of a table's cell.
    fn code(cell: &str) -> impl Iterator<Item = &str> {
        cell.split('`').skip(1).step_by(2)
    }

    #[test]
    fn flags_of_the_tables_of_translations_are_ours() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cacheperf.md");
        let page = std::fs::read_to_string(page).unwrap();
        let part = page.split("## Coming from memtier_benchmark").nth(1).unwrap();
        let part = part.split("\n## ").next().unwrap();
        let command = Args::command();
        let known: Vec<String> = std::iter::once(&command)
            .chain(command.get_subcommands())
            .flat_map(|command| command.get_arguments())
            .filter_map(|arg| Some(format!("--{}", arg.get_long()?)))
            .collect();
        let (mut flags, mut lines) = (0, 0);
        for row in part.lines().filter(|line| line.starts_with("| ")) {
            let cells: Vec<&str> = row.split(" | ").collect();
            assert!(cells.len() >= 2, "{row}");
            for code in code(cells[1]) {
                let words: Vec<&str> = code.split_whitespace().collect();
                for flag in words.iter().filter(|word| word.starts_with("--")) {
                    assert!(known.iter().any(|name| name == flag), "{flag} in {row}");
                    flags += 1;
                }
                // With values it is a whole command line.
                if words.len() > 1 {
                    let line = std::iter::once(&"cacheperf").chain(&words);
                    let parsed = Args::command().try_get_matches_from(line);
                    assert!(parsed.is_ok(), "{code}: {}", parsed.unwrap_err());
                    lines += 1;
                }
            }
        }
        assert!(flags > 50 && lines > 35, "{flags} flags, {lines} lines");
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
