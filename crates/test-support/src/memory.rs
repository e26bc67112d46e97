// SPDX-License-Identifier: Apache-2.0
//! How much memory is in use, as Linux tells.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

/// Bytes of a page.
const PAGE: usize = 4096;

/// How many of these bytes of this process are in memory, by whole pages. They begin at a page.
///
/// # Panics
///
/// When the system does not tell.
#[must_use]
pub fn present(start: *const u8, bytes: usize) -> usize {
    let pagemap = File::open("/proc/self/pagemap").expect("every process has one");
    let mut entries = vec![0; bytes / PAGE * 8];
    let at = start.addr() / PAGE * 8;
    pagemap.read_exact_at(&mut entries, at as u64).expect("it has all pages");
    let (entries, _) = entries.as_chunks::<8>();
    entries.iter().filter(|entry| u64::from_le_bytes(**entry) >> 63 == 1).count() * PAGE
}

/// What the line `name` of `/proc/PID/FILE` says, which is in kB there, in bytes.
///
/// # Panics
///
/// When there is no such process or line.
#[must_use]
pub fn of_process(pid: u32, file: &str, name: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.split_ascii_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
}
