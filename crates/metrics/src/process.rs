// SPDX-License-Identifier: Apache-2.0
//! The metrics every process has: resources, as the kernel counts them, under the names that the client libraries of
//! Prometheus use for them; what those have no name for is named alike.
//!
//! They are read from `/proc/self`, so on systems other than Linux they stay zero.

use std::fs;

use crate::procfs::{Stat, boot_seconds, keyed, open_files_max};

/// Nanoseconds in one of the kernel's time units for user space (`USER_HZ` is 100).
const TICK_NS: u64 = 10_000_000;

/// Milliseconds in one of them.
const TICK_MS: u64 = 10;

/// All metrics of this module.
pub const METRICS: crate::MetricSet = crate::metric_set!();

crate::levels! {
    /// When the process started, in seconds since 1970.
    pub static START_TIME: "process_start_time_seconds" in milliseconds;
    /// Open file descriptors.
    pub static OPEN_FDS: "process_open_fds";
    /// Soft limit on open file descriptors, 0 if there is none.
    pub static MAX_FDS: "process_max_fds";
    /// Memory in RAM.
    pub static RESIDENT_MEMORY_BYTES: "process_resident_memory_bytes";
    /// Most memory ever in RAM.
    pub static RESIDENT_MEMORY_PEAK_BYTES: "process_resident_memory_peak_bytes";
    /// Address space.
    pub static VIRTUAL_MEMORY_BYTES: "process_virtual_memory_bytes";
    /// Threads alive.
    pub static THREADS: "process_threads";
}

crate::totals! {
    /// CPU time spent, in user mode and in the kernel.
    pub static CPU_TIME: "process_cpu_seconds_total" in nanoseconds;
    /// CPU time spent in user mode.
    pub static CPU_USER_TIME: "process_cpu_user_seconds_total" in nanoseconds;
    /// CPU time spent in the kernel.
    pub static CPU_SYSTEM_TIME: "process_cpu_system_seconds_total" in nanoseconds;
    /// Page faults: minor ones needed no disk access.
    "process_page_faults_total" {
        pub static PAGE_FAULTS_MINOR: kind = "minor";
        pub static PAGE_FAULTS_MAJOR: kind = "major";
    }
    /// Bytes read from disk.
    pub static DISK_READ_BYTES: "process_disk_read_bytes_total";
    /// Bytes written to disk.
    pub static DISK_WRITTEN_BYTES: "process_disk_written_bytes_total";
    /// Times a thread gave up the CPU by itself, or had it taken from it; over the threads alive.
    "process_context_switches_total" {
        pub static SWITCHES_VOLUNTARY: kind = "voluntary";
        pub static SWITCHES_INVOLUNTARY: kind = "involuntary";
    }
}

/// Updates all of them. A file that is missing or not readable leaves its metrics as they are.
///
/// One thread should make all calls, once a second or before each use: it opens about as many files as the process
/// has threads.
///
/// ```
/// metrics::process::refresh();
/// assert!(metrics::process::RESIDENT_MEMORY_BYTES.value() > 0);
/// ```
pub fn refresh() {
    refresh_stat();
    refresh_memory();
    refresh_io();
    refresh_switches();
    refresh_files();
}

/// The process's own resident memory in bytes, without pages of files such as the program; 0 if the system does not
/// tell. Reads it anew.
#[must_use]
pub fn own_bytes() -> u64 {
    let status = read("/proc/self/status").unwrap_or_default();
    keyed(&status, "RssAnon").unwrap_or(0) * 1024
}

fn refresh_stat() {
    if let Some(stat) = read("/proc/self/stat").as_deref().and_then(Stat::parse) {
        let (user, system) = (stat.user_ticks * TICK_NS, stat.system_ticks * TICK_NS);
        CPU_USER_TIME.set(user);
        CPU_SYSTEM_TIME.set(system);
        CPU_TIME.set(user + system);
        PAGE_FAULTS_MINOR.set(stat.minor_faults);
        PAGE_FAULTS_MAJOR.set(stat.major_faults);
        THREADS.set(stat.threads);
        VIRTUAL_MEMORY_BYTES.set(stat.virtual_bytes);
        // The time of the boot is corrected when the clock is, so it is looked at once.
        if START_TIME.value() == 0
            && let Some(boot) = read("/proc/stat").as_deref().and_then(boot_seconds)
        {
            START_TIME.set(to_signed(boot * 1000 + stat.start_ticks * TICK_MS));
        }
    }
}

fn refresh_memory() {
    let status = read("/proc/self/status").unwrap_or_default();
    for (key, level) in [("VmRSS", &RESIDENT_MEMORY_BYTES), ("VmHWM", &RESIDENT_MEMORY_PEAK_BYTES)]
    {
        if let Some(kib) = keyed(&status, key) {
            level.set(to_signed(kib * 1024));
        }
    }
}

fn refresh_io() {
    let io = read("/proc/self/io").unwrap_or_default();
    for (key, total) in [("read_bytes", &DISK_READ_BYTES), ("write_bytes", &DISK_WRITTEN_BYTES)] {
        if let Some(bytes) = keyed(&io, key) {
            total.set(bytes);
        }
    }
}

/// The status of the process has only its main thread's switches, so every thread is asked.
fn refresh_switches() {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else {
        return;
    };
    let (mut voluntary, mut involuntary) = (0, 0);
    for task in tasks.flatten() {
        let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
        voluntary += keyed(&status, "voluntary_ctxt_switches").unwrap_or(0);
        involuntary += keyed(&status, "nonvoluntary_ctxt_switches").unwrap_or(0);
    }
    // The count of a thread is lost when it ends, but a counter must not go down.
    SWITCHES_VOLUNTARY.set(voluntary.max(SWITCHES_VOLUNTARY.value()));
    SWITCHES_INVOLUNTARY.set(involuntary.max(SWITCHES_INVOLUNTARY.value()));
}

fn refresh_files() {
    if let Ok(files) = fs::read_dir("/proc/self/fd") {
        // One of them is the directory being read.
        let open = files.count().saturating_sub(1);
        OPEN_FDS.set(to_signed(open as u64));
    }
    if let Some(limits) = read("/proc/self/limits") {
        MAX_FDS.set(open_files_max(&limits).unwrap_or(0));
    }
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn to_signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
