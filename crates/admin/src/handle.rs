// SPDX-License-Identifier: Apache-2.0
//! The running admin thread, as its owner holds it.

use std::any::Any;
use std::net::SocketAddr;
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use crate::Error;

/// Owns the admin thread. Dropping it stops the thread as [`AdminHandle::stop`] does, without
/// reporting an error.
#[derive(Debug)]
pub struct AdminHandle {
    address: Option<SocketAddr>,
    /// `None` once the thread is joined.
    thread: Option<JoinHandle<()>>,
    /// Dropping it is the signal to stop.
    stop: Option<oneshot::Sender<()>>,
}

impl AdminHandle {
    pub(crate) fn new(
        address: Option<SocketAddr>,
        thread: JoinHandle<()>,
        stop: oneshot::Sender<()>,
    ) -> Self {
        Self { address, thread: Some(thread), stop: Some(stop) }
    }

    /// The address HTTP is served on, with the real port where port 0 was asked for. `None` when
    /// the builder was given no address.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Whether the thread has ended by itself, which only a panic does.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Closes all connections, runs every periodic task a last time and waits for the thread.
    ///
    /// It takes as long as the tasks do: no client can delay it.
    ///
    /// # Errors
    ///
    /// [`Error::Panicked`] when a task or a page has panicked, before or during the stop.
    pub fn stop(mut self) -> Result<(), Error> {
        self.join()
    }

    fn join(&mut self) -> Result<(), Error> {
        drop(self.stop.take());
        match self.thread.take().map(JoinHandle::join) {
            None | Some(Ok(())) => Ok(()),
            Some(Err(panic)) => Err(Error::Panicked(message(panic.as_ref()))),
        }
    }
}

impl Drop for AdminHandle {
    fn drop(&mut self) {
        // The panic, if any, has already reached the panic hook.
        let _ = self.join();
    }
}

/// The text of a panic, as the standard library's own hook finds it.
fn message(panic: &(dyn Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text.clone()
    } else {
        "a value that is no text".to_owned()
    }
}
