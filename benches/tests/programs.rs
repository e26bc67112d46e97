// SPDX-License-Identifier: Apache-2.0
//! The programs of this package whose arguments clap reads start: a build for tests checks then that clap finds
//! nothing wrong with them.

use std::process::Command;

#[test]
fn every_program_knows_its_arguments() {
    for program in [
        env!("CARGO_BIN_EXE_datagrams"),
        env!("CARGO_BIN_EXE_histories"),
        env!("CARGO_BIN_EXE_hostile"),
    ] {
        let output = Command::new(program).arg("--help").output().expect("it can be started");
        let (help, problem) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{program}: {problem}");
        assert!(help.contains("--seconds"), "{program}: {help}");
    }
}
