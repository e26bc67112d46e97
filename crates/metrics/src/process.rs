// SPDX-License-Identifier: Apache-2.0
//! The metrics every process has: resources, as the kernel counts them.
//!
//! They are read from `/proc/self`, so on systems other than Linux only [`PID`] and
//! [`PROCESS_UPTIME_SECONDS`] are kept and the others stay zero. The `ru_` names are those of
//! `getrusage(2)`. Of its sixteen, the ones Linux always leaves at zero are left out.

use std::fs;
use std::sync::OnceLock;
use std::time::Instant;

use crate::procfs::{Stat, keyed, open_files_max};

/// Nanoseconds in one of the kernel's time units for user space (`USER_HZ` is 100).
const TICK_NS: u64 = 10_000_000;

/// The unit `getrusage` counts block input and output in.
const IO_BLOCK_BYTES: u64 = 512;

crate::levels! {
    /// Process id.
    pub static PID: "pid";
    /// Seconds since the process started.
    pub static PROCESS_UPTIME_SECONDS: "process_uptime_seconds";
    /// Open file descriptors.
    pub static PROCESS_OPEN_FDS: "process_open_fds";
    /// Soft limit on open file descriptors, 0 if there is none.
    pub static PROCESS_MAX_FDS: "process_max_fds";
    /// Memory in RAM, in bytes.
    pub static PROCESS_RESIDENT_MEMORY_BYTES: "process_resident_memory_bytes";
    /// Address space, in bytes.
    pub static PROCESS_VIRTUAL_MEMORY_BYTES: "process_virtual_memory_bytes";
    /// Threads alive.
    pub static PROCESS_THREADS: "process_threads";
    /// Most memory ever in RAM, in bytes.
    pub static RU_MAXRSS: "ru_maxrss";
}

crate::totals! {
    /// CPU time spent in user mode, in nanoseconds.
    pub static RU_UTIME: "ru_utime";
    /// CPU time spent in the kernel, in nanoseconds.
    pub static RU_STIME: "ru_stime";
    /// Page faults that needed no disk access.
    pub static RU_MINFLT: "ru_minflt";
    /// Page faults that needed disk access.
    pub static RU_MAJFLT: "ru_majflt";
    /// Blocks of 512 bytes read from disk.
    pub static RU_INBLOCK: "ru_inblock";
    /// Blocks of 512 bytes written to disk.
    pub static RU_OUBLOCK: "ru_oublock";
    /// Times a thread gave up the CPU by itself, over the threads alive.
    pub static RU_NVCSW: "ru_nvcsw";
    /// Times a thread had the CPU taken from it, over the threads alive.
    pub static RU_NIVCSW: "ru_nivcsw";
}

/// Updates all of them. A file that is missing or not readable leaves its metrics as they are.
///
/// The uptime counts from the first call, which a server makes when it starts. One thread should
/// make all calls, once a second or before each use: it opens about as many files as the process
/// has threads.
///
/// ```
/// metrics::process::refresh();
/// assert_eq!(metrics::value("pid"), Some(std::process::id().into()));
/// ```
pub fn refresh() {
    static START: OnceLock<Instant> = OnceLock::new();
    let uptime = START.get_or_init(Instant::now).elapsed();
    PROCESS_UPTIME_SECONDS.set(to_signed(uptime.as_secs()));
    PID.set(std::process::id().into());
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
        RU_UTIME.set(stat.user_ticks * TICK_NS);
        RU_STIME.set(stat.system_ticks * TICK_NS);
        RU_MINFLT.set(stat.minor_faults);
        RU_MAJFLT.set(stat.major_faults);
        PROCESS_THREADS.set(stat.threads);
        PROCESS_VIRTUAL_MEMORY_BYTES.set(stat.virtual_bytes);
    }
}

fn refresh_memory() {
    let status = read("/proc/self/status").unwrap_or_default();
    for (key, level) in [("VmRSS", &PROCESS_RESIDENT_MEMORY_BYTES), ("VmHWM", &RU_MAXRSS)] {
        if let Some(kib) = keyed(&status, key) {
            level.set(to_signed(kib * 1024));
        }
    }
}

fn refresh_io() {
    let io = read("/proc/self/io").unwrap_or_default();
    for (key, total) in [("read_bytes", &RU_INBLOCK), ("write_bytes", &RU_OUBLOCK)] {
        if let Some(bytes) = keyed(&io, key) {
            total.set(bytes / IO_BLOCK_BYTES);
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
    RU_NVCSW.set(voluntary.max(RU_NVCSW.value()));
    RU_NIVCSW.set(involuntary.max(RU_NIVCSW.value()));
}

fn refresh_files() {
    if let Ok(files) = fs::read_dir("/proc/self/fd") {
        // One of them is the directory being read.
        let open = files.count().saturating_sub(1);
        PROCESS_OPEN_FDS.set(to_signed(open as u64));
    }
    if let Some(limits) = read("/proc/self/limits") {
        PROCESS_MAX_FDS.set(open_files_max(&limits).unwrap_or(0));
    }
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn to_signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
