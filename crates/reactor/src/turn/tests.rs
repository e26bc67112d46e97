// SPDX-License-Identifier: Apache-2.0
//! The nine rules of `turn`, each a test (rule 8 is the driver's, see `worker.rs`'s tests).

mod block;
mod lent;

use super::*;
use buffer::Pool;
use clock::Clock;
use clock::Timer;
use protocol::{ConnectionId, Directory, ErrorReply, Outbox, Ticket};
use std::time::Duration;

/// Lines of text. `x…` is malformed, `big:N` claims a body of N bytes that is to be dropped, `?` cannot
/// be resynchronised, all others are executed.
#[derive(Default)]
struct Lines;

impl Protocol for Lines {
    const NAME: &'static str = "lines";
    const TOO_MANY_CONNECTIONS: &'static [u8] = b"busy\n";
    type Request<'a> = &'a [u8];
    type Cursor = ();

    fn parse<'a>(&self, _: &mut (), input: &'a [u8]) -> Result<Parsed<&'a [u8]>, Malformed> {
        let Some(end) = input.iter().position(|&byte| byte == b'\n') else {
            return Ok(Parsed::NeedMore { at_least: 1 });
        };
        let line = &input[..end];
        if line == b"?" {
            return Err(Malformed::close(ErrorReply::fixed(b"lost\n")));
        }
        if line.starts_with(b"x") {
            return Err(Malformed::skip(ErrorReply::fixed(b"error\n"), end + 1));
        }
        let body = line
            .strip_prefix(b"big:")
            .map_or(0, |n| std::str::from_utf8(n).unwrap().parse().unwrap());
        Ok(Parsed::Request { request: line, consumed: end + 1 + body })
    }

    fn ends_batch(request: &&[u8]) -> bool {
        *request == b"barrier"
    }

    fn too_large(&self) -> ErrorReply {
        ErrorReply::fixed(b"too large\n")
    }
}

/// Answers each line with itself; `quit` closes, `block` blocks without a reply, `defer` is put off for
/// as long as there is patience. Keeps a diary of what it was asked.
#[derive(Default)]
struct Scribe {
    diary: std::cell::RefCell<Vec<String>>,
    reply: Option<usize>,
    /// That its replies are by reference.
    pins: bool,
    /// That only words with a `!` have anything to prefetch after their items.
    is_shallow: bool,
    /// Those of the requests that blocked.
    tickets: std::cell::RefCell<Vec<Ticket>>,
    patience: usize,
}

impl Execute<Lines> for Scribe {
    fn prefetch(&self, _: &Lines, request: &&[u8], stage: Stage) {
        self.diary.borrow_mut().push(format!("{stage:?} {}", request.escape_ascii()));
    }

    fn prefetch_all<'r, 'a: 'r>(
        &self,
        connection: &Lines,
        requests: impl Iterator<Item = &'r &'a [u8]>,
        stage: Stage,
    ) -> bool {
        let mut has_more = stage == Stage::Index || !self.is_shallow;
        for request in requests {
            self.prefetch(connection, request, stage);
            has_more |= request.ends_with(b"!");
        }
        has_more
    }

    fn execute(
        &mut self,
        _: &mut Lines,
        request: &[u8],
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        self.diary.borrow_mut().push(format!("run {}", request.escape_ascii()));
        if request == b"block" {
            self.tickets.borrow_mut().push(context.ticket);
            return Control::Block;
        }
        if request == b"defer" && self.patience > 0 {
            self.patience -= 1;
            self.tickets.borrow_mut().push(context.ticket);
            return Control::Defer;
        }
        match self.reply {
            None => out.put(&[request, b"\n"].concat()),
            Some(bytes) if self.pins => out.put_pinned(vec![b'r'; bytes].into()),
            Some(bytes) => out.put(&vec![b'r'; bytes]),
        }
        if request == b"quit" { Control::Close } else { Control::Continue }
    }
}

/// A connection without a socket.
struct Bench {
    pipeline: Pipeline<Lines>,
    scribe: Scribe,
    recv: RecvBuf,
    send: SendBuf,
    pool: Pool,
    limits: Limits,
    outbox: Outbox,
}

impl Bench {
    fn new(limits: Limits) -> Self {
        Bench {
            pipeline: Pipeline::new(Lines),
            scribe: Scribe::default(),
            recv: RecvBuf::new(),
            send: SendBuf::new(),
            pool: Pool::new(64, 64, 1),
            limits,
            outbox: Outbox::new(),
        }
    }

