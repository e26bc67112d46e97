// SPDX-License-Identifier: Apache-2.0
//! Fuzz targets of the workspace: each is a function from bytes to nothing that panics when
//! something is wrong.
//!
//! `fuzz_targets/` has one file per target that hands libFuzzer's bytes to its function here, so
//! that a plain test (`tests/replay.rs`) can run the seeds of `corpus/` without a fuzzer. How an
//! input is read is said at each function; `README.md` says how to run them.
//!
//! * `codec.rs`: the contract of a codec, for `ping_parse`, `memcache_parse` and `resp_parse`.
//! * `peer.rs`: a connection without a socket, for `turn_chunks`.
//! * `memcache.rs`, `binary.rs`, `resp.rs`: what is particular to these protocols; `session.rs`: the session of
//!   `turn_chunks`.
//! * `datagrams.rs`: requests without a connection.
//! * `operations.rs`: the operations of `hashmap_model` and `seg_model`; `model.rs`: what they must
//!   come to; `engine.rs`: the stores they are carried out on.
//! * `keyspace/`: the steps of `keyspace_model`, and what they must come to.
//! * `commands/`: the clients of `resp_commands`, their commands, and what these must come to.
//! * `serial.rs`: values as bytes. `scripts.rs`: libraries of Lua scripts.
//! * `seeds.rs`: inputs to begin with, for these two.
//! * `settings.rs`: the settings that `config_parse` reads.
//! * `chunks.rs`: ways to cut an input into arrivals. `stretch.rs`: long inputs from short ones.
#![forbid(unsafe_code)]

mod binary;
mod chunks;
mod codec;
mod commands;
mod datagrams;
mod engine;
mod keyspace;
mod memcache;
mod model;
mod operations;
mod peer;
mod resp;
mod scripts;
pub mod seeds;
mod serial;
mod session;
mod settings;
mod stretch;

use arbitrary::Unstructured;
use engine::Engine;
use operations::Trial;
use protocol::Malformed;
use protocol_memcache::{Forms, Memcache};
use protocol_ping::{PingProtocol, client};
use protocol_resp::cluster::Topology;
use settings::Settings;

/// The largest value of the codec that `memcache_parse` tests: small, so that inputs exceed it.
const VALUE_MAX: usize = 256;

/// Arbitrary bytes through the ping codec, and as replies through the client's parser.
pub fn ping_parse(input: &[u8]) {
    codec::check(&PingProtocol, input, |_, _| {}, |_, _| {});
    let mut rest = input;
    while let Some((_, taken)) = client::parse_reply(rest) {
        assert!(taken > 0, "a reply that takes no byte");
        rest = &rest[taken..];
    }
    assert!(!rest.contains(&b'\n'), "a line is a reply");
}

/// Arbitrary text as a configuration. What loads is printed, and loads from there as the same.
pub fn config_parse(input: &[u8]) {
    match config::parse::<Settings>(input, "fuzz.toml") {
        Ok(settings) => {
            let text = config::print(&settings).expect("settings that were loaded have a form");
            let again: Settings = match config::parse(&text, "printed.toml") {
                Ok(again) => again,
                Err(error) => panic!("printed settings do not load: {error}\n{text}"),
            };
            assert_eq!(format!("{again:?}"), format!("{settings:?}"), "printed as\n{text}");
        }
        Err(error) => {
            let text = error.to_string();
            assert!(text.contains("fuzz.toml"), "an error that does not name the file: {text}");
        }
    }
}

/// Arbitrary text as the nodes of a cluster. What is read is shown, and read from there as the same.
pub fn nodes_file(input: &[u8]) {
    match Topology::read(input) {
        Ok(topology) => {
            let text = topology.to_text();
            let again = Topology::read(text.as_bytes());
            let again = again
                .unwrap_or_else(|problem| panic!("what is shown is not read: {problem}\n{text}"));
            assert_eq!(again.to_text(), text);
        }
        Err(problem) => assert!(!problem.contains('\n') && problem.len() < 1000, "{problem}"),
    }
}

