// SPDX-License-Identifier: Apache-2.0
//! [`Peer`]: a server as a child process and one connection to it, over a unix socket.

use crate::support::process::segcache_path;
use protocol_resp::client::{Encoder, Scanner};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::Command;
use tempfile::TempDir;
use test_support::PATIENCE;
use test_support::child::{self, Child};
use test_support::random::Random;

/// A running server and a client of it.
#[derive(Debug)]
pub(crate) struct Peer {
    _child: Child,
    _folder: TempDir,
    stream: UnixStream,
    /// Bytes that have arrived and are no whole reply yet.
    input: Vec<u8>,
}

impl Peer {
    /// Starts redis-server; `None` where it is not installed.
    pub(crate) fn redis(version: u8) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let child = child::redis_at(folder.path(), "resp", &[])?;
        Some(Self::connect(child, folder, version))
    }

    /// Starts `segcache` over a storage, with as much memory as keeps it from evicting.
    pub(crate) fn segcache(storage: &str, version: u8) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = format!(
            "[admin]\nenabled = false\n[server]\nlisten = [\"unix:memcache\"]\n\
             [resp]\nlisten = [\"unix:resp\"]\n[cache]\nstorage = {storage:?}\nmemory = \"256MB\"\n"
        );
        std::fs::write(folder.path().join("segcache.toml"), config).unwrap();
        let mut command = Command::new(segcache_path());
        command.arg("segcache.toml");
        let mut child = Child::quiet(command.current_dir(folder.path())).unwrap();
        let socket = folder.path().join("resp");
        child.await_start(|_| Ok(UnixStream::connect(&socket).is_ok())).expect("segcache starts");
        Self::connect(child, folder, version)
    }

    fn connect(child: Child, folder: TempDir, version: u8) -> Self {
        let stream = UnixStream::connect(folder.path().join("resp")).expect("it accepts");
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut peer = Peer { _child: child, _folder: folder, stream, input: Vec::new() };
        peer.ask(&["HELLO".into(), version.to_string().into_bytes()]);
        peer
    }

    /// The reply to one command.
    pub(crate) fn ask(&mut self, words: &[Vec<u8>]) -> Vec<u8> {
        self.exchange(&[words], None).remove(0)
    }

    /// The replies to commands that are sent as a pipeline, cut into arbitrary pieces if asked to.
    pub(crate) fn exchange(
        &mut self,
        commands: &[&[Vec<u8>]],
        cuts: Option<&mut Random>,
    ) -> Vec<Vec<u8>> {
        let mut bytes = Vec::new();
        for words in commands {
            Encoder::new(&mut bytes).request(*words);
        }
        let pieces = cuts.map_or_else(|| vec![bytes.len()], |random| cut(bytes.len(), random));
        let mut writer = self.stream.try_clone().unwrap();
        // A server that waits until its replies are read reads no commands.
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut start = 0;
                for end in pieces {
                    writer.write_all(&bytes[start..end]).expect("the server reads");
                    start = end;
                }
            });
            commands.iter().map(|_| self.receive()).collect()
        })
    }

    fn receive(&mut self) -> Vec<u8> {
        let mut scanner = Scanner::default();
        loop {
            if let Some(len) = scanner.scan(&self.input).expect("RESP") {
                return self.input.drain(..len).collect();
            }
            let mut piece = [0; 64 * 1024];
            match self.stream.read(&mut piece) {
                Ok(0) => panic!("the server has closed the connection"),
                Ok(len) => self.input.extend_from_slice(&piece[..len]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => panic!("no answer: {error}"),
            }
        }
    }
}

/// Where a pipeline of `len` bytes is cut.
fn cut(len: usize, random: &mut Random) -> Vec<usize> {
    let most = match random.below(8) {
        0 => 3,
        1..4 => 60,
        4..6 => 3000,
        _ => usize::MAX >> 17,
    };
    let (mut cuts, mut at) = (Vec::new(), 0);
    while at < len && cuts.len() < 300 {
        at = (at + 1 + random.below(most)).min(len);
        cuts.push(at);
    }
    cuts.push(len);
    cuts
}
