// SPDX-License-Identifier: Apache-2.0
//! What is particular to memcache: what a request borrows, its way back to bytes, and replies.

use crate::binary;
use crate::codec::assert_inside;
use protocol::{Foreign, Malformed, Parsed, Protocol};
use protocol_memcache::client::{self, Encoder, MetaReply, Reply};
use protocol_memcache::{Arith, Form, KEY_MAX, Login, Memcache, Op, Piece, Request, Text};

/// A longer body cannot be announced.
const LEN_MAX: usize = i32::MAX as usize - 2;

/// Checks one request that `codec` found in `input`: what it borrows lies there and keeps its
/// limits, and encoding it gives bytes in which the same request is found again.
pub(crate) fn check_request(codec: &Memcache, request: &Request<'_>, input: &[u8]) {
    if let Some(key) = request.key() {
        assert_inside(key, input);
        assert!((1..=KEY_MAX).contains(&key.len()), "a key of {} bytes", key.len());
        let is_text = matches!(request.form, Form::Text(_));
        assert!(!is_text || !key.contains(&b' ') && !key.contains(&b'\n'), "no key: {key:?}");
    }
    match request.op {
        Op::Set(set) => {
            assert_inside(set.value, input);
            assert!(set.value.len() <= codec.item_max(), "a value of {}", set.value.len());
        }
        Op::Meta(meta) => {
            [meta.key(), meta.flags().text(), meta.value]
                .into_iter()
                .filter(|part| !part.is_empty())
                .for_each(|part| assert_inside(part, input));
            assert!(meta.key().len() <= KEY_MAX && meta.value.len() <= codec.item_max());
        }
        Op::Upload(_) | Op::UploadMeta(_) | Op::Piece(_) => panic!("small values are collected"),
        Op::Get(_)
        | Op::ListEnd { .. }
        | Op::Oversized { .. }
        | Op::Delete { .. }
        | Op::Arith(_)
        | Op::Touch { .. }
        | Op::FlushAll { .. }
        | Op::BadFlush { .. }
        // The topic is one of ours where it was abbreviated.
        | Op::Stats { .. }
        | Op::Detail(_)
        | Op::Config { .. }
        | Op::Dump(_)
        | Op::Watch(_)
        | Op::Version
        | Op::Noop
        | Op::Manage(_)
        | Op::Login(_)
        | Op::Quit => {}
    }
    let mut wire = Vec::new();
    let is_encoded = match request.form {
        Form::Text(text) => encode(request, text, &mut Encoder::new(&mut wire)),
        // A line may have any number of spaces, which are no part of what was asked for.
        Form::Meta => false,
        Form::Binary(form) => binary::encode(request, form).map(|frame| wire = frame).is_some(),
    };
    if is_encoded {
        let again = codec.parse(&mut Default::default(), &wire);
        let expected = Parsed::Request { request: *request, consumed: wire.len() };
        assert_eq!(again, Ok(expected), "encoded as {}", wire.escape_ascii());
    }
}

/// Checks what a request borrows where values are taken in pieces.
pub(crate) fn check_piece(request: &Request<'_>, input: &[u8]) {
    let borrowed = match request.op {
        Op::Piece(Piece::More(bytes) | Piece::Last(bytes)) => {
            assert!(!bytes.is_empty(), "a piece of nothing");
            bytes
        }
        Op::Piece(Piece::End(_)) => b"",
        Op::UploadMeta(meta) => meta.key(),
        _ => request.key().unwrap_or_default(),
    };
    if !borrowed.is_empty() {
        assert_inside(borrowed, input);
    }
}

/// Checks one request of a client that has yet to log in: nothing but that, or a question that anybody may ask.
pub(crate) fn check_guest(request: &Request<'_>, input: &[u8]) {
    match request.op {
        Op::Login(Login::Password { user, password }) => {
            [user, password]
                .into_iter()
                .filter(|part| !part.is_empty())
                .for_each(|part| assert_inside(part, input));
        }
        Op::Login(_) => {}
        Op::Version => assert!(matches!(request.form, Form::Binary(_)), "in text it is refused"),
        _ => panic!("a guest's request: {request:?}"),
    }
}

/// Checks what is dropped with a guest's line: the line and what it announces, of which `check_refused` knows less.
pub(crate) fn check_refused_guest(malformed: &Malformed, input: &[u8]) {
    let Some(skip) = malformed.skip else { return };
    let end = input.iter().position(|&byte| byte == b'\n').expect("a line that is dropped ends");
    assert!(skip > end, "a part of a line is dropped");
}

/// Checks what is dropped with a rejected line at the start of `input`: of a storage line the body,
/// too, if it says how long that is.
pub(crate) fn check_refused(malformed: &Malformed, input: &[u8]) {
    let Some(skip) = malformed.skip else { return };
    let end = input.iter().position(|&byte| byte == b'\n').expect("a line that is dropped ends");
    let line = input[..end].strip_suffix(b"\r").unwrap_or(&input[..end]);
    if line.starts_with(b" ") {
        return;
    }
    let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    let before_len = match words.next() {
        Some(b"set" | b"add" | b"replace" | b"append" | b"prepend" | b"cas") => 3,
        Some(b"ms") => 1,
        _ => return,
    };
    // Other ways of writing a length are memcached's, and left to the sessions.
    let is_plain = |word: &&[u8]| word.len() <= 10 && word.iter().all(u8::is_ascii_digit);
    let plain = words.nth(before_len).filter(is_plain);
    let Some(len) = plain.and_then(|word| std::str::from_utf8(word).ok()?.parse::<usize>().ok())
    else {
        return;
    };
    let body = if len <= LEN_MAX { len + 2 } else { 0 };
    assert_eq!(skip, end + 1 + body, "dropped with {}", line.escape_ascii());
}

