// SPDX-License-Identifier: Apache-2.0
//! What is particular to RESP: what a request borrows and its way back to bytes, and replies.

use crate::codec::assert_inside;
use protocol::{Parsed, Protocol};
use protocol_resp::client::{self, Encoder, Items, Pairs, Reply, Scanner};
use protocol_resp::parse::{Framing, LINE_MAX};
use protocol_resp::{Codec, Request};

/// The largest argument under small limits: some inputs exceed it.
const BULK_MAX: usize = 256;

/// The codec that the first byte of an input asks for: bit 0 for a client that has authenticated, bit
/// 1 for small arguments.
pub(crate) fn codec(flags: u8) -> Codec {
    let mut framing = Framing { restricted: flags & 1 == 0, ..Framing::default() };
    if flags & 2 != 0 {
        framing.bulk_max = BULK_MAX;
    }
    Codec { framing }
}

/// Checks one request that `codec` found in `input`: every way to its arguments leads to the same,
/// they keep their limits, and encoding them gives bytes in which the same request is found again.
pub(crate) fn check_request(codec: &Codec, request: &Request<'_>, input: &[u8]) {
    let is_line = input[0] != b'*';
    let most = if is_line { LINE_MAX } else { codec.framing.bulk_max };
    let mut scratch = Vec::new();
    let args = request.args(&mut scratch);
    assert!(args.len() == request.len() && request.iter().len() == request.len());
    assert_eq!(request.name(), &args[0]);
    for (index, arg) in request.iter().enumerate() {
        assert!(arg.len() <= most, "an argument of {}", arg.len());
        assert_eq!(args.arg(index), arg);
        if index < 8 {
            assert_eq!(request.arg(index), arg);
        }
        if !is_line {
            assert_inside(arg, input);
        }
    }
    assert_eq!(request.get(request.len()), None);
    let mut wire = Vec::new();
    Encoder::new(&mut wire).request(request);
    let again = Codec::default().parse(&mut Default::default(), &wire);
    let expected = Parsed::Request { request: request.clone(), consumed: wire.len() };
    assert_eq!(again, Ok(expected), "encoded as {}", wire.escape_ascii());
    assert_eq!(request.clone().into_owned(), *request);
}

/// Reads arbitrary bytes as replies: never panics, takes a byte at least, borrows only the input,
/// and asks for more only until the reply is whole.
pub(crate) fn check_replies(input: &[u8]) {
    let mut rest = input;
    while let Ok(Some((reply, taken))) = client::parse(rest) {
        assert!(taken > 0 && taken <= rest.len(), "a reply of {taken} bytes in {}", rest.len());
        check_reply(&reply, &rest[..taken]);
        let short = client::parse(&rest[..taken - 1]);
        assert_eq!(short, Ok(None), "all but a byte of {reply:?}");
        let (exact, len) = client::parse(&rest[..taken]).expect("it was").expect("whole");
        // Not the replies themselves, for some numbers are not equal to themselves.
        assert_eq!((format!("{exact:?}"), len), (format!("{reply:?}"), taken));
        let mut scanner = Scanner::default();
        for end in (0..taken).step_by(taken.div_ceil(64)) {
            assert_eq!(scanner.scan(&rest[..end]), Ok(None), "{end} bytes of {reply:?}");
        }
        assert_eq!(scanner.scan(rest), Ok(Some(taken)));
        rest = &rest[taken..];
    }
    assert_eq!(Scanner::default().scan(rest), client::parse(rest).map(|_| None));
}

/// Checks that a reply has what it claims, all of it in `input`.
fn check_reply(reply: &Reply<'_>, input: &[u8]) {
    match *reply {
        Reply::Simple(text) | Reply::Error(text) | Reply::Bulk(text) | Reply::BigNumber(text) => {
            assert_inside(text, input);
        }
        Reply::Verbatim { text, .. } => assert_inside(text, input),
        Reply::Array(items) | Reply::Set(items) | Reply::Push(items) => check_items(items, input),
        Reply::Map(pairs) | Reply::Attribute(pairs) => check_pairs(pairs, input),
        _ => {}
    }
}

fn check_items(items: Items<'_>, input: &[u8]) {
    assert_eq!(items.count(), items.len(), "an array that is shorter than it says");
    for item in items {
        check_reply(&item, input);
    }
}

fn check_pairs(pairs: Pairs<'_>, input: &[u8]) {
    assert_eq!(pairs.count(), pairs.len(), "a map that is shorter than it says");
    for (key, value) in pairs {
        check_reply(&key, input);
        check_reply(&value, input);
    }
}
