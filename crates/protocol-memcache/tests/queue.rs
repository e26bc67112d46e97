// SPDX-License-Identifier: Apache-2.0
//! Values that arrive in pieces and have to wait for memory that others have.

mod support;

use buffer::SendBuf;
use protocol::{
    ConnectionId, Context, Control, Ending, Errand, Execute, Outbox, Parsed, Protocol, Ticket,
};
use protocol_memcache::metrics::{LARGE_GIVEN_UP, LARGE_WAITED};
use protocol_memcache::{Cursor, Memcache};
use std::time::Duration;
use support::server::{ITEM_MAX, Server};

const OUT_OF_MEMORY: &str = "SERVER_ERROR out of memory storing object\r\n";

/// A connection, which executes nothing while it is blocked.
struct Client {
    id: ConnectionId,
    codec: Memcache,
    cursor: Cursor,
    input: Vec<u8>,
    out: SendBuf,
    ticket: Ticket,
    is_blocked: bool,
}

impl Client {
    fn new(serial: u64) -> Self {
        Client {
            id: ConnectionId::new(0, serial),
            codec: Memcache::new(ITEM_MAX).pieces_above(0),
            cursor: Cursor::default(),
            input: Vec::new(),
            out: SendBuf::new(),
            ticket: Ticket::default(),
            is_blocked: false,
        }
    }

    fn send(&mut self, server: &mut Server, input: &str) {
        self.input.extend_from_slice(input.as_bytes());
        self.go_on(server);
    }

    fn go_on(&mut self, server: &mut Server) {
        while !self.is_blocked && !self.input.is_empty() {
            let parsed = self.codec.parse(&mut self.cursor, &self.input);
            let (request, consumed) = match parsed.expect("requests are well formed") {
                Parsed::Request { request, consumed } | Parsed::Part { request, consumed } => {
                    (request, consumed)
                }
                Parsed::NeedMore { .. } => return,
            };
            let mut outbox = Outbox::new();
            let now = server.clock.now();
            let mut context = Context::new(now, self.id, &mut outbox, &server.directory);
            context.ticket = self.ticket;
            let (codec, out) = (&mut self.codec, &mut self.out);
            let control = server.service.execute(codec, request, out, &mut context);
            assert!(outbox.is_empty());
            self.is_blocked = control == Control::Stream;
            assert!(self.is_blocked || control == Control::Continue, "{control:?}");
            self.input.drain(..consumed);
        }
    }

    fn resume(&mut self, server: &mut Server) {
        self.is_blocked = false;
        self.ticket = self.ticket.next();
        self.go_on(server);
    }

    fn told(&self) -> &str {
        std::str::from_utf8(self.out.front()).expect("replies are text")
    }
}

/// Turns of the worker as long as clients are resumed by them. Returns who was, in order.
fn turns(server: &mut Server, clients: &mut [&mut Client]) -> Vec<u64> {
    let mut resumed = Vec::new();
    loop {
        let mut outbox = Outbox::new();
        server.service.maintain(server.clock.now(), 100, &mut outbox);
        if outbox.is_empty() {
            return resumed;
        }
        for (to, errand) in outbox.drain() {
            let client = clients.iter_mut().find(|client| client.id == to);
            let client = client.expect("the connection is there");
            assert_eq!(errand, Errand::Resume(client.ticket, bytes::Bytes::new()));
            client.resume(server);
            resumed.push(to.serial());
        }
    }
}

/// A server that admits values up to so many bytes at once.
fn server(most: u64) -> Server {
    let server = Server::new();
    server.store.set_arriving_max(most);
    server
}

