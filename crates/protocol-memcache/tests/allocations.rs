// SPDX-License-Identifier: Apache-2.0
//! The hot path allocates nothing: parsing, executing and composing the reply, once the send buffer
//! and this thread's metrics have their memory.

use buffer::SendBuf;
use clock::{Clock, Ticks};
use protocol::{ConnectionId, Context, Directory, Execute, Outbox, Parsed, Protocol};
use protocol_memcache::{Cursor, Memcache, MemcacheService, ServiceOptions};
use storage::{Change, Collects, Expiry, Item, Put, Scan, Stats, Store, StoreError, Version};
use test_support::counting::{Counting, so_far};

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

/// A store with one item, `n`, that any write leaves as it is.
struct One;

impl Item for &One {
    fn key(&self) -> &[u8] {
        b"n"
    }
    fn value(&self) -> &[u8] {
        b"41"
    }
    fn flags(&self) -> u32 {
        7
    }
    fn version(&self) -> Version {
        Version::new(9).expect("it is not 0")
    }
    fn expiry(&self) -> Expiry {
        Expiry::NEVER
    }
}

impl Store for One {
    type Item<'a> = &'a One;

    fn get(&mut self, key: &[u8], _: Ticks) -> Option<&One> {
        (key == b"n").then_some(&*self)
    }

    fn put(&mut self, _: Put<'_>, _: Ticks) -> Result<Version, StoreError> {
        Ok((&&*self).version())
    }

    fn update_versioned<'v, R>(
        &mut self,
        key: &[u8],
        now: Ticks,
        mut decide: impl FnMut(Option<&One>) -> (Change<'v>, R),
    ) -> Result<(R, Option<Version>), StoreError> {
        let item = self.get(key, now);
        let version = item.map(|item| (&item).version());
        Ok((decide(item).1, version))
    }

    fn delete(&mut self, key: &[u8], _: Ticks) -> bool {
        key == b"n"
    }

    fn expire(&mut self, _: Ticks, _: usize) -> usize {
        0
    }

    fn clear(&mut self) {}

    fn stats(&self) -> Stats {
        Stats::default()
    }

    fn check_integrity(&self) {}
}

impl Scan for One {
    fn scan(
        &mut self,
        _: storage::Cursor,
        _: usize,
        _: Ticks,
        mut see: impl FnMut(&One),
    ) -> Option<storage::Cursor> {
        see(self);
        None
    }
}

impl Collects for One {}

/// A request of the binary protocol.
fn frame(opcode: u8, extras: &[u8], key: &[u8], value: &[u8]) -> Vec<u8> {
    let body = (extras.len() + key.len() + value.len()) as u8;
    let header = [0x80, opcode, 0, key.len() as u8, extras.len() as u8, 0, 0, 0, 0, 0, 0, body];
    [&header[..], b"opaq", &[0; 8], extras, key, value].concat()
}

/// The length of the replies in `out`, and whether they are all successes.
fn successes(out: &SendBuf) -> bool {
    let mut rest = out.front();
    while let Some(header) = rest.first_chunk::<24>() {
        if header[6..8] != [0, 0] || &header[12..16] != b"opaq" {
            return false;
        }
        rest = &rest[24 + usize::from(header[11])..];
    }
    rest.is_empty()
}

#[test]
fn serving_binary_requests_allocates_nothing() {
    let stored = [0; 8];
    let input = [
        frame(0x00, b"", b"n", b""),
        frame(0x09, b"", b"n", b""),
        frame(0x0c, b"", b"n", b""),
        frame(0x09, b"", b"x", b""),
        frame(0x01, &stored, b"n", b"abc"),
        frame(0x11, &stored, b"n", b"abc"),
        frame(0x02, &stored, b"n", b"abc"),
        frame(0x0e, b"", b"n", b"abc"),
        frame(0x1d, &[0; 4], b"n", b""),
        frame(0x1c, &[0; 4], b"n", b""),
        frame(0x05, &[0; 20], b"n", b""),
        frame(0x04, b"", b"n", b""),
        frame(0x0a, b"", b"", b""),
    ]
    .concat();
    let replied = serve_three_times(&input);
    assert!(successes(&replied), "{}", replied.front().escape_ascii());
    assert!(replied.pending() > 11 * 24);
}

