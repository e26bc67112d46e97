// SPDX-License-Identifier: Apache-2.0
//! The sizes of values change, so that those of one size take the place of those of another: resident memory stays
//! within what docs/limits.md promises.

use super::flood::{Flood, request};
use super::{MIB, Rig};

const MAX: u64 = 24 * MIB;
/// What is promised, and pages that the thread has not come to which returns them, while others have the CPU.
const BOUND: u64 = MAX + MAX * 15 / 100 + 16 * MIB + 8 * MIB;

/// Bytes that are sent in one piece, about.
const PIPELINE: usize = 256 << 10;

/// Writes values of this size until `bytes` bytes of them were written, and returns the highest resident memory seen.
fn write(rig: &mut Rig, flood: &mut Flood, size: usize, bytes: u64) -> u64 {
    let value = vec![b'v'; size];
    let mut highest = 0;
    let mut pipeline = Vec::new();
    for n in 0..bytes / size as u64 {
        let key = format!("key:{size}:{n}");
        pipeline.extend(request(&[b"SET", key.as_bytes(), &value]));
        if pipeline.len() >= PIPELINE {
            flood.send(&pipeline);
            pipeline.clear();
            highest = highest.max(rig.own_bytes());
        }
    }
    flood.send(&pipeline);
    highest.max(rig.own_bytes())
}

#[test]
fn resident_memory_stays_within_its_bound_when_the_sizes_of_values_change() {
    let mut rig = Rig::start(&["--maxmemory", "24mb", "--maxmemory-policy", "allkeys-lru"]);
    let mut flood = Flood::new(rig.address, b"");
    for size in [100, 1000, 300, 2000] {
        let highest = write(&mut rig, &mut flood, size, MAX);
        assert!(highest <= BOUND, "{size}: {highest} of {BOUND} bytes are resident");
    }
    assert!(rig.number("active_defrag_hits") > 0);
    let (used, dataset) = (rig.number("used_memory"), rig.number("used_memory_dataset"));
    assert!(used <= MAX + MIB && dataset > MAX / 2, "{dataset} bytes of entries, {used} in all");
}