#[test]
fn values_without_memory_wait_for_others_and_begin_in_their_order() {
    let mut server = server(12);
    let waited = LARGE_WAITED.value();
    let [mut a, mut b, mut c, mut d] = [1, 2, 3, 4].map(Client::new);
    a.send(&mut server, "set a 0 0 6\r\nabc");
    b.send(&mut server, "set b 0 0 6\r\nabc");
    c.send(&mut server, "ms c 6 F3 s\r\nabcdef\r\nget a b c d\r\n");
    d.send(&mut server, "set d 0 0 6 noreply\r\nabcdef\r\nset d 0 0 1\r\n1\r\n");
    assert!(c.is_blocked && d.is_blocked && !a.is_blocked && !b.is_blocked);
    assert_eq!(turns(&mut server, &mut [&mut c, &mut d]), [], "both others are still there");
    assert!(server.service.wake_at().is_some_and(|at| at > server.clock.now().ticks));
    assert!(!server.service.may_nap(server.clock.now(), Duration::from_secs(1)));
    b.send(&mut server, "def\r\n");
    assert_eq!(b.told(), "STORED\r\n");
    // The third is whole at once, and so is then the fourth, whose second value waits no more either.
    assert_eq!(turns(&mut server, &mut [&mut c, &mut d]), [3, 4]);
    assert_eq!(c.told(), "HD s6\r\nVALUE b 0 6\r\nabcdef\r\nVALUE c 3 6\r\nabcdef\r\nEND\r\n");
    assert_eq!(d.told(), "STORED\r\n");
    a.send(&mut server, "def\r\nget d\r\n");
    assert_eq!(a.told(), "STORED\r\nVALUE d 0 1\r\n1\r\nEND\r\n");
    assert_eq!(server.service.wake_at(), None);
    assert!(LARGE_WAITED.value() >= waited + 2, "other tests of this process have more");
}

/// These are collected, and wait nevertheless: else what clients that stop have sent of theirs would be bounded by nothing.
#[test]
fn what_extends_a_value_waits_like_any_other() {
    let mut server = server(6);
    let [mut a, mut b, mut c, mut d] = [1, 2, 3, 4].map(Client::new);
    d.send(&mut server, "set k 5 0 1\r\n-\r\n");
    a.send(&mut server, "append k 0 0 6\r\nabc");
    b.send(&mut server, "ms k 3 MP s\r\n123\r\n");
    c.send(&mut server, "ms k 4 E77 c\r\nlast\r\n");
    d.send(&mut server, "prepend k 0 0 2\r\n<<\r\nget k\r\n");
    assert!(b.is_blocked && c.is_blocked && d.is_blocked && !a.is_blocked);
    a.send(&mut server, "def\r\nget k\r\n");
    assert_eq!(a.told(), "STORED\r\nVALUE k 5 7\r\n-abcdef\r\nEND\r\n");
    assert_eq!(turns(&mut server, &mut [&mut b, &mut c, &mut d]), [2, 3, 4]);
    assert_eq!((b.told(), c.told()), ("HD s10\r\n", "HD c77\r\n"));
    assert_eq!(d.told(), "STORED\r\nSTORED\r\nVALUE k 0 6\r\n<<last\r\nEND\r\n");

    // The one that has stopped is given up, and is told so when it goes on.
    a.send(&mut server, "append k 0 0 6\r\nabc");
    b.send(&mut server, "set k 0 0 6\r\nstored\r\n");
    assert!(b.is_blocked);
    for _ in 0..11 {
        server.clock.advance(Duration::from_millis(100));
        turns(&mut server, &mut [&mut b]);
    }
    assert_eq!(b.told(), "HD s10\r\nSTORED\r\n");
    a.send(&mut server, "def\r\nget k\r\n");
    assert!(a.told().ends_with(&format!("{OUT_OF_MEMORY}VALUE k 0 6\r\nstored\r\nEND\r\n")));
}

