// SPDX-License-Identifier: Apache-2.0
//! What is particular to memcache's binary protocol: a request's way back to bytes, and replies.

use protocol::Malformed;
use protocol_memcache::{Arith, Binary, Detail, Get, Op, Request, Set};

const HEADER_LEN: usize = 24;

/// The length of the body that a header announces.
fn body_len(header: &[u8]) -> usize {
    let len = header[8..12].try_into().expect("four bytes");
    u32::from_be_bytes(len) as usize
}

/// Encodes `request`; `None` for one whose value was not read.
pub(crate) fn encode(request: &Request<'_>, binary: Binary) -> Option<Vec<u8>> {
    let mut extras = Vec::new();
    let (mut value, mut number, mut name) = (&b""[..], 0, request.key().unwrap_or_default());
    let seconds = |exptime: protocol_memcache::Exptime| {
        u32::try_from(exptime.0).expect("the protocol has no negative times").to_be_bytes()
    };
    match request.op {
        Op::Get(Get { touch, .. }) => extras.extend(touch.map(seconds).into_iter().flatten()),
        Op::Touch { exptime, .. } => extras.extend(seconds(exptime)),
        Op::FlushAll { delay } => extras.extend(delay.map(seconds).into_iter().flatten()),
        Op::Set(Set { value: stored, cas, flags, exptime, .. }) => {
            if binary.opcode.row().extras == [8] {
                extras.extend(flags.to_be_bytes());
                extras.extend(seconds(exptime));
            }
            (value, number) = (stored, cas);
        }
        Op::Delete { cas, .. } => number = cas,
        Op::Arith(Arith { delta, initial, exptime, cas, .. }) => {
            extras.extend(delta.to_be_bytes());
            extras.extend(initial.to_be_bytes());
            extras.extend(exptime.to_be_bytes());
            number = cas;
        }
        Op::Stats { topic } => name = topic,
        Op::Detail(Detail::On) => name = b"detail on",
        Op::Detail(Detail::Off) => name = b"detail off",
        Op::Detail(Detail::Dump) => name = b"detail dump",
        Op::Detail(Detail::Unknown) => name = b"detail",
        Op::Version | Op::Noop | Op::Quit => {}
        Op::Oversized { .. } | Op::Upload(_) | Op::Login(_) => return None,
        Op::BadFlush { .. }
        | Op::ListEnd { .. }
        | Op::Piece(_)
        | Op::UploadMeta(_)
        | Op::Meta(_)
        | Op::Config { .. }
        | Op::Dump(_)
        | Op::Watch(_)
        | Op::Manage(_) => {
            panic!("a line in the binary protocol")
        }
    }
    let body = extras.len() + name.len() + value.len();
    let mut wire = vec![0x80, binary.opcode as u8];
    wire.extend((name.len() as u16).to_be_bytes());
    wire.extend([extras.len() as u8, 0, 0, 0]);
    wire.extend((body as u32).to_be_bytes());
    wire.extend(binary.opaque);
    // Of a get the number says nothing.
    wire.extend(number.to_be_bytes());
    Some([&wire[..], &extras, name, value].concat())
}

/// Checks what is dropped with a rejected frame at the start of `input`: the frame, and no more.
pub(crate) fn check_refused(malformed: &Malformed, input: &[u8]) {
    assert_replies(malformed.reply.as_bytes());
    if let Some(skip) = malformed.skip {
        assert_eq!(skip, HEADER_LEN + body_len(input), "dropped with a frame");
    }
}

/// Checks that `output` of a server is nothing but whole replies.
pub(crate) fn assert_replies(output: &[u8]) {
    let mut rest = output;
    while !rest.is_empty() {
        assert!(rest.len() >= HEADER_LEN && rest[0] == 0x81, "no reply: {}", rest.escape_ascii());
        let [key, extras] = [usize::from(rest[3]) | usize::from(rest[2]) << 8, rest[4].into()];
        assert!(key + extras <= body_len(rest), "a body too short: {}", rest.escape_ascii());
        rest = rest.get(HEADER_LEN + body_len(rest)..).expect("the whole reply");
    }
}
