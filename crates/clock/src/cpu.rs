// SPDX-License-Identifier: Apache-2.0
//! [`CpuClock`]: the CPU time of a thread.

use nix::time::{ClockId, clock_gettime};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A source of CPU time: that of the calling thread, or one that a test moves by hand.
///
/// Time that the thread sleeps or waits for a CPU does not count. So the difference of two readings is the
/// work of the thread itself, however busy the machine is. Clones share one time line.
///
/// ```
/// use clock::CpuClock;
/// use std::time::Duration;
///
/// let cpu = CpuClock::manual();
/// let begin = cpu.now();
/// cpu.advance(Duration::from_micros(30));
/// assert_eq!(cpu.now() - begin, Duration::from_micros(30));
/// ```
#[derive(Clone, Debug)]
pub struct CpuClock {
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    Thread,
    Manual(Arc<AtomicU64>),
}

impl CpuClock {
    /// The CPU time of the calling thread, in user space and in the kernel.
    pub fn thread() -> Self {
        CpuClock { source: Source::Thread }
    }

    /// A clock that stands still at zero until [`CpuClock::advance`] moves it.
    pub fn manual() -> Self {
        CpuClock { source: Source::Manual(Arc::default()) }
    }

    /// The CPU time so far. Costs a system call, except on a manual clock.
    pub fn now(&self) -> Duration {
        match &self.source {
            Source::Thread => {
                let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
                time.map_or(Duration::ZERO, Duration::from)
            }
            Source::Manual(ns) => Duration::from_nanos(ns.load(Ordering::Acquire)),
        }
    }

    /// Moves a manual clock forward, for all its clones.
    ///
    /// # Panics
    ///
    /// On a thread's clock, which cannot be moved.
    pub fn advance(&self, by: Duration) {
        match &self.source {
            Source::Thread => panic!("only a manual clock can be advanced"),
            Source::Manual(ns) => {
                ns.fetch_add(by.as_nanos() as u64, Ordering::AcqRel);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_cpu_time() {
        let cpu = CpuClock::thread();
        let begin = cpu.now();
        while cpu.now() == begin {
            std::hint::spin_loop();
        }
        assert!(cpu.now() > begin);
    }

    #[test]
    fn sleep_takes_none() {
        // This thread stays blocked until the other one has used more CPU time than this one ever
        // will.
        let worked = std::thread::spawn(|| {
            let cpu = CpuClock::thread();
            while cpu.now() < Duration::from_millis(20) {
                std::hint::spin_loop();
            }
            cpu.now()
        });
        let slept = std::thread::spawn(|| {
            let worked = worked.join().unwrap();
            (CpuClock::thread().now(), worked)
        });
        let (slept, worked) = slept.join().unwrap();
        assert!(slept < worked, "{slept:?} and {worked:?}");
    }

    #[test]
    #[should_panic(expected = "only a manual clock")]
    fn a_threads_clock_cannot_be_moved() {
        CpuClock::thread().advance(Duration::from_millis(1));
    }
}
