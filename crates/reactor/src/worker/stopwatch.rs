// SPDX-License-Identifier: Apache-2.0
//! [`Stopwatch`]: the CPU time of each turn of a worker's loop, an optional metric.

use clock::CpuClock;
use std::time::Duration;

/// The metric of the CPU time of turns.
pub const METRICS: metrics::MetricSet = metrics::metric_set!();

metrics::histograms! {
    /// CPU time that a worker takes for a turn of its event loop: its requests, reads and
    /// writes, background work, and the wait for events but for the sleep.
    pub(crate) static TURN_CPU_TIME: "shoebill_turn_cpu_seconds" in nanoseconds;
}

/// Reads the CPU clock once per turn of the loop, when the wait for events is over. So all CPU time of a turn
/// is counted, including the system calls of the wait itself, which send and receive on io_uring. Sleep takes
/// no CPU time.
#[derive(Debug)]
pub(super) struct Stopwatch {
    cpu: CpuClock,
    /// The previous reading. `None` before the first, which must be made on the worker's own
    /// thread.
    before: Option<Duration>,
}

impl Stopwatch {
    pub(super) fn new(cpu: CpuClock) -> Self {
        Stopwatch { cpu, before: None }
    }

    /// Ends a turn, records it, and begins the next.
    pub(super) fn lap(&mut self) {
        let now = self.cpu.now();
        if let Some(before) = self.before.replace(now) {
            TURN_CPU_TIME.record(now.saturating_sub(before).as_nanos() as u64);
        }
    }
}
