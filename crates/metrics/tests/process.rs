// SPDX-License-Identifier: Apache-2.0
//! The process metrics against what the test does to its own process.
//!
//! One test alone in its process, so that nobody else opens files or spends CPU time.

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

use metrics::process::{self, *};

/// Counted one number at a time, which opens nothing.
fn open_files() -> i64 {
    let open = |fd: &i64| std::fs::symlink_metadata(format!("/proc/self/fd/{fd}")).is_ok();
    (0..4096).filter(open).count() as i64
}

#[test]
fn refresh_follows_the_process() {
    process::refresh();
    assert_eq!(PID.value(), i64::from(std::process::id()));
    assert!(PROCESS_UPTIME_SECONDS.value() >= 0);
    assert!(PROCESS_MAX_FDS.value() > 3);
    assert!(PROCESS_THREADS.value() >= 1);
    assert!(RU_MINFLT.value() > 0);

    let (files, faults) = (PROCESS_OPEN_FDS.value(), RU_MINFLT.value());
    let opened: Vec<_> = (0..3).map(|_| std::fs::File::open("/proc/self/stat").unwrap()).collect();
    let touched = vec![1_u8; 64 << 20];
    // Spend CPU time until the kernel's clock of 10 ms has seen it.
    while RU_UTIME.value() + RU_STIME.value() == 0 {
        assert!(std::hint::black_box(&touched).iter().all(|byte| *byte == 1));
        process::refresh();
    }
    process::refresh();
    assert_eq!(PROCESS_OPEN_FDS.value(), files + 3);
    assert_eq!(PROCESS_OPEN_FDS.value(), open_files());
    assert!(RU_MINFLT.value() >= faults);
    assert!(PROCESS_RESIDENT_MEMORY_BYTES.value() > 64 << 20);
    assert!(RU_MAXRSS.value() > 64 << 20);
    assert!(PROCESS_VIRTUAL_MEMORY_BYTES.value() > PROCESS_RESIDENT_MEMORY_BYTES.value());

    drop((opened, touched));
    process::refresh();
    assert_eq!(PROCESS_OPEN_FDS.value(), files);
    assert!(RU_MAXRSS.value() > 64 << 20, "the most there ever was");
}