/// Encodes `request`; false for those that a client does not send in one piece, and for keys that
/// are not what [`Encoder`] asks for.
fn encode(request: &Request<'_>, text: Text, encoder: &mut Encoder<'_>) -> bool {
    // As the last word of a line, `noreply` is more than a key.
    let is_usual = |key: &[u8]| key != b"noreply" && key.iter().all(|&byte| byte > b' ');
    if !request.key().is_none_or(is_usual) {
        return false;
    }
    let quiet = text == Text::Quiet;
    match request.op {
        Op::Set(ref set) => encoder.store(set, quiet),
        Op::Delete { key, .. } => encoder.delete(key, quiet),
        Op::Arith(Arith { key, delta, direction, .. }) => {
            encoder.arith(direction, key, delta, quiet);
        }
        Op::Touch { key, exptime } => encoder.touch(key, exptime, quiet),
        Op::FlushAll { delay } => encoder.flush_all(delay, quiet),
        Op::Version => encoder.version(),
        Op::Quit => encoder.quit(),
        Op::Get(_)
        | Op::Upload(_)
        | Op::UploadMeta(_)
        | Op::Piece(_)
        | Op::ListEnd { .. }
        | Op::Oversized { .. }
        | Op::BadFlush { .. }
        | Op::Stats { .. }
        | Op::Detail(_)
        | Op::Config { .. }
        | Op::Meta(_)
        | Op::Dump(_)
        | Op::Watch(_)
        | Op::Manage(_)
        | Op::Login(_)
        | Op::Noop => {
            return false;
        }
    }
    true
}

/// Reads arbitrary bytes as replies: never panics, takes a byte at least, borrows only the input,
/// and asks for more only until the reply is whole.
pub(crate) fn check_replies(input: &[u8]) {
    check_meta_replies(input);
    let mut rest = input;
    while let Ok(Some((reply, taken))) = client::parse(rest) {
        assert!(taken > 0 && taken <= rest.len(), "a reply of {taken} bytes in {}", rest.len());
        if let Reply::Value { key, value, .. } = reply {
            assert_inside(key, &rest[..taken]);
            assert_inside(value, &rest[..taken]);
        }
        let short = client::parse(&rest[..taken - 1]);
        assert_eq!(short, Ok(None), "all but a byte of {reply:?}");
        let exact = client::parse(&rest[..taken]);
        assert_eq!(exact, Ok(Some((reply, taken))), "bytes behind a reply change it");
        rest = &rest[taken..];
    }
}

/// The same of replies to meta commands.
fn check_meta_replies(input: &[u8]) {
    let mut rest = input;
    while let Ok(Some((reply, taken))) = client::parse_meta(rest) {
        assert!(taken > 0 && taken <= rest.len(), "a reply of {taken} bytes in {}", rest.len());
        if let MetaReply::Value { value, .. } = reply {
            assert_inside(value, &rest[..taken]);
        }
        let short = client::parse_meta(&rest[..taken - 1]);
        assert_eq!(short, Ok(None), "all but a byte of {reply:?}");
        let exact = client::parse_meta(&rest[..taken]);
        assert_eq!(exact, Ok(Some((reply, taken))), "bytes behind a reply change it");
        rest = &rest[taken..];
    }
}

/// How lines begin that are for people: the client has no name for them.
const FOR_PEOPLE: [&[u8]; 8] = [
    b"ME ",
    b"PREFIX ",
    b"NOSPARE ",
    b"SAME ",
    b"BADCLASS ",
    b"BUSY ",
    b"Error TLS ",
    b"SERVER_ERROR: ",
];

/// Checks that `output` of a server is nothing but whole replies, the last of them perhaps the one to
/// a client of another protocol, in its own words.
pub(crate) fn assert_replies(output: &[u8]) {
    if output.first() == Some(&0x81) {
        return binary::assert_replies(output);
    }
    let mut rest = output;
    while !rest.is_empty() {
        let of_text = client::parse(rest).ok().flatten().map(|(_, taken)| taken);
        let of_meta = || client::parse_meta(rest).ok().flatten().map(|(_, taken)| taken);
        let end = || {
            let is_line = FOR_PEOPLE.iter().any(|start| rest.starts_with(start));
            is_line
                .then(|| rest.iter().position(|&byte| byte == b'\n'))
                .flatten()
                .map(|end| end + 1)
        };
        match of_text.or_else(of_meta).or_else(end) {
            Some(taken) => rest = &rest[taken..],
            None if is_farewell(rest) => return,
            None => panic!("no reply in the output: {}", rest.escape_ascii()),
        }
    }
}

/// Whether `reply` is what a client of binary memcache is told, or one error of RESP.
fn is_farewell(reply: &[u8]) -> bool {
    use protocol_resp::client::{Reply, parse};
    reply == Foreign::BINARY_REPLY.as_bytes()
        || matches!(parse(reply), Ok(Some((Reply::Error(_), taken))) if taken == reply.len())
}
