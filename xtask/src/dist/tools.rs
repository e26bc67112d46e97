// SPDX-License-Identifier: Apache-2.0
//! Running tools.

use std::path::Path;
use std::process::Command;

/// A result, or what went wrong in words.
pub(super) type Outcome<T> = Result<T, String>;

/// What a tool prints.
pub(super) fn output(tool: &str, arguments: &[&str]) -> Outcome<String> {
    finish(Command::new(tool).args(arguments))
}

/// Runs a command, with the output that it printed.
pub(super) fn finish(command: &mut Command) -> Outcome<String> {
    // Tools speak the language of the code that reads what they print.
    let output = command.env("LC_ALL", "C").output();
    let tool = command.get_program().to_string_lossy().into_owned();
    let output = output.map_err(|error| format!("{tool}: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{tool}: {}\n{said}", output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("{tool} printed no text"))
}

/// A path as an argument.
pub(super) fn text(path: &Path) -> Outcome<&str> {
    path.to_str().ok_or_else(|| format!("{}: not UTF-8", path.display()))
}

/// Compresses a file, without its name and time, into one with `.gz` behind its name.
pub(super) fn gzip(path: &Path) -> Outcome<()> {
    output("gzip", &["--best", "--no-name", text(path)?]).map(|_| ())
}

/// The machine, as Debian and OCI name it.
pub(super) fn architecture() -> Outcome<&'static str> {
    match std::env::consts::ARCH {
        "x86_64" => Ok("amd64"),
        "aarch64" => Ok("arm64"),
        other => Err(format!("no name of the architecture is known for {other}")),
    }
}
