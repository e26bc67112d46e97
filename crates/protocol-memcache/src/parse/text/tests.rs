// SPDX-License-Identifier: Apache-2.0
//! Tests of the parsers of text requests: what each finds in a line, and that the fast parser agrees with the general
//! one on every line it takes.

use super::*;
use crate::command::CommandId;
use crate::crowd::Crowd;
use crate::exptime::Exptime;
use crate::op::{Family, Get, Mode, Op, Set};
use crate::parse::{Cursor, Memcache};
use crate::reply::Text;
use protocol::Protocol;

fn parse(input: &[u8]) -> Step<'_> {
    Memcache::new(100).parse(&mut Cursor::default(), input)
}

#[test]
fn a_value_that_is_too_large_is_never_waited_for() {
    let op = Op::Oversized { key: b"k", mode: Mode::Add };
    let request = Request::text(CommandId::Add, op, Text::Whole);
    let step = parse(b"add k 0 0 2000000000\r\n");
    assert_eq!(step, found(request, 22 + 2_000_000_000 + 2));
}

#[test]
fn a_body_asks_for_exactly_what_is_missing() {
    assert_eq!(parse(b"set k 0 0 10\r\n012"), Ok(Parsed::NeedMore { at_least: 9 }));
    assert_eq!(parse(b"append k 0 0 10\r\n"), Ok(Parsed::NeedMore { at_least: 12 }));
}

#[test]
fn the_general_parser_agrees_with_the_fast_one() {
    let samples: [&[u8]; 17] = [
        b"mg key\r\n",
        b"mg key v k q\r\nmn\r\n",
        b"mg bXk= b O123 T30 N0\r\n",
        b"ms key 1\r\nx\r\n",
        b"ms key 3 c F17 T-1 Oabc MS\r\nxyz\r\nmn\r\n",
        b"ms key 3 q\r\nxyzz\r\n",
        b"ms key 3\r\nxy",
        b"ms key 0 I\r\n\r\n",
        b"mg key c f h k l q s t u v\r\n",
        b"get key\r\n",
        b"gets key\r\nget other\r\n",
        b"set k 0 0 1\r\nx\r\n",
        b"set k 4294967295 2147483647 3\r\nxyz\r\nget k\r\n",
        b"set key 0007 1795218495 0 noreply\r\n\r\n",
        b"set k 0 0 3\r\nxyzz\r\n",
        b"set k 0 0 3 noreply\r\nxyzz\r\n",
        b"set k 0 0 3\r\nx",
    ];
    for sample in samples {
        let fast = fast::parse(sample, 100).expect("the form every client uses");
        let sizes = Sizes::new(1000, 100, Crowd::default());
        let general = line::parse(&sizes, &mut Position::Line, sample);
        assert_eq!(fast, general, "{}", sample.escape_ascii());
    }
}

#[test]
fn what_is_unusual_is_left_to_the_general_parser() {
    let samples: [&[u8]; 25] = [
        b"mg",
        b"mg key v",
        b"mg key v\r",
        b"mg key v\n",
        b"mg key  v\r\n",
        b"mg key v \r\n",
        b"mg key v v\r\n",
        b"mg key T\r\n",
        b"mg key Tx\r\n",
        b"mg key k\t\r\n",
        b"mg key ?\r\n",
        b"ms key v 1\r\nx\r\n",
        b"ms key 101\r\n",
        b"ms key 1 F-1\r\nx\r\n",
        b"get",
        b"get a b\r\n",
        b"get  a\r\n",
        b"get a\n",
        b"get a\t\r\n",
        b"gat 0 a\r\n",
        b"set k 0 0 101\r\n",
        b"set k 4294967296 0 1\r\nx\r\n",
        b"set k 0 2147483648 1\r\nx\r\n",
        b"set k 0 -1 1\r\nx\r\n",
        b"set k 0 0 1 no\r\nx\r\n",
    ];
    for sample in samples {
        let step = fast::parse(sample, 100);
        assert_eq!(step, None, "{}", sample.escape_ascii());
    }
}

#[test]
fn a_list_is_one_request_per_key_and_one_for_its_end() {
    let input: &[u8] = b"gats 5  a b  \r\nget c\r\n";
    let codec = Memcache::new(100);
    let mut cursor = Cursor::default();
    let mut at = 0;
    let mut requests = Vec::new();
    while let Ok(Parsed::Request { request, consumed }) = codec.parse(&mut cursor, &input[at..]) {
        requests.push(request);
        at += consumed;
    }
    let get = |key, cas, touch| Op::Get(Get { key, cas, touch });
    let end = Op::ListEnd { family: Family::Gat, keys: 2 };
    let expected = [
        (CommandId::Gats, get(&b"a"[..], true, Some(Exptime(5))), Text::Listed),
        (CommandId::Gats, get(b"b", true, Some(Exptime(5))), Text::Listed),
        (CommandId::Gats, end, Text::Whole),
        (CommandId::Get, get(b"c", false, None), Text::Whole),
    ];
    let expected = expected.map(|(command, op, text)| Request::text(command, op, text));
    assert_eq!(requests, expected);
    assert_eq!(at, input.len());
}

#[test]
fn a_flush_with_a_delay_that_is_no_time_is_a_request_all_the_same() {
    for (line, text) in
        [(&b"flush_all 1x\r\n"[..], Text::Whole), (b"flush_all 1x noreply\r\n", Text::Quiet)]
    {
        let op = Op::BadFlush { delay: b"1x" };
        assert_eq!(parse(line), found(Request::text(CommandId::FlushAll, op, text), line.len()));
    }
}

#[test]
fn a_write_has_all_its_fields() {
    let set =
        Set { key: b"k", value: b"ab", cas: 77, flags: 5, exptime: Exptime(-6), mode: Mode::Cas };
    let request = Request::text(CommandId::Cas, Op::Set(set), Text::Quiet);
    let input = b"cas k 5 -6 2 77 noreply\r\nab\r\n";
    assert_eq!(parse(input), found(request, input.len()));
}

#[test]
fn a_connection_is_inside_of_a_request_only_within_a_list() {
    let codec = Memcache::new(100);
    for (input, inside) in [
        (&b"get k\r\n"[..], [false].as_slice()),
        (b"get a b\r\n", &[true, true, false]),
        (b"gat 20 a b\r\n", &[true, true, false]),
        (b"set k 0 0 1\r\nx\r\nmn\r\n", &[false, false]),
        (&[&[0x80, 0x0a][..], &[0; 22]].concat(), &[false]),
    ] {
        let (mut cursor, mut rest, mut seen) = (Cursor::default(), input, Vec::new());
        assert!(!Memcache::is_inside_request(&cursor));
        while let Ok(Parsed::Request { consumed, .. }) = codec.parse(&mut cursor, rest) {
            rest = &rest[consumed..];
            seen.push(Memcache::is_inside_request(&cursor));
        }
        assert_eq!(seen, inside, "{}", input.escape_ascii());
    }
}