    fn arrive(&mut self, bytes: &[u8]) {
        self.recv.reserve(bytes.len(), &mut self.pool);
        self.recv.put(bytes);
    }

    fn turn(&mut self) -> Turn {
        let Limits { requests_per_turn: requests, high_water: unsent, .. } = self.limits;
        let mut share = Share { requests, body: usize::MAX, until: None, unsent, gathered: unsent };
        self.turn_within(&mut share)
    }

    fn turn_within(&mut self, share: &mut Share) -> Turn {
        let (now, directory) = (Clock::manual(0).now(), Directory::new());
        let id = ConnectionId::new(0, 1);
        let mut context = Context::new(now, id, &mut self.outbox, &directory);
        let (pipeline, scribe) = (&mut self.pipeline, &mut self.scribe);
        let (recv, send) = (&mut self.recv, &mut self.send);
        turn_within(share, pipeline, scribe, recv, send, &self.limits, &mut context)
    }

    fn replies(&mut self) -> String {
        let text = self.send.front().escape_ascii().to_string();
        self.send.consume(self.send.pending());
        text.replace("\\n", " ")
    }

    fn diary(&self) -> Vec<String> {
        self.scribe.diary.take()
    }
}

#[test]
fn rule_wait_it_says_how_much_it_waits_for() {
    let mut bench = Bench::new(Limits::default());
    assert_eq!(bench.turn(), Turn::NeedInput { at_least: 1 });
    bench.arrive(b"one\ntwo\nthr");
    assert_eq!(bench.turn(), Turn::NeedInput { at_least: 1 });
    assert_eq!(bench.replies(), "one two ");
    assert!(bench.pipeline.is_inside_request(&bench.recv));
    bench.arrive(b"ee\n");
    assert_eq!(bench.turn(), Turn::NeedInput { at_least: 1 });
    assert_eq!(bench.replies(), "three ");
    assert!(!bench.pipeline.is_inside_request(&bench.recv));
}

#[test]
fn rule_limit_a_request_that_cannot_fit_is_refused_at_once() {
    let mut bench = Bench::new(Limits { request_bytes: 8, ..Limits::default() });
    bench.arrive(b"12345678");
    assert_eq!(bench.turn(), Turn::TooLarge);
    assert_eq!(bench.replies(), "too large ");
    let mut bench = Bench::new(Limits { request_bytes: 8, ..Limits::default() });
    bench.arrive(b"1234567");
    assert_eq!(bench.turn(), Turn::NeedInput { at_least: 1 }, "a byte below the limit");
}

#[test]
fn rule_limit_a_request_that_arrives_whole_is_refused_too() {
    for size in [1, 3, 100] {
        let mut bench = Bench::new(Limits { request_bytes: 8, ..Limits::default() });
        let mut next = Turn::NeedInput { at_least: 1 };
        for chunk in b"1234567\n12345678\nnever\n".chunks(size) {
            if next != Turn::TooLarge {
                bench.arrive(chunk);
                next = bench.turn();
            }
        }
        assert_eq!(
            (next, bench.replies()),
            (Turn::TooLarge, "1234567 too large ".into()),
            "{size}"
        );
    }
}

#[test]
fn rule_limit_a_body_to_be_dropped_takes_no_memory() {
    let mut bench = Bench::new(Limits { request_bytes: 64, ..Limits::default() });
    bench.arrive(b"big:100000\n");
    assert_eq!(bench.turn(), Turn::NeedInput { at_least: 1 });
    assert_eq!(bench.replies(), "big:100000 ");
    assert!(bench.pipeline.is_inside_request(&bench.recv));
    for _ in 0..10_000 {
        bench.arrive(b"0123456789");
        assert_eq!(bench.turn(), Turn::NeedInput { at_least: 1 });
    }
    assert!(bench.recv.capacity() <= 64 && bench.send.is_empty());
    bench.arrive(b"next\n");
    bench.turn();
    assert_eq!(bench.replies(), "next ");
}

