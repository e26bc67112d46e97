// SPDX-License-Identifier: Apache-2.0
//! Datagrams with requests of memcache over `storage-hashmap`.
//!
//! An input is the number of datagrams that an answer may have, then datagrams: the length of each in two
//! bytes, the most significant first, and its bytes, or what is left of the input.

use buffer::{Pool, RecvBuf, SendBuf};
use clock::Clock;
use protocol::{ConnectionId, Context, Directory, Outbox};
use protocol_memcache::{Memcache, MemcacheService, ServiceOptions};
use reactor::{DATAGRAM_BYTES, HEADER_BYTES, Limits, exchange};
use storage_hashmap::HashMapStore;

/// The largest value.
const VALUE_MAX: usize = 4096;

/// Serves one datagram after the other and checks the answers.
pub(crate) fn serve(input: &[u8]) {
    let Some((&most, mut rest)) = input.split_first() else { return };
    let most = usize::from(most) + 1;
    let store =
        HashMapStore::builder().memory(1 << 20).item_max(VALUE_MAX as u64).shards(1).seed(7);
    let options = ServiceOptions::new().item_max(VALUE_MAX);
    let mut service = MemcacheService::new(store.build(), options);
    let codec = Memcache::new(VALUE_MAX);
    let limits = Limits { request_bytes: Memcache::request_max(VALUE_MAX), ..Limits::default() };
    let (directory, mut outbox) = (Directory::new(), Outbox::new());
    let clock = Clock::manual(1_700_000_000_000);
    let (mut recv, mut send) = (RecvBuf::new(), SendBuf::new());
    let mut pool = Pool::new(512, 8192, 4);
    while let Some((datagram, behind)) = next(rest) {
        rest = behind;
        let mut context =
            Context::new(clock.now(), ConnectionId::new(0, 0), &mut outbox, &directory);
        let buffers = (&mut recv, &mut send);
        let answer = exchange(
            datagram,
            codec.clone(),
            &mut service,
            buffers,
            &mut pool,
            &limits,
            most,
            &mut context,
        );
        if let Ok(mut cut) = answer {
            let is_request = datagram.len() > HEADER_BYTES && datagram[4..6] == [0, 1];
            assert!(is_request, "answered");
            let total = cut.total();
            assert!(total <= most, "{total} datagrams of {most}");
            let mut place = [0; DATAGRAM_BYTES];
            let mut number = 0_u16;
            while let Some(len) = cut.next(&mut send, &mut place) {
                let header = [&datagram[..2], &number.to_be_bytes(), &(total as u16).to_be_bytes()];
                assert_eq!(place[..6], header.concat(), "the header");
                assert_eq!(place[6..8], [0, 0], "the header's end");
                number += 1;
                let is_last = usize::from(number) == total;
                assert!(len == DATAGRAM_BYTES || is_last && len > HEADER_BYTES, "{len} bytes");
            }
            assert_eq!(usize::from(number), total, "all of them");
        }
        assert!(recv.is_empty() && send.is_empty(), "a datagram stands alone");
        outbox.drain().for_each(drop);
    }
    recv.release(&mut pool);
    send.release(&mut pool);
    assert_eq!(pool.lent_bytes(), 0, "all memory is given back");
}

fn next(input: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = input.split_first_chunk::<2>()?;
    Some(rest.split_at(usize::from(u16::from_be_bytes(*len)).min(rest.len())))
}
