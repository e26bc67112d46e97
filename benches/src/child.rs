// SPDX-License-Identifier: Apache-2.0
//! [`Child`]: a server that is started for a check, watched, and stopped.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long it may take to start, and to stop.
const PATIENCE: Duration = Duration::from_secs(60);
/// Lines of its log that are kept.
const LINES_MAX: usize = 200;

/// A running server. It is killed when it is dropped.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    log: Arc<Log>,
    /// The addresses it listens on, in the order in which it reports them.
    pub addresses: Vec<SocketAddr>,
    /// Its configuration file.
    _folder: tempfile::TempDir,
}

/// What it has written to standard error.
#[derive(Debug, Default)]
struct Log {
    lines: Mutex<Lines>,
    grown: Condvar,
}

#[derive(Debug, Default)]
struct Lines {
    last: Vec<String>,
    addresses: Vec<SocketAddr>,
    /// The first line that tells of a panic.
    panic: Option<String>,
    ended: bool,
}

/// A thread's CPU time so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ran {
    /// Nanoseconds on a CPU.
    pub cpu_ns: u64,
    /// Nanoseconds for which it was ready and waited for a CPU.
    pub waited_ns: u64,
}

impl Child {
    /// Starts a server with a configuration in TOML, and waits until it listens on `listeners` addresses.
    ///
    /// # Errors
    ///
    /// It does not start.
    pub fn start(binary: &Path, config: &str, listeners: usize) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("server.toml");
        fs::write(&file, config)?;
        let mut process = Command::new(binary)
            .arg(&file)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {error}", binary.display()))
            })?;
        let log = Arc::new(Log::default());
        let stderr = process.stderr.take().expect("it is piped");
        let reader = Arc::clone(&log);
        thread::spawn(move || reader.read(BufReader::new(stderr)));
        let mut child = Child { process, log, addresses: Vec::new(), _folder: folder };
        child.addresses = child.log.addresses(listeners).ok_or_else(|| {
            io::Error::other(format!("{} does not start:\n{}", binary.display(), child.log()))
        })?;
        Ok(child)
    }

    /// Its process number.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// The last lines of its log.
    #[must_use]
    pub fn log(&self) -> String {
        self.log.lock().last.join("\n")
    }

    /// Fails with its log if it has ended, or a thread of it has panicked.
    ///
    /// # Errors
    ///
    /// What happened to it.
    pub fn is_well(&mut self) -> Result<(), String> {
        if let Some(status) = self.process.try_wait().map_err(|error| error.to_string())? {
            return Err(format!("the server has ended: {status}\n{}", self.log()));
        }
        match &self.log.lock().panic {
            Some(line) => Err(format!("the server has panicked: {line}")),
            None => Ok(()),
        }
    }

    /// Stops it by SIGTERM.
    ///
    /// # Errors
    ///
    /// It was not well, or does not end as it should.
    pub fn stop(mut self) -> Result<(), String> {
        self.is_well()?;
        let pid = Pid::from_raw(self.pid().cast_signed()).expect("it runs");
        kill_process(pid, Signal::TERM).map_err(|error| error.to_string())?;
        let started = Instant::now();
        loop {
            match self.process.try_wait().map_err(|error| error.to_string())? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => {
                    return Err(format!("the server ended by {status}:\n{}", self.log()));
                }
                None if started.elapsed() > PATIENCE => {
                    return Err("the server does not stop".to_owned());
                }
                None => thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    /// Its resident bytes.
    ///
    /// # Errors
    ///
    /// It has ended.
    pub fn resident(&self) -> io::Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kb = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        Ok(kb.ok_or_else(|| io::Error::other("no VmRSS"))? << 10)
    }

    /// Its open descriptors.
    ///
    /// # Errors
    ///
    /// It has ended.
    pub fn descriptors(&self) -> io::Result<usize> {
        Ok(fs::read_dir(format!("/proc/{}/fd", self.pid()))?.count())
    }

    /// What each of its threads has had of the CPUs, by its number.
    ///
    /// # Errors
    ///
    /// It has ended.
    pub fn threads(&self) -> io::Result<Vec<(u32, Ran)>> {
        threads(self.pid())
    }
}

/// What each thread of a process has had of the CPUs, by its number.
fn threads(pid: u32) -> io::Result<Vec<(u32, Ran)>> {
    let mut threads = Vec::new();
    for entry in fs::read_dir(format!("/proc/{pid}/task"))? {
        let entry = entry?;
        let id = entry.file_name().to_string_lossy().parse().map_err(io::Error::other)?;
        // A thread may end in between.
        let Ok(text) = fs::read_to_string(entry.path().join("schedstat")) else { continue };
        let mut numbers = text.split_whitespace().map(|word| word.parse().unwrap_or(0));
        let mut next = || numbers.next().unwrap_or(0);
        threads.push((id, Ran { cpu_ns: next(), waited_ns: next() }));
    }
    Ok(threads)
}

/// The CPU time of all threads of a process so far, in nanoseconds.
///
/// # Errors
///
/// There is no such process.
pub fn cpu_ns(pid: u32) -> io::Result<u64> {
    Ok(threads(pid)?.iter().map(|(_, ran)| ran.cpu_ns).sum())
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Log {
    fn lock(&self) -> std::sync::MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, stderr: impl BufRead) {
        for line in stderr.lines() {
            let Ok(line) = line else { break };
            let mut lines = self.lock();
            if let Some((_, address)) = line.split_once("listening on tcp:") {
                lines.addresses.extend(address.parse::<SocketAddr>());
            }
            if lines.panic.is_none() && line.contains("panicked at") {
                lines.panic = Some(line.clone());
            }
            if lines.last.len() == LINES_MAX {
                lines.last.remove(0);
            }
            lines.last.push(line);
            self.grown.notify_all();
        }
        self.lock().ended = true;
        self.grown.notify_all();
    }

    /// Waits for so many addresses.
    fn addresses(&self, count: usize) -> Option<Vec<SocketAddr>> {
        let waiting = |lines: &mut Lines| lines.addresses.len() < count && !lines.ended;
        let waited = self.grown.wait_timeout_while(self.lock(), PATIENCE, waiting);
        let (lines, _) = waited.unwrap_or_else(PoisonError::into_inner);
        (lines.addresses.len() >= count).then(|| lines.addresses.clone())
    }
}
