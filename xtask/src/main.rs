// SPDX-License-Identifier: Apache-2.0
//! `cargo xtask tidy` checks the house rules of the workspace; see the library for the rules.
//! `cargo xtask readmes` writes the READMEs of packages. `cargo xtask dist` makes packages of the programs.

#![forbid(unsafe_code)]

use std::path::Path;
use std::process::ExitCode;

use xtask::{Dist, Severity, Workspace};

const USAGE: &str = "usage: cargo xtask tidy|readmes|dist

  tidy       check the house rules of the workspace
  readmes    write the READMEs of packages, from the documentation of their crates
  dist       make packages of the built programs: a tarball, Debian packages, OCI images
             [--profile NAME]    of what this profile has built (default dist)
             [--out FOLDER]      there (default target/packages), in place of what is there";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["tidy"] => finish("tidy", tidy()),
        ["readmes"] => finish("readmes", write_readmes()),
        ["dist", ..] => match Dist::parse(&words[1..]) {
            Some(dist) => finish("dist", dist.make(&root()).map(|()| true)),
            None => refuse(),
        },
        ["-h" | "--help" | "help"] => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => refuse(),
    }
}

fn refuse() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

/// Says what went wrong, if something did; `Ok(false)` was told already.
fn finish(what: &str, outcome: Result<bool, String>) -> ExitCode {
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{what}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write_readmes() -> Result<bool, String> {
    let workspace = Workspace::read(&root())?;
    for (path, text) in xtask::readmes(&workspace) {
        let path = workspace.root.join(path);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(true)
}

fn tidy() -> Result<bool, String> {
    let workspace = Workspace::read(&root())?;
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
    Ok(errors == 0)
}

/// The workspace this program was built from.
fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
