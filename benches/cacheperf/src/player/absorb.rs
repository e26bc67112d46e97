// SPDX-License-Identifier: Apache-2.0
//! Replies that arrive are matched with their requests and counted.

use super::Player;
use super::lane::{Flight, Lane};
use crate::dialect::{Dialect, Op, Piece, Unreadable};
use crate::tally::Tally;
use crate::workload::Source;
use protocol_resp::client::{Items, Reply};

impl<D: Dialect, S: Source> Player<D, S> {
    /// Reads the replies in `input`, which arrived on a lane. Returns how many of its bytes were used.
    ///
    /// # Errors
    ///
    /// The bytes are not a reply to the lane's requests. The lane cannot be used any more.
    #[inline]
    pub(crate) fn absorb(
        &mut self,
        lane: usize,
        now: u64,
        input: &[u8],
    ) -> Result<usize, Unreadable> {
        let lane = &mut self.lanes[lane];
        let (tally, texts) = (&mut self.tally, &mut self.texts);
        let mut used = 0;
        while let Some(&Flight { at, op, group, .. }) = lane.flights.front() {
            // Throughput counts the replies in the measured time; a fixed number of requests is exact.
            let counts = self.window.contains(if self.quota.is_some() { at } else { now });
            let Some((piece, len)) = self.dialect.read(op, &input[used..])? else {
                return Ok(used);
            };
            used += len;
            let over = match piece {
                Piece::Value { key, value, last } => {
                    lane.found(key, value, texts, tally, counts);
                    last
                }
                Piece::End => true,
                Piece::Values(items) => {
                    values(lane, items, tally, counts)?;
                    true
                }
                Piece::Done | Piece::NotFound => {
                    done(op, tally, counts);
                    true
                }
                Piece::Refused { why, last } => {
                    tally.error(|| why.escape_ascii().to_string());
                    tally.set_errors += u64::from(op == Op::Set && counts);
                    // Its keys were neither found nor missed.
                    while op != Op::GetMany && lane.take_key().is_some() {}
                    last
                }
            };
            if over {
                settle(lane, op, tally, counts);
                if op != Op::Greeting {
                    tally.answered += u64::from(counts);
                    if self.window.contains(at) {
                        tally.latencies.add(now.saturating_sub(at));
                    }
                    if let Some(fan) = &mut self.fan {
                        fan.settle(group, now, self.window, tally);
                    }
                }
            }
        }
        if used < input.len() { Err(Unreadable) } else { Ok(used) }
    }
}

/// All values of a multi-get in the order of its keys.
fn values<S: Source>(
    lane: &mut Lane<S>,
    items: Items<'_>,
    tally: &mut Tally,
    counts: bool,
) -> Result<(), Unreadable> {
    for item in items {
        let key = lane.take_key().ok_or(Unreadable)?;
        match item {
            Reply::Bulk(bytes) => lane.check(key, bytes, tally, counts),
            Reply::Null => lane.not_found(key, tally, counts),
            _ => return Err(Unreadable),
        }
    }
    Ok(())
}

#[inline]
fn done(op: Op, tally: &mut Tally, counts: bool) {
    match op {
        Op::Set => tally.sets += u64::from(counts),
        Op::Delete => tally.deletes += u64::from(counts),
        _ => {}
    }
}

/// The oldest request is answered: keys that are left were not found.
#[inline]
fn settle<S: Source>(lane: &mut Lane<S>, op: Op, tally: &mut Tally, counts: bool) {
    while let Some(key) = lane.take_key() {
        if matches!(op, Op::Get | Op::GetMany) {
            lane.not_found(key, tally, counts);
        }
    }
    lane.flights.pop_front();
    if op != Op::Greeting {
        lane.source.answered();
    }
}
