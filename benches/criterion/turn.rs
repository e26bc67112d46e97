// SPDX-License-Identifier: Apache-2.0
//! What a request costs from the receive buffer to the send buffer, in pipelines of 32: parsing,
//! prefetching, executing and replying, everything but the sockets. A million keys in random order.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "criterion's macros make public items")]

use benches::workload::{DEPTH, KEYS, get, large_store, pipelines, service, set};
use benches::{Connection, Unprefetched};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use protocol::{Execute, Protocol};
use protocol_memcache::Memcache;
use protocol_ping::{PingProtocol, PingService};

fn bench<P: Protocol, E: Execute<P>>(
    c: &mut Criterion,
    name: &str,
    mut connection: Connection<P, E>,
    pipelines: &[Vec<u8>],
    reply: &[u8],
) {
    let replies = connection.replies(&pipelines[0]);
    assert!(replies.starts_with(reply), "{}", replies.escape_ascii());
    let mut group = c.benchmark_group("turn");
    group.throughput(Throughput::Elements(DEPTH as u64));
    let mut inputs = pipelines.iter().cycle();
    group.bench_function(name, |b| {
        b.iter(|| connection.serve(inputs.next().expect("endless")));
    });
    group.finish();
}

fn turn(c: &mut Criterion) {
    let service = service(large_store());
    let codec = Memcache::new(1 << 20);
    let gets = pipelines(KEYS, get);
    let connection = Connection::new(codec.clone(), service.clone());
    bench(c, "get hit", connection, &gets, b"VALUE key:");
    let connection = Connection::new(codec.clone(), Unprefetched(service.clone()));
    bench(c, "get hit, no prefetch", connection, &gets, b"VALUE key:");
    let misses = pipelines(KEYS, |number| get(KEYS + number));
    let connection = Connection::new(codec.clone(), service.clone());
    bench(c, "get miss", connection, &misses, b"END\r\n");
    let sets = pipelines(KEYS, set);
    let connection = Connection::new(codec.clone(), service.clone());
    bench(c, "set", connection, &sets, b"STORED\r\n");
    let connection = Connection::new(codec, Unprefetched(service));
    bench(c, "set, no prefetch", connection, &sets, b"STORED\r\n");
    let pings = [b"PING\r\n".repeat(DEPTH)];
    bench(c, "ping", Connection::new(PingProtocol, PingService), &pings, b"PONG\r\n");
}

criterion_group!(all, turn);
criterion_main!(all);