#[test]
fn rule_progress_output_does_not_depend_on_chunks() {
    let input = b"a\nxb\nbig:5\n12345cc\nbarrier\n\nd\nx\nquit\nnever\n";
    let expected = "a error big:5 cc barrier  d error quit ";
    for size in 1..=input.len() {
        let mut bench = Bench::new(Limits { requests_per_turn: 3, ..Limits::default() });
        let mut closed = false;
        for chunk in input.chunks(size) {
            bench.arrive(chunk);
            while !closed {
                match bench.turn() {
                    Turn::Yield => {}
                    Turn::Close => closed = true,
                    Turn::NeedInput { .. } => break,
                    Turn::Refuse | Turn::TooLarge => unreachable!("all of the input can be parsed"),
                    Turn::Backpressure => unreachable!("replies stay below the mark"),
                    Turn::Blocked => unreachable!("no request blocks"),
                }
            }
        }
        assert_eq!((closed, bench.replies()), (true, expected.into()), "chunks of {size}");
    }
}

#[test]
fn rule_order_an_error_waits_for_the_replies_before_it() {
    let mut bench = Bench::new(Limits::default());
    bench.arrive(b"a\nb\nx\nc\n?\nd\n");
    assert_eq!(bench.turn(), Turn::Refuse);
    assert_eq!(bench.replies(), "a b error c lost ");
}

#[test]
fn rule_fair_a_long_pipeline_yields() {
    let mut bench = Bench::new(Limits { requests_per_turn: 50, ..Limits::default() });
    bench.arrive(&b"a\n".repeat(120));
    let turns: Vec<Turn> = (0..3).map(|_| bench.turn()).collect();
    assert_eq!(turns, [Turn::Yield, Turn::Yield, Turn::NeedInput { at_least: 1 }]);
    assert_eq!(bench.replies().len(), 240);
    // Errors have their share too.
    bench.arrive(&b"x\n".repeat(120));
    assert_eq!(bench.turn(), Turn::Yield);
}

#[test]
fn rule_fair_a_batch_ends_when_the_time_is_up() {
    let mut bench = Bench::new(Limits::default());
    bench.arrive(&b"a\n".repeat(2 * BATCH + 1));
    let until = Some(Until::new(Timer::start(), Duration::ZERO));
    let mut share =
        Share { requests: 256, body: usize::MAX, until, unsent: usize::MAX, gathered: usize::MAX };
    let turns: Vec<Turn> = (0..3).map(|_| bench.turn_within(&mut share)).collect();
    assert_eq!(turns, [Turn::Yield, Turn::Yield, Turn::NeedInput { at_least: 1 }]);
    assert_eq!(share.requests, 256 - 2 * BATCH - 1);
}

#[test]
fn rule_bound_values_by_reference_have_a_mark_of_their_own() {
    for (pins, served) in [(false, 2), (true, 4)] {
        let mut bench = Bench::new(Limits::default());
        bench.scribe = Scribe { reply: Some(30), pins, ..Scribe::default() };
        bench.arrive(&b"line\n".repeat(6));
        let mut share =
            Share { requests: 6, body: usize::MAX, until: None, unsent: 40, gathered: 100 };
        assert_eq!(bench.turn_within(&mut share), Turn::Backpressure);
        assert_eq!((share.requests, bench.send.pending()), (6 - served, 30 * served));
    }
}

#[test]
fn rule_bound_at_most_one_reply_goes_beyond_the_mark() {
    let mut bench = Bench::new(Limits { high_water: 100, ..Limits::default() });
    bench.scribe.reply = Some(40);
    bench.arrive(&b"a\n".repeat(10));
    assert_eq!(bench.turn(), Turn::Backpressure);
    assert_eq!(bench.send.pending(), 120);
    assert_eq!(bench.turn(), Turn::Backpressure, "and it stays there");
    bench.replies();
    assert_eq!(bench.turn(), Turn::Backpressure);
    bench.replies();
    assert_eq!(bench.turn(), Turn::Backpressure);
    bench.replies();
    assert_eq!(bench.turn(), Turn::NeedInput { at_least: 1 });
    let runs = bench.diary().iter().filter(|line| line.starts_with("run")).count();
    assert_eq!(runs, 10, "requests parsed ahead are executed once, later");
}

#[test]
fn rule_batch_a_short_pipeline_is_prefetched_before_the_first_is_executed() {
    let mut bench = Bench::new(Limits::default());
    bench.arrive(b"a\nb\nbarrier\nc\n");
    bench.turn();
    let expected = [
        "Index a",
        "Index b",
        "Index barrier",
        "Item a",
        "Item b",
        "Item barrier",
        "Value a",
        "Value b",
        "Value barrier",
        "run a",
        "run b",
        "run barrier", // what changes parsing ends a batch
        "run c",       // and a batch of one is not prefetched
    ];
    assert_eq!(bench.diary(), expected);
}

