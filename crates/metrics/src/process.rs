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

/// The directory of the process's open descriptors.
const FILES: &str = "/proc/self/fd";

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
/// One thread should make all calls, each before the metrics are shown: it opens about as many files as the process
/// has threads. What workers are asked for has functions of its own, such as [`cpu_time`].
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

/// The process's resident memory in bytes; 0 if the system does not tell. Reads it anew and leaves the metrics alone, so
/// any thread may ask.
#[must_use]
pub fn resident_bytes() -> u64 {
    let status = read("/proc/self/status").unwrap_or_default();
    keyed(&status, "VmRSS").unwrap_or(0) * 1024
}

/// The process's own resident memory in bytes, without pages of files such as the program; 0 if the system does not
/// tell. Reads it anew.
#[must_use]
pub fn own_bytes() -> u64 {
    let status = read("/proc/self/status").unwrap_or_default();
    keyed(&status, "RssAnon").unwrap_or(0) * 1024
}

/// CPU time that the process has spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// Nanoseconds in user mode.
    pub user_ns: u64,
    /// Nanoseconds in the kernel.
    pub system_ns: u64,
}

/// CPU time that the process has spent so far; zero if the system does not tell. Reads it anew, from one file, and leaves
/// the metrics alone, so any thread may ask.
///
/// ```
/// let before = metrics::process::cpu_time();
/// assert!(metrics::process::cpu_time().user_ns >= before.user_ns);
/// ```
#[must_use]
pub fn cpu_time() -> CpuTime {
    read_stat().as_ref().map_or(CpuTime::default(), CpuTime::of)
}

impl CpuTime {
    fn of(stat: &Stat) -> Self {
        CpuTime { user_ns: stat.user_ticks * TICK_NS, system_ns: stat.system_ticks * TICK_NS }
    }
}

fn read_stat() -> Option<Stat> {
    read("/proc/self/stat").as_deref().and_then(Stat::parse)
}

fn refresh_stat() {
    if let Some(stat) = read_stat() {
        let CpuTime { user_ns, system_ns } = CpuTime::of(&stat);
        CPU_USER_TIME.set(user_ns);
        CPU_SYSTEM_TIME.set(system_ns);
        CPU_TIME.set(user_ns + system_ns);
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
    if let Some(open) = counted_files().or_else(listed_files) {
        OPEN_FDS.set(to_signed(open));
    }
    if let Some(limits) = read("/proc/self/limits") {
        MAX_FDS.set(open_files_max(&limits).unwrap_or(0));
    }
}

/// Open descriptors, as the size of their directory tells since Linux 6.2; older ones have 0 there.
fn counted_files() -> Option<u64> {
    let open = fs::metadata(FILES).ok()?.len();
    (open > 0).then_some(open)
}

/// The same by listing them, which takes a millisecond for each few thousand.
fn listed_files() -> Option<u64> {
    // One of them is the directory being read.
    fs::read_dir(FILES).ok().map(|files| (files.count() as u64).saturating_sub(1))
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn to_signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_count_descriptors_agree() {
        // Other tests may open files meanwhile.
        let agree = |_| counted_files().is_none_or(|open| Some(open) == listed_files());
        assert!((0..1000).any(agree), "{:?} {:?}", counted_files(), listed_files());
    }
}
