// SPDX-License-Identifier: Apache-2.0
//! The conformance kit: one call tests a codec against the contract of [`Protocol`].

use crate::{Malformed, Parsed, Protocol};

/// The outcome of parsing a whole sample.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    /// Bytes taken by each request or rejection, in order, with the rejection's reply.
    steps: Vec<(usize, Option<Vec<u8>>)>,
    /// Whether the connection was to be closed.
    closed: bool,
    /// Bytes left over as an unfinished request.
    left: usize,
}

/// Tests a codec with `samples` of its wire format: whole sessions, good and bad, in which a request
/// may be cut off at the end.
///
/// For each sample, and for each of a set of mutations of it, checks that
///
/// 1. every request and rejection takes at least a byte, and `NeedMore` asks for at least one;
/// 2. the outcome is the same when the bytes arrive all at once, one by one, and in two pieces cut at any
///    place: nothing depends on how the input is chunked, nor on whether the cursor remembers how far an
///    unfinished request was examined. Of a body that is taken in parts, all parts together count;
/// 3. a sample's unfinished rest really needs `at_least` more bytes: no shorter input completes it;
/// 4. arbitrary bytes never panic.
///
/// # Panics
///
/// When a rule is broken; the message names the rule and shows the input.
pub fn check<P: Protocol>(make: impl Fn() -> P, samples: &[&[u8]]) {
    assert!(!samples.is_empty(), "a protocol without samples tests nothing");
    for sample in samples {
        check_chunking(&make, sample);
        check_at_least(&make, sample);
    }
    let mut noise = Noise(0x9E37_79B9_7F4A_7C15);
    for sample in samples {
        for _ in 0..64 {
            check_chunking(&make, &noise.mutate(sample));
        }
    }
}

/// Rule 2, and rule 1 on the way.
fn check_chunking<P: Protocol>(make: &impl Fn() -> P, sample: &[u8]) {
    let whole = run(make, sample, &[sample.len()], true);
    let single: Vec<usize> = (1..=sample.len()).collect();
    for remembers in [true, false] {
        let pieces = run(make, sample, &single, remembers);
        assert_eq!(pieces, whole, "byte by byte, remembers: {remembers}: {}", show(sample));
    }
    let step = sample.len().div_ceil(256).max(1);
    for cut in (0..sample.len()).step_by(step) {
        let pieces = run(make, sample, &[cut, sample.len()], true);
        assert_eq!(pieces, whole, "cut at {cut}: {}", show(sample));
    }
}

/// Rule 3: feeds fewer bytes than were asked for and expects to be asked again.
fn check_at_least<P: Protocol>(make: &impl Fn() -> P, sample: &[u8]) {
    for arrived in 0..sample.len() {
        let mut cursor = P::Cursor::default();
        let Ok(Parsed::NeedMore { at_least }) = make().parse(&mut cursor, &sample[..arrived])
        else {
            return;
        };
        let enough = (arrived + at_least).min(sample.len());
        for early in arrived..enough {
            let mut cursor = P::Cursor::default();
            let parsed = make().parse(&mut cursor, &sample[..early]);
            let more = matches!(parsed, Ok(Parsed::NeedMore { .. }));
            assert!(more, "{at_least} more bytes asked for after {arrived}: {}", show(sample));
        }
    }
}

/// Parses `sample` as it arrives: `ends` are the lengths of the input at each arrival. Unless
/// `remembers`, an unfinished request is parsed from its beginning each time.
fn run<P: Protocol>(
    make: &impl Fn() -> P,
    sample: &[u8],
    ends: &[usize],
    remembers: bool,
) -> Outcome {
    let protocol = make();
    let mut cursor = P::Cursor::default();
    let mut outcome = Outcome { steps: Vec::new(), closed: false, left: 0 };
    let mut at = 0;
    let mut is_in_parts = false;
    for &end in ends {
        while at < end {
            let before = cursor;
            let was_in_parts = std::mem::take(&mut is_in_parts);
            let (taken, reply) = match protocol.parse(&mut cursor, &sample[at..end]) {
                Ok(Parsed::NeedMore { at_least }) => {
                    assert!(at_least > 0, "needs more, but no byte: {}", show(sample));
                    if !remembers {
                        cursor = before;
                    }
                    is_in_parts = was_in_parts;
                    break;
                }
                Ok(Parsed::Part { consumed, .. }) => {
                    assert!(consumed <= end - at, "a part that has not arrived: {}", show(sample));
                    is_in_parts = true;
                    (consumed, None)
                }
                Ok(Parsed::Request { consumed, .. }) => (consumed, None),
                Err(Malformed { reply, skip: Some(n), .. }) => (n, Some(reply.as_bytes().to_vec())),
                Err(Malformed { reply, skip: None, .. }) => {
                    outcome.steps.push((0, Some(reply.as_bytes().to_vec())));
                    outcome.closed = true;
                    return outcome;
                }
            };
            assert!(taken > 0, "a step that takes no byte: {}", show(sample));
            match outcome.steps.last_mut() {
                Some((parts, _)) if was_in_parts && is_in_parts => *parts += taken,
                _ => outcome.steps.push((taken, reply)),
            }
            at = at.saturating_add(taken);
        }
    }
    outcome.left = sample.len().saturating_sub(at);
    outcome
}

fn show(sample: &[u8]) -> String {
    sample[..sample.len().min(200)].escape_ascii().to_string()
}

