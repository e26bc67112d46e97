// SPDX-License-Identifier: Apache-2.0
//! What holds at the edges of a batch and of a turn, asserted in debug builds.

use super::{Ahead, Limits, Pipeline, Ran, Share, Turn, first_request};
use buffer::RecvBuf;
use protocol::Protocol;

/// At the begin of a batch: every request is there, and each ends behind the one before it.
#[inline]
pub(super) fn check_parsed<P: Protocol, R>(batch: &[Ahead<P, R>]) {
    debug_assert!(batch.iter().all(|ahead| ahead.request.is_some()), "RULE-BATCH");
    debug_assert!(batch.is_sorted_by(|one, next| one.end < next.end), "RULE-PROGRESS");
}

/// At the end of a batch: the requests that were taken are those that were served, and one more if it
/// was deferred. The bytes to be dropped are those of the requests served: one that is deferred or was not
/// begun is parsed again.
#[inline]
pub(super) fn check_ran<P: Protocol, R>(
    batch: &[Ahead<P, R>],
    &(ref ran, served, end): &(Ran, usize, usize),
) {
    if !cfg!(debug_assertions) {
        return;
    }
    let taken = batch.iter().take_while(|ahead| ahead.request.is_none()).count();
    let is_left = batch[taken..].iter().all(|ahead| ahead.request.is_some());
    assert!(is_left, "RULE-ORDER: a request was taken before one in front of it");
    match ran {
        Ran::All => assert_eq!((taken, served), (batch.len(), batch.len()), "RULE-BATCH"),
        Ran::Part | Ran::Close | Ran::Stream => assert_eq!(taken, served, "RULE-BATCH"),
        Ran::Block => assert!(taken == served || taken == served + 1, "RULE-BLOCK"),
    }
    let dropped = batch[..served].last().map_or(0, |ahead| ahead.end);
    assert_eq!(end, dropped, "RULE-PROGRESS: the bytes of the requests served");
}

/// At the end of a turn: it took from its share and changed nothing else of it.
pub(super) fn check_share(begin: Share, end: Share) {
    assert!(end.requests <= begin.requests, "RULE-FAIR");
    assert_eq!((end.unsent, end.gathered), (begin.unsent, begin.gathered), "RULE-BOUND");
}

/// At the end of a turn: it waits for what it says. A request that has arrived whole waits for its
/// execution only where the turn says so.
pub(super) fn check_wait<P: Protocol>(
    turn: Turn,
    pipeline: &Pipeline<P>,
    recv: &RecvBuf,
    limits: &Limits,
) {
    assert_eq!(turn == Turn::Blocked, pipeline.is_blocked(), "RULE-BLOCK");
    if let Turn::NeedInput { at_least } = turn {
        assert!(at_least > 0, "RULE-WAIT");
        assert!(pipeline.skip == 0 || recv.is_empty(), "RULE-WAIT: bytes to be dropped are left");
        let is_whole = first_request(pipeline, recv, limits).is_some();
        assert!(!is_whole, "RULE-WAIT: a complete request is left");
    }
}
