// SPDX-License-Identifier: Apache-2.0
//! Two toy protocols in one: each connection is as if it had its protocol alone.

use super::*;
use crate::conformance;

/// Every byte is a request; `!` is none.
struct Bytewise;

impl Protocol for Bytewise {
    const NAME: &'static str = "bytewise";
    const TOO_MANY_CONNECTIONS: &'static [u8] = b"no room\n";
    type Request<'a> = u8;
    type Cursor = ();

    fn parse(&self, _: &mut (), input: &[u8]) -> Result<Parsed<u8>, Malformed> {
        match input.first() {
            None => Ok(Parsed::NeedMore { at_least: 1 }),
            Some(b'!') => Err(Malformed::skip(ErrorReply::fixed(b"?"), 1)),
            Some(&request) => Ok(Parsed::Request { request, consumed: 1 }),
        }
    }

    fn too_large(&self) -> ErrorReply {
        ErrorReply::fixed(b"a large byte\n")
    }
}

/// A request is a word, of which a line can hold many; the cursor counts those of the line.
struct Words;

impl Protocol for Words {
    const NAME: &'static str = "words";
    const TOO_MANY_CONNECTIONS: &'static [u8] = b"busy\n";
    type Request<'a> = (usize, &'a [u8]);
    type Cursor = usize;

    fn parse<'a>(
        &self,
        cursor: &mut usize,
        input: &'a [u8],
    ) -> Result<Parsed<Self::Request<'a>>, Malformed> {
        let Some(end) = input.iter().position(|byte| b" \n".contains(byte)) else {
            return Ok(Parsed::NeedMore { at_least: 1 });
        };
        let request = (*cursor, &input[..end]);
        *cursor = if input[end] == b'\n' { 0 } else { *cursor + 1 };
        if end == 0 {
            return Err(Malformed::skip(ErrorReply::fixed(b"no word\n"), 1));
        }
        Ok(Parsed::Request { request, consumed: end + 1 })
    }

    fn ends_batch(request: &Self::Request<'_>) -> bool {
        request.1 == b"last"
    }

    fn too_large(&self) -> ErrorReply {
        ErrorReply::fixed(b"a large word\n")
    }

    fn may_idle(&self) -> bool {
        true
    }

    fn takes_messages(&self) -> bool {
        false
    }

    fn takes_late_reply(&self) -> bool {
        false
    }
}

type Combined = Either<Bytewise, Words>;

#[test]
fn it_keeps_the_contract_of_a_protocol_on_both_sides() {
    let samples: [&[u8]; 3] = [b"one two\nthree\n", b"  \n\nx!y", b"half"];
    conformance::check(|| Combined::A(Bytewise), &samples);
    conformance::check(|| Combined::B(Words), &samples);
}

#[test]
fn each_connection_has_the_ways_and_words_of_its_protocol() {
    let (a, b) = (Combined::A(Bytewise), Combined::B(Words));
    assert_eq!(
        (a.too_many_connections(), b.too_many_connections()),
        (&b"no room\n"[..], &b"busy\n"[..])
    );
    assert_eq!(a.too_large(), Bytewise.too_large());
    assert_eq!(b.too_large(), Words.too_large());
    assert_eq!((a.may_idle(), b.may_idle()), (false, true));
    assert_eq!((a.takes_messages(), b.takes_messages()), (true, false));
    assert_eq!((a.takes_late_reply(), b.takes_late_reply()), (true, false));
    assert!(!Combined::ends_batch(&Either::A(b'a')));
    assert!(Combined::ends_batch(&Either::B((0, b"last"))));
    assert!(!Combined::ends_batch(&Either::B((0, b"first"))));
}
