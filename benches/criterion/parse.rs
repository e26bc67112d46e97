// SPDX-License-Identifier: Apache-2.0
//! What it costs to find requests in bytes that have arrived.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "criterion's macros make public items")]

use benches::workload::{DEPTH, get, key, set};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use protocol::{Parsed, Protocol};
use protocol_memcache::Memcache;
use protocol_ping::PingProtocol;
use std::hint::black_box;

/// Parses all of `input`; returns how many requests it holds.
fn parse_all<P: Protocol>(protocol: &P, input: &[u8]) -> usize {
    let mut cursor = P::Cursor::default();
    let (mut at, mut requests) = (0, 0);
    while at < input.len() {
        match protocol.parse(&mut cursor, &input[at..]) {
            Ok(Parsed::Request { request, consumed }) => {
                black_box(request);
                at += consumed;
                requests += 1;
            }
            _ => panic!("no request at {at}"),
        }
    }
    requests
}

fn bench<P: Protocol>(c: &mut Criterion, name: &str, protocol: &P, input: &[u8]) {
    let mut group = c.benchmark_group("parse");
    group.throughput(Throughput::Elements(parse_all(protocol, input) as u64));
    group.bench_function(name, |b| b.iter(|| parse_all(protocol, black_box(input))));
    group.finish();
}

fn parse(c: &mut Criterion) {
    let codec = Memcache::new(1 << 20);
    let pipeline = |request: &dyn Fn(u64) -> Vec<u8>| -> Vec<u8> {
        (0..DEPTH as u64).flat_map(request).collect()
    };
    bench(c, "memcache get", &codec, &pipeline(&get));
    bench(c, "memcache set 64 B", &codec, &pipeline(&set));
    let mut list = b"get".to_vec();
    for number in 0..100 {
        list.push(b' ');
        list.extend_from_slice(&key(number));
    }
    list.extend_from_slice(b"\r\n");
    bench(c, "memcache get of 100 keys", &codec, &list);
    bench(c, "memcache incr", &codec, &b"incr key:0000000000000001 12345\r\n".repeat(DEPTH));
    bench(c, "ping", &PingProtocol, &b"PING\r\n".repeat(DEPTH));
}

criterion_group!(all, parse);
criterion_main!(all);