#[test]
fn one_that_stalls_is_given_up_for_those_that_wait_on_its_worker_and_others() {
    let mut server = server(6);
    let mut other = server.worker();
    let [mut a, mut b, mut c] = [1, 2, 3].map(Client::new);
    a.send(&mut server, "set a 0 0 6\r\nabc");
    b.send(&mut server, "set b 0 0 3\r\n123\r\n");
    c.send(&mut other, "set c 0 0 3\r\n123\r\n");
    for _ in 0..9 {
        server.clock.advance(Duration::from_millis(100));
        assert_eq!(turns(&mut server, &mut [&mut b]), []);
        assert_eq!(turns(&mut other, &mut [&mut c]), []);
    }
    // Bytes have come, so it has another second.
    a.send(&mut server, "d");
    for _ in 0..9 {
        server.clock.advance(Duration::from_millis(100));
        assert_eq!(turns(&mut server, &mut [&mut b]), []);
    }
    server.clock.advance(Duration::from_millis(100));
    assert_eq!(turns(&mut server, &mut [&mut b]), [2]);
    assert_eq!((a.told(), b.told()), ("", "STORED\r\n"));
    assert!(LARGE_GIVEN_UP.value() > 0);
    a.send(&mut server, "ef\r\nget a b\r\n");
    assert_eq!(a.told(), format!("{OUT_OF_MEMORY}VALUE b 0 3\r\n123\r\nEND\r\n"));
    assert_eq!(turns(&mut other, &mut [&mut c]), [3]);

    // With that of another worker in the way it is the same.
    a = Client::new(4);
    a.send(&mut server, "set a 0 0 6\r\nabc");
    c.send(&mut other, "set c 0 0 3\r\n456\r\n");
    for _ in 0..10 {
        assert_eq!(turns(&mut other, &mut [&mut c]), []);
        assert_eq!(turns(&mut server, &mut []), []);
        server.clock.advance(Duration::from_millis(100));
    }
    assert_eq!(turns(&mut server, &mut []), []);
    assert_eq!(turns(&mut other, &mut [&mut c]), [3]);
    assert_eq!(c.told(), "STORED\r\nSTORED\r\n");
}

#[test]
fn the_more_wait_the_sooner_one_has_stalled() {
    for (waiting, millis) in [(31, 1000), (32, 500), (96, 250), (1000, 100)] {
        let mut server = server(3);
        let mut clients: Vec<_> = (0..=waiting).map(Client::new).collect();
        for client in &mut clients {
            client.send(&mut server, "set k 0 0 3\r\n1");
        }
        let mut all: Vec<_> = clients.iter_mut().collect();
        for _ in 0..millis / 10 {
            assert_eq!(turns(&mut server, &mut all), [], "of {waiting}");
            server.clock.advance(Duration::from_millis(10));
        }
        assert_eq!(turns(&mut server, &mut all), [1], "of {waiting}");
    }
}

#[test]
fn a_worker_that_had_no_time_looks_first_whether_bytes_are_there() {
    let mut server = server(6);
    let [mut a, mut b] = [1, 2].map(Client::new);
    a.send(&mut server, "set a 0 0 6\r\nabc");
    b.send(&mut server, "set b 0 0 3\r\n123\r\n");
    assert_eq!(turns(&mut server, &mut [&mut b]), []);
    server.clock.advance(Duration::from_secs(3));
    assert_eq!(turns(&mut server, &mut [&mut b]), []);
    a.send(&mut server, "def\r\n");
    assert_eq!(a.told(), "STORED\r\n");
    assert_eq!(turns(&mut server, &mut [&mut b]), [2]);
}

#[test]
fn none_waits_for_longer_than_ten_seconds_for_slow_ones() {
    let mut server = server(1_000);
    let [mut a, mut b] = [1, 2].map(Client::new);
    a.send(&mut server, &format!("set a 0 0 1000\r\n{}", "a".repeat(900)));
    b.send(&mut server, "set b 0 0 101\r\n123");
    for _ in 0..99 {
        server.clock.advance(Duration::from_millis(100));
        a.send(&mut server, "a");
        assert_eq!(turns(&mut server, &mut [&mut b]), []);
    }
    server.clock.advance(Duration::from_millis(100));
    assert_eq!(turns(&mut server, &mut [&mut b]), [2]);
    b.send(&mut server, &format!("{}\r\n", "b".repeat(98)));
    assert_eq!(b.told(), "STORED\r\n", "there is memory after all");
    a.send(&mut server, "a\r\n");
    assert_eq!(a.told(), "STORED\r\n");
}

