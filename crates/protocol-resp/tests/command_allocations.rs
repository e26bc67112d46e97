// SPDX-License-Identifier: Apache-2.0
//! Common commands of both services allocate nothing once the connection has its buffers: reading, replacing a
//! value by one of the same length, and adding an element that exists. A large value is not copied.

use buffer::{Lent, Pool, RecvBuf, SendBuf};
use clock::Clock;
use protocol::{ConnectionId, Context, Control, Directory, Execute, Outbox, Parsed, Protocol};
use protocol_resp::client::Encoder;
use protocol_resp::service::{Host, Resp, RespService, config};
use protocol_resp::strings::{Connection, RespStrings, StringsOptions};
use std::sync::Arc;
use storage_hashmap::HashMapStore;
use storage_typed::TypedStore;
use test_support::counting::{Counting, so_far};

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

/// A server with one connection.
struct Server<P, E> {
    service: E,
    connection: P,
    out: SendBuf,
    outbox: Outbox,
    directory: Directory,
    clock: Clock,
}

/// Redis with all its types.
fn typed() -> Server<Resp, RespService<TypedStore>> {
    over(Host::new(16))
}

/// The same as the only node of a cluster.
fn node() -> Server<Resp, RespService<TypedStore>> {
    let host = Host::new(16);
    let is_on = config::parameter(b"cluster-enabled").expect("the table has it");
    host.configure(is_on, b"yes").expect("a right value");
    let nodes = format!("{} 127.0.0.1:1@1 myself,master - 0 0 1 connected 0-16383", "a".repeat(40));
    host.set_nodes(nodes.as_bytes()).expect("nodes");
    over(host)
}

fn over(host: Host) -> Server<Resp, RespService<TypedStore>> {
    let store = TypedStore::builder().shards(8).databases(16).seed(3).build();
    let host = Arc::new(host);
    Server::new(host.connection(), RespService::new(store, host))
}

/// Strings over a store of items.
fn strings() -> Server<Connection, RespStrings<HashMapStore>> {
    let store = HashMapStore::builder().shards(8).seed(3).build();
    Server::new(Connection::new(1 << 20), RespStrings::new(store, StringsOptions::new()))
}

impl<P: Protocol, E: Execute<P>> Server<P, E> {
    fn new(connection: P, service: E) -> Self {
        Server {
            service,
            connection,
            out: SendBuf::new(),
            outbox: Outbox::new(),
            directory: Directory::new(),
            clock: Clock::manual(1_700_000_000_000),
        }
    }

    /// Executes a request; its reply.
    fn execute(&mut self, input: &[u8]) -> Vec<u8> {
        self.out.consume(self.out.pending());
        self.run(input);
        self.out.front().to_vec()
    }

    fn run(&mut self, input: &[u8]) {
        self.run_in(None, input);
    }

    /// Executes a request, which may have a block for itself.
    fn run_in(&mut self, lent: Option<Lent>, input: &[u8]) {
        let parsed = self.connection.parse(&mut P::Cursor::default(), input);
        let Ok(Parsed::Request { request, .. }) = parsed else { panic!("one whole request") };
        let id = ConnectionId::new(0, 1);
        let now = self.clock.now();
        let mut context = Context::new(now, id, &mut self.outbox, &self.directory);
        context.lent = lent;
        let control =
            self.service.execute(&mut self.connection, request, &mut self.out, &mut context);
        assert_eq!(control, Control::Continue);
    }

    /// Allocations of a request that has been executed before, a few times. The least of several
    /// tries: a run that the system interrupts is noted in the slow log.
    fn allocations(&mut self, line: &str) -> u64 {
        let input = encoded(line);
        let reply = self.execute(&input);
        assert_ne!(reply.first(), Some(&b'-'), "{line}: {}", reply.escape_ascii());
        let tries = (0..10).map(|_| {
            let before = so_far();
            for _ in 0..20 {
                self.out.consume(self.out.pending());
                self.run(&input);
            }
            so_far() - before
        });
        tries.min().expect("some tries")
    }
}

fn encoded(line: &str) -> Vec<u8> {
    let mut input = Vec::new();
    let words: Vec<_> = line.split(' ').collect();
    Encoder::new(&mut input).request(words);
    input
}

#[test]
fn a_node_of_a_cluster_routes_without_an_allocation() {
    let mut server = node();
    server.execute(&encoded("SET {k}1 value"));
    server.execute(&encoded("HSET hash field value"));
    for line in [
        "GET {k}1",
        "SET {k}1 other",
        "GET missing",
        "MGET {k}1 {k}2 {k}3",
        "EXISTS {k}1 {k}2",
        "HGET hash field",
        "PING",
    ] {
        assert_eq!(server.allocations(line), 0, "{line}");
    }
}

