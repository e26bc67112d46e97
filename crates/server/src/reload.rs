// SPDX-License-Identifier: Apache-2.0
//! [`Reload`]: what SIGHUP reads anew.

use crate::Error;
use log::{error, info, warn};
use session::TlsAcceptor;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// Reads files anew. Certificates are read on a thread of its own: a file system that hangs, or a pipe
/// that nobody writes to, keeps nothing else from going on.
#[derive(Debug)]
pub(crate) struct Reload {
    logs: Arc<AtomicBool>,
    certificates: Option<Certificates>,
}

/// The thread that reads certificates, one time after the other.
#[derive(Debug)]
struct Certificates {
    /// Has room for one: any number of signals while the files are read make them be read once more.
    wanted: SyncSender<()>,
    is_reading: Arc<AtomicBool>,
}

impl Reload {
    /// Sets `logs` to have log files opened anew, and reads the files of `tls`.
    ///
    /// # Errors
    ///
    /// When the system refuses a thread.
    pub(crate) fn new(logs: Arc<AtomicBool>, tls: Option<TlsAcceptor>) -> Result<Self, Error> {
        let certificates = tls.map(Certificates::start).transpose()?;
        Ok(Reload { logs, certificates })
    }

    /// Asks for all of it and returns at once.
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
        // Full: they are going to be read again anyhow.
        let _ = self.wanted.try_send(());
    }
}