#[test]
fn serving_requests_allocates_nothing() {
    let input: &[u8] = b"get n\r\ngets n x n\r\ngat 9 n\r\nset n 1 2 3\r\nabc\r\n\
        add n 0 0 1 noreply\r\nx\r\nappend n 0 0 1\r\nx\r\ncas n 0 0 1 9\r\nx\r\nincr n 1\r\n\
        decr n 50\r\ntouch n 5\r\ndelete n\r\ndelete x\r\nfoo\r\n\
        mg n v\r\nmg n k v s t f c h O123 q\r\nmg bg== b k v\r\nmg x v q\r\nmg n T30 R5 N9 l v\r\n\
        ms n 3\r\nabc\r\nms n 3 T30 F7 c k q\r\nabc\r\nms bg== 3 b k\r\nabc\r\nms n 1 C9 c\r\nx\r\n\
        ms n 1 MA\r\nx\r\nma n v\r\nmd n q\r\nmd n I\r\nme n\r\nmn\r\nset n 0 0 9999 noreply\r\n";
    let replies: &[u8] = b"VALUE n 7 2\r\n41\r\nEND\r\n\
        VALUE n 7 2 9\r\n41\r\nVALUE n 7 2 9\r\n41\r\nEND\r\n\
        VALUE n 7 2\r\n41\r\nEND\r\nSTORED\r\nSTORED\r\nSTORED\r\n42\r\n0\r\nTOUCHED\r\nDELETED\r\n\
        NOT_FOUND\r\nERROR\r\n\
        VA 2\r\n41\r\nVA 2 kn s2 t-1 f7 c9 h0 O123\r\n41\r\nVA 2 kbg== b\r\n41\r\nVA 2 l0\r\n41\r\n\
        HD\r\nHD kbg== b\r\nHD c9\r\nHD\r\nVA 2\r\n42\r\nHD\r\n\
        ME n exp=-1 la=0 cas=9 fetch=no cls=1 size=3\r\nMN\r\n";
    let out = serve_three_times(input);
    assert_eq!(out.front().escape_ascii().to_string(), replies.escape_ascii().to_string());
}

/// Serves the requests of one connection three times, the last time without an allocation. Returns the replies
/// of the last time.
fn serve_three_times(input: &[u8]) -> SendBuf {
    let mut service = MemcacheService::new(One, ServiceOptions::new());
    let mut codec = Memcache::new(100);
    let (mut out, mut outbox) = (SendBuf::new(), Outbox::new());
    let directory = Directory::new();
    let id = ConnectionId::new(0, 1);
    let now = Clock::manual(0).now();
    let mut context = Context::new(now, id, &mut outbox, &directory);
    let mut counted = u64::MAX;
    for _ in 0..3 {
        out.consume(out.pending());
        let before = so_far();
        let mut cursor = Cursor::default();
        let mut rest = input;
        while !rest.is_empty() {
            let taken = match codec.parse(&mut cursor, rest) {
                Ok(Parsed::Request { request, consumed }) => {
                    service.execute(&mut codec, request, &mut out, &mut context);
                    consumed
                }
                Ok(Parsed::Part { .. }) => panic!("a small value is collected"),
                Ok(Parsed::NeedMore { at_least }) => panic!("{at_least} bytes are missing"),
                Err(malformed) => {
                    out.put(malformed.reply.as_bytes());
                    malformed.skip.expect("it goes on")
                }
            };
            rest = rest.get(taken..).unwrap_or_default();
        }
        counted = so_far() - before;
    }
    assert_eq!(counted, 0);
    out
}
