// SPDX-License-Identifier: Apache-2.0
//! Signals: stop, stop at once, reload, and signals that are ignored; and the notifications of systemd that
//! the server is ready, and that it stops.

use crate::Error;
use crate::process::Event;
use crate::reload::Reload;
use log::warn;
use sd_notify::NotifyState;
use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level::signal_name;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;

/// Signals sent by habit or by mistake, which would end the process silently if they were not caught.
const IDLE: [i32; 3] = [SIGUSR1, SIGUSR2, SIGALRM];

/// Starts the thread that waits for signals. It sleeps in a read and ends with the process.
pub(crate) fn watch(events: Sender<Event>, reload: Reload) -> Result<(), Error> {
    let stopping = Arc::new(AtomicBool::new(false));
    watch_for_the_second(&stopping).map_err(Error::Start)?;
    // With SIGXFSZ caught, a write beyond the largest size of a file (`ulimit -f`) fails like one on a full
    // disk, and the writer reports it.
    flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map_err(Error::Start)?;
    let heard = [SIGTERM, SIGINT, SIGHUP].into_iter().chain(IDLE);
    let mut signals = Signals::new(heard).map_err(Error::Start)?;
    if stopping.load(Ordering::Relaxed) {
        // It came before anybody heard it. The receiver lives as long as the process.
        let _ = events.send(Event::Stop);
    }
    let body = move || {
        for signal in signals.forever() {
            match signal {
                SIGHUP => reload.begin(),
                SIGTERM | SIGINT => {
                    // The receiver lives as long as the process.
                    let _ = events.send(Event::Stop);
                }
                idle => warn!(
                    "{} has no effect: SIGTERM stops the server, SIGHUP reads its files anew",
                    signal_name(idle).unwrap_or("a signal")
                ),
            }
        }
    };
    let thread = thread::Builder::new().name("signals".to_owned());
    thread.spawn(body).map_err(Error::Start)?;
    Ok(())
}

/// Makes the second stop signal end the process as it would by default, for the shell's exit code. The
/// handler itself ends it, so a thread that hangs cannot prevent it.
fn watch_for_the_second(stopping: &Arc<AtomicBool>) -> io::Result<()> {
    for signal in [SIGTERM, SIGINT] {
        flag::register_conditional_shutdown(signal, 128 + signal, stopping.clone())?;
        flag::register(signal, stopping.clone())?;
    }
    Ok(())
}

/// Tells systemd, if it started this process, that connections are accepted.
pub(crate) fn notify_ready() {
    notify(&[NotifyState::Ready]);
}

/// Tells systemd, if it started this process, that it is about to end.
pub(crate) fn notify_stopping() {
    notify(&[NotifyState::Stopping]);
}

fn notify(states: &[NotifyState<'_>]) {
    if let Err(problem) = sd_notify::notify(states) {
        warn!("cannot notify the service manager: {problem}");
    }
}
