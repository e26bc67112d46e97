// SPDX-License-Identifier: Apache-2.0

use super::*;
use crate::wire::parse::Cursor;
use bytes::Bytes;
use clock::{Clock, Ticks};
use keyspace::{Keyspace, Scope};
use protocol::{ConnectionId, Directory, Errand, Parsed, Peer, Protocol};
use std::sync::mpsc::channel;
use storage_typed::TypedStore;

/// Clients of a service, without a server.
struct Clients {
    service: RespService<TypedStore>,
    host: Arc<Host>,
    outbox: Outbox,
    directory: Directory,
}

impl Clients {
    fn new() -> Self {
        let store = TypedStore::builder().shards(64).build();
        let host = Arc::new(Host::new(store.databases()));
        let service = RespService::new(store, Arc::clone(&host));
        Clients { service, host, outbox: Outbox::new(), directory: Directory::new() }
    }

    /// Enters the connection of this number.
    fn enter(&self, number: u64) -> Arc<Peer> {
        let id = ConnectionId::new(0, number);
        let peer = Arc::new(Peer::new(id, format!("tcp:{number}"), "tcp:0", Ticks::ZERO));
        self.directory.enter(Arc::clone(&peer));
        peer
    }

    /// Executes a request of a client of this number.
    fn execute(&mut self, number: u64, line: &str) -> (Control, String) {
        let mut connection: Resp = self.host.connection();
        let input = format!("{line}\r\n");
        let parsed = connection.parse(&mut Cursor::default(), input.as_bytes());
        let Ok(Parsed::Request { request, .. }) = parsed else { panic!("one whole request") };
        let clock = Clock::manual(1);
        let id = ConnectionId::new(0, number);
        let mut context = Context::new(clock.now(), id, &mut self.outbox, &self.directory);
        let mut out = SendBuf::new();
        let control = self.service.execute(&mut connection, request, &mut out, &mut context);
        (control, String::from_utf8_lossy(out.front()).into_owned())
    }

    /// The replies that have come for clients that wait, with their numbers.
    fn resumed(&mut self) -> Vec<(u64, Bytes)> {
        let reply = |(id, errand): (ConnectionId, Errand)| match errand {
            Errand::Resume(_, reply) => Some((id.serial(), reply)),
            _ => None,
        };
        self.outbox.drain().filter_map(reply).collect()
    }
}

#[test]
fn who_begins_to_wait_when_a_writer_has_chosen_its_locks_is_served_behind_it() {
    let mut clients = Clients::new();
    for (number, line) in [(1, "BLMOVE from to LEFT LEFT 0"), (2, "BLPOP from 0")] {
        assert_eq!(clients.execute(number, line).0, Control::Block);
    }
    // The writer has seen nobody who wants to move anything, and locks one shard.
    clients.host.key_events().waiters().hide_movers();
    let pushed = clients.execute(3, "RPUSH from a b");
    assert_eq!(pushed, (Control::Continue, ":2\r\n".to_owned()));
    let first = Bytes::from_static(b"$1\r\na\r\n");
    let second = Bytes::from_static(b"*2\r\n$4\r\nfrom\r\n$1\r\nb\r\n");
    assert_eq!(clients.resumed(), [(1, first), (2, second)], "first come, first served");
    assert_eq!(clients.execute(3, "LRANGE to 0 -1").1, "*1\r\n$1\r\na\r\n");
    assert_eq!(clients.execute(3, "EXISTS from").1, ":0\r\n");
    clients.service.0.keyspace.check_integrity();
}

#[test]
fn a_connection_that_ends_is_not_killed_once_more() {
    let mut clients = Clients::new();
    let (_, going) = (clients.enter(1), clients.enter(2));
    let kill =
        |clients: &mut Clients, number| clients.execute(9, &format!("CLIENT KILL ID {number}")).1;
    // It has sent nothing, and its worker has not closed it yet.
    assert_eq!(kill(&mut clients, 1), ":1\r\n");
    assert_eq!(kill(&mut clients, 1), ":0\r\n");
    // The service has forgotten it, and it is still in the directory.
    going.end();
    assert_eq!(kill(&mut clients, 2), ":0\r\n");
    assert!(!clients.execute(9, "CLIENT LIST").1.contains("id=2 "));
}

