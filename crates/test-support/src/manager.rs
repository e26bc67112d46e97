// SPDX-License-Identifier: Apache-2.0
//! [`Manager`]: a service manager as systemd, which servers notify.

use crate::PATIENCE;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A socket that servers tell that they are ready and that they stop.
#[derive(Debug)]
pub struct Manager {
    socket: UnixDatagram,
    path: PathBuf,
}

impl Manager {
    /// One with its socket in `folder`.
    pub fn new(folder: &Path) -> Self {
        let path = folder.join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Manager { socket, path }
    }

    /// Has the process that `command` starts notify it.
    pub fn manage<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("NOTIFY_SOCKET", &self.path)
    }

    /// Waits until it is told something, and returns it.
    #[track_caller]
    pub fn told(&self) -> String {
        let mut datagram = [0; 1024];
        let n = self.socket.recv(&mut datagram).unwrap();
        String::from_utf8(datagram[..n].to_vec()).unwrap().trim_end().to_owned()
    }
}
