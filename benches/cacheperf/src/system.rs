// SPDX-License-Identifier: Apache-2.0
//! What the system grants: CPU time, the CPUs to run on, open files.

use crate::Error;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::CpuSet;
use rustix::time::{ClockId, clock_gettime};
use std::fs;
use std::io;

/// Nanoseconds of CPU time that this process has used, its ended threads included.
pub(crate) fn own_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Nanoseconds of CPU time that the present threads of a process have used, by the scheduler's own
/// account, which is exact. `None` when there is no such process or the system keeps no account.
pub(crate) fn process_ns(pid: u32) -> Option<u64> {
    let mut sum = 0;
    for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        // A thread may end in between.
        let Ok(text) = fs::read_to_string(thread.ok()?.path().join("schedstat")) else { continue };
        sum += first_number(&text)?;
    }
    Some(sum)
}

/// Raises the limit of open files as far as the system allows. Where that is too little, connecting
/// fails and says so.
pub(crate) fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

fn first_number(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

/// The CPUs that the calling thread may run on, and those that it and its children may after
/// [`pin`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cpus(CpuSet);

impl Cpus {
    /// One CPU.
    pub(crate) fn only(cpu: usize) -> Result<Self, Error> {
        if cpu >= CpuSet::MAX_CPU {
            return Err(Error::Setting(format!("CPU {cpu}: there is no such CPU")));
        }
        let mut set = CpuSet::new();
        set.set(cpu);
        Ok(Cpus(set))
    }

    /// Those of the calling thread.
    pub(crate) fn current() -> Result<Self, Error> {
        let set = rustix::thread::sched_getaffinity(None);
        set.map(Cpus).map_err(|error| Error::system("cannot read the CPU affinity", error))
    }

    /// Binds the calling thread, and the threads and processes that it starts from here on.
    pub(crate) fn pin(&self) -> Result<(), Error> {
        rustix::thread::sched_setaffinity(None, &self.0).map_err(|error| {
            let cpus: Vec<String> = (0..CpuSet::MAX_CPU)
                .filter(|cpu| self.0.is_set(*cpu))
                .map(|cpu| cpu.to_string())
                .collect();
            let cpus = cpus.join(", ");
            let what =
                format!("cannot run on CPU {cpus} (others by --server-cpu and --client-cpu)");
            Error::system(what, io::Error::from(error))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_is_spent_is_counted() {
        let (own, process) = (own_ns(), process_ns(std::process::id()).unwrap());
        let mut sum = 0_u64;
        while own_ns() < own + 20_000_000 {
            sum = sum.wrapping_mul(31).wrapping_add(own);
        }
        std::hint::black_box(sum);
        assert!(process_ns(std::process::id()).unwrap() > process);
        assert_eq!(process_ns(u32::MAX), None);
    }

    #[test]
    fn a_thread_can_be_bound_and_set_free() {
        let before = Cpus::current().unwrap();
        let first = (0..1024).find(|cpu| before.0.is_set(*cpu)).unwrap();
        Cpus::only(first).unwrap().pin().unwrap();
        assert_eq!(Cpus::current().unwrap().0, Cpus::only(first).unwrap().0);
        before.pin().unwrap();
        assert_eq!(Cpus::current().unwrap().0, before.0);
        assert!(Cpus::only(1 << 20).is_err());
    }
}
