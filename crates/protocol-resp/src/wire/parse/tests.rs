// SPDX-License-Identifier: Apache-2.0
//! Requests in bytes, and what is found. What is refused is in `tests/framing`.

use super::*;
use crate::wire::client::Encoder;
use protocol::ErrorReply;

/// The request at the start of `input`, and how many bytes it takes up.
fn whole(input: &[u8]) -> (Request<'_>, usize) {
    match parse(&Framing::default(), &mut Cursor::default(), input) {
        Ok(Parsed::Request { request, consumed }) => (request, consumed),
        other => panic!("{other:?} in {}", input.escape_ascii()),
    }
}

fn encoded(args: &[&[u8]]) -> Vec<u8> {
    let mut wire = Vec::new();
    Encoder::new(&mut wire).request(args);
    wire
}

fn missing(input: &[u8]) -> usize {
    match parse(&Framing::default(), &mut Cursor::default(), input) {
        Ok(Parsed::NeedMore { at_least }) => at_least,
        other => panic!("{other:?} in {}", input.escape_ascii()),
    }
}

#[test]
fn every_argument_is_found_in_every_way() {
    let words: [&[u8]; 9] =
        [b"name", b"", b"\r\n", b"three", &[b'v'; 10_000], b"$5", b"six", b"", b"eight"];
    for len in 1..=words.len() {
        let words = &words[..len];
        let mut wire = encoded(words);
        wire.extend_from_slice(b"*1\r\n");
        let (request, consumed) = whole(&wire);
        assert_eq!((request.len(), consumed), (len, wire.len() - 4));
        assert_eq!(request.name(), words[0]);
        assert_eq!(request.iter().len(), len);
        assert!(request.iter().eq(words.iter().copied()));
        let mut scratch = vec![(7, 9); 3];
        let args = request.args(&mut scratch);
        assert_eq!(args.len(), len);
        assert!(args.iter().rev().eq(words.iter().rev().copied()));
        for (index, word) in words.iter().enumerate() {
            assert_eq!(request.get(index), Some(*word));
            assert_eq!((request.arg(index), &args[index]), (*word, *word));
        }
        assert_eq!((request.get(len), args.get(len)), (None, None));
        assert_eq!(args.tail(1).iter().len(), len - 1);
        assert!(args.tail(len).is_empty() && args.tail(len + 1).is_empty());
    }
}

#[test]
fn a_line_and_an_array_of_the_same_words_are_the_same_request() {
    let lines: [(&[u8], &[&[u8]]); 5] = [
        (b"GET k\r\n", &[b"GET", b"k"]),
        (b" a b c d \n", &[b"a", b"b", b"c", b"d"]),
        (b"a b c d e f\n", &[b"a", b"b", b"c", b"d", b"e", b"f"]),
        (b"a \"b c\" 'd'\n", &[b"a", b"b c", b"d"]),
        (b"'' \"\" '' \"\" '' \"\\x00\"\n", &[b"", b"", b"", b"", b"", b"\0"]),
    ];
    for (line, words) in lines {
        let wire = encoded(words);
        let (request, consumed) = whole(line);
        assert_eq!((&request, consumed), (&whole(&wire).0, line.len()));
        for (index, word) in words.iter().enumerate() {
            assert_eq!(request.get(index), Some(*word));
        }
    }
}

#[test]
fn a_request_can_outlive_its_input() {
    for input in [&b"a b\n"[..], b"a 'b' c d e f\n", &encoded(&[b"n" as &[u8]; 7])] {
        let wire = input.to_vec();
        let (request, _) = whole(&wire);
        let expected = request.clone();
        let kept = request.into_owned();
        assert_eq!(kept, expected);
        drop(expected);
        drop(wire);
        assert_eq!(kept, whole(input).0);
    }
}

#[test]
fn what_is_missing_is_said_to_the_byte() {
    assert_eq!(missing(b""), 1);
    assert_eq!(missing(b"*"), 2);
    assert_eq!(missing(b"*1\r"), 1);
    // A line end instead of an argument would be a fault.
    assert_eq!(missing(b"*1\r\n"), 2);
    assert_eq!(missing(b"*1\r\n$5"), 2);
    assert_eq!(missing(b"*1\r\n$5\r"), 1);
    assert_eq!(missing(b"*1\r\n$5\r\n"), 7);
    assert_eq!(missing(b"*1\r\n$5\r\nabcde\r"), 1);
    assert_eq!(missing(b"*2\r\n$5\r\nab"), 5 + 2);
    assert_eq!(missing(b"*2\r\n$500000\r\nab"), 500_000 + 2);
    assert_eq!(missing(b"*1\r\n$536870912\r\n"), 536_870_914);
    assert_eq!(missing(b"GET k"), 1);
    let line = [b"*1\r\n$", &[b'1'; LINE_MAX - 1][..]].concat();
    assert_eq!(missing(&line), 1, "a byte more is too much");
}

#[test]
fn a_request_of_nothing_is_skipped_without_a_word() {
    for (input, len) in
        [(&b"\r\nPING\r\n"[..], 2), (b" \t\n", 3), (b"*0\r\n*1", 4), (b"*-1\r\n", 5)]
    {
        let step = parse(&Framing::default(), &mut Cursor::default(), input);
        assert_eq!(step, Err(Malformed::skip(ErrorReply::NONE, len)));
    }
}

#[test]
fn a_long_request_is_walked_through_once() {
    let wire = encoded(&[b"x" as &[u8]; 100_000]);
    let mut cursor = Cursor::default();
    let mut walked = 0;
    for arrived in (1000..wire.len()).step_by(1000) {
        let step = parse(&Framing::default(), &mut cursor, &wire[..arrived]);
        let Ok(Parsed::NeedMore { at_least }) = step else { panic!("{step:?}") };
        assert!(cursor.at > walked && arrived - cursor.at as usize <= 7, "{cursor:?} of {arrived}");
        assert!(at_least <= 7 + 2);
        walked = cursor.at;
    }
    let (from_start, consumed) = whole(&wire);
    let step = parse(&Framing::default(), &mut cursor, &wire);
    assert_eq!(step, Ok(Parsed::Request { request: from_start, consumed }));
    assert_eq!(cursor, Cursor::default());
}

#[test]
fn the_cursor_of_another_request_does_no_harm() {
    let wire = encoded(&[b"argument" as &[u8]; 8]);
    let places = [0, 1, 50, wire.len() as u32 - 1, wire.len() as u32, u32::MAX];
    for at in places {
        for left in [0, 1, 3, 8, u32::MAX] {
            let mut cursor = Cursor { at, left };
            // Whatever it comes to.
            if let Ok(Parsed::Request { request, .. }) =
                parse(&Framing::default(), &mut cursor, &wire)
            {
                assert!(request.iter().count() <= 8);
            }
        }
    }
}

#[test]
fn a_smaller_limit_for_arguments_is_kept() {
    let framing = Framing { bulk_max: 5, ..Framing::default() };
    let parse = |input| parse(&framing, &mut Cursor::default(), input);
    assert!(parse(b"*1\r\n$5\r\nhello\r\n").is_ok());
    let refused = parse(b"*1\r\n$6\r\nhello!\r\n").expect_err("it is too large");
    assert_eq!(refused.reply.as_bytes(), b"-ERR Protocol error: invalid bulk length\r\n");
    assert_eq!(refused.skip, None);
}
