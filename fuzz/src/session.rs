// SPDX-License-Identifier: Apache-2.0
//! A memcache session over `storage-hashmap`, under several chunkings.
//!
//! An input is a header of [`HEADER`] bytes that sets the limits, then the bytes of the session.
//! [`JUMP`] and a number lets time pass between what is before and what is behind it.

use crate::chunks::{Noise, plans};
use crate::memcache::assert_replies;
use crate::peer::{Bounds, Peer};
use crate::stretch::stretch;
use buffer::SendBuf;
use clock::{Clock, Now};
use protocol::{Buffers, Context, Control, Execute, Malformed, Outbox, Stage};
use protocol_memcache::{Memcache, MemcacheService, Op, Request, ServiceOptions};
use reactor::Limits;
use std::time::Duration;
use storage::Store;
use storage_hashmap::HashMapStore;

/// Bytes that come before the session.
pub(crate) const HEADER: usize = 6;

/// `JUMP n`: time moves on by 2^(n % 32) milliseconds.
const JUMP: u8 = 0xfe;

/// The wall clock at the start of a session.
const START_UNIX_MS: u64 = 1_700_000_000_000;

/// Bytes of an item with a short key besides its value, as memcached counts them.
const AROUND_VALUE: usize = 64;

/// What the header says.
#[derive(Clone, Copy, Debug)]
struct Setup {
    bounds: Bounds,
    item_max: usize,
    memory_bytes: u64,
    /// Every value is taken in pieces. The memory of those that are not whole depends on how they arrive, so then there
    /// is enough for all.
    in_pieces: bool,
}

impl Setup {
    fn read(header: [u8; HEADER]) -> Self {
        let [water, turn, request, block, value, memory] = header.map(usize::from);
        let item_max = AROUND_VALUE + (1 << (value % 12));
        Setup {
            bounds: Bounds {
                limits: Limits {
                    request_bytes: 64 << (request % 12),
                    high_water: 1 << (water % 13),
                    requests_per_turn: 1 + turn % 64,
                },
                recv_block: 16 << (block % 8),
                // The line of a value, with room to spare, or an error line.
                reply_max: item_max + 512,
            },
            item_max,
            memory_bytes: if memory % 2 == 0 || memory & 2 != 0 { 8 << 20 } else { 64 << 10 },
            in_pieces: memory & 2 != 0,
        }
    }

    fn service(&self) -> Sober {
        let store = HashMapStore::builder()
            .memory(self.memory_bytes)
            .item_max(self.item_max as u64)
            .shards(1)
            .seed(7)
            .build();
        let options = ServiceOptions::new().item_max(self.item_max);
        Sober(MemcacheService::new(store, options))
    }
}

/// Plays the session under each chunking and compares what the client receives.
pub(crate) fn play(input: &[u8]) {
    let Some((header, session)) = input.split_first_chunk::<HEADER>() else { return };
    let setup = Setup::read(*header);
    let segments = segments(session);
    let expected = play_once(&setup, &segments, None);
    assert_replies(&expected.0);
    for plan in 1..3 {
        let noise = Noise::new(&[input, &[plan]].concat());
        let played = play_once(&setup, &segments, Some((plan.into(), noise)));
        assert!(
            played.0 == expected.0,
            "output under chunking {plan}:\n{}\nexpected:\n{}",
            played.0.escape_ascii(),
            expected.0.escape_ascii()
        );
        assert_eq!(played.1, expected.1, "closed under chunking {plan}");
    }
}

/// The session in pieces, each with the time that passes before it.
fn segments(session: &[u8]) -> Vec<(Duration, Vec<u8>)> {
    let mut segments = Vec::new();
    let mut before = Duration::ZERO;
    let mut rest = session;
    while let Some(end) = rest.iter().position(|&byte| byte == JUMP) {
        segments.push((before, stretch(&rest[..end])));
        let by = rest.get(end + 1).copied().unwrap_or(0);
        before = Duration::from_millis(1 << (by % 32));
        rest = rest.get(end + 2..).unwrap_or_default();
    }
    segments.push((before, stretch(rest)));
    segments
}

/// Plays the session, all at once or cut by the numbered plan with a client that reads in pieces.
/// Returns what was sent and whether the connection was closed.
fn play_once(
    setup: &Setup,
    segments: &[(Duration, Vec<u8>)],
    mut cut: Option<(usize, Noise)>,
) -> (Vec<u8>, bool) {
    let clock = Clock::manual(START_UNIX_MS);
    let reader = cut.as_ref().map(|(_, noise)| noise.clone());
    let pieces_above = if setup.in_pieces { 0 } else { usize::MAX };
    let codec = Memcache::new(setup.item_max).pieces_above(pieces_above);
    let mut peer = Peer::new(codec, setup.service(), clock.clone(), setup.bounds, reader);
    for (before, bytes) in segments {
        clock.advance(*before);
        peer.service.maintain(clock.now(), 16, &mut Outbox::new());
        let ends = match &mut cut {
            None => vec![bytes.len()],
            Some((plan, noise)) => plans(bytes.len(), noise).swap_remove(*plan),
        };
        let mut start = 0;
        for end in ends {
            peer.arrive(&bytes[start..end]);
            start = end;
        }
        peer.service.0.store().check_integrity();
    }
    (peer.sent, peer.closed)
}

/// The memcache service, but `stats`, which tells the time and the process, is carried out and
/// checked and not shown.
#[derive(Debug)]
struct Sober(MemcacheService<HashMapStore>);

impl Execute<Memcache> for Sober {
    fn prefetch(&self, connection: &Memcache, request: &Request<'_>, stage: Stage) {
        self.0.prefetch(connection, request, stage);
    }

    fn execute(
        &mut self,
        connection: &mut Memcache,
        request: Request<'_>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        if let Op::Dump(_) | Op::Watch(_) = request.op {
            // Its pieces come with the turns of a worker, which there is none of.
            out.put(b"END\r\n");
            return Control::Continue;
        }
        if !matches!(request.op, Op::Stats { .. }) {
            return self.0.execute(connection, request, out, context);
        }
        let mut shown = SendBuf::new();
        let control = self.0.execute(connection, request, &mut shown, context);
        assert_replies(shown.front());
        out.put(b"END\r\n");
        control
    }

    fn rejected(&mut self, connection: &Memcache, malformed: &Malformed) {
        self.0.rejected(connection, malformed);
    }

    fn maintain(&mut self, now: Now, budget: usize, outbox: &mut Outbox) -> bool {
        self.0.maintain(now, budget, outbox)
    }

    fn rest(&mut self) {
        Execute::<Memcache>::rest(&mut self.0);
    }

    fn buffers(&mut self, buffers: Buffers) {
        Execute::<Memcache>::buffers(&mut self.0, buffers);
    }
}
