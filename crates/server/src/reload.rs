// SPDX-License-Identifier: Apache-2.0
//! [`Reload`]: reopens log files and reads certificates again on SIGHUP.

use crate::Error;
use log::{error, info, warn};
use session::TlsAcceptor;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// Reads files again. Certificates are read on a separate thread, so a file system that hangs, or a pipe
/// that nobody writes to, delays nothing else.
#[derive(Debug)]
pub(crate) struct Reload {
    logs: Arc<AtomicBool>,
    certificates: Option<Certificates>,
}

/// The thread that reads certificates, once per request.
#[derive(Debug)]
struct Certificates {
    /// Has room for one request: any number of signals during a read cause one more read.
    wanted: SyncSender<()>,
    is_reading: Arc<AtomicBool>,
}

impl Reload {
    /// Sets the flag `logs` to have log files reopened, and reads the files of `tls`.
    ///
    /// # Errors
    ///
    /// When the system refuses a thread.
    pub(crate) fn new(logs: Arc<AtomicBool>, tls: Option<TlsAcceptor>) -> Result<Self, Error> {
        let certificates = tls.map(Certificates::start).transpose()?;
        Ok(Reload { logs, certificates })
    }

    /// Requests both and returns at once.
    pub(crate) fn begin(&self) {
        self.logs.store(true, Ordering::Release);
        info!("SIGHUP: log files will be reopened");
        if let Some(certificates) = &self.certificates {
            certificates.want();
        }
    }
}

impl Certificates {
    fn start(tls: TlsAcceptor) -> Result<Self, Error> {
        let (wanted, wishes) = sync_channel(1);
        let is_reading = Arc::new(AtomicBool::new(false));
        let reading = is_reading.clone();
        let body = move || {
            for () in wishes {
                reading.store(true, Ordering::Release);
                match tls.reload() {
                    Ok(()) => info!("certificates are read anew, for new connections"),
                    Err(problem) => error!("certificates stay as they are: {problem}"),
                }
                reading.store(false, Ordering::Release);
            }
        };
        thread::Builder::new().name("reload".to_owned()).spawn(body).map_err(Error::Start)?;
        Ok(Certificates { wanted, is_reading })
    }

    fn want(&self) {
        if self.is_reading.load(Ordering::Acquire) {
            warn!(
                "certificates are still being read for an earlier SIGHUP: one of the files does not \
                 come to its end; they are read again after that"
            );
        }
        // The channel is full: the files are going to be read again anyway.
        let _ = self.wanted.try_send(());
    }
}