#[test]
fn rule_batch_requests_are_prefetched_at_their_distances() {
    let mut bench = Bench::new(Limits::default());
    let names: Vec<String> = (0..20).map(|number| format!("r{number}")).collect();
    bench.arrive(format!("{}\n", names.join("\n")).as_bytes());
    bench.turn();
    let diary = bench.diary();
    let place = |line: String| diary.iter().position(|found| *found == line).expect("it is there");
    for (number, name) in names.iter().enumerate() {
        let stages = DISTANCES.map(|(stage, _)| place(format!("{stage:?} {name}")));
        assert!(stages.is_sorted(), "{name}: {stages:?}");
        for ((_, distance), stage) in DISTANCES.into_iter().zip(stages) {
            // Right before the request that is so far ahead of the first of its group.
            let run = number.saturating_sub(distance) / GROUP * GROUP;
            assert!(stage < place(format!("run r{run}")), "{name}");
            assert!(run == 0 || stage > place(format!("run r{}", run - 1)), "{name}");
        }
    }
    assert_eq!(diary.len(), names.len() * (DISTANCES.len() + 1), "and each once");
}

#[test]
fn rule_batch_a_stage_is_left_out_until_it_has_something_to_do() {
    let mut bench = Bench::new(Limits::default());
    bench.scribe.is_shallow = true;
    bench.arrive(b"a\nb\nc\n");
    bench.turn();
    let shallow = bench.diary();
    assert_eq!(shallow.len(), 3 * 3, "{shallow:?}");
    assert!(!shallow.iter().any(|line| line.starts_with("Value")), "{shallow:?}");

    let names: Vec<_> =
        (0..30).map(|n| format!("r{n}{}", if n == 17 { "!" } else { "" })).collect();
    bench.arrive(format!("{}\n", names.join("\n")).as_bytes());
    bench.turn();
    let diary = bench.diary();
    let place = |line: &str| diary.iter().position(|found| found == line).expect("it is there");
    let values = diary.iter().filter(|line| line.starts_with("Value"));
    // From the item of that word on, all groups have that stage.
    let expected: Vec<_> = names[12..].iter().map(|name| format!("Value {name}")).collect();
    assert!(values.eq(&expected), "{diary:?}");
    assert!(place("Item r17!") < place("Value r17!") && place("Value r17!") < place("run r17!"));
}

#[test]
fn rule_batch_has_a_limit() {
    let mut bench = Bench::new(Limits::default());
    let names: Vec<String> = (0..BATCH + 2).map(|number| format!("r{number}")).collect();
    bench.arrive(format!("{}\n", names.join("\n")).as_bytes());
    bench.turn();
    let diary = bench.diary();
    let place = |line: String| diary.iter().position(|found| *found == line).expect("it is there");
    assert!(place(format!("Index r{BATCH}")) > place(format!("run r{}", BATCH - 1)));
}

/// Lines of any length. The cursor is how far the end has been searched for.
#[derive(Default)]
struct LongLines {
    /// Bytes that were looked at in all.
    looked: std::cell::Cell<usize>,
}

impl Protocol for LongLines {
    const NAME: &'static str = "long lines";
    const TOO_MANY_CONNECTIONS: &'static [u8] = b"busy\n";
    type Request<'a> = &'a [u8];
    type Cursor = usize;

    fn parse<'a>(&self, seen: &mut usize, input: &'a [u8]) -> Result<Parsed<&'a [u8]>, Malformed> {
        let rest = &input[*seen..];
        let Some(end) = rest.iter().position(|&byte| byte == b'\n') else {
            self.looked.set(self.looked.get() + rest.len());
            *seen = input.len();
            return Ok(Parsed::NeedMore { at_least: 1 });
        };
        let end = std::mem::take(seen) + end;
        Ok(Parsed::Request { request: &input[..end], consumed: end + 1 })
    }

    fn too_large(&self) -> ErrorReply {
        ErrorReply::NONE
    }
}

impl Execute<LongLines> for Scribe {
    fn execute(
        &mut self,
        _: &mut LongLines,
        request: &[u8],
        out: &mut SendBuf,
        _: &mut Context<'_>,
    ) -> Control {
        out.put(&[request, b"\n"].concat());
        Control::Continue
    }
}

