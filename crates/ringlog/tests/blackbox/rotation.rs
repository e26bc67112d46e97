// SPDX-License-Identifier: Apache-2.0
//! Rotation by size and age, and files that others move.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ringlog::{Builder, Drain, FileOptions, Output, RingLogger};

use crate::support::{NOW_MS, info, messages};

/// The bytes of a line that `info(.., "a", "00")` makes.
const LINE: u64 = 24 + " INFO  a: 00\n".len() as u64;

fn open(options: FileOptions) -> (RingLogger, Drain) {
    Builder::new().output(Output::File(options)).build().expect("a folder to write to")
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    PathBuf::from(format!("{}.{number}", path.display()))
}

#[test]
fn by_size_with_so_many_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let (logger, mut drain) = open(FileOptions::new(&path).max_bytes(3 * LINE).keep(2));
    for number in 10..21 {
        info(&logger, "a", &number.to_string());
    }
    // All in one batch: the limit holds for lines, not for batches.
    assert_eq!(drain.run_once_at(NOW_MS), 11);
    assert_eq!(messages(&path), ["19", "20"]);
    assert_eq!(messages(&numbered(&path, 1)), ["16", "17", "18"]);
    assert_eq!(messages(&numbered(&path, 2)), ["13", "14", "15"]);
    assert!(!numbered(&path, 3).exists());

    // The size goes on across runs.
    info(&logger, "a", "21");
    drain.run_once_at(NOW_MS);
    info(&logger, "a", "22");
    drain.run_once_at(NOW_MS);
    assert_eq!(messages(&path), ["22"]);
    assert_eq!(messages(&numbered(&path, 1)), ["19", "20", "21"]);
    assert_eq!(drain.counts().written, 13);
}

#[test]
fn a_line_larger_than_the_limit_has_a_file_to_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let (logger, mut drain) = open(FileOptions::new(&path).max_bytes(10).keep(5));
    for message in ["one", "two", "three"] {
        info(&logger, "a", message);
    }
    drain.run_once_at(NOW_MS);
    assert_eq!(messages(&path), ["three"]);
    assert_eq!(messages(&numbered(&path, 1)), ["two"]);
    assert_eq!(messages(&numbered(&path, 2)), ["one"]);
    assert!(!numbered(&path, 3).exists(), "no empty file is rotated");
}

#[test]
fn with_none_kept_the_content_goes_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let (logger, mut drain) = open(FileOptions::new(&path).max_bytes(2 * LINE).keep(0));
    for number in 10..13 {
        info(&logger, "a", &number.to_string());
    }
    drain.run_once_at(NOW_MS);
    assert_eq!(messages(&path), ["12"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn by_age_of_the_first_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let hour = 3_600_000;
    let (logger, mut drain) =
        open(FileOptions::new(&path).max_age(Duration::from_millis(hour)).keep(2));

    // An empty file has no age.
    drain.run_once_at(NOW_MS - 10 * hour);
    info(&logger, "a", "first");
    drain.run_once_at(NOW_MS);
    info(&logger, "a", "second");
    drain.run_once_at(NOW_MS + hour - 1);
    assert_eq!(messages(&path), ["first", "second"]);

    // It is rotated in time even if nobody has anything to say.
    drain.run_once_at(NOW_MS + hour);
    assert_eq!(messages(&path), [""; 0]);
    assert_eq!(messages(&numbered(&path, 1)), ["first", "second"]);

    info(&logger, "a", "third");
    drain.run_once_at(NOW_MS + 5 * hour);
    drain.run_once_at(NOW_MS + 6 * hour - 1);
    assert_eq!(messages(&path), ["third"], "the age starts with the line, not with the file");
    drain.run_once_at(NOW_MS + 6 * hour);
    assert_eq!(messages(&numbered(&path, 1)), ["third"]);
    assert_eq!(messages(&numbered(&path, 2)), ["first", "second"]);
}

#[test]
fn a_restart_keeps_size_and_age() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let by_size = FileOptions::new(&path).max_bytes(2 * LINE);
    let by_age = FileOptions::new(&path).max_age(Duration::from_secs(60));
    let year_2096_ms = 4_000_000_000_000;

    let (logger, drain) = open(by_size.clone());
    info(&logger, "a", "10");
    drop(drain);

    let (logger, drain) = open(by_size);
    info(&logger, "a", "11");
    info(&logger, "a", "12");
    drop(drain);
    assert_eq!(messages(&numbered(&path, 1)), ["10", "11"], "its size counts");
    assert_eq!(messages(&path), ["12"]);

    let (logger, mut drain) = open(by_age);
    info(&logger, "a", "13");
    drain.run_once_at(year_2096_ms);
    assert_eq!(messages(&numbered(&path, 1)), ["12"], "its age counts");
    assert_eq!(messages(&path), ["13"]);
}

#[test]
fn reopening_after_somebody_moved_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let moved = folder.path().join("moved");
    let (logger, mut drain) = open(FileOptions::new(&path));
    info(&logger, "a", "before the move");
    drain.run_once();
    fs::rename(&path, &moved).unwrap();
    info(&logger, "a", "after the move");
    drain.run_once();
    assert!(!path.exists(), "until the signal, lines follow the file");

    info(&logger, "a", "queued at the signal");
    drain.reopen();
    info(&logger, "a", "after the signal");
    drain.run_once();
    assert_eq!(messages(&moved), ["before the move", "after the move", "queued at the signal"]);
    assert_eq!(messages(&path), ["after the signal"]);
}
