// SPDX-License-Identifier: Apache-2.0
//! How long the machine keeps a thread from its work.
//!
//! A thread does nothing but read its own clock of CPU time, for so many seconds. Two readings are some
//! hundred nanoseconds apart. What is longer than that the thread did not do: an interrupt, or in a
//! virtual machine the host that had something else to do with the core, both of which count as the
//! thread's CPU time. No turn of an event loop is shorter than that at the same moment.

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
