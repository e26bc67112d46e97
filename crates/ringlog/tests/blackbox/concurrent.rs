// SPDX-License-Identifier: Apache-2.0
//! Many threads log while one writes: every line is whole, in order, and accounted for.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ringlog::{Builder, FileOptions, Output};

use crate::support::{info, messages};

const THREADS: usize = 4;
const LINES: usize = 20_000;

/// The message of one line: who, which, and a filling of a length and a letter that follow.
fn message(thread: usize, number: usize) -> String {
    let letter = char::from(b'a' + (number % 26) as u8);
    format!("{thread} {number} {}", letter.to_string().repeat(number % 150))
}

#[test]
fn written_and_dropped_make_logged_and_no_line_is_torn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let (logger, mut drain) =
        Builder::new().capacity(64).output(Output::File(FileOptions::new(&path))).build().unwrap();
    let start = Barrier::new(THREADS + 1);
    let running = AtomicUsize::new(THREADS);

    let drain = thread::scope(|scope| {
        for thread in 0..THREADS {
            let (start, running, logger) = (&start, &running, &logger);
            scope.spawn(move || {
                start.wait();
                for number in 0..LINES {
                    info(logger, "test", &message(thread, number));
                }
                running.fetch_sub(1, Ordering::Release);
            });
        }
        let admin = scope.spawn(|| {
            start.wait();
            while running.load(Ordering::Acquire) > 0 {
                drain.run_once();
            }
            while drain.run_once() > 0 {}
            drain
        });
        admin.join().unwrap()
    });

    let counts = drain.counts();
    assert_eq!(counts.failed, 0);
    assert_eq!(counts.written + counts.dropped, (THREADS * LINES) as u64);

    let mut next = [0; THREADS];
    let mut lines = 0;
    for text in messages(&path) {
        let mut fields = text.split(' ').map_while(|field| field.parse::<usize>().ok());
        let (thread, number) = (fields.next().unwrap(), fields.next().unwrap());
        assert_eq!(text, message(thread, number), "a torn line");
        assert!(number >= next[thread], "lines of one thread stay in order");
        next[thread] = number + 1;
        lines += 1;
    }
    assert_eq!(lines, counts.written);
}
