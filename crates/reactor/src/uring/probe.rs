// SPDX-License-Identifier: Apache-2.0
//! Tries out once, on a socket pair, whether the kernel's io_uring does what the driver needs.

use super::queue::Queue;
use super::ring::Completion;
use super::token::{Kind, Token};
use crate::engine::UringSupport;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Timeout of the trial: far longer than the kernel takes to move a byte.
const PATIENCE: Duration = Duration::from_secs(1);

/// Runs the trial; returns what was found.
///
/// # Errors
///
/// A description of what is missing, or of what refuses it.
pub(crate) fn probe() -> Result<UringSupport, String> {
    let mut queue = Queue::new(8, 64).map_err(|error| refusal(&error))?;
    try_out(&mut queue).map_err(|error| format!("io_uring: {error}"))?;
    Ok(UringSupport { ring: queue.setup(), shares_buffers: queue.shares_buffers() })
}

/// Why there is no ring, in words.
pub(crate) fn refusal(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => format!(
            "io_uring_setup: {error} (a container's seccomp filter or kernel.io_uring_disabled)"
        ),
        Some(libc::ENOSYS) => format!("io_uring_setup: {error} (the kernel has no io_uring)"),
        Some(libc::EINVAL) => format!("io_uring: {error} (the kernel is older than 5.19)"),
        Some(libc::ENOMEM) => format!(
            "io_uring: {error} (a ring counts against what its user may lock: ulimit -l, LimitMEMLOCK=)"
        ),
        _ => format!("io_uring: {error}"),
    }
}

/// Receives two bytes with one operation.
fn try_out(queue: &mut Queue) -> io::Result<()> {
    queue.enable()?;
    let (near, mut far) = UnixStream::pair()?;
    near.set_nonblocking(true)?;
    queue.receive(near.as_fd(), Token::new(Kind::Receive, 0, 0));
    for byte in [b"a", b"b"] {
        far.write_all(byte)?;
        let completion = await_one(queue)?;
        completion.outcome()?;
        if !completion.has_more() {
            return Err(unsupported("no receiving of more than once (Linux 6.0)"));
        }
        match queue.take(&completion) {
            Some(bytes) if *bytes == byte[..] => {}
            _ => return Err(unsupported("no receiving into lent buffers")),
        }
    }
    Ok(())
}

fn await_one(queue: &mut Queue) -> io::Result<Completion> {
    queue.wait(PATIENCE)?;
    queue.pop().ok_or_else(|| io::ErrorKind::TimedOut.into())
}

fn unsupported(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, what)
}
