// SPDX-License-Identifier: Apache-2.0
//! Servers as child processes: the built `segcache`, and memcached beside it as the oracle.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use test_support::child::{self, Child};
use test_support::memcached::Memcached;

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    _child: Child,
    pub(crate) address: SocketAddr,
    /// Holds the configuration file, if there is one.
    _folder: Option<tempfile::TempDir>,
}

/// The binary under test: `SHOEBILL_SEGCACHE` names another build of it.
pub(crate) fn segcache_path() -> PathBuf {
    std::env::var_os("SHOEBILL_SEGCACHE")
        .map_or_else(|| env!("CARGO_BIN_EXE_segcache").into(), PathBuf::from)
}

/// What keeps the items, the default first.
pub(crate) const STORAGES: [&str; 2] = ["seg", "hashmap"];

/// The section that chooses a storage.
pub(crate) fn over(storage: &str) -> String {
    format!("[cache]\nstorage = {storage:?}\n")
}

/// Starts `segcache` on a free port with `flags` and the admin plane off, which would want a fixed port, and with time
/// limits that no client reaches, however busy the machine is; `sections` is added to its configuration file.
pub(crate) fn segcache(flags: &[&str], sections: &str) -> Server {
    limited("1h", flags, sections)
}

/// The same with a time limit for what clients send and take.
pub(crate) fn limited(limit: &str, flags: &[&str], sections: &str) -> Server {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("segcache.toml");
    let limits = format!("[server]\nread_timeout = {limit:?}\nwrite_timeout = {limit:?}\n");
    std::fs::write(&config, format!("[admin]\nenabled = false\n{limits}{sections}")).unwrap();
    let command = |port: u16| {
        let mut command = Command::new(segcache_path());
        command.arg("-p").arg(port.to_string()).args(flags).arg(&config);
        command
    };
    let (child, address) = child::at_free_port(command).expect("segcache starts");
    Server { _child: child, address, _folder: Some(folder) }
}

/// Starts memcached on a free port with `flags`; `None` when it is not installed, which is a failure
/// where `SHOEBILL_REQUIRE_ORACLES` is 1.
pub(crate) fn memcached(flags: &[&str]) -> Option<Server> {
    let (child, address) = Memcached::find()?.start(flags);
    Some(Server { _child: child, address, _folder: None })
}
