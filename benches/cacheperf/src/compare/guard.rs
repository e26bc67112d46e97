// SPDX-License-Identifier: Apache-2.0
//! [`Guard`]: no server is left behind when a signal ends this process.

use crate::Error;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::emulate_default_handler;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Ends the servers that it watches over when a signal is about to end this process. Without it a server
/// that is suspended at that moment would stay for ever.
#[derive(Debug)]
pub(super) struct Guard {
    servers: Arc<Mutex<Vec<u32>>>,
    signals: Handle,
}

impl Guard {
    /// A guard without servers.
    pub(super) fn new() -> Result<Self, Error> {
        let failed = |error| Error::system("cannot wait for signals", error);
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(failed)?;
        let servers = Arc::new(Mutex::new(Vec::new()));
        let guard = Guard { servers: servers.clone(), signals: signals.handle() };
        let wait = move || {
            for signal in signals.forever() {
                servers.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(end);
                // It ends this process as the signal would have.
                let _ = emulate_default_handler(signal);
            }
        };
        thread::Builder::new().name("signals".to_owned()).spawn(wait).map_err(failed)?;
        Ok(guard)
    }

    /// Watches over a process that was started here. It is not waited for while this guard is there, but
    /// when its start fails, which ends all; so its number is nobody else's.
    pub(super) fn watch_over(&self, server: u32) {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner).push(server);
    }
}

/// Ends a process, also one that is stopped. One that has ended already needs nothing.
fn end(server: &u32) {
    if let Some(pid) = Pid::from_raw(server.cast_signed()) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.signals.close();
    }
}