/// Arbitrary bytes, stretched (see `stretch.rs`), through the memcache codec, and as replies
/// through the client's parser.
pub fn memcache_parse(input: &[u8]) {
    let input = stretch::stretch(input);
    let codec = Memcache::new(VALUE_MAX);
    let inside = |request: &_, taken: &_| memcache::check_request(&codec, request, taken);
    // The first byte of a connection says what all of it is.
    let is_binary = input.first() == Some(&0x80);
    let [refused, refused_guest]: [fn(&Malformed, &[u8]); 2] = if is_binary {
        [binary::check_refused; 2]
    } else {
        [memcache::check_refused, memcache::check_refused_guest]
    };
    codec::check(&codec, &input, inside, refused);
    codec::check(&codec.clone().pieces_above(0), &input, memcache::check_piece, refused);
    let guest = codec.with_login();
    codec::check(&guest, &input, memcache::check_guest, refused_guest);
    memcache::check_replies(&input);
}

/// As [`memcache_parse`], in the binary protocol: the input lacks the first byte.
pub fn memcache_binary(input: &[u8]) {
    let input = [&[0x80], &stretch::stretch(input)[..]].concat();
    let codec = Memcache::new(VALUE_MAX).forms(Forms::Binary);
    let inside = |request: &_, taken: &_| memcache::check_request(&codec, request, taken);
    codec::check(&codec, &input, inside, binary::check_refused);
    codec::check(
        &codec.clone().pieces_above(0),
        &input,
        memcache::check_piece,
        binary::check_refused,
    );
    let guest = codec.with_login();
    codec::check(&guest, &input, memcache::check_guest, binary::check_refused);
}

/// Arbitrary bytes, stretched (see `stretch.rs`), through the RESP codec. The first byte chooses its
/// limits, see `resp.rs`.
pub fn resp_parse(input: &[u8]) {
    let Some((&flags, input)) = input.split_first() else { return };
    let input = stretch::stretch(input);
    let codec = resp::codec(flags);
    let inside = |request: &_, taken: &_| resp::check_request(&codec, request, taken);
    codec::check(&codec, &input, inside, |_, _| {});
}

/// Arbitrary bytes as RESP replies.
pub fn resp_reply(input: &[u8]) {
    resp::check_replies(input);
}

/// A memcache session over `storage-hashmap`, whose output must not depend on how its bytes are cut
/// into arrivals, and whose memory must keep its bounds. `session.rs` says how an input is read.
pub fn turn_chunks(input: &[u8]) {
    session::play(input);
}

/// Datagrams with requests of memcache, whose answers must be cut into datagrams of the right lengths and
/// numbers, and of which none may leave anything to the next. `datagrams.rs` says how an input is read.
pub fn datagrams(input: &[u8]) {
    datagrams::serve(input);
}

/// Operations on `storage-hashmap` beside a plain map; each must come to the same on both.
pub fn hashmap_model(input: &[u8]) {
    compare_with_model::<engine::HashMap>(input);
}

/// Operations on `storage-seg`, with every policy, through one handle or several, beside a plain map.
pub fn seg_model(input: &[u8]) {
    compare_with_model::<engine::Seg>(input);
}

/// Operations on `storage-typed`, with values of all types and through
/// several handles, beside plain collections. `keyspace.rs` says how an input is read.
pub fn keyspace_model(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let Ok(mut trial) = keyspace::Trial::new(&mut input) else { return };
    while !input.is_empty() && trial.step(&mut input).is_ok() {}
    trial.finish();
}

/// Arbitrary bytes as values in serial form. Those that are some are the same when they are written and read again.
/// `serial.rs` says how an input is read.
pub fn serial_values(input: &[u8]) {
    serial::check(input);
}

/// Arbitrary bytes as JSON, MessagePack and structs, read by the libraries of Lua scripts. What is read is written, and
/// read again as the same. `scripts.rs` says how an input is read.
pub fn script_values(input: &[u8]) {
    scripts::check_values(input);
}

/// An arbitrary pattern of Lua in an arbitrary text: all functions find the same, in bounded time. `scripts.rs` says how
/// an input is read.
pub fn script_patterns(input: &[u8]) {
    scripts::check_patterns(input);
}

/// Commands of several clients, most of them made from the command table, to the RESP service over
/// the typed keyspace. `commands.rs` says how an input is read.
pub fn resp_commands(input: &[u8]) {
    commands::play(input);
}

fn compare_with_model<E: Engine>(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let Ok(mut trial) = Trial::<E>::new(&mut input) else { return };
    while !input.is_empty() && trial.step(&mut input).is_ok() {}
    trial.finish();
}
