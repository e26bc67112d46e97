// SPDX-License-Identifier: Apache-2.0
//! The codec allocates nothing: parsing, looking at arguments and writing replies, once the output
//! and the scratch have their memory.

use buffer::SendBuf;
use bytes::Bytes;
use protocol::{Parsed, Protocol};
use protocol_resp::client::{self, Reply, Scanner};
use protocol_resp::parse::Cursor;
use protocol_resp::{Codec, Version, Writer};
use test_support::counting::{Counting, allocations_again};

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

#[test]
fn requests_are_found_without_an_allocation() {
    let input: &[u8] =
        b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\nPING\r\nGET k\n\r\n*0\r\n*6\r\n$4\r\nMGET\r\n\
        $1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n$10\r\n0123456789\r\n*1000000000\r\n$0\r\n\r\n\
        $500000000\r\n";
    let codec = Codec::default();
    let mut scratch = Vec::new();
    let count = allocations_again(|| {
        let mut cursor = Cursor::default();
        let (mut at, mut seen) = (0, 0);
        loop {
            match codec.parse(&mut cursor, &input[at..]) {
                Ok(Parsed::Request { request, consumed }) => {
                    at += consumed;
                    seen += request.args(&mut scratch).iter().map(<[u8]>::len).sum::<usize>();
                    seen += request.iter().count();
                }
                Ok(Parsed::Part { .. }) => panic!("requests of RESP are collected"),
                Ok(Parsed::NeedMore { .. }) => break,
                Err(malformed) => at += malformed.skip.expect("nothing is wrong with it"),
            }
        }
        assert_eq!(seen, 4 + 4 + 4 + 18 + 2 + 1 + 2 + 6);
    });
    assert_eq!(count, 0);
}

#[test]
fn replies_are_written_without_an_allocation() {
    let mut out = SendBuf::new();
    let pinned = Bytes::from(vec![b'x'; 100]);
    let count = allocations_again(|| {
        for version in [Version::Resp2, Version::Resp3] {
            let mut writer = Writer::new(&mut out, version);
            writer.ok();
            writer.error("ERR with a\r\nline end");
            let mark = writer.begin_map();
            writer.bulk(b"key");
            writer.integer(-7_000_000);
            writer.end_map(mark, 1);
            writer.array(100);
            writer.double(0.1);
            writer.null();
            writer.boolean(true);
            writer.bulk_pinned(pinned.clone());
            writer.verbatim(b"txt", b"text");
        }
        out.consume(out.pending());
    });
    assert_eq!(count, 0);
}

#[test]
fn replies_are_read_without_an_allocation() {
    let wire = b"*3\r\n$1\r\na\r\n%1\r\n+k\r\n,1.5\r\n:7\r\n";
    let count = allocations_again(|| {
        let (reply, _) = client::parse(wire).expect("it is a reply").expect("it is whole");
        let Reply::Array(items) = reply else { panic!("an array") };
        assert_eq!(items.last(), Some(Reply::Integer(7)));
        assert_eq!(Scanner::default().scan(wire), Ok(Some(wire.len())));
    });
    assert_eq!(count, 0);
}
