// SPDX-License-Identifier: Apache-2.0
//! A process with its standard streams: this test runs itself as a child and reads what it says.

use std::env;
use std::process::{Command, Output};
use std::time::{Duration, UNIX_EPOCH};

use log::{LevelFilter, debug, info, warn};
use ringlog::{Builder, Error, FileOptions};

const ROLE: &str = "RINGLOG_TEST_ROLE";

/// Runs the test of this name in a child, told to play the role.
fn child(test: &str) -> Output {
    let program = env::current_exe().expect("a path");
    let output =
        Command::new(program).args(["--exact", test, "--nocapture"]).env(ROLE, "child").output();
    let output = output.expect("a child");
    assert!(output.status.success(), "{output:?}");
    output
}

fn is_child() -> bool {
    env::var_os(ROLE).is_some()
}

/// The lines of a stream that a logger of this process wrote, without their times.
fn logged(stream: &[u8]) -> Vec<String> {
    let text = String::from_utf8(stream.to_vec()).expect("UTF-8");
    let lines = text.lines().filter_map(|line| line.split_once("Z "));
    lines.map(|(_, rest)| rest.to_owned()).collect()
}

#[test]
fn the_installed_logger_writes_to_both_streams() {
    if is_child() {
        let (logger, drain) = Builder::new()
            .level(LevelFilter::Info)
            .output(ringlog::Output::Stdout)
            .route("trouble", ringlog::Output::Stderr)
            .build()
            .unwrap();
        logger.install().unwrap();
        info!(target: "main", "number {}", 1);
        warn!(target: "trouble", "number {}", 2);
        debug!(target: "main", "number {}", 3);
        drop(drain);
        let (second, _drain) = Builder::new().build().unwrap();
        assert!(matches!(second.install(), Err(Error::AlreadyInstalled)));
        return;
    }
    let output = child("the_installed_logger_writes_to_both_streams");
    assert_eq!(logged(&output.stdout), ["INFO  main: number 1"]);
    assert_eq!(logged(&output.stderr), ["WARN  trouble: number 2"]);
}

#[test]
fn a_full_disk_is_reported_once_a_minute_and_at_the_end() {
    if is_child() {
        let file = ringlog::Output::File(FileOptions::new("/dev/full"));
        let (logger, mut drain) = Builder::new().output(file).build().unwrap();
        logger.install().unwrap();
        // The end goes by the real time, which is here within a minute of the last report.
        let since = UNIX_EPOCH.elapsed().unwrap() - Duration::from_secs(30);
        let start_ms = since.as_millis() as u64;
        for second in (0..=30).chain(61..=90) {
            if second == 61 {
                drain.run_once_at(start_ms + 60_000);
            }
            info!("lost");
            drain.run_once_at(start_ms + second * 1000);
        }
        return;
    }
    let output = child("a_full_disk_is_reported_once_a_minute_and_at_the_end");
    let text = String::from_utf8(output.stderr).unwrap();
    let reports: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("ringlog: ")).collect();
    let [first, second, third] = reports[..] else { panic!("{reports:?}") };
    assert!(first.starts_with("cannot write to /dev/full: No space left"), "{first}");
    assert!(first.ends_with("(lines lost so far: 1)"), "{first}");
    assert!(second.ends_with("(lines lost so far: 31); last of 30 reports"), "{second}");
    assert!(third.ends_with("(lines lost so far: 61); last of 30 reports"), "{third}");
}
