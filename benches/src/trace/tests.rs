// SPDX-License-Identifier: Apache-2.0

use super::replay::{Outcome, replay};
use super::*;
use cacheperf::{Record, RecordedOp as Op};
use clock::Ticks;
use storage::{Put, Store};

const KEY: u64 = 0xfedc_ba98_7654_3210;

fn record(time_ms: u32, key: u64, op: Op) -> Record {
    Record { time_ms, key, value_len: 100, ttl_ms: 0, key_len: 20, op }
}

fn encode(records: &[Record]) -> Vec<u8> {
    records.iter().flat_map(Record::encode).collect()
}

fn store() -> SegStore {
    let builder = SegStore::builder().memory(1 << 20).value_max(100 << 10);
    builder.seed(1).build().expect("the options are possible")
}

fn replayed(records: &[Record]) -> Outcome {
    replay(&mut store(), &encode(records), 0, true).expect("these are records")
}

#[test]
fn what_is_no_record_is_refused() {
    let mut no_record = encode(&[record(0, KEY, Op::Get)]);
    no_record[22] = 3;
    assert!(replay(&mut store(), &no_record, 0, false).is_err());
}

#[test]
fn a_get_that_misses_writes_what_the_next_one_finds() {
    let get = record(0, KEY, Op::Get);
    let delete = Record { op: Op::Delete, ..get };
    let outcome = replayed(&[get, get, delete, get, record(0, 7, Op::Get), get]);
    assert_eq!((outcome.gets, outcome.hits, outcome.items), (5, 2, 2));
    assert_eq!((outcome.get_bytes, outcome.hit_bytes), (600, 240));
    assert_eq!((outcome.failed, outcome.wrong, outcome.operations), (0, 0, 5 + 3 + 1));
}

#[test]
fn the_first_records_warm_up_uncounted() {
    let records = encode(&[record(0, KEY, Op::Get); 5]);
    let outcome = replay(&mut store(), &records, 3, true).expect("these are records");
    assert_eq!((outcome.gets, outcome.hits, outcome.operations), (2, 2, 6));
    let simulated =
        Simulated::new(Rank::Lru, 1 << 20).replay(&records, 3).expect("these are records");
    assert_eq!((simulated.gets, simulated.hits), (2, 2));
}

#[test]
fn items_expire_by_the_times_of_the_records() {
    let set = Record { ttl_ms: 1_000, ..record(5_000, KEY, Op::Set) };
    let outcome = replayed(&[set, record(5_999, KEY, Op::Get), record(6_000, KEY, Op::Get)]);
    assert_eq!((outcome.gets, outcome.hits), (2, 1));
}

#[test]
fn what_the_store_refuses_is_counted() {
    let set = Record { value_len: 200 << 10, ..record(0, KEY, Op::Set) };
    let outcome = replayed(&[set, record(0, KEY, Op::Get)]);
    assert_eq!((outcome.failed, outcome.hits, outcome.items), (1, 0, 1));
}

#[test]
fn values_that_were_cut_are_wrong() {
    let (mut value, set) = (Vec::new(), record(0, KEY, Op::Set));
    set.write_value(&mut value);
    let mut store = store();
    store.put(Put::new(b"kkkkfedcba9876543210", &value[..92]), Ticks::ZERO).unwrap();
    let get = encode(&[record(0, KEY, Op::Get)]);
    assert_eq!(replay(&mut store, &get, 0, true).expect("it is a record").wrong, 1);
}

#[test]
fn command_lines_name_files_and_sizes() {
    let parse = |line: &str| Options::parse(line.split_whitespace().map(String::from));
    let options =
        parse("a.rt --memory 32m --eviction fifo --max 4000 --after 64 b.rt --times").unwrap();
    assert_eq!((options.memory, options.max, options.after), (32 << 20, 4000, 64));
    assert_eq!((options.files.len(), options.eviction), (2, Eviction::Fifo));
    assert!(options.by_times);
    let options = parse("a.rt --size-exponent 0").unwrap();
    assert_eq!(options.eviction, Eviction::Scored { size_exponent: 0.0 });
    let options = parse("a.rt --goal bytes").unwrap();
    assert_eq!(options.eviction, Eviction::Scored { size_exponent: 0.0 });
    let options = parse("a.rt --goal objects").unwrap();
    assert_eq!(options.eviction, Eviction::default());
    assert!(parse("a.rt --storage gdsf").is_ok());
    for line in
        ["", "a --goal latency", "a --memory", "a --memory x", "a --storage lsm", "a --deep"]
    {
        assert!(parse(line).is_err(), "{line}");
    }
    assert!(parse("a --eviction fifo --size-exponent 1").is_err());
    assert!(parse("a --eviction fifo --goal bytes").is_err());
}
