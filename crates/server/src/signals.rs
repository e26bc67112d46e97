// SPDX-License-Identifier: Apache-2.0
//! Signals: stop, stop at once, reload; and the word to systemd that the server is ready.

use crate::Error;
use crate::process::Event;
use log::{error, info, warn};
use sd_notify::NotifyState;
use session::TlsAcceptor;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;

/// What SIGHUP reads anew.
#[derive(Debug)]
pub(crate) struct Reload {
    pub(crate) logs: Arc<AtomicBool>,
    pub(crate) tls: Option<TlsAcceptor>,
}

impl Reload {
    fn run(&self) {
        self.logs.store(true, Ordering::Release);
        info!("SIGHUP: log files will be reopened");
        match self.tls.as_ref().map(TlsAcceptor::reload) {
            None => {}
            Some(Ok(())) => info!("certificates are read anew, for new connections"),
            Some(Err(problem)) => error!("certificates stay as they are: {problem}"),
        }
    }
}

/// Starts the thread that waits for signals. It sleeps in a read and ends with the process.
pub(crate) fn watch(events: Sender<Event>, reload: Reload) -> Result<(), Error> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).map_err(Error::Start)?;
    let body = move || {
        let mut stopping = false;
        for signal in signals.forever() {
            match signal {
                SIGHUP => reload.run(),
                _ if stopping => exit_at_once(signal),
                _ => {
                    stopping = true;
                    notify(&[NotifyState::Stopping]);
                    // The receiver lives as long as the process.
                    let _ = events.send(Event::Stop);
                }
            }
        }
    };
    let thread = thread::Builder::new().name("signals".to_owned());
    thread.spawn(body).map_err(Error::Start)?;
    Ok(())
}

/// Ends the process as the signal would have by default, for the shell's exit code.
fn exit_at_once(signal: i32) -> ! {
    eprintln!("second signal: exiting without waiting for connections");
    std::process::exit(128 + signal)
}

/// Tells systemd, if it started this process, that connections are accepted.
pub(crate) fn notify_ready() {
    notify(&[NotifyState::Ready]);
}

fn notify(states: &[NotifyState<'_>]) {
    if let Err(problem) = sd_notify::notify(states) {
        warn!("cannot notify the service manager: {problem}");
    }
}