/// A small deterministic generator (xorshift64).
struct Noise(u64);

impl Noise {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }

    /// `sample` with a byte changed, dropped, doubled or inserted here and there.
    fn mutate(&mut self, sample: &[u8]) -> Vec<u8> {
        let mut bytes = sample.to_vec();
        bytes.truncate(2048);
        for _ in 0..=self.next(4) {
            if bytes.is_empty() {
                break;
            }
            let at = self.next(bytes.len());
            match self.next(4) {
                0 => bytes[at] = self.next(256) as u8,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, bytes[at]),
                _ => bytes.insert(at, b" \r\n\0:$*-"[self.next(8)]),
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorReply;

    /// Lines that end in `\n`, whose cursor is how far the end has been searched for; a flaw can be
    /// switched on.
    struct Lines {
        flaw: Flaw,
    }

    #[derive(Clone, Copy, PartialEq)]
    enum Flaw {
        None,
        TakesNothing,
        SeesChunks,
        AsksTooMuch,
        RemembersTooLong,
        RemembersTooMuch,
    }

    impl Protocol for Lines {
        const NAME: &'static str = "lines";
        const TOO_MANY_CONNECTIONS: &'static [u8] = b"";
        type Request<'a> = &'a [u8];
        type Cursor = usize;

        fn parse<'a>(
            &self,
            seen: &mut usize,
            input: &'a [u8],
        ) -> Result<Parsed<Self::Request<'a>>, Malformed> {
            let rest = input.get(*seen..).unwrap_or_default();
            let end = rest.iter().position(|&byte| byte == b'\n').map(|end| *seen + end);
            *seen = match (end, self.flaw) {
                (None, Flaw::RemembersTooMuch) => input.len() + 1,
                (None, _) => input.len(),
                (Some(_), Flaw::RemembersTooLong) => *seen,
                (Some(_), _) => 0,
            };
            match (end, self.flaw) {
                (Some(_), Flaw::TakesNothing) => {
                    Ok(Parsed::Request { request: input, consumed: 0 })
                }
                (None, Flaw::SeesChunks) if input.len() > 3 => {
                    Err(Malformed::close(ErrorReply::fixed(b"slow\n")))
                }
                (None, Flaw::AsksTooMuch) => Ok(Parsed::NeedMore { at_least: 9 }),
                (None, _) => Ok(Parsed::NeedMore { at_least: 1 }),
                (Some(end), _) => Ok(Parsed::Request { request: &input[..end], consumed: end + 1 }),
            }
        }

        fn too_large(&self) -> ErrorReply {
            ErrorReply::NONE
        }
    }

    /// A byte that says how many follow, which are taken in parts.
    struct Bodies {
        loses_count: bool,
    }

    impl Protocol for Bodies {
        const NAME: &'static str = "bodies";
        const TOO_MANY_CONNECTIONS: &'static [u8] = b"";
        type Request<'a> = &'a [u8];
        type Cursor = u8;

        fn parse<'a>(&self, left: &mut u8, input: &'a [u8]) -> Result<Parsed<&'a [u8]>, Malformed> {
            let Some(&first) = input.first() else { return Ok(Parsed::NeedMore { at_least: 1 }) };
            if *left == 0 {
                *left = first;
                return Ok(Parsed::Request { request: &input[..1], consumed: 1 });
            }
            let part = &input[..input.len().min((*left).into())];
            *left = if self.loses_count { 0 } else { *left - part.len() as u8 };
            Ok(Parsed::Part { request: part, consumed: part.len() })
        }

        fn too_large(&self) -> ErrorReply {
            ErrorReply::NONE
        }
    }

    #[test]
    fn a_body_may_be_taken_in_parts() {
        check(|| Bodies { loses_count: false }, &[b"\x03abc\x00\x02de\x05f", b"\x01a\x01b"]);
    }

    #[test]
    #[should_panic(expected = "byte by byte")]
    fn parts_that_lose_count_are_found() {
        check(|| Bodies { loses_count: true }, &[b"\x03abc"]);
    }

    #[test]
    fn a_sound_codec_passes() {
        check(|| Lines { flaw: Flaw::None }, &[b"a\nbc\n\nunfinished", b"\n"]);
    }

    #[test]
    #[should_panic(expected = "takes no byte")]
    fn a_step_without_progress_is_found() {
        check(|| Lines { flaw: Flaw::TakesNothing }, &[b"a\n"]);
    }

    #[test]
    #[should_panic(expected = "byte by byte")]
    fn a_codec_that_sees_chunks_is_found() {
        check(|| Lines { flaw: Flaw::SeesChunks }, &[b"abcdef\n"]);
    }

    #[test]
    #[should_panic(expected = "cut at")]
    fn a_memory_that_outlives_its_request_is_found() {
        check(|| Lines { flaw: Flaw::RemembersTooLong }, &[b"abc\nd\n"]);
    }

    #[test]
    #[should_panic(expected = "remembers: true")]
    fn a_memory_of_what_was_not_there_is_found() {
        check(|| Lines { flaw: Flaw::RemembersTooMuch }, &[b"abc\n"]);
    }

    #[test]
    #[should_panic(expected = "9 more bytes asked for")]
    fn asking_for_too_much_is_found() {
        check(|| Lines { flaw: Flaw::AsksTooMuch }, &[b"ab\nc\n"]);
    }
}
