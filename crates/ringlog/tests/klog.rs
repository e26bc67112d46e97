// SPDX-License-Identifier: Apache-2.0
//! The command log of the process: off, then on. One test, for there is one process.

use std::fs;
use std::thread;

use ringlog::Error;
use ringlog::klog::{self, KlogBuilder};

/// What a service does for each request.
fn serve(key: &[u8]) {
    if klog::sampled() {
        klog::command("get", key, key.len() + 6, 130, "hit");
    }
}

#[test]
fn off_then_on() {
    // Off: nothing is sampled, and logging anyway does nothing.
    assert!((0..1000).all(|_| !klog::sampled()));
    klog::command("get", b"key", 9, 5, "miss");
    assert_eq!((ringlog::written(), ringlog::dropped()), (0, 0));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("klog");
    let (log, mut drain) =
        KlogBuilder::new(&path).sample(10).capacity(64).max_bytes(1 << 20).keep(1).build().unwrap();
    log.install().unwrap();

    // On: of each thread's requests the first and every tenth.
    let keys = || (0..25).for_each(|number| serve(format!("key\n{number}").as_bytes()));
    thread::spawn(keys).join().unwrap();
    thread::spawn(keys).join().unwrap();
    assert_eq!(drain.run_once(), 6);
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = text.lines().map(|line| &line[24..]).collect();
    let of_thread =
        [" get key%0A0 11 130 hit", " get key%0A10 12 130 hit", " get key%0A20 12 130 hit"];
    assert_eq!(lines, [of_thread, of_thread].concat());

    // A full ring drops and counts here as well.
    for _ in 0..100 {
        klog::command("get", b"key", 9, 5, "miss");
    }
    assert_eq!(ringlog::dropped(), 36);
    assert_eq!(drain.run_once(), 64);
    assert_eq!(ringlog::written(), 70);

    // It moves with its file like any other log.
    fs::rename(&path, folder.path().join("moved")).unwrap();
    drain.reopen();
    klog::command("delete", b"", 9, 5, "");
    drop(drain);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(&text[24..], " delete - 9 5 -\n");

    // With the drain gone, lines are not queued for nobody but counted as dropped.
    klog::command("get", b"key", 9, 5, "miss");
    assert_eq!((ringlog::written(), ringlog::dropped()), (71, 37));

    let (second, _drain) = KlogBuilder::new(&path).build().unwrap();
    assert!(matches!(second.install(), Err(Error::AlreadyInstalled)));
}
