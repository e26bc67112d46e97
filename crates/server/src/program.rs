// SPDX-License-Identifier: Apache-2.0
//! [`Builder::run`]: a server that is the whole program, and the settings of such a server.

use crate::background::Background;
use crate::logging::LogDrains;
use crate::reload::Reload;
use crate::settings::Sections;
use crate::{Builder, Error, port_file, signals, user};
use log::{info, warn};
use nix::sys::mman::{MlockAllFlags, mlockall};
use protocol::{Execute, Protocol};
use ringlog::Output;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Settings that only a server that is the whole program has.
#[derive(Debug, Default)]
pub(crate) struct Program {
    is_whole: bool,
    background: Option<Background>,
    pid_file: Option<PathBuf>,
    port_file: Option<PathBuf>,
    user: Option<String>,
    dumps_core: bool,
    log_on_stdout: bool,
    greetings: Vec<String>,
    warnings: Vec<String>,
}

impl Program {
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }
}

/// A file with the process id, which is removed when the server has stopped.
#[derive(Debug)]
struct PidFile(PathBuf);

impl PidFile {
    /// Writes it. If that fails the server goes on without it, as other servers do.
    fn write(path: &Path) -> Option<Self> {
        match fs::write(path, format!("{}\n", std::process::id())) {
            Ok(()) => Some(PidFile(path.to_owned())),
            Err(problem) => {
                warn!("cannot write the pid file {}: {problem}", path.display());
                None
            }
        }
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        if let Err(problem) = fs::remove_file(&self.0) {
            eprintln!("cannot remove the pid file {}: {problem}", self.0.display());
        }
    }
}

impl Builder {
    /// Makes [`Builder::run`] let the parent process end once the server accepts connections.
    pub fn background(mut self, background: Background) -> Self {
        self.program.background = Some(background);
        self
    }

    /// Makes [`Builder::run`] write the process id into a file, and remove the file in the end.
    pub fn pid_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.program.pid_file = Some(path.into());
        self
    }

    /// Makes [`Builder::run`] write the ports that the server listens on into a file, a line such as `TCP INET: 11211` for each
    /// address. The file is complete when it appears. If it cannot be written, the log says so.
    pub fn port_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.program.port_file = Some(path.into());
        self
    }

    /// Makes [`Builder::run`] drop root privileges for those of this user, once the addresses are bound. It
    /// has no effect on a server that is not started by root.
    pub fn user(mut self, name: impl Into<String>) -> Self {
        self.program.user = Some(name.into());
        self
    }

    /// Locks the memory of the process, so that nothing is swapped out of what it uses from now on. Call it before a store
    /// is made, which may do without address space that would count as locked. [`Builder::run`] logs what prevents it.
    ///
    /// It takes an unlimited `RLIMIT_MEMLOCK`, which root gives itself, or `CAP_IPC_LOCK` for as long as the process runs, so
    /// not with a [user](Builder::user): else memory that is asked for later would be refused when the limit is reached,
    /// and the process would end.
    pub fn lock_memory(mut self) -> Self {
        self.program.warnings.extend(lock_memory(self.program.user.is_none()));
        self
    }

    /// Makes [`Builder::run`] allow core dumps of any size that the hard limit allows.
    pub fn core_dumps(mut self) -> Self {
        self.program.dumps_core = true;
        self
    }

    /// Makes [`Builder::run`] log to standard output instead of standard error, unless it logs to a file.
    pub fn log_on_stdout(mut self) -> Self {
        self.program.log_on_stdout = true;
        self
    }

    /// Makes [`Builder::run`] log these lines when the server accepts connections.
    pub fn greetings(mut self, lines: Vec<String>) -> Self {
        self.program.greetings = lines;
        self
    }

    /// Raises the limit of open files as far as the connections need and the system allows. If there are
    /// still too few descriptors, lowers the connection limit to fit. Returns that
    /// limit. [`Builder::run`] logs the reason.
    ///
    /// # Errors
    ///
    /// When there is no descriptor for a single connection.
    pub fn fit_connections(&mut self) -> Result<usize, Error> {
        let fit = self.needs().fit(self.dials.connections_max()).check()?;
        self.admin_clients = fit.admin_clients();
        self.dials.set_connections_max(fit.connections);
        self.program.warnings.extend(fit.shortage);
        Ok(fit.connections)
    }

    /// Makes this the whole program: fits the number of connections to the limit of open files
    /// ([`Builder::fit_connections`]), installs the logs, starts, reloads on SIGHUP, and stops on SIGTERM
    /// or SIGINT; a second of these ends the process at once. Returns when the server has stopped; what
    /// the workers own, such as a store, is not freed then, for the program is about to end.
    ///
    /// # Errors
    ///
    /// As for [`Builder::spawn`], and when a thread failed or did not end in time: the program must end then, and does
    /// when its `main` returns.
    pub fn run<P, E, M>(
        mut self,
        sections: Sections<'_>,
        make_protocol: M,
        make_service: impl FnMut(usize) -> E,
    ) -> Result<(), Error>
    where
        P: Protocol + Send + 'static,
        E: Execute<P> + Send + 'static,
        M: Fn(u16) -> P + Clone + Send + 'static,
    {
        self.fit_connections()?;
        self.program.is_whole = true;
        // Before the first listener is bound, so that no signal finds the default handler.
        let reopen = Arc::new(AtomicBool::new(false));
        let mut sources = std::mem::take(&mut self.sources);
        if let Some(tls) = self.tls.clone() {
            sources
                .add("certificates", move || tls.reload().map_err(|problem| problem.to_string()));
        }
        let reload = Reload::new(Arc::clone(&reopen), sources)?;
        signals::watch(self.events.0.clone(), reload)?;
        let bound = self.bind(&make_protocol)?;
        let dumped = self.program.dumps_core.then(allow_core_dumps);
        if let Some(name) = &self.program.user {
            user::become_user(name)?;
        }
        let stream = if self.program.log_on_stdout { Output::Stdout } else { Output::Stderr };
        let logs = LogDrains::install(sections.debug, sections.klog, stream, reopen)?;
        for warning in self.program.warnings.drain(..).chain(dumped.flatten()) {
            warn!("{warning}");
        }
        let (name, version) = (self.name, self.version);
        let background = self.program.background.take();
        let pid_file = self.program.pid_file.take();
        let port_file = self.program.port_file.take();
        let greetings = std::mem::take(&mut self.program.greetings);
        let mut process = self.start(bound, make_protocol, make_service)?;
        process.write_log(logs)?;
        let _pid_file = pid_file.as_deref().and_then(PidFile::write);
        if let Some(path) = port_file
            && let Err(problem) =
                port_file::write(&path, process.endpoints(), process.datagram_addresses())
        {
            warn!("cannot write the file of ports {}: {problem}", path.display());
        }
        for endpoint in process.endpoints() {
            info!("{name} {version} listening on {endpoint}");
        }
        for address in process.datagram_addresses() {
            info!("{name} {version} listening on udp:{address}");
        }
        if let Some(address) = process.admin_address() {
            info!("admin on http://{address}");
        }
        for greeting in greetings {
            info!("{greeting}");
        }
        process.announce();
        if let Some(background) = background {
            background.serves().map_err(Error::Start)?;
        }
        process.wait()
    }
}