#[test]
fn slow_ones_count_with_what_they_will_have_soon() {
    let mut server = server(1_000);
    let [mut a, mut b, mut c] = [1, 2, 3].map(Client::new);
    a.send(&mut server, "set a 0 0 1000\r\n");
    b.send(&mut server, "set b 0 0 500\r\n123");
    for _ in 0..100 {
        assert_eq!(turns(&mut server, &mut [&mut b]), []);
        server.clock.advance(Duration::from_millis(10));
        a.send(&mut server, "a");
    }
    // 100 bytes in a second: 200 a second later.
    assert_eq!(turns(&mut server, &mut [&mut b]), [2]);
    c.send(&mut server, "set c 0 0 299\r\n123");
    assert!(!c.is_blocked, "it fits beside both");
    // One that was slow and is not any more needs all that it has announced.
    a.send(&mut server, &"a".repeat(700));
    c.send(&mut server, &format!("{}\r\nset c 0 0 2\r\n", "c".repeat(296)));
    assert!(!c.is_blocked, "nobody has looked yet");
    c.send(&mut server, "cc\r\nset c 0 0 600\r\n");
    assert!(c.is_blocked);
    for _ in 0..6 {
        server.clock.advance(Duration::from_millis(10));
        assert_eq!(turns(&mut server, &mut [&mut c]), []);
    }
    b.send(&mut server, &format!("{}\r\n", "b".repeat(497)));
    assert_eq!(b.told(), "STORED\r\n");
    assert_eq!(turns(&mut server, &mut [&mut c]), [], "one has 1,000 bytes soon");
    a.send(&mut server, &format!("{}\r\n", "a".repeat(200)));
    assert_eq!(a.told(), "STORED\r\n");
    assert_eq!(turns(&mut server, &mut [&mut c]), [3]);
}

#[test]
fn a_worker_that_had_no_time_for_values_does_not_call_them_slow() {
    let mut server = server(1_000);
    let [mut a, mut b] = [1, 2].map(Client::new);
    a.send(&mut server, "set a 0 0 1000\r\na");
    b.send(&mut server, "set b 0 0 500\r\n123");
    for _ in 0..39 {
        server.clock.advance(Duration::from_millis(200));
        a.send(&mut server, "a");
        assert_eq!(turns(&mut server, &mut [&mut b]), [], "25 ms of each 200 count");
    }
    server.clock.advance(Duration::from_millis(200));
    a.send(&mut server, "a");
    assert_eq!(turns(&mut server, &mut [&mut b]), [2]);
}

#[test]
fn values_on_several_workers_begin_in_their_order() {
    let mut server = server(6);
    let mut other = server.worker();
    let [mut a, mut b, mut c, mut d] = [1, 2, 3, 4].map(Client::new);
    a.send(&mut server, "set a 0 0 6\r\nabc");
    b.send(&mut other, "set b 0 0 6\r\nabc");
    c.send(&mut server, "set c 0 0 2\r\n12");
    assert!(b.is_blocked && c.is_blocked);
    a.send(&mut server, "def\r\n");
    assert_eq!(a.told(), "STORED\r\n");
    d.send(&mut server, "set d 0 0 2\r\n12");
    assert!(d.is_blocked, "others have waited for longer, also where one does not know them");
    assert_eq!(turns(&mut server, &mut [&mut c, &mut d]), []);
    assert_eq!(turns(&mut other, &mut [&mut b]), [2]);
    b.send(&mut other, "def\r\n");
    assert_eq!(turns(&mut server, &mut [&mut c, &mut d]), [3, 4]);
}

#[test]
fn those_behind_one_that_ends_while_it_waits_go_on() {
    let mut server = server(6);
    let [mut a, mut b, mut c] = [1, 2, 3].map(Client::new);
    a.send(&mut server, "set a 0 0 6\r\nabc");
    b.send(&mut server, "set b 0 0 6\r\nabc");
    c.send(&mut server, "set c 0 0 3\r\n123\r\n");
    for client in [&mut b, &mut a] {
        assert_eq!(turns(&mut server, &mut [&mut c]), []);
        let mut outbox = Outbox::new();
        let now = server.clock.now();
        let mut context = Context::new(now, client.id, &mut outbox, &server.directory);
        server.service.closed(&mut client.codec, Ending::Normal, &mut context);
    }
    assert_eq!(turns(&mut server, &mut [&mut c]), [3]);
    assert_eq!(c.told(), "STORED\r\n");
    assert_eq!(server.service.wake_at(), None);
}
