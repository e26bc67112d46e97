// SPDX-License-Identifier: Apache-2.0
//! Measures how long the machine interrupts a thread.
//!
//! For some seconds a thread only reads its own CPU-time clock. Two readings are usually some
//! hundred nanoseconds apart. A longer gap was not caused by the thread, but by an interrupt or, in a
//! virtual machine, by the host using the core; both count as the thread's CPU time. A turn of an event
//! loop that is interrupted in this way is at least as long as the gap.

use clock::CpuClock;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// What is told apart.
const LIMITS: [Duration; 4] = [
    Duration::from_micros(100),
    Duration::from_micros(300),
    Duration::from_millis(1),
    Duration::from_millis(3),
];

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).map(|word| word.parse());
    let (Some(Ok(seconds)), None) = (words.next(), words.next()) else {
        eprintln!("hiccups SECONDS: how long the machine keeps a thread from its work");
        return ExitCode::from(2);
    };
    let (cpu, end) = (CpuClock::thread(), Instant::now() + Duration::from_secs(seconds));
    let (mut last, mut longest, mut counts) = (cpu.now(), Duration::ZERO, [0_u64; LIMITS.len()]);
    while Instant::now() < end {
        let now = cpu.now();
        let pause = now.saturating_sub(last);
        last = now;
        longest = longest.max(pause);
        for (count, limit) in counts.iter_mut().zip(LIMITS) {
            *count += u64::from(pause > limit);
        }
    }
    for (count, limit) in counts.iter().zip(LIMITS) {
        println!("longer than {limit:?}: {count}");
    }
    println!("longest: {:.3} ms", longest.as_secs_f64() * 1e3);
    ExitCode::SUCCESS
}
