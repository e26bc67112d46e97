// SPDX-License-Identifier: Apache-2.0
//! [`turn`]: the only loop over requests in the workspace. Bytes in, bytes out, no socket in sight.
//!
//! Its nine rules, each cited by name where the code keeps it and each the name of a test:
//!
//! 1. RULE-WAIT: it always names what it waits for. [`Turn::NeedInput`] means that the codec asked
//!    for more after parsing the leftover input; a complete request is never left unexecuted on an
//!    unblocked connection.
//! 2. RULE-LIMIT: a request that cannot fit the receive limit is answered with the protocol's "too large" and
//!    the connection closed, or the protocol itself skips it. The loop never waits for it.
//! 3. RULE-PROGRESS: every parse consumes at least a byte, and the output is byte-identical under any
//!    chunking of the input. A part of a body is executed as it arrives: nothing is collected for it.
//! 4. RULE-ORDER: replies leave in the order of their requests, and everything written is flushed
//!    before a close. (`turn` only appends; the driver writes once per readiness event.)
//! 5. RULE-FAIR: one call serves a bounded number of requests, and of bytes of a body that is taken in parts. After its time is up it begins no further
//!    batch, except that the first is always served. Then it yields to other connections.
//! 6. RULE-BOUND: when the unsent bytes have reached a mark, nothing more is executed in this call. At most
//!    one reply goes beyond the mark, possibly followed by an error line for malformed input. (After others
//!    had their turn, the driver raises the mark, up to the limits of [`Output`](crate::Output). Values by reference have
//!    a mark of their own.)
//! 7. RULE-BATCH: a pipeline is parsed ahead by up to [`BATCH`] requests, and each request is prefetched
//!    while requests some places [before it](DISTANCES) are executed, so that their cache misses overlap. A
//!    stage begins once the stage before it has left it anything to do.
//! 8. RULE-IDLE: an idle connection keeps no buffer. (The driver returns empty blocks to the pool.)
//! 9. RULE-BLOCK: after a request that blocks, nothing is executed until the connection is resumed with the
//!    ticket of this very block. Then it continues as if it had not been interrupted. A deferred request is
//!    executed again, a request that was executed is not.

mod edges;
mod pipeline;
mod share;

pub(crate) use pipeline::Blocked;
pub use pipeline::Pipeline;
pub use share::Limits;
pub(crate) use share::{Share, Until};

use crate::metrics::REQUESTS;
use arrayvec::ArrayVec;
use buffer::{Lent, RecvBuf, SendBuf};
use protocol::{Context, Control, Execute, Malformed, Parsed, Protocol, Stage};

/// The most requests that are parsed ahead of execution.
pub const BATCH: usize = 32;

/// For each stage of a prefetch, how many requests ahead of execution it is made.
///
/// The distances are long enough that memory has answered before the next stage needs the data. They are
/// short enough that the cache line has neither been pushed out by the requests in between nor taken away by
/// another worker: a line that several workers write, such as that of a lock, is prefetched in the first
/// stage and used in all.
pub const DISTANCES: [(Stage, usize); 3] =
    [(Stage::Index, 12), (Stage::Item, 8), (Stage::Value, 4)];

/// Requests that are prefetched together within a batch.
///
/// A prefetch waits until its address is translated, and in a large store that is a walk of the page
/// tables, longer than the rest of the request. The walks of prefetches that follow each other closely
/// overlap; those with the execution of a request between them do not.
const GROUP: usize = 4;

/// Number of errands in the outbox at which a connection's share of requests ends.
const ERRANDS: usize = 1024;

/// Why [`turn`] returned, and so what its caller waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// At least this many more bytes must arrive.
    NeedInput {
        /// A lower bound, at least 1.
        at_least: usize,
    },
    /// The unsent replies have reached the mark of this call: they must be sent first.
    Backpressure,
    /// The connection has had its share; call again after the others, and after the outbox has been emptied.
    Yield,
    /// A request waits for an event from elsewhere; [`Pipeline::resume`] continues the connection.
    Blocked,
    /// A request has asked for the end: flush what was written, then close.
    Close,
    /// As `Close`, because nothing further can be made of the input, which the last reply says.
    Refuse,
    /// As `Refuse`, because a request is larger than one may be: RULE-LIMIT.
    TooLarge,
}

