// SPDX-License-Identifier: Apache-2.0
//! Which line goes where, and which is left out.

use std::sync::Barrier;
use std::thread;

use ringlog::{Builder, Error, FileOptions, Output};

use crate::support::{info, messages};

#[test]
fn each_target_has_its_output() {
    let folder = tempfile::tempdir().unwrap();
    let [main, tls, session] = ["main", "tls", "session"].map(|name| folder.path().join(name));
    let file = |path| Output::File(FileOptions::new(path));
    let (logger, mut drain) = Builder::new()
        .output(file(&main))
        .route("session", file(&session))
        .route("session::tls", file(&tls))
        .route("rustls", file(&tls))
        .build()
        .unwrap();
    for target in ["session", "session::tls", "session::tls::x", "sessions", "rustls", "reactor"] {
        info(&logger, target, &format!("from {target}"));
    }
    assert_eq!(drain.run_once(), 6);
    assert_eq!(messages(&main), ["from sessions", "from reactor"]);
    assert_eq!(messages(&session), ["from session"]);
    assert_eq!(messages(&tls), ["from session::tls", "from session::tls::x", "from rustls"]);
}

#[test]
fn one_file_with_two_sets_of_options_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let options = FileOptions::new(folder.path().join("log"));
    let error = Builder::new()
        .output(Output::File(options.clone()))
        .route("tls", Output::File(options.clone().keep(9)))
        .build()
        .unwrap_err();
    assert!(matches!(error, Error::ConflictingFile { path } if path == options.path));
}

#[test]
fn sampling_is_exact_and_each_target_counts_for_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let (logger, mut drain) = Builder::new()
        .output(Output::File(FileOptions::new(&path)))
        .sample("a", 3)
        .sample("b", 2)
        .sample("silent", 0)
        .build()
        .unwrap();
    for number in 0..7 {
        for target in ["a", "b", "silent", "other"] {
            info(&logger, target, &format!("{target}{number}"));
        }
    }
    drain.run_once();
    let messages = messages(&path);
    let of = |target: &str| -> Vec<_> {
        messages.iter().filter(|message| message.starts_with(target)).collect()
    };
    assert_eq!(of("a"), ["a0", "a3", "a6"]);
    assert_eq!(of("b"), ["b0", "b2", "b4", "b6"]);
    assert_eq!(of("silent").len(), 0);
    assert_eq!(of("other").len(), 7);
    assert_eq!(drain.counts().dropped, 0);
}

#[test]
fn sampling_is_exact_over_threads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let (logger, mut drain) = Builder::new()
        .output(Output::File(FileOptions::new(&path)))
        .sample("a", 10)
        .build()
        .unwrap();
    let start = Barrier::new(4);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                start.wait();
                (0..2500).for_each(|_| info(&logger, "a", "x"));
            });
        }
    });
    assert_eq!(drain.run_once(), 1000);
}
