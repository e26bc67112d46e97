// SPDX-License-Identifier: Apache-2.0
//! A thread that sleeps while there is nothing to write.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use ringlog::{Bell, Builder, Drain, FileOptions, Output, RingLogger};
use test_support::PATIENCE;

use crate::support::info;

/// Longer than any test.
const EVER: Duration = Duration::from_secs(3600);

fn log_with(bell: &Arc<Bell>) -> (tempfile::TempDir, RingLogger, Drain) {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Output::File(FileOptions::new(folder.path().join("log")));
    let (logger, drain) = Builder::new().output(output).build().expect("a log");
    drain.wake_by(Arc::clone(bell));
    (folder, logger, drain)
}

#[test]
fn each_line_that_comes_during_a_sleep_ends_it() {
    let bell = Arc::new(Bell::default());
    let (_folder, logger, mut drain) = log_with(&bell);
    let (written, lines): (Sender<usize>, Receiver<usize>) = channel();
    // Without an end of its own: a line that wakes nobody fails the test.
    thread::spawn(move || {
        loop {
            bell.sleep(EVER, || drain.has_lines());
            if written.send(drain.run_once()).is_err() {
                return;
            }
        }
    });
    for _ in 0..1000 {
        info(&logger, "test", "a line");
        // It may have been woken by the line before, and have found this one then.
        while lines.recv_timeout(PATIENCE).expect("it wakes up") == 0 {}
    }
    drop(lines);
    info(&logger, "test", "the last line");
}

#[test]
fn who_has_something_to_do_does_not_sleep_and_who_is_rung_for_wakes_up() {
    let bell = Arc::new(Bell::default());
    let (_folder, logger, drain) = log_with(&bell);
    info(&logger, "test", "a line");
    bell.sleep(EVER, || drain.has_lines());
    bell.sleep(Duration::ZERO, || false);

    let (asleep, sleeps) = channel();
    let (awake, wakes) = channel();
    let bell = Arc::new(Bell::default());
    let rung = Arc::clone(&bell);
    thread::spawn(move || {
        bell.sleep(EVER, || asleep.send(()).is_err());
        awake.send(()).unwrap();
    });
    sleeps.recv_timeout(PATIENCE).expect("it is about to sleep");
    rung.ring();
    wakes.recv_timeout(PATIENCE).expect("it wakes up");
}
