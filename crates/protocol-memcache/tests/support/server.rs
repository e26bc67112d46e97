// SPDX-License-Identifier: Apache-2.0
//! A server without sockets: bytes in, bytes out, at a time the test decides.

use super::store::MapStore;
use buffer::SendBuf;
use clock::Clock;
use protocol::{
    ConnectionId, Context, Control, Directory, Errand, Execute, Malformed, Outbox, Parsed, Peer,
    Protocol,
};
use protocol_memcache::{Cursor, Memcache, MemcacheService, ServiceOptions, UserFile};
use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::Arc;

/// When a manual clock starts: a time that is not in the past of any expiry in the sessions.
pub const START_UNIX_MS: u64 = 1_795_000_000_000;

/// The largest value the server accepts.
pub const ITEM_MAX: usize = 1 << 20;

/// A worker and its clock.
pub struct Server {
    pub service: MemcacheService<MapStore>,
    pub store: MapStore,
    pub clock: Clock,
    pub directory: Directory,
}

impl Server {
    pub fn new() -> Self {
        Self::with(ServiceOptions::new().version("1.6.45").item_max(ITEM_MAX))
    }

    pub fn with(options: ServiceOptions) -> Self {
        let store = MapStore::default();
        Server {
            service: MemcacheService::new(store.clone(), options),
            store,
            clock: Clock::manual(START_UNIX_MS),
            directory: Directory::new(),
        }
    }

    /// A server whose clients must log in. The users are those of `sessions/login.txt`.
    pub fn with_users() -> Self {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let users = b"user:password\nbob:secret\nu:p\nb:p:q\nc: d\n:only\nempty:\n";
        std::fs::write(file.path(), users).expect("the file is written");
        let users = Arc::new(UserFile::read(file.path()).expect("users"));
        Self::with(ServiceOptions::new().version("1.6.45").item_max(ITEM_MAX).users(users))
    }

    /// Another worker of the same server.
    pub fn worker(&self) -> Self {
        Server {
            service: self.service.clone(),
            store: self.store.clone(),
            clock: self.clock.clone(),
            directory: Directory::new(),
        }
    }

    /// Enters a connection into the directory, as the reactor does.
    pub fn enter(&self, serial: u64, remote: &str) {
        let id = ConnectionId::new(0, serial);
        let local = "tcp:127.0.0.1:11211".to_owned();
        let peer = Peer::new(id, remote.to_owned(), local, self.clock.now().ticks);
        self.directory.enter(Arc::new(peer));
    }

    /// The replies to `input` on a connection of its own.
    pub fn ask(&mut self, input: &[u8]) -> Vec<u8> {
        Connection::default().send(self, input, usize::MAX)
    }

    /// The same as text.
    pub fn text(&mut self, input: &str) -> String {
        String::from_utf8(self.ask(input.as_bytes())).expect("the replies are text")
    }
}

/// One connection: a codec and the bytes that wait for more.
pub struct Connection {
    codec: Memcache,
    cursor: Cursor,
    input: Vec<u8>,
    /// Bytes to drop as they arrive.
    skip: usize,
    /// Do not parse with fewer bytes than these.
    needed: usize,
    pub closed: bool,
}

impl Default for Connection {
    fn default() -> Self {
        Connection {
            codec: Memcache::new(ITEM_MAX),
            cursor: Cursor::default(),
            input: Vec::new(),
            skip: 0,
            needed: 1,
            closed: false,
        }
    }
}

impl Connection {
    /// A connection whose client must log in.
    pub fn of_guest() -> Self {
        Connection { codec: Memcache::new(ITEM_MAX).with_login(), ..Self::default() }
    }

    /// A connection whose every value is taken in pieces.
    pub fn in_pieces() -> Self {
        Connection { codec: Memcache::new(ITEM_MAX).pieces_above(0), ..Self::default() }
    }

    /// Sends `input` in pieces of `piece` bytes; returns all replies.
    pub fn send(&mut self, server: &mut Server, input: &[u8], piece: usize) -> Vec<u8> {
        let mut out = SendBuf::new();
        for piece in input.chunks(piece.min(input.len()).max(1)) {
            self.input.extend_from_slice(piece);
            self.turn(server, &mut out);
        }
        sent(&out)
    }

    fn turn(&mut self, server: &mut Server, out: &mut SendBuf) {
        let now = server.clock.now();
        let mut outbox = Outbox::new();
        server.service.maintain(now, 100, &mut outbox);
        let id = ConnectionId::new(0, 1);
        let mut at = 0;
        loop {
            let dropped = self.skip.min(self.input.len() - at);
            self.skip -= dropped;
            at += dropped;
            let rest = &self.input[at..];
            if self.closed || self.skip > 0 || rest.len() < self.needed {
                break;
            }
            self.needed = 1;
            match self.codec.parse(&mut self.cursor, rest) {
                Ok(Parsed::Request { request, consumed } | Parsed::Part { request, consumed }) => {
                    self.skip = consumed;
                    let mut context = Context::new(now, id, &mut outbox, &server.directory);
                    let codec = &mut self.codec;
                    let control = server.service.execute(codec, request, out, &mut context);
                    self.closed = control == Control::Close;
                    while control == Control::Stream && !stream(server, &mut outbox, out) {}
                }
                Ok(Parsed::NeedMore { at_least }) => self.needed = rest.len() + at_least,
                Err(malformed) => {
                    out.put(malformed.reply.as_bytes());
                    server.service.rejected(&self.codec, &malformed);
                    let Malformed { skip, .. } = malformed;
                    self.skip = skip.unwrap_or(0);
                    self.closed = skip.is_none();
                }
            }
        }
        self.input.drain(..at);
    }
}

/// Takes a turn in which pieces of a reply may come. Returns whether it was the last.
fn stream(server: &mut Server, outbox: &mut Outbox, out: &mut SendBuf) -> bool {
    server.service.maintain(server.clock.now(), 100, outbox);
    let mut is_last = false;
    for (_, errand) in outbox.drain() {
        match errand {
            Errand::Push(piece) => out.put(&piece),
            Errand::Resume(_, piece) => {
                out.put(&piece);
                is_last = true;
            }
            Errand::Close | Errand::Cut => panic!("the connection goes on"),
        }
    }
    is_last
}

/// Everything that waits in `out`.
fn sent(out: &SendBuf) -> Vec<u8> {
    let mut pieces = VecDeque::new();
    let mut slices = [IoSlice::new(&[]); 1024];
    let filled = out.slices(&mut slices);
    pieces.extend(slices[..filled].iter().map(|slice| slice.to_vec()));
    let all = Vec::from(pieces).concat();
    assert_eq!(all.len(), out.pending(), "more slices than the test has room for");
    all
}