/// Locks pages when they are used first: most of a stack, and of what an allocator has ahead, never is.
#[cfg(target_os = "linux")]
const ON_USE: MlockAllFlags = MlockAllFlags::from_bits_retain(nix::libc::MCL_ONFAULT);
#[cfg(not(target_os = "linux"))]
const ON_USE: MlockAllFlags = MlockAllFlags::empty();

/// What is to be told if it cannot be done.
fn lock_memory(keeps_privileges: bool) -> Option<String> {
    const UNLIMITED: u64 = rlimit::INFINITY;
    let limit = rlimit::Resource::MEMLOCK;
    let hard = limit.get().map_or(0, |(_, hard)| hard);
    let is_unlimited = limit.set(UNLIMITED, UNLIMITED).is_ok() || hard == UNLIMITED;
    let may_lock = is_unlimited || keeps_privileges && may_lock_any();
    if !may_lock {
        return Some(format!(
            "memory is not locked: only {hard} bytes may be (ulimit -l, LimitMEMLOCK=), not any number"
        ));
    }
    let all = MlockAllFlags::MCL_CURRENT | MlockAllFlags::MCL_FUTURE | ON_USE;
    mlockall(all).err().map(|problem| format!("memory cannot be locked: {problem}"))
}

/// Whether the process may lock more than its limit (`CAP_IPC_LOCK`).
fn may_lock_any() -> bool {
    const IPC_LOCK: u32 = 14;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    effective.is_some_and(|bits| bits >> IPC_LOCK & 1 == 1)
}

/// What is to be told if it cannot be done.
fn allow_core_dumps() -> Option<String> {
    let core = rlimit::Resource::CORE;
    let raised = core.get().and_then(|(_, hard)| core.set(hard, hard));
    raised.err().map(|problem| format!("the size of core dumps cannot be raised: {problem}"))
}
