// SPDX-License-Identifier: Apache-2.0
//! What it costs to answer a GET that hits, for values of several sizes: one look-up in a small
//! store, then the reply. The largest leaves by reference.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "criterion's macros make public items")]

use benches::workload::service;
use buffer::SendBuf;
use clock::{Clock, Ticks};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use protocol::{ConnectionId, Context, Directory, Execute, Outbox};
use protocol_memcache::{CommandId, Get, Memcache, Op, Request, Text};
use std::hint::black_box;
use storage::{Put, Store};
use storage_hashmap::HashMapStore;

fn compose(c: &mut Criterion) {
    let mut group = c.benchmark_group("compose");
    group.throughput(Throughput::Elements(1));
    for (name, bytes) in [("64 B", 64), ("1 KiB", 1024), ("32 KiB by reference", 32 << 10)] {
        let mut store = HashMapStore::builder().memory(1 << 20).shards(1).seed(1).build();
        store.put(Put::new(b"key", &vec![b'v'; bytes]), Ticks::ZERO).expect("it fits");
        let mut service = service(store);
        let (mut outbox, directory) = (Outbox::new(), Directory::new());
        let (now, id) = (Clock::manual(0).now(), ConnectionId::new(0, 1));
        let mut context = Context::new(now, id, &mut outbox, &directory);
        let mut out = SendBuf::new();
        let mut codec = Memcache::new(1 << 20);
        group.bench_function(name, |b| {
            b.iter(|| {
                let key = black_box(&b"key"[..]);
                let op = Op::Get(Get { key, cas: false, touch: None });
                let request = Request::text(CommandId::Get, op, Text::Whole);
                service.execute(&mut codec, request, &mut out, &mut context);
                let pending = out.pending();
                assert!(pending > bytes, "a hit");
                out.consume(pending);
            });
        });
    }
    group.finish();
}

criterion_group!(all, compose);
criterion_main!(all);
