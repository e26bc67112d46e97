// SPDX-License-Identifier: Apache-2.0
//! Two toy protocols in one: each connection is as if it had its protocol and service alone.

use super::*;
use crate::{Buffers, ConnectionId, Directory, conformance};
use clock::Clock;

/// Every byte is a request; `!` is none.
struct Bytewise;

impl Protocol for Bytewise {
    const NAME: &'static str = "bytewise";
    const TOO_MANY_CONNECTIONS: &'static [u8] = b"no room\n";
    type Request<'a> = u8;
    type Cursor = ();

    fn parse(&self, _: &mut (), input: &[u8]) -> Result<Parsed<u8>, Malformed> {
        match input.first() {
            None => Ok(Parsed::NeedMore { at_least: 1 }),
            Some(b'!') => Err(Malformed::skip(ErrorReply::fixed(b"?"), 1)),
            Some(&request) => Ok(Parsed::Request { request, consumed: 1 }),
        }
    }

    fn too_large(&self) -> ErrorReply {
        ErrorReply::fixed(b"a large byte\n")
    }
}

/// A request is a word, of which a line can hold many; the cursor counts those of the line.
struct Words;

impl Protocol for Words {
    const NAME: &'static str = "words";
    const TOO_MANY_CONNECTIONS: &'static [u8] = b"busy\n";
    type Request<'a> = (usize, &'a [u8]);
    type Cursor = usize;

    fn parse<'a>(
        &self,
        cursor: &mut usize,
        input: &'a [u8],
    ) -> Result<Parsed<Self::Request<'a>>, Malformed> {
        let Some(end) = input.iter().position(|byte| b" \n".contains(byte)) else {
            return Ok(Parsed::NeedMore { at_least: 1 });
        };
        let request = (*cursor, &input[..end]);
        *cursor = if input[end] == b'\n' { 0 } else { *cursor + 1 };
        if end == 0 {
            return Err(Malformed::skip(ErrorReply::fixed(b"no word\n"), 1));
        }
        Ok(Parsed::Request { request, consumed: end + 1 })
    }

    fn ends_batch(request: &Self::Request<'_>) -> bool {
        request.1 == b"last"
    }

    fn too_large(&self) -> ErrorReply {
        ErrorReply::fixed(b"a large word\n")
    }

    fn may_idle(&self) -> bool {
        true
    }

    fn takes_messages(&self) -> bool {
        false
    }
}

/// Notes what it hears under a name of its own.
struct Toy {
    name: &'static str,
    diary: std::cell::RefCell<Vec<String>>,
    more: bool,
    wake_at: Option<Ticks>,
}

impl Toy {
    fn new(name: &'static str) -> Self {
        Toy { name, diary: Vec::new().into(), more: false, wake_at: None }
    }

    fn note(&self, what: std::fmt::Arguments<'_>) {
        self.diary.borrow_mut().push(format!("{} {what}", self.name));
    }
}

/// How a toy treats the requests of either protocol.
macro_rules! toy {
    ($protocol:ty, $request:ty) => {
        impl Execute<$protocol> for Toy {
            fn prefetch(&self, _: &$protocol, request: &$request, stage: Stage) {
                self.note(format_args!("{stage:?} {request:?}"));
            }

            fn execute(
                &mut self,
                _: &mut $protocol,
                request: $request,
                out: &mut SendBuf,
                _: &mut Context<'_>,
            ) -> Control {
                out.put(self.name.as_bytes());
                self.note(format_args!("runs {request:?}"));
                Control::Continue
            }

            fn rejected(&mut self, _: &$protocol, malformed: &Malformed) {
                self.note(format_args!("rejects {}", malformed.reply.as_bytes().escape_ascii()));
            }

            fn closed(&mut self, _: &mut $protocol, context: &mut Context<'_>) {
                self.note(format_args!("loses {}", context.connection.serial()));
            }

            fn maintain(&mut self, _: Now, budget: usize, outbox: &mut Outbox) -> bool {
                outbox.close(ConnectionId::new(0, budget as u64));
                self.more
            }

            fn wake_at(&self) -> Option<Ticks> {
                self.wake_at
            }

            fn rest(&mut self) {
                self.note(format_args!("rests"));
            }

            fn buffers(&mut self, buffers: Buffers) {
                self.note(format_args!("hears of {}", buffers.bytes));
            }
        }
    };
}

toy!(Bytewise, u8);
toy!(Words, (usize, &[u8]));

type Combined = Either<Bytewise, Words>;

