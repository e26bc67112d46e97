// SPDX-License-Identifier: Apache-2.0
//! [`Background`]: leaving the terminal, or the script, that started the server.
//!
//! INV-ALONE: the process has one thread when it forks, so the child's memory is consistent: no other
//! thread can have been in the middle of a change.

use crate::Error;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, dup2_stderr, dup2_stdin, dup2_stdout, fork, setsid};
use std::fs::{self, OpenOptions};
use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};

/// A process that goes on without a terminal. The process that started it waits until it serves.
#[derive(Debug)]
#[must_use = "whoever started the server waits until it is handed to its builder"]
pub struct Background {
    ready: PipeWriter,
}

impl Background {
    /// Goes on in a child process, in a session of its own. The parent ends with 0 when the server
    /// accepts connections, or with the child's exit code if the child ends before that. Until then the
    /// child prints its errors where the parent would have.
    ///
    /// # Errors
    ///
    /// When the process has several threads already, or the system refuses another process.
    pub fn enter() -> Result<Self, Error> {
        if fs::read_dir("/proc/self/task").map_err(Error::Start)?.count() != 1 {
            let problem = "a process with several threads cannot go to the background";
            return Err(Error::Start(io::Error::other(problem)));
        }
        let (reader, ready) = pipe().map_err(Error::Start)?;
        // SAFETY: INV-ALONE.
        match unsafe { fork() }.map_err(start)? {
            ForkResult::Parent { child } => {
                drop(ready);
                std::process::exit(await_child(reader, child))
            }
            ForkResult::Child => {
                setsid().map_err(start)?;
                Ok(Background { ready })
            }
        }
    }

    /// Lets the parent end: the server accepts connections and needs no terminal any more.
    pub(crate) fn serves(mut self) -> io::Result<()> {
        let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
        dup2_stdin(&null)?;
        dup2_stdout(&null)?;
        dup2_stderr(&null)?;
        // A parent that was killed meanwhile need not be told.
        let _ = self.ready.write_all(b"1");
        Ok(())
    }
}

fn start(error: nix::Error) -> Error {
    Error::Start(error.into())
}

/// Waits until the child serves or ends, and returns the exit code for the parent.
fn await_child(mut ready: PipeReader, child: Pid) -> i32 {
    let mut word = [0];
    if ready.read_exact(&mut word).is_ok() {
        return 0;
    }
    match waitpid(child, None) {
        Ok(WaitStatus::Exited(_, code)) if code != 0 => code,
        Ok(WaitStatus::Signaled(_, signal, _)) => 128 + signal as i32,
        _ => 1,
    }
}
