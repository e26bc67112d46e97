// SPDX-License-Identifier: Apache-2.0
//! Disks that are full, folders that are gone: counted, survived, recovered from.

use std::fs;
use std::os::unix::fs::symlink;

use ringlog::{Builder, FileOptions, Output};

use crate::support::{NOW_MS, info, messages};

#[test]
fn a_full_disk_costs_lines_and_each_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let (logger, mut drain) = Builder::new()
        .output(Output::File(FileOptions::new("/dev/full")))
        .route("healthy", Output::File(FileOptions::new(&path)))
        .build()
        .unwrap();
    let failed_before = ringlog::failed();
    for _ in 0..3 {
        info(&logger, "a", "lost");
        info(&logger, "healthy", "kept");
    }
    assert_eq!(drain.run_once_at(NOW_MS), 6);
    let counts = drain.counts();
    assert_eq!((counts.written, counts.dropped, counts.failed), (3, 0, 3));
    assert!(ringlog::failed() >= failed_before + 3);
    assert_eq!(messages(&path), ["kept"; 3], "one bad output does not spoil another");
}

#[test]
fn a_device_is_not_rotated() {
    let folder = tempfile::tempdir().unwrap();
    let device = folder.path().join("device");
    symlink("/dev/null", &device).unwrap();
    let options = FileOptions::new(&device).max_bytes(1);
    let (logger, mut drain) = Builder::new().output(Output::File(options)).build().unwrap();
    info(&logger, "a", "one");
    info(&logger, "a", "two");
    drain.run_once_at(NOW_MS);
    assert_eq!(drain.counts().written, 2);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the link is all there is");
    assert!(device.exists());
}

#[test]
fn a_deleted_folder_costs_lines_until_it_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    let path = logs.join("log");
    fs::create_dir(&logs).unwrap();
    let (logger, mut drain) =
        Builder::new().output(Output::File(FileOptions::new(&path))).build().unwrap();
    info(&logger, "a", "before");
    drain.run_once_at(NOW_MS);

    fs::remove_dir_all(&logs).unwrap();
    info(&logger, "a", "nowhere to go");
    drain.run_once_at(NOW_MS + 1);
    drain.reopen();
    assert_eq!((drain.counts().written, drain.counts().failed), (1, 1));

    fs::create_dir(&logs).unwrap();
    info(&logger, "a", "back again");
    drain.run_once_at(NOW_MS + 2);
    assert_eq!((drain.counts().written, drain.counts().failed), (2, 1));
    assert_eq!(messages(&path), ["back again"]);
}

#[test]
fn a_rotation_that_fails_loses_no_line_and_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let in_the_way = folder.path().join("log.1");
    fs::create_dir(&in_the_way).unwrap();
    let options = FileOptions::new(&path).max_bytes(40).keep(1);
    let (logger, mut drain) = Builder::new().output(Output::File(options)).build().unwrap();
    for message in ["one", "two", "three"] {
        info(&logger, "a", message);
    }
    drain.run_once_at(NOW_MS);
    assert_eq!(messages(&path), ["one", "two", "three"]);

    fs::remove_dir(&in_the_way).unwrap();
    info(&logger, "a", "four");
    drain.run_once_at(NOW_MS + 59_999);
    assert_eq!(messages(&path), ["one", "two", "three", "four"], "it rests for a minute");
    info(&logger, "a", "five");
    drain.run_once_at(NOW_MS + 60_000);
    assert_eq!(messages(&in_the_way), ["one", "two", "three", "four"]);
    assert_eq!(messages(&path), ["five"]);
    assert_eq!((drain.counts().written, drain.counts().failed), (5, 0));
}
