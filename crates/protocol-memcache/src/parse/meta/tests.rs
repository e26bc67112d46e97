// SPDX-License-Identifier: Apache-2.0
//! What lines become, and that no form of a line is parsed in two ways.

use crate::item_size::item_bytes;
use crate::op::{Act, Meta, Op};
use crate::parse::{LINE_MAX, Memcache};
use crate::request::Request;
use protocol::{Malformed, Parsed, Protocol};

/// The largest value of an item with a key of three bytes and without flags.
const VALUE_MAX: usize = 100;

fn parse(input: &[u8]) -> Result<Parsed<Request<'_>>, Malformed> {
    Memcache::new(item_bytes(3, 0, VALUE_MAX)).parse(&mut Default::default(), input)
}

fn meta(input: &[u8]) -> (Meta<'_>, usize) {
    match parse(input) {
        Ok(Parsed::Request { request: Request { op: Op::Meta(meta), .. }, consumed }) => {
            (meta, consumed)
        }
        other => panic!("{}: {other:?}", input.escape_ascii()),
    }
}

/// Error reply and bytes to drop.
fn refused(input: &[u8]) -> (String, usize) {
    match parse(input) {
        Err(Malformed { reply, skip, .. }) => {
            let text = String::from_utf8_lossy(reply.as_bytes()).trim_end().to_owned();
            (text, skip.expect("parsing goes on"))
        }
        Ok(parsed) => panic!("{}: {parsed:?}", input.escape_ascii()),
    }
}

#[test]
fn a_line_that_is_too_long_is_so_wherever_it_is_cut() {
    for (line, body) in [("mg key P", ""), ("ms key 1 P", "v\r\n"), ("mg key  v P", "")] {
        let with = |len: usize| format!("{line}{}", "x".repeat(len - line.len()));
        let right = format!("{}\n{body}", with(LINE_MAX - 1) + "\r");
        assert!(matches!(parse(right.as_bytes()), Ok(Parsed::Request { .. })), "{line}");
        let long = format!("{}\r\n{body}", with(LINE_MAX));
        for end in [LINE_MAX + 1, LINE_MAX + 2, long.len()] {
            let step = parse(&long.as_bytes()[..end]);
            assert!(
                matches!(step, Err(Malformed { skip: None, .. })),
                "{line}, cut at {end}: {step:?}"
            );
        }
    }
}

#[test]
fn a_request_borrows_key_flags_and_value() {
    let (got, consumed) = meta(b"mg  key  v  k O123 \r\nmore");
    assert_eq!((got.act, got.key(), got.value, consumed), (Act::Get, &b"key"[..], &b""[..], 21));
    let flags: Vec<(u8, &[u8])> = got.flags().iter().collect();
    assert_eq!(flags, [(b'v', &b""[..]), (b'k', b""), (b'O', b"123")]);
    assert_eq!(got.flags().argument(b'O'), Some(&b"123"[..]));
    assert_eq!(got.flags().argument(b'q'), None);
    let (got, consumed) = meta(b"ms key 3 T30 F7\r\nabc\r\nmore");
    assert_eq!((got.act, got.key(), got.value, consumed), (Act::Set, &b"key"[..], &b"abc"[..], 22));
    assert_eq!(got.flags().number(b'F'), Some(7));
    let (got, consumed) = meta(b"ms key 101\r\n");
    assert_eq!((got.act, got.key(), consumed), (Act::SetTooLarge, &b"key"[..], 12 + 101 + 2));
    let (got, _) = meta(b"mn\r\n");
    assert_eq!((got.act, Op::Meta(got).key()), (Act::Noop, None));
}

#[test]
fn flags_and_a_key_as_it_is_stored_count_in_the_size_of_an_item() {
    for (key, flags, len) in [
        ("key", "", 100),
        ("key", "F0", 100),
        ("key", "F7", 96),
        ("bXk=", "b", 101),
        ("bXkxMg==", "b", 99),
    ] {
        for (len, act) in [(len, Act::Set), (len + 1, Act::SetTooLarge)] {
            let input = format!("ms {key} {len} {flags}\r\n{}\r\n", "x".repeat(len));
            assert_eq!(meta(input.as_bytes()).0.act, act, "{key} {flags} {len}");
        }
    }
}

#[test]
fn only_a_key_that_the_input_has_is_prefetched() {
    assert_eq!(Op::Meta(meta(b"mg Zm9v v\r\n").0).key(), Some(&b"Zm9v"[..]));
    assert_eq!(Op::Meta(meta(b"mg Zm9v v b\r\n").0).key(), None);
    assert_eq!(Op::Meta(meta(b"me Zm9v b\r\n").0).key(), None);
}

#[test]
fn an_unfinished_request_waits() {
    for line in [&b"ms key 3 T30\r\nabc\r\n"[..], b"mg key v\r\n", b"md key\r\n", b"mn\r\n"] {
        for end in 1..line.len() {
            let parsed = parse(&line[..end]);
            let waits = matches!(parsed, Ok(Parsed::NeedMore { .. }));
            assert!(waits, "{}: {parsed:?}", line[..end].escape_ascii());
        }
    }
}

#[test]
fn the_body_of_a_refused_line_is_dropped() {
    for (flags, error) in [
        ("y", "CLIENT_ERROR invalid flag"),
        ("v v", "CLIENT_ERROR duplicate flag"),
        ("!", "CLIENT_ERROR bad command line format"),
        ("MX", "CLIENT_ERROR invalid mode for ms M token"),
        ("Tx", "CLIENT_ERROR bad token in command line format"),
        ("b", "CLIENT_ERROR error decoding key"),
        ("O12345678901234567890123456789012", "CLIENT_ERROR opaque token too long"),
        (&"v ".repeat(64), "CLIENT_ERROR options flags are too long"),
    ] {
        let line = format!("ms key 3 {flags}\r\n");
        let input = format!("{line}abc\r\n");
        assert_eq!(refused(input.as_bytes()), (error.to_owned(), line.len() + 5), "{flags}");
    }
    let long = format!("ms {} 3\r\n", "k".repeat(251));
    let error = "CLIENT_ERROR bad command line format".to_owned();
    assert_eq!(refused(long.as_bytes()), (error.clone(), long.len() + 5));
    assert_eq!(refused(b"ms key 3\r\nabcd\r\n"), ("CLIENT_ERROR bad data chunk".to_owned(), 15));
    assert_eq!(refused(b"ms key x\r\n"), (error, 10), "its length cannot be read");
}

#[test]
fn lengths_that_lie_are_refused_or_waited_for() {
    for len in ["-1", "2147483646", "4294967296", "99999999999999999999", "0x10", "1e3", ""] {
        let line = format!("ms key {len}\r\n");
        let error = "CLIENT_ERROR bad command line format".to_owned();
        assert_eq!(refused(line.as_bytes()), (error, line.len()), "{len}");
    }
    let (got, consumed) = meta(b"ms key 2147483645\r\n");
    assert_eq!((got.act, consumed), (Act::SetTooLarge, 19 + 2_147_483_645 + 2));
}
