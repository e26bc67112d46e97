// SPDX-License-Identifier: Apache-2.0
//! The codec allocates nothing: parsing, looking at arguments and writing replies, once the output
//! and the scratch have their memory.

use buffer::SendBuf;
use bytes::Bytes;
use protocol::{Parsed, Protocol};
use protocol_resp::client::{self, Reply, Scanner};
use protocol_resp::parse::Cursor;
use protocol_resp::{Codec, Version, Writer};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes to the system allocator unchanged; counting touches a thread-local `Cell`
// that needs no allocation and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations that `run` makes when it has been run before.
fn counted(mut run: impl FnMut()) -> usize {
    run();
    let before = ALLOCATIONS.get();
    run();
    ALLOCATIONS.get() - before
}

#[test]
fn requests_are_found_without_an_allocation() {
    let input: &[u8] =
        b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\nPING\r\nGET k\n\r\n*0\r\n*6\r\n$4\r\nMGET\r\n\
        $1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n$10\r\n0123456789\r\n*1000000000\r\n$0\r\n\r\n\
        $500000000\r\n";
    let codec = Codec::default();
    let mut scratch = Vec::new();
    let count = counted(|| {
        let mut cursor = Cursor::default();
        let (mut at, mut seen) = (0, 0);
        loop {
            match codec.parse(&mut cursor, &input[at..]) {
                Ok(Parsed::Request { request, consumed }) => {
                    at += consumed;
                    seen += request.args(&mut scratch).iter().map(<[u8]>::len).sum::<usize>();
                    seen += request.iter().count();
                }
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
    let count = counted(|| {
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
    let count = counted(|| {
        let (reply, _) = client::parse(wire).expect("it is a reply").expect("it is whole");
        let Reply::Array(items) = reply else { panic!("an array") };
        assert_eq!(items.last(), Some(Reply::Integer(7)));
        assert_eq!(Scanner::default().scan(wire), Ok(Some(wire.len())));
    });
    assert_eq!(count, 0);
}