fn both() -> Both<Toy, Toy> {
    Both(Toy::new("first"), Toy::new("second"))
}

/// What both have noted, the first one's before the second one's.
fn diary(both: &Both<Toy, Toy>) -> Vec<String> {
    [both.0.diary.take(), both.1.diary.take()].concat()
}

/// Serves `input` as the loop over requests would; what was sent.
fn serve(connection: &mut Combined, both: &mut Both<Toy, Toy>, mut input: &[u8]) -> String {
    let (mut out, mut outbox) = (SendBuf::new(), Outbox::new());
    let directory = Directory::new();
    let id = ConnectionId::new(0, 7);
    let mut context = Context::new(Clock::manual(0).now(), id, &mut outbox, &directory);
    let mut cursor = Default::default();
    loop {
        match connection.parse(&mut cursor, input) {
            Ok(Parsed::NeedMore { .. }) => break,
            Ok(Parsed::Request { request, consumed }) => {
                both.prefetch(connection, &request, Stage::Index);
                both.execute(connection, request, &mut out, &mut context);
                input = &input[consumed..];
            }
            Err(malformed) => {
                both.rejected(connection, &malformed);
                input = &input[malformed.skip.unwrap()..];
            }
        }
    }
    both.closed(connection, &mut context);
    String::from_utf8(out.front().to_vec()).unwrap()
}

#[test]
fn it_keeps_the_contract_of_a_protocol_on_both_sides() {
    let samples: [&[u8]; 3] = [b"one two\nthree\n", b"  \n\nx!y", b"half"];
    conformance::check(|| Combined::A(Bytewise), &samples);
    conformance::check(|| Combined::B(Words), &samples);
}

#[test]
fn each_connection_is_served_by_the_service_of_its_protocol() {
    let mut both = both();
    assert_eq!(serve(&mut Combined::A(Bytewise), &mut both, b"a!"), "first");
    assert_eq!(
        diary(&both),
        ["first Index 97", "first runs 97", "first rejects ?", "first loses 7"]
    );
    assert_eq!(serve(&mut Combined::B(Words), &mut both, b"a b\n\n"), "secondsecond");
    let expected = [
        "second Index (0, [97])",
        "second runs (0, [97])",
        "second Index (1, [98])",
        "second runs (1, [98])",
        "second rejects no word\\n",
        "second loses 7",
    ];
    assert_eq!(diary(&both), expected);
}

#[test]
fn what_concerns_the_worker_goes_to_both_services() {
    let (mut both, mut outbox) = (both(), Outbox::new());
    Execute::<Combined>::rest(&mut both);
    Execute::<Combined>::buffers(&mut both, Buffers { bytes: 5, unsent: 0 });
    let expected = ["first rests", "first hears of 5", "second rests", "second hears of 5"];
    assert_eq!(diary(&both), expected);

    let now = Clock::manual(0).now();
    for (first, second) in [(false, false), (true, false), (false, true)] {
        (both.0.more, both.1.more) = (first, second);
        let more = Execute::<Combined>::maintain(&mut both, now, 9, &mut outbox);
        assert_eq!(more, first || second);
    }
    let halves: Vec<u64> = outbox.drain().map(|(to, _)| to.serial()).collect();
    assert_eq!(halves, [5; 6], "each has its half of the budget");

    assert_eq!(Execute::<Combined>::wake_at(&both), None);
    both.0.wake_at = Some(Ticks::from_millis(8));
    assert_eq!(Execute::<Combined>::wake_at(&both), both.0.wake_at);
    both.1.wake_at = Some(Ticks::from_millis(5));
    assert_eq!(Execute::<Combined>::wake_at(&both), both.1.wake_at);
}

#[test]
fn each_connection_has_the_ways_and_words_of_its_protocol() {
    let (a, b) = (Combined::A(Bytewise), Combined::B(Words));
    assert_eq!(
        (a.too_many_connections(), b.too_many_connections()),
        (&b"no room\n"[..], &b"busy\n"[..])
    );
    assert_eq!(a.too_large(), Bytewise.too_large());
    assert_eq!(b.too_large(), Words.too_large());
    assert_eq!((a.may_idle(), b.may_idle()), (false, true));
    assert_eq!((a.takes_messages(), b.takes_messages()), (true, false));
    assert!(!Combined::ends_batch(&Either::A(b'a')));
    assert!(Combined::ends_batch(&Either::B((0, b"last"))));
    assert!(!Combined::ends_batch(&Either::B((0, b"first"))));
}
