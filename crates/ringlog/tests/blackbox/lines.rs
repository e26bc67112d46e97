// SPDX-License-Identifier: Apache-2.0
//! The shape of a line, levels, and the limits of line and ring.

use std::fmt;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use log::{Level, LevelFilter, Log, Record};
use ringlog::{Builder, Error, FileOptions, Output};

use crate::support::{at, info, messages};

fn to_file(path: &std::path::Path) -> Builder {
    Builder::new().output(Output::File(FileOptions::new(path)))
}

#[test]
fn a_line_has_time_level_target_and_message() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let (logger, mut drain) = to_file(&path).level(LevelFilter::Trace).build().unwrap();
    for level in [Level::Error, Level::Warn, Level::Info, Level::Debug, Level::Trace] {
        at(&logger, level, "reactor", "message");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "", "the caller does not write");
    assert_eq!(drain.run_once(), 5);

    let text = fs::read_to_string(&path).unwrap();
    let (times, rest): (Vec<_>, Vec<_>) = text.lines().map(|line| line.split_at(24)).unzip();
    assert_eq!(
        rest,
        [
            " ERROR reactor: message",
            " WARN  reactor: message",
            " INFO  reactor: message",
            " DEBUG reactor: message",
            " TRACE reactor: message",
        ]
    );
    for time in times {
        let shape = time.replace(|c: char| c.is_ascii_digit(), "0");
        assert_eq!(shape, "0000-00-00T00:00:00.000Z");
    }
}

#[test]
fn a_client_cannot_forge_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let (logger, mut drain) = to_file(&path).build().unwrap();
    info(&logger, "session", "bad verb \"x\r\n2026-01-01T00:00:00.000Z INFO  admin: all is well\"");
    drain.run_once();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 1);
    assert!(text.contains(r#"bad verb "x\r\n2026-"#), "{text}");
}

#[test]
fn a_long_line_is_cut_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let (logger, mut drain) = to_file(&path).line_bytes(200).build().unwrap();
    info(&logger, "reactor", &"x".repeat(1000));
    info(&logger, "reactor", "short");
    drain.run_once();
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0].len() + 1, 200);
    assert!(lines[0].ends_with("xxx...[truncated]"));
    assert!(lines[1].ends_with("reactor: short"));
}

#[test]
fn less_urgent_lines_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let (logger, mut drain) = to_file(&path).level(LevelFilter::Warn).build().unwrap();
    at(&logger, Level::Error, "a", "error");
    at(&logger, Level::Warn, "a", "warn");
    at(&logger, Level::Info, "a", "info");
    assert_eq!(drain.run_once(), 2);
    assert_eq!(messages(&path), ["error", "warn"]);
    assert_eq!(drain.counts().dropped, 0, "left out is not dropped");
}

#[test]
fn a_full_ring_drops_and_counts_and_recovers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let (logger, mut drain) = to_file(&path).capacity(4).build().unwrap();
    let dropped_before = ringlog::dropped();
    for number in 0..10 {
        info(&logger, "a", &number.to_string());
    }
    assert_eq!(drain.counts().dropped, 6);
    assert!(ringlog::dropped() >= dropped_before + 6);
    let written_before = ringlog::written();
    assert_eq!(drain.run_once(), 4);
    assert!(ringlog::written() >= written_before + 4);
    info(&logger, "a", "10");
    assert_eq!(drain.run_once(), 1);
    assert_eq!(messages(&path), ["0", "1", "2", "3", "10"]);
    assert_eq!(drain.counts().written, 5);
}

#[test]
fn a_dropped_drain_writes_what_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let (logger, drain) = to_file(&path).build().unwrap();
    info(&logger, "a", "last words");
    drop(drain);
    assert_eq!(messages(&path), ["last words"]);
}

#[test]
fn a_panicking_value_costs_no_buffer() {
    struct Broken;
    impl fmt::Display for Broken {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            panic!("cannot show this");
        }
    }

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let (logger, mut drain) = to_file(&path).capacity(1).build().unwrap();
    let log_broken = || logger.log(&Record::builder().args(format_args!("{Broken}")).build());
    assert!(catch_unwind(AssertUnwindSafe(log_broken)).is_err());
    info(&logger, "a", "still here");
    assert_eq!(drain.run_once(), 1);
    assert_eq!(messages(&path), ["still here"]);
}

#[test]
fn measures_that_make_no_sense_are_refused() {
    let zero = Builder::new().capacity(0).build();
    assert!(matches!(zero, Err(Error::ZeroCapacity)));
    let short = Builder::new().line_bytes(127).build();
    assert!(matches!(short, Err(Error::LineTooShort { given: 127, least: 128 })));
    let error = to_file("/no/such/folder/log".as_ref()).build().unwrap_err();
    assert!(error.to_string().starts_with("cannot open log file /no/such/folder/log: "), "{error}");
}