/// A request that has been parsed.
struct Ahead<P: Protocol, R> {
    /// `None` once executed. Requests are taken out of the batch one by one, because an iterator that owns
    /// the batch begins by copying its whole capacity, which costs a single request more than parsing.
    request: Option<R>,
    /// Where the request ends in the input.
    end: usize,
    /// The parser's cursor after the request.
    cursor: P::Cursor,
}

/// Why parsing ahead stopped.
enum Stop<P: Protocol> {
    /// The batch is full, or must be executed before more can be parsed.
    Full,
    /// The batch ends with a part of a body.
    Part,
    /// With the missing bytes and the cursor, which records how far the unfinished request was examined.
    NeedMore(usize, P::Cursor),
    /// With the cursor after the rejected bytes.
    Malformed(Malformed, P::Cursor),
}

/// How executing a batch ended.
enum Ran {
    All,
    /// A limit was reached in the middle; the rest is parsed again later.
    Part,
    Close,
    /// A request blocks; those behind it, and the request itself if it was deferred, are parsed again later.
    Block,
    /// As `Block`, and the request's reply has begun.
    Stream,
}

/// The request with which [`turn`] would begin, if it has arrived whole in `recv`. Changes nothing.
///
/// For a driver that is about to serve several connections: it prefetches their first requests
/// together, stage by stage, so that the cache misses of single requests on several connections
/// overlap as those of a pipeline do.
#[inline]
pub fn first_request<'a, P: Protocol>(
    pipeline: &Pipeline<P>,
    recv: &'a RecvBuf,
    limits: &Limits,
) -> Option<P::Request<'a>> {
    if pipeline.skip > 0 || pipeline.is_blocked() || recv.is_empty() {
        return None;
    }
    let input = recv.filled();
    let seen = input.len().min(limits.request_bytes);
    match pipeline.protocol.parse(&mut pipeline.cursor.clone(), &input[..seen]) {
        Ok(Parsed::Request { request, .. }) => Some(request),
        // A part of a body needs nothing that could be prefetched.
        Ok(Parsed::Part { .. } | Parsed::NeedMore { .. }) | Err(_) => None,
    }
}

/// Serves the requests that wait in `recv` and appends their replies to `send`, until it must wait for what
/// the result names.
pub fn turn<P: Protocol, E: Execute<P>>(
    pipeline: &mut Pipeline<P>,
    service: &mut E,
    recv: &mut RecvBuf,
    send: &mut SendBuf,
    limits: &Limits,
    context: &mut Context<'_>,
) -> Turn {
    let (requests, unsent) = (limits.requests_per_turn, limits.high_water);
    let mut share = Share { requests, body: usize::MAX, until: None, unsent, gathered: unsent };
    turn_within(&mut share, pipeline, service, recv, send, limits, context)
}

/// [`turn`] with a `share`, from which it subtracts the requests it served: for several calls in one turn.
///
/// Compiled into the loop over connections: a call costs a request that comes alone two in a hundred of its
/// instructions.
#[inline(always)]
pub(crate) fn turn_within<P: Protocol, E: Execute<P>>(
    share: &mut Share,
    pipeline: &mut Pipeline<P>,
    service: &mut E,
    recv: &mut RecvBuf,
    send: &mut SendBuf,
    limits: &Limits,
    context: &mut Context<'_>,
) -> Turn {
    let (begin, ticket) = (*share, pipeline.ticket());
    let turn = serve(share, pipeline, service, recv, send, limits, context);
    if cfg!(debug_assertions) {
        debug_assert_eq!(pipeline.ticket(), ticket, "RULE-BLOCK: no turn resumes a connection");
        edges::check_share(begin, *share);
        edges::check_wait(turn, pipeline, recv, limits);
    }
    turn
}

