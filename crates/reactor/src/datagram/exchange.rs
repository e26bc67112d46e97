// SPDX-License-Identifier: Apache-2.0
//! [`exchange`]: one datagram and its answer. Bytes in, bytes out, no socket in sight.

use super::frame::{self, DATAGRAM_BYTES, DATAGRAMS_MAX, HEADER_BYTES, PAYLOAD_BYTES};
use crate::turn::{Share, turn_within};
use crate::{Limits, Pipeline, Turn};
use buffer::{Pool, RecvBuf, SendBuf};
use protocol::{Context, Ending, Execute, Protocol};
use std::io::IoSlice;

/// Why a datagram is dropped before its requests are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// It ends before its header does, or with it.
    Short,
    /// It is one of several datagrams with one request, or of none.
    Part,
}

/// An answer that waits in a send buffer, to be cut into datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the answer is in the send buffer until it is cut into datagrams"]
pub struct Cut {
    id: [u8; 2],
    number: u16,
    total: u16,
    /// It was too long and has become an error.
    is_too_large: bool,
    /// The datagram ended inside a request.
    is_unfinished: bool,
}

impl Cut {
    /// How many datagrams the answer takes.
    pub fn total(&self) -> usize {
        usize::from(self.total)
    }

    /// Whether an error has taken the place of an answer that was too long.
    pub fn is_too_large(&self) -> bool {
        self.is_too_large
    }

    /// Whether the datagram ended inside a request, which was dropped.
    pub fn is_unfinished(&self) -> bool {
        self.is_unfinished
    }

    /// Moves the next datagram of the answer from `send` to the front of `datagram`; returns its length, or
    /// `None` when there is none left.
    pub fn next(
        &mut self,
        send: &mut SendBuf,
        datagram: &mut [u8; DATAGRAM_BYTES],
    ) -> Option<usize> {
        if self.number == self.total {
            return None;
        }
        datagram[..HEADER_BYTES].copy_from_slice(&frame::header(self.id, self.number, self.total));
        self.number += 1;
        let mut end = HEADER_BYTES;
        while end < DATAGRAM_BYTES && send.waiting() > 0 {
            let mut slices = [IoSlice::new(&[])];
            send.slices(&mut slices);
            let n = slices[0].len().min(DATAGRAM_BYTES - end);
            datagram[end..end + n].copy_from_slice(&slices[0][..n]);
            send.consume(n);
            end += n;
        }
        Some(end)
    }
}

/// Serves the requests in `datagram` with a `protocol` value of their own. Their replies wait in `send`, which
/// was empty.
///
/// An answer of more than `datagrams_max` datagrams is replaced by the protocol's error, and the requests that
/// follow are not served.
///
/// Copies the payload once, into a block of `pool`'s. Allocates nothing unless the datagram is larger than
/// the block.
///
/// # Errors
///
/// When the datagram is not a request; then nothing has happened.
#[expect(clippy::too_many_arguments, reason = "as `turn`, with the datagram and its limit")]
pub fn exchange<P: Protocol, E: Execute<P>>(
    datagram: &[u8],
    protocol: P,
    service: &mut E,
    (recv, send): (&mut RecvBuf, &mut SendBuf),
    pool: &mut Pool,
    limits: &Limits,
    datagrams_max: usize,
    context: &mut Context<'_>,
) -> Result<Cut, Refused> {
    let (id, payload) = frame::open(datagram)?;
    context.is_datagram = true;
    debug_assert!(recv.is_empty() && send.is_empty(), "a datagram stands alone");
    recv.reserve(payload.len(), pool);
    recv.put(payload);
    send.lend(pool);
    let most = datagrams_max.min(DATAGRAMS_MAX) * PAYLOAD_BYTES;
    // A datagram is short, so it has no share of requests; its answer ends with the first byte too many.
    let mut share = Share {
        requests: usize::MAX,
        body: usize::MAX,
        until: None,
        unsent: most + 1,
        gathered: most + 1,
    };
    let mut pipeline = Pipeline::new(protocol);
    let end = turn_within(&mut share, &mut pipeline, service, recv, send, limits, context);
    let is_unfinished = match end {
        Turn::NeedInput { .. } => pipeline.is_inside_request(recv),
        Turn::Blocked | Turn::Yield => true,
        Turn::Backpressure | Turn::Close | Turn::Refuse | Turn::TooLarge => false,
    };
    recv.consume(recv.filled().len());
    let is_too_large = send.waiting() > most;
    if is_too_large {
        send.consume(send.waiting());
        send.lend(pool);
        send.put(pipeline.protocol().answer_too_large(payload).as_bytes());
    }
    service.closed(pipeline.protocol_mut(), Ending::Normal, context);
    let total = send.waiting().div_ceil(PAYLOAD_BYTES);
    let total = u16::try_from(total).expect("no more than the header can number");
    Ok(Cut { id, number: 0, total, is_too_large, is_unfinished })
}

#[cfg(test)]
mod tests;
