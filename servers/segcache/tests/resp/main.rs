// SPDX-License-Identifier: Apache-2.0
//! Memcache and RESP over the same items: what one protocol writes the other reads, with value, flags,
//! time to live and version. In the whole server inside the test, over every storage, with one worker
//! and two, over every transport.
//!
//! * `items.rs`: values, flags, expiry and version are one. `keys.rs`: which keys there are.
//! * `connections.rs`: what is of each protocol alone.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod connections;
mod items;
mod keys;

use clock::Clock;
use protocol::{Either, Sharing};
use protocol_memcache::{Memcache, MemcacheService, ServiceOptions};
use protocol_resp::strings::{Commands, Connection, StringsOptions};
use server::{Builder, Process};
use std::time::Duration;
use storage::{Receive, Scan};
use storage_hashmap::HashMapStore;
use storage_seg::SegStore;
use test_support::client::Client;
use test_support::table::{self, Row};

/// When the clock starts, in unix seconds.
const START_S: u64 = 1_800_000_000;

const VALUE_MAX: usize = 1 << 20;

/// The tag of the listeners for RESP.
const RESP: u16 = 1;

/// Makes the server of a row.
type Spawn = fn(&Row, Builder) -> Process;

/// The server over each storage, wired as `main` does.
const STORAGES: [(&str, Spawn); 2] = [
    ("seg", |row, builder| {
        let store = SegStore::builder().memory(64 << 20).workers(row.workers);
        spawn(builder, store.build().unwrap())
    }),
    ("hashmap", |_, builder| spawn(builder, HashMapStore::builder().build())),
];

fn spawn<S: Scan + Receive + Clone + Send + 'static>(builder: Builder, store: S) -> Process {
    let memcache = MemcacheService::new(store, ServiceOptions::new().item_max(VALUE_MAX));
    let resp = Commands::new(StringsOptions::new().value_max(VALUE_MAX));
    let services = builder.clones(Sharing::new(memcache, resp));
    let connection = |tag| match tag {
        RESP => Either::B(Connection::new(VALUE_MAX)),
        _ => Either::A(Memcache::new(VALUE_MAX)),
    };
    builder.spawn(connection, services).unwrap()
}

/// A server and clients of each protocol.
struct Stage {
    process: Process,
    clock: Clock,
    memcache: Client,
    resp: Client,
    /// One more.
    other: Client,
}

impl Stage {
    /// Sends a memcache request, and expects its reply.
    #[track_caller]
    fn memcache(&mut self, request: &str, reply: &str) {
        self.memcache.ask(request.as_bytes(), reply.as_bytes());
    }

    /// Sends an inline RESP request, and expects its reply.
    #[track_caller]
    fn resp(&mut self, request: &str, reply: &str) {
        self.resp.ask(format!("{request}\r\n").as_bytes(), format!("{reply}\r\n").as_bytes());
    }

    /// A line of a RESP reply without its end.
    fn line(&mut self) -> String {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            line.extend(self.resp.take(1));
        }
        String::from_utf8(line).unwrap().trim_end().to_owned()
    }

    /// Sends an inline RESP request whose reply is a text; its lines.
    fn text(&mut self, request: &str) -> Vec<String> {
        self.resp.send(format!("{request}\r\n").as_bytes());
        let len: usize = self.line()[1..].parse().unwrap();
        let text = String::from_utf8(self.resp.take(len)).unwrap();
        self.resp.expect(b"\r\n");
        text.lines().map(str::to_owned).collect()
    }

    /// The CAS number of a key, whose item must be as told.
    #[track_caller]
    fn cas(&mut self, key: &str, flags: u32, value: &str) -> u64 {
        self.memcache.send(format!("gets {key}\r\n").as_bytes());
        self.memcache.expect(format!("VALUE {key} {flags} {} ", value.len()).as_bytes());
        let mut number = Vec::new();
        while number.last() != Some(&b'\r') {
            number.extend(self.memcache.take(1));
        }
        self.memcache.expect(format!("\n{value}\r\nEND\r\n").as_bytes());
        String::from_utf8(number).unwrap().trim().parse().unwrap()
    }

    fn pass(&self, time: Duration) {
        self.clock.advance(time);
    }
}

/// Tells the story on every row, over every storage.
fn on_every_row(story: impl Fn(&mut Stage)) {
    for (name, spawn) in STORAGES {
        println!("{name}");
        table::on_every_row(|row| {
            let clock = Clock::manual(START_S * 1000);
            clock.advance(Duration::from_secs(100));
            let process = spawn(row, row.builder_with(RESP).clock(clock.clone()));
            let [memcache, resp, other] =
                [0, 1, 1].map(|n| row.connect_to(&process.endpoints()[n]));
            let mut stage = Stage { process, clock, memcache, resp, other };
            story(&mut stage);
            let Stage { process, memcache, resp, other, .. } = stage;
            // The clock stands still, so nobody may be waited for.
            drop((memcache, resp, other));
            process.stop().unwrap();
        });
    }
}
