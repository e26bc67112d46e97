// SPDX-License-Identifier: Apache-2.0
//! The promise that neither logging nor draining allocates, counted by the allocator itself.

use std::fmt::Arguments;

use log::{Log, Record};
use ringlog::klog::KlogBuilder;
use ringlog::{Builder, FileOptions, Output};
use test_support::counting::{Counting, allocations};

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
    assert_eq!(allocations(|| ()), 0);
}

#[test]
fn logging_and_draining_do_not_allocate() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name| Output::File(FileOptions::new(folder.path().join(name)));
    let (logger, mut drain) = Builder::new()
        .capacity(50)
        .line_bytes(256)
        .output(file("main"))
        .route("routed", file("routed"))
        .sample("sampled", 2)
        .build()
        .unwrap();
    let long = "a long message, with\nline breaks. ".repeat(100);
    let log_to = |target: &str, message: Arguments<'_>| {
        logger.log(&Record::builder().target(target).args(message).build());
    };
    let round = |drain: &mut ringlog::Drain| {
        // Eight lines at a time, seven of which go to the ring: it overflows and recovers.
        for number in 0..10 {
            for target in ["main", "routed", "routed::below", "sampled"] {
                log_to(target, format_args!("number {number} {:?}", 1.5));
                log_to(target, format_args!("{long}"));
            }
        }
        drain.run_once()
    };
    assert_eq!(round(&mut drain), 50);
    let count = allocations(|| {
        for _ in 0..100 {
            assert_eq!(round(&mut drain), 50);
        }
    });
    assert_eq!(count, 0);
    assert_eq!(drain.counts().written, 101 * 50);
    assert_eq!(drain.counts().dropped, 101 * 20, "70 of 80 lines are sampled, 50 fit");
}

#[test]
fn the_command_log_does_not_allocate() {
    let folder = tempfile::tempdir().unwrap();
    let (klog, mut drain) = KlogBuilder::new(folder.path().join("klog")).build().unwrap();
    let round = |drain: &mut ringlog::Drain| {
        klog.command("get", b"user:17", 21, 130, "hit");
        klog.command("set", &[0xff; 2000], 2020, 8, "stored");
        drain.run_once()
    };
    assert_eq!(round(&mut drain), 2);
    let count = allocations(|| {
        for _ in 0..1000 {
            assert_eq!(round(&mut drain), 2);
        }
    });
    assert_eq!(count, 0);
}
