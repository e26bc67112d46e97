// SPDX-License-Identifier: Apache-2.0
//! `cargo xtask tidy` checks the house rules of the workspace; see the library for the rules.

#![forbid(unsafe_code)]

use std::path::Path;
use std::process::ExitCode;

use xtask::{Severity, Workspace};

const USAGE: &str = "usage: cargo xtask tidy\n\n  tidy    check the house rules of the workspace";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy(),
        ["-h" | "--help" | "help"] => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn tidy() -> ExitCode {
    let workspace = match Workspace::read(&root()) {
        Ok(workspace) => workspace,
        Err(error) => {
            eprintln!("tidy: {error}");
            return ExitCode::FAILURE;
        }
    };
    let findings = xtask::check(&workspace);
    for finding in &findings {
        println!("{finding}");
    }
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let warnings = findings.len() - errors;
    println!(
        "tidy: {} packages, {} source files: {errors} errors, {warnings} warnings",
        workspace.packages.len(),
        workspace.sources.len()
    );
    if errors == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The workspace this program was built from.
fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