#[test]
fn common_commands_allocate_nothing() {
    let mut server = typed();
    for number in 0..1000 {
        // The small ones stay packed.
        let size = if number < 20 { "small" } else { "large" };
        for line in [
            format!("HSET hash:{size} field:{number} value:{number:04}"),
            format!("SADD set:{size} member:{number}"),
            format!("SADD ints:{size} {number}"),
            format!("ZADD zset:{size} {number} member:{number}"),
            format!("RPUSH list:{size} element:{number}"),
        ] {
            server.execute(&encoded(&line));
        }
    }
    for size in ["small", "large"] {
        let number = if size == "small" { 7 } else { 777 };
        for line in [
            format!("HGET hash:{size} field:{number}"),
            format!("HGET hash:{size} missing"),
            format!("HGET missing field:{number}"),
            format!("HMGET hash:{size} field:{number} missing field:{number} field:{number}"),
            format!("HEXISTS hash:{size} field:{number}"),
            format!("HSTRLEN hash:{size} field:{number}"),
            format!("HLEN hash:{size}"),
            format!("HSET hash:{size} field:{number} value:0000"),
            format!("HSET hash:{size} field:{number} value:0001 field:{number} value:0002"),
            format!("HSETNX hash:{size} field:{number} value:0000"),
            format!("HDEL hash:{size} missing"),
            "HGETALL hash:small".to_owned(),
            format!("HRANDFIELD hash:{size}"),
            format!("SADD set:{size} member:{number}"),
            format!("SADD ints:{size} {number}"),
            format!("SISMEMBER set:{size} member:{number}"),
            format!("SISMEMBER ints:{size} {number}"),
            format!("SISMEMBER set:{size} missing"),
            format!("SMISMEMBER set:{size} member:{number} missing"),
            format!("SREM set:{size} missing"),
            format!("SCARD set:{size}"),
            format!("SMEMBERS ints:{size}"),
            format!("SRANDMEMBER set:{size}"),
            format!("ZADD zset:{size} {number} member:{number}"),
            format!("ZADD zset:{size} 5000 member:{number} 6000 member:{number}"),
            format!("ZADD zset:{size} GT XX CH 3000 member:{number}"),
            format!("ZINCRBY zset:{size} 1.5 member:{number}"),
            format!("ZSCORE zset:{size} member:{number}"),
            format!("ZSCORE missing member:{number}"),
            format!("ZMSCORE zset:{size} member:{number} missing"),
            format!("ZCARD zset:{size}"),
            format!("ZCOUNT zset:{size} 5 10"),
            format!("ZRANK zset:{size} member:{number}"),
            format!("ZRANGE zset:{size} 0 9 REV WITHSCORES"),
            format!("ZRANGEBYSCORE zset:{size} 5 10 LIMIT 1 2"),
            format!("ZREM zset:{size} missing"),
            format!("ZRANDMEMBER zset:{size}"),
            format!("LLEN list:{size}"),
            format!("LINDEX list:{size} {number}"),
            format!("LRANGE list:{size} 0 9"),
            format!("LRANGE list:{size} -10 -1"),
            format!("LPOS list:{size} element:{number}"),
            format!("LSET list:{size} {number} element:{number}"),
            format!("LPUSHX missing element:{number}"),
            "LPOP missing".to_owned(),
        ] {
            assert_eq!(server.allocations(&line), 0, "{line}");
        }
    }
}

#[test]
fn commands_on_strings_over_items_allocate_nothing() {
    let mut server = strings();
    let several: Vec<String> = (0..40).map(|number| format!("key:{number}")).collect();
    for key in &several {
        server.execute(&encoded(&format!("SET {key} value")));
    }
    server.execute(&encoded("SET number 10"));
    server.execute(&encoded(&format!("SET large {}", "x".repeat(10_000))));
    let pairs = several.join(" value ");
    for line in [
        "GET key:7",
        "GET missing",
        "GET large",
        "SET key:7 VALUE",
        "SET key:7 VALUE EX 100",
        "SET key:7 VALUE XX KEEPTTL",
        "SET key:7 VALUE GET",
        "SET key:7 VALUE NX",
        "SETNX key:7 VALUE",
        "SETEX key:7 100 VALUE",
        "GETSET key:7 VALUE",
        "GETEX key:7 EX 100",
        "GETDEL missing",
        "INCR number",
        "DECRBY number 5",
        "STRLEN key:7",
        "GETRANGE key:7 1 2",
        "SETRANGE key:7 1 xx",
        "DEL missing",
        "EXISTS key:7 missing key:8",
        "TYPE key:7",
        "TTL key:7",
        "EXPIRE key:7 100",
        "PERSIST key:7",
        "PING",
        &format!("MGET {} missing", several.join(" ")),
        &format!("MSET {pairs} value"),
    ] {
        assert_eq!(server.allocations(line), 0, "{line}");
    }
}

#[test]
fn a_large_value_stays_in_the_block_that_it_has_come_in() {
    let mut server = typed();
    let input = encoded(&format!("SET key {}", "x".repeat(100_000)));
    for before in ["DEL key", "SET key small", "STRLEN key", "RPUSH other element"] {
        server.execute(&encoded(before));
        let (mut recv, mut pool) = (RecvBuf::new(), Pool::new(16 << 10, 64, 1));
        let mut left = &input[..];
        while !left.is_empty() {
            recv.reserve_claimed(left.len(), &mut pool);
            left = &left[recv.put(left)..];
        }
        assert!(recv.is_lendable());
        let lent = recv.lend();
        server.run_in(Some(lent.clone()), lent.as_bytes());
        recv.take_back(lent, input.len());
        assert_eq!(recv.capacity(), 0, "the block is the value's, after {before}");
        assert_eq!(server.execute(&encoded("STRLEN key")), b":100000\r\n");
    }
}

#[test]
fn elements_of_a_long_list_come_and_go_without_an_allocation() {
    let mut server = typed();
    for number in 0..1000 {
        server.execute(&encoded(&format!("RPUSH list element:{number}")));
    }
    // Where the chunk at an end is full, the next element has one of its own, which comes and goes with it.
    server.execute(&encoded("LPOP list 9"));
    let lines = ["LPUSH list element", "RPUSH list element", "LPOP list", "RPOP list"].map(encoded);
    let tries = (0..10).map(|_| {
        let before = so_far();
        for line in lines.iter().cycle().take(100) {
            server.out.consume(server.out.pending());
            server.run(line);
        }
        so_far() - before
    });
    assert_eq!(tries.min(), Some(0));
}