#[inline(always)]
fn serve<P: Protocol, E: Execute<P>>(
    share: &mut Share,
    pipeline: &mut Pipeline<P>,
    service: &mut E,
    recv: &mut RecvBuf,
    send: &mut SendBuf,
    limits: &Limits,
    context: &mut Context<'_>,
) -> Turn {
    if pipeline.is_blocked() {
        return Turn::Blocked; // RULE-BLOCK
    }
    context.ticket = pipeline.ticket();
    loop {
        if share.is_full(send) {
            return Turn::Backpressure; // RULE-BOUND
        }
        if share.requests == 0 || context.outbox.len() >= ERRANDS {
            return Turn::Yield; // RULE-FAIR
        }
        pipeline.drop_skipped(recv);
        if recv.is_empty() {
            return Turn::NeedInput { at_least: 1 };
        }
        let lent = recv.is_lendable().then(|| lend(recv, context));
        let (stop, (ran, served, end), requests) = {
            let mut batch = ArrayVec::new();
            let (input, left) =
                (lent.as_ref().map_or(recv.filled(), Lent::as_bytes), share.requests);
            let stop = parse_ahead(pipeline, input, left, limits.request_bytes, &mut batch);
            edges::check_parsed(&batch);
            let mut stages = prefetch(service, &pipeline.protocol, &batch);
            let ran = run(pipeline, service, &mut batch, &mut stages, send, share, context);
            edges::check_ran(&batch, &ran);
            // A part of a body is no request of its own.
            let ends_with_part = matches!(stop, Stop::Part) && ran.1 == batch.len();
            let requests = ran.1 - usize::from(ends_with_part);
            (stop, ran, requests)
        };
        let consumed = lent.map_or(0, |lent| take_back(lent, end, recv, context));
        pipeline.advance(end - consumed, recv);
        share.requests -= served;
        REQUESTS.add(requests as u64);
        match (ran, stop) {
            (Ran::Close, _) => return Turn::Close,
            (Ran::Block, _) => {
                pipeline.block(Blocked::Waiting);
                return Turn::Blocked;
            }
            (Ran::Stream, _) => {
                pipeline.block(Blocked::Streaming);
                return Turn::Blocked;
            }
            (Ran::Part, _) => {}
            (Ran::All, Stop::Part) => {
                share.body = share.body.saturating_sub(end);
                if share.body == 0 {
                    return Turn::Yield; // RULE-FAIR
                }
            }
            (Ran::All, Stop::Full) => {
                if !recv.is_empty() && share.is_late() {
                    return Turn::Yield; // RULE-FAIR
                }
            }
            (Ran::All, Stop::NeedMore(at_least, cursor)) => {
                pipeline.cursor = cursor;
                return need_input(pipeline, at_least, recv, send, limits);
            }
            (Ran::All, Stop::Malformed(malformed, cursor)) => {
                pipeline.cursor = cursor;
                send.put(malformed.reply.as_bytes());
                service.rejected(&pipeline.protocol, &malformed);
                if let Some(foreign) = malformed.foreign {
                    crate::foreign::report(foreign, context);
                }
                let Some(skip) = malformed.skip else { return Turn::Refuse };
                assert!(skip > 0, "RULE-PROGRESS: a rejection that skips nothing");
                pipeline.advance(skip, recv);
                share.requests = share.requests.saturating_sub(1);
            }
        }
    }
}

/// Lends the block of a large request, which the service may keep.
#[cold]
fn lend(recv: &mut RecvBuf, context: &mut Context<'_>) -> Lent {
    let lent = recv.lend();
    context.lent = Some(lent.clone());
    lent
}

/// Takes back what is left of a lent block behind `end`; returns how many of its bytes are before that.
#[cold]
fn take_back(lent: Lent, end: usize, recv: &mut RecvBuf, context: &mut Context<'_>) -> usize {
    context.lent = None;
    let arrived = end.min(lent.as_bytes().len());
    recv.take_back(lent, arrived);
    arrived
}

/// RULE-BATCH: parses up to [`BATCH`] requests of up to `request_bytes`, and no more than `left`.
fn parse_ahead<'a, P: Protocol>(
    pipeline: &Pipeline<P>,
    input: &'a [u8],
    left: usize,
    request_bytes: usize,
    batch: &mut ArrayVec<Ahead<P, P::Request<'a>>, BATCH>,
) -> Stop<P> {
    let mut cursor = pipeline.cursor;
    let mut at = 0;
    while batch.len() < BATCH.min(left) {
        if at >= input.len() {
            // Only an empty batch needs a byte more; a batch that ends with the input is executed first.
            return if batch.is_empty() { Stop::NeedMore(1, cursor) } else { Stop::Full };
        }
        // RULE-LIMIT: even of a request that has arrived whole the codec sees no more than the limit.
        let seen = input.len().min(at.saturating_add(request_bytes));
        match pipeline.protocol.parse(&mut cursor, &input[at..seen]) {
            Ok(Parsed::Request { request, consumed }) => {
                assert!(consumed > 0, "RULE-PROGRESS: a request of no bytes");
                at = at.saturating_add(consumed);
                let last = P::ends_batch(&request);
                batch.push(Ahead { request: Some(request), end: at, cursor });
                if last {
                    break;
                }
            }
            Ok(Parsed::Part { request, consumed }) => {
                assert!(consumed > 0, "RULE-PROGRESS: a part of no bytes");
                let end = at.saturating_add(consumed);
                batch.push(Ahead { request: Some(request), end, cursor });
                return Stop::Part;
            }
            Ok(Parsed::NeedMore { at_least }) => return Stop::NeedMore(at_least.max(1), cursor),
            Err(malformed) => return Stop::Malformed(malformed, cursor),
        }
    }
    Stop::Full
}

