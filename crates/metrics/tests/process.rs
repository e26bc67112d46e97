// SPDX-License-Identifier: Apache-2.0
//! The process metrics against what the test does to its own process.
//!
//! One test alone in its process, so that nobody else opens files or spends CPU time.

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

use metrics::process::{self, *};
use std::time::{SystemTime, UNIX_EPOCH};

/// Counted one number at a time, which opens nothing.
fn open_files() -> i64 {
    let open = |fd: &i64| std::fs::symlink_metadata(format!("/proc/self/fd/{fd}")).is_ok();
    (0..4096).filter(open).count() as i64
}

#[test]
fn refresh_follows_the_process() {
    process::refresh();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64;
    // The kernel tells the time of its start in whole seconds, and clocks are corrected.
    assert!((now - 600_000..now + 10_000).contains(&START_TIME.value()), "{}", START_TIME.value());
    assert!(MAX_FDS.value() > 3);
    assert!(THREADS.value() >= 1);
    assert!(PAGE_FAULTS_MINOR.value() > 0);

    // While nobody refreshes the metrics, CPU time is told all the same.
    let before = CPU_TIME.value();
    let spent = || Some(process::cpu_time()).map(|time| time.user_ns + time.system_ns);
    while spent() <= Some(before) {
        std::hint::spin_loop();
    }
    assert_eq!(CPU_TIME.value(), before);

    let (files, faults) = (OPEN_FDS.value(), PAGE_FAULTS_MINOR.value());
    let opened: Vec<_> = (0..3).map(|_| std::fs::File::open("/proc/self/stat").unwrap()).collect();
    let touched = vec![1_u8; 64 << 20];
    // Spend CPU time until the kernel's clock of 10 ms has seen it.
    while CPU_TIME.value() == 0 {
        assert!(std::hint::black_box(&touched).iter().all(|byte| *byte == 1));
        process::refresh();
    }
    process::refresh();
    assert_eq!(CPU_TIME.value(), CPU_USER_TIME.value() + CPU_SYSTEM_TIME.value());
    assert_eq!(OPEN_FDS.value(), files + 3);
    assert_eq!(OPEN_FDS.value(), open_files());
    assert!(PAGE_FAULTS_MINOR.value() >= faults);
    assert!(RESIDENT_MEMORY_BYTES.value() > 64 << 20);
    assert!(process::resident_bytes() > 64 << 20);
    assert!(RESIDENT_MEMORY_PEAK_BYTES.value() > 64 << 20);
    assert!(VIRTUAL_MEMORY_BYTES.value() > RESIDENT_MEMORY_BYTES.value());

    drop((opened, touched));
    process::refresh();
    assert_eq!(OPEN_FDS.value(), files);
    assert!(RESIDENT_MEMORY_PEAK_BYTES.value() > 64 << 20, "the most there ever was");
}
