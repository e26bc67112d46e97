// SPDX-License-Identifier: Apache-2.0
//! Large requests, whose block a service may keep.

use super::*;
use bytes::Bytes;

/// Keeps what is long without a copy, if it can.
#[derive(Default)]
struct Keeper {
    kept: Vec<Bytes>,
    executed: Vec<usize>,
}

impl Execute<Lines> for Keeper {
    fn execute(
        &mut self,
        _: &mut Lines,
        request: &[u8],
        _: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        self.executed.push(request.len());
        let kept = context.lent.as_ref().and_then(|lent| lent.share(request));
        if let Some(kept) = kept {
            assert_eq!(kept.as_ptr(), request.as_ptr());
            self.kept.push(kept);
        }
        Control::Continue
    }
}

#[test]
fn the_block_of_a_large_request_can_be_kept() {
    let (mut pipeline, mut keeper) = (Pipeline::new(Lines), Keeper::default());
    let (mut recv, mut send) = (RecvBuf::new(), SendBuf::new());
    let mut pool = Pool::new(16 << 10, 64, 1);
    let (mut outbox, directory) = (Outbox::new(), Directory::new());
    let limits = Limits { request_bytes: 1 << 20, ..Limits::default() };
    let line = [&vec![b'y'; 100_000][..], b"\n"].concat();
    let mut arrive = |bytes: &[u8], keeper: &mut Keeper| {
        let mut left = bytes;
        while !left.is_empty() {
            let mut context = Context::new(
                Clock::manual(0).now(),
                ConnectionId::new(0, 1),
                &mut outbox,
                &directory,
            );
            // As if its length had been claimed.
            recv.reserve_claimed(left.len(), &mut pool);
            let taken = recv.put(left);
            left = &left[taken..];
            turn(&mut pipeline, keeper, &mut recv, &mut send, &limits, &mut context);
            assert!(context.lent.is_none(), "it is the request's alone");
        }
        recv.release(&mut pool);
        (recv.filled().len(), pool.lent_bytes())
    };
    assert_eq!(arrive(&line, &mut keeper), (0, 0), "it belongs to the service now");
    assert_eq!(keeper.kept, [&line[..100_000]]);
    let short = arrive(b"short\n", &mut keeper);
    assert_eq!((short, keeper.kept.len()), ((0, 0), 1), "a small one is in a block of the pool");
    keeper.executed.clear();
    let several = [&line[..], &line, b"and more\nhalf"].concat();
    assert_eq!(arrive(&several, &mut keeper).0, 4);
    assert_eq!(keeper.executed, [100_000, 100_000, 8]);
}