#[test]
fn what_was_seen_of_a_long_request_is_not_looked_at_again() {
    let (mut pipeline, mut scribe) = (Pipeline::new(LongLines::default()), Scribe::default());
    let (mut recv, mut send, mut pool) = (RecvBuf::new(), SendBuf::new(), Pool::new(64, 64, 1));
    let (mut outbox, directory) = (Outbox::new(), Directory::new());
    let id = ConnectionId::new(0, 1);
    let mut input = b"one\n".to_vec();
    input.extend([b'x'; 100]);
    input.extend(b"\ntwo\n");
    for byte in &input {
        recv.reserve(1, &mut pool);
        recv.put(&[*byte]);
        let mut context = Context::new(Clock::manual(0).now(), id, &mut outbox, &directory);
        let limits = Limits::default();
        turn(&mut pipeline, &mut scribe, &mut recv, &mut send, &limits, &mut context);
    }
    assert_eq!(send.front(), input);
    assert_eq!(pipeline.protocol.looked.get(), 3 + 100 + 3);
}

/// A byte that says how many follow, which are taken in parts. The cursor is how many are left.
struct Bodies;

impl Protocol for Bodies {
    const NAME: &'static str = "bodies";
    const TOO_MANY_CONNECTIONS: &'static [u8] = b"busy\n";
    type Request<'a> = &'a [u8];
    type Cursor = u8;

    fn parse<'a>(&self, left: &mut u8, input: &'a [u8]) -> Result<Parsed<&'a [u8]>, Malformed> {
        if *left == 0 {
            *left = input[0];
            return Ok(Parsed::Request { request: b"|", consumed: 1 });
        }
        let part = &input[..input.len().min((*left).into())];
        *left -= part.len() as u8;
        Ok(Parsed::Part { request: part, consumed: part.len() })
    }

    fn too_large(&self) -> ErrorReply {
        ErrorReply::NONE
    }
}

impl Execute<Bodies> for Scribe {
    fn execute(
        &mut self,
        _: &mut Bodies,
        request: &[u8],
        out: &mut SendBuf,
        _: &mut Context<'_>,
    ) -> Control {
        out.put(request);
        Control::Continue
    }
}

/// RULE-PROGRESS.
#[test]
fn a_part_of_a_body_is_executed_as_it_arrives() {
    let input = b"\x0519283\x00\x02ab\x01c";
    for piece in 1..=input.len() {
        let (mut pipeline, mut scribe) = (Pipeline::new(Bodies), Scribe::default());
        let (mut recv, mut send, mut pool) = (RecvBuf::new(), SendBuf::new(), Pool::new(64, 64, 1));
        let (mut outbox, directory) = (Outbox::new(), Directory::new());
        let id = ConnectionId::new(0, 1);
        // Less than a whole body: nothing of it is ever collected.
        let limits = Limits { request_bytes: 2, ..Limits::default() };
        for bytes in input.chunks(piece) {
            recv.reserve(bytes.len(), &mut pool);
            recv.put(bytes);
            let mut context = Context::new(Clock::manual(0).now(), id, &mut outbox, &directory);
            let turn =
                turn(&mut pipeline, &mut scribe, &mut recv, &mut send, &limits, &mut context);
            assert_eq!(turn, Turn::NeedInput { at_least: 1 });
            assert!(recv.is_empty());
        }
        assert_eq!(send.front(), b"|19283||ab|c", "in pieces of {piece}");
        assert!(!pipeline.is_inside_request(&recv));
    }
}

/// RULE-FAIR.
#[test]
fn a_long_body_leaves_others_their_turn() {
    let (mut pipeline, mut scribe) = (Pipeline::new(Bodies), Scribe::default());
    let (mut recv, mut send, mut pool) = (RecvBuf::new(), SendBuf::new(), Pool::new(64, 64, 1));
    let (mut outbox, directory) = (Outbox::new(), Directory::new());
    let input = b"\x03abc\x02de";
    recv.reserve(input.len(), &mut pool);
    recv.put(input);
    let mut turn_of = |body| {
        let mut share =
            Share { requests: 256, body, until: None, unsent: usize::MAX, gathered: usize::MAX };
        let id = ConnectionId::new(0, 1);
        let mut context = Context::new(Clock::manual(0).now(), id, &mut outbox, &directory);
        let (pipeline, limits) = (&mut pipeline, Limits::default());
        let (recv, send) = (&mut recv, &mut send);
        let turn =
            turn_within(&mut share, pipeline, &mut scribe, recv, send, &limits, &mut context);
        (turn, send.front().to_vec())
    };
    assert_eq!(turn_of(2), (Turn::Yield, b"|abc".to_vec()));
    assert_eq!(turn_of(100), (Turn::NeedInput { at_least: 1 }, b"|abc|de".to_vec()));
}