/// Executes a command while another thread has a view of `held`; `false` if it waits for that.
fn runs_beside(clients: &mut Clients, held: Scope, line: &str) -> bool {
    let mut keyspace = clients.service.0.keyspace.clone();
    std::thread::scope(|threads| {
        let (begun, begins) = channel();
        let (done, ends) = channel();
        let holder = threads.spawn(move || {
            let view = keyspace.view(held, 0);
            begun.send(()).expect("the test waits");
            let is_done = ends.recv_timeout(test_support::PATIENCE).is_ok();
            drop(view);
            is_done
        });
        begins.recv().expect("it has the view");
        let (control, reply) = clients.execute(3, line);
        assert!(control == Control::Continue && !reply.starts_with('-'), "{line}: {reply}");
        // The holder may have gone already.
        let _ = done.send(());
        holder.join().expect("it does not panic")
    })
}

#[test]
fn commands_that_need_few_shards_wait_for_no_others() {
    let mut clients = Clients::new();
    for number in 0..2000 {
        clients.execute(3, &format!("SET key:{number} v"));
    }
    clients.execute(3, "RPUSH l 3 1 2");
    let keyspace = &clients.service.0.keyspace;
    let needed = keyspace.scope(b"l") | keyspace.scope(b"to") | keyspace.scan_scope(0);
    let held = |scope: Scope| (0..64).map(Scope::shard).find(|one| scope.bits() & one.bits() == 0);
    let other = held(needed).expect("there are 64");
    for line in ["SORT l", "SORT_RO l DESC", "SORT l LIMIT 0 2 STORE to", "SCAN 0 COUNT 5"] {
        assert!(runs_beside(&mut clients, other, line), "{line}");
    }
    assert_eq!(clients.execute(3, "LRANGE to 0 -1").1, "*2\r\n$1\r\n1\r\n$1\r\n2\r\n");
    // A walk through all shards.
    let (mut cursor, mut found) = ("0".to_owned(), 0);
    loop {
        let step = clients.execute(3, &format!("SCAN {cursor} COUNT 100 TYPE string")).1;
        found += step.matches("key:").count();
        cursor = step.split("\r\n").nth(2).expect("a cursor").to_owned();
        if cursor == "0" {
            break;
        }
    }
    assert_eq!(found, 2000);
}

metrics::counters! {
    /// As the event loop counts its turns, which is not linked here.
    static TURNS: "shoebill_worker_turns_total";
}

#[test]
fn a_worker_naps_while_nothing_is_due() {
    let nap = Duration::from_secs(1);
    let mut clients = Clients::new();
    let clock = Clock::manual(1);
    // So long that the rates of commands are 0 again.
    let may_nap = |clients: &mut Clients| {
        for _ in 0..60 {
            clock.advance(Duration::from_millis(100));
            TURNS.increment();
            clients.service.maintain(clock.now(), 256, &mut clients.outbox);
        }
        clients.service.may_nap(clock.now(), nap)
    };
    assert!(may_nap(&mut clients));
    clients.execute(1, "SET lasting value");
    clients.execute(1, "SET key value PX 60000");
    assert!(may_nap(&mut clients), "it is due much later");
    clients.execute(1, "SET soon value PX 18500");
    assert!(!may_nap(&mut clients));
    clients.execute(1, "DEL soon");
    clock.advance(Duration::from_millis(35_500));
    assert!(!may_nap(&mut clients), "the other one will be due");
    clock.advance(Duration::from_secs(2));
    assert!(may_nap(&mut clients), "it is gone");
    assert_eq!(clients.execute(1, "DBSIZE").1, ":1\r\n");
}
