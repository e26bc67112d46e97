// SPDX-License-Identifier: Apache-2.0
//! Choosing what the admin thread serves and does, and starting it.

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use metrics::Window;
use tokio::sync::oneshot;

use crate::pace::Timeouts;
use crate::page_data::{ConfigText, PageData};
use crate::schedule::Schedule;
use crate::thread::{Loop, runtime};
use crate::{AdminHandle, Error, Readiness};

/// How often the window behind the recent percentiles moves on.
const WINDOW_INTERVAL: Duration = Duration::from_secs(1);

/// Periodic work, as the builder takes it.
type Task = (Duration, Box<dyn FnMut() + Send>);

/// Configures and starts the admin thread. Made by [`Admin::builder`](crate::Admin::builder).
#[must_use = "nothing runs until `spawn` is called"]
pub struct Builder {
    version: String,
    listen: Option<SocketAddr>,
    config_text: ConfigText,
    readiness: Readiness,
    connections_max: usize,
    timeouts: Timeouts,
    tasks: Vec<Task>,
    keepsake: Option<Box<dyn Send>>,
}

impl Builder {
    pub(crate) fn new(name: &str, version: &str) -> Self {
        Self {
            version: format!("{name} {version}\n"),
            listen: None,
            config_text: ConfigText::default(),
            readiness: Readiness::new(),
            connections_max: 64,
            timeouts: Timeouts {
                header: Duration::from_secs(5),
                request: Duration::from_secs(10),
                idle: Duration::from_secs(60),
            },
            tasks: Vec::new(),
            keepsake: None,
        }
    }

    /// Serves HTTP on `address`; port 0 takes any free one. Without it the thread runs its
    /// periodic tasks and serves nothing.
    pub fn listen(mut self, address: SocketAddr) -> Self {
        self.listen = Some(address);
        self
    }

    /// What `/config` shows: the effective configuration as TOML. Leave secrets out of it.
    /// Default: empty.
    pub fn config_text(mut self, text: impl Into<ConfigText>) -> Self {
        self.config_text = text.into();
        self
    }

    /// The flag that `/ready` shows. Default: one of its own, which stays at
    /// [`State::Starting`](crate::State::Starting).
    pub fn ready(mut self, readiness: Readiness) -> Self {
        self.readiness = readiness;
        self
    }

    /// The most HTTP connections at a time. One more is accepted and closed at once. Default: 64.
    pub fn connections_max(mut self, connections: usize) -> Self {
        self.connections_max = connections;
        self
    }

    /// How long a client may take over the headers of a request. Default: 5 s.
    pub fn header_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.header = timeout;
        self
    }

    /// How long a client may take from the first byte of its request to the last byte of the
    /// response. Default: 10 s.
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.request = timeout;
        self
    }

    /// How long a connection may stay open between two requests. Default: 60 s.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.idle = timeout;
        self
    }

    /// Adds work to be done on the admin thread every `interval` (at least a millisecond), and a
    /// last time at the stop. The first run is one interval after the start.
    ///
    /// Tasks run in the order they were added and before any request is answered. Late runs are
    /// not made up for. A task must not block: HTTP waits for it.
    pub fn task(mut self, interval: Duration, work: impl FnMut() + Send + 'static) -> Self {
        self.tasks.push((interval, Box::new(work)));
        self
    }

    /// Gives the thread a value that it drops when it ends, by a panic, too: so the value can tell of the end.
    pub fn keep(mut self, value: impl Send + 'static) -> Self {
        self.keepsake = Some(Box::new(value));
        self
    }

    /// Binds the address and starts the thread. When it returns, clients can connect.
    ///
    /// # Errors
    ///
    /// [`Error::Bind`] when the address cannot be listened on, [`Error::Start`] when the operating
    /// system has no thread or no poller to give.
    pub fn spawn(mut self) -> Result<AdminHandle, Error> {
        let listener = self.listen.map(bind).transpose()?;
        let address = listener.as_ref().map(|(_, address)| *address);
        let (stop, stopped) = oneshot::channel();
        let (started, start) = mpsc::sync_channel(1);
        let thread = thread::Builder::new()
            .name("admin".to_owned())
            .spawn(move || self.run(listener.map(|(listener, _)| listener), &started, stopped))
            .map_err(Error::Start)?;
        let handle = AdminHandle::new(address, thread, stop);
        match start.recv() {
            Ok(Ok(())) => Ok(handle),
            Ok(Err(error)) => Err(Error::Start(error)),
            // The thread ended without a report, which happens only on a panic.
            Err(mpsc::RecvError) => handle.stop().and(Err(Error::Panicked(String::new()))),
        }
    }

    /// The body of the thread.
    fn run(
        &mut self,
        listener: Option<TcpListener>,
        started: &mpsc::SyncSender<io::Result<()>>,
        stopped: oneshot::Receiver<()>,
    ) {
        let data = Rc::new(self.data());
        let schedule = self.schedule(&data);
        let (connections_max, timeouts) = (self.connections_max, self.timeouts);
        let outcome = runtime().and_then(|runtime| {
            let context = runtime.enter();
            let looping = Loop::new(listener, connections_max, timeouts, data, schedule)?;
            drop(context);
            Ok((runtime, looping))
        });
        let (report, ready) = match outcome {
            Ok(ready) => (Ok(()), Some(ready)),
            Err(error) => (Err(error), None),
        };
        // The receiver waits in `spawn` for exactly this message.
        let _ = started.send(report);
        if let Some((runtime, looping)) = ready {
            runtime.block_on(looping.run(stopped));
        }
    }

    fn data(&mut self) -> PageData {
        PageData {
            version: Bytes::from(std::mem::take(&mut self.version)),
            config: std::mem::take(&mut self.config_text),
            readiness: self.readiness.clone(),
            window: RefCell::new(Window::default()),
        }
    }

    fn schedule(&mut self, data: &Rc<PageData>) -> Schedule {
        let now = Instant::now();
        let mut schedule = Schedule::default();
        for (interval, work) in self.tasks.drain(..) {
            schedule.add(interval, work, now);
        }
        let data = Rc::clone(data);
        let tick = move || data.window.borrow_mut().tick();
        schedule.add(WINDOW_INTERVAL, Box::new(tick), now);
        schedule
    }
}

/// Binds synchronously, so that the caller learns the port and the errors.
fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Error> {
    let open = || -> io::Result<_> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    };
    open().map_err(|source| Error::Bind { address, source })
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("listen", &self.listen)
            .field("connections_max", &self.connections_max)
            .field("timeouts", &self.timeouts)
            .field("tasks", &self.tasks.len())
            .finish_non_exhaustive()
    }
}