/// The stages that the requests of a batch need: the first, and each that the one before it had anything left for.
struct Stages(usize);

impl Stages {
    #[inline]
    fn prefetch<P: Protocol, E: Execute<P>>(
        &mut self,
        nth: usize,
        service: &E,
        connection: &P,
        some: &[Ahead<P, P::Request<'_>>],
    ) {
        let requests = some.iter().filter_map(|ahead| ahead.request.as_ref());
        if service.prefetch_all(connection, requests, DISTANCES[nth].0) {
            self.0 = self.0.max(nth + 2);
        }
    }
}

/// RULE-BATCH: at the begin of a batch, prefetches for its first requests. A single request gains nothing
/// from a prefetch right before its use.
#[inline]
fn prefetch<P: Protocol, E: Execute<P>>(
    service: &E,
    connection: &P,
    batch: &[Ahead<P, P::Request<'_>>],
) -> Stages {
    let mut stages = Stages(1);
    if batch.len() > 1 {
        for (nth, (_, distance)) in DISTANCES.into_iter().enumerate() {
            if nth < stages.0 {
                stages.prefetch(nth, service, connection, &batch[..distance.min(batch.len())]);
            }
        }
    }
    stages
}

/// RULE-BATCH: before request number `at` is executed, prefetches the group at each stage's distance.
#[inline]
fn prefetch_group<P: Protocol, E: Execute<P>>(
    stages: &mut Stages,
    service: &E,
    connection: &P,
    batch: &[Ahead<P, P::Request<'_>>],
    at: usize,
) {
    for (nth, (_, distance)) in DISTANCES.into_iter().enumerate() {
        if nth < stages.0
            && let Some(ahead) = batch.get(at + distance..)
        {
            stages.prefetch(nth, service, connection, &ahead[..GROUP.min(ahead.len())]);
        }
    }
}

/// Executes a batch until its end or a limit; returns how many requests it served and how many bytes
/// of input they took.
#[inline(always)]
fn run<P: Protocol, E: Execute<P>>(
    pipeline: &mut Pipeline<P>,
    service: &mut E,
    batch: &mut [Ahead<P, P::Request<'_>>],
    stages: &mut Stages,
    send: &mut SendBuf,
    share: &Share,
    context: &mut Context<'_>,
) -> (Ran, usize, usize) {
    let (mut served, mut done) = (0_usize, 0);
    loop {
        if served.is_multiple_of(GROUP) {
            prefetch_group(stages, service, &pipeline.protocol, batch, served);
        }
        let Some(ahead) = batch.get_mut(served) else { return (Ran::All, served, done) };
        if share.is_full(send) {
            return (Ran::Part, served, done); // RULE-BOUND
        }
        let request = ahead.request.take().expect("each is executed once");
        let control = service.execute(&mut pipeline.protocol, request, send, context);
        let end = match control {
            Control::Defer => return (Ran::Block, served, done),
            Control::Continue => None,
            Control::Block => Some(Ran::Block),
            Control::Stream => Some(Ran::Stream),
            Control::Close => Some(Ran::Close),
        };
        (pipeline.cursor, done) = (ahead.cursor, ahead.end);
        served += 1;
        if let Some(end) = end {
            return (end, served, done);
        }
    }
}

/// RULE-WAIT and RULE-LIMIT: waits for the rest of a request, unless it can never fit.
fn need_input<P: Protocol>(
    pipeline: &Pipeline<P>,
    at_least: usize,
    recv: &RecvBuf,
    send: &mut SendBuf,
    limits: &Limits,
) -> Turn {
    if recv.filled().len().saturating_add(at_least) > limits.request_bytes {
        send.put(pipeline.protocol.too_large().as_bytes());
        return Turn::TooLarge;
    }
    Turn::NeedInput { at_least }
}

#[cfg(test)]
mod tests;
