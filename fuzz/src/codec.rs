// SPDX-License-Identifier: Apache-2.0
//! Checks any codec against the contract of [`Protocol`], one input at a time.

use crate::chunks::{Noise, plans};
use protocol::{Malformed, Parsed, Protocol};
use std::fmt::Debug;

/// How many steps of an input are checked. A list with more keys than any limit allows fits in it.
const STEPS_MAX: usize = 6000;

/// One request or rejection: its place, and the parser's state after it. All parts of a body together are one step.
#[derive(Debug, PartialEq)]
struct Step<R, C> {
    at: usize,
    taken: usize,
    found: Found<R>,
    cursor: C,
}

#[derive(Debug, PartialEq)]
enum Found<R> {
    Request(R),
    Parts,
    Malformed(Malformed),
}

/// Parses `input` under several chunkings and checks that
///
/// * nothing panics, and every step takes at least a byte;
/// * requests, rejections and cursors are the same under each chunking;
/// * the result is the same when the cursor forgets what it has seen of unfinished requests;
/// * `NeedMore` asks for no more than is needed;
/// * `inside` holds for each request, parts of bodies included: its slices lie in the bytes it was found in;
/// * `refused` holds for each rejection, given the bytes from the rejected input on, and the bytes dropped.
pub(crate) fn check<'a, P>(
    protocol: &P,
    input: &'a [u8],
    inside: impl Fn(&P::Request<'a>, &[u8]),
    refused: impl Fn(&Malformed, &[u8]),
) where
    P: Protocol,
    P::Request<'a>: Debug + PartialEq,
{
    let plans = plans(input.len(), &mut Noise::new(input));
    let whole = run(protocol, input, &plans[0], true, &inside);
    for step in &whole {
        match &step.found {
            Found::Request(request) => {
                let end = input.len().min(step.at.saturating_add(step.taken));
                inside(request, &input[step.at..end]);
            }
            Found::Parts => {}
            Found::Malformed(malformed) => refused(malformed, &input[step.at..]),
        }
    }
    let remembering = plans[1..].iter().map(|plan| (plan, true));
    for (plan, remembers) in remembering.chain([(&plans[2], false)]) {
        let pieces = run(protocol, input, plan, remembers, &inside);
        for (piece, whole) in pieces.iter().zip(&whole) {
            assert_eq!(piece, whole, "a chunking changes a step; arrivals {plan:?}");
        }
        assert_eq!(pieces.len(), whole.len(), "a chunking changes the steps; arrivals {plan:?}");
    }
}

/// Parses the part of `input` that has arrived at each of `ends`, until a rejection closes the connection or
/// there are enough steps. Unless the parser `remembers`, it parses an unfinished request each time from
/// the cursor before that request.
fn run<'a, P: Protocol>(
    protocol: &P,
    input: &'a [u8],
    ends: &[usize],
    remembers: bool,
    inside: &impl Fn(&P::Request<'a>, &[u8]),
) -> Vec<Step<P::Request<'a>, P::Cursor>> {
    let mut steps: Vec<Step<P::Request<'a>, P::Cursor>> = Vec::new();
    let mut cursor = P::Cursor::default();
    let mut at = 0_usize;
    let mut asked = 0;
    for &end in ends {
        while at < end {
            let before = cursor;
            let (taken, found) = match protocol.parse(&mut cursor, &input[at..end]) {
                Ok(Parsed::NeedMore { at_least }) => {
                    assert!(at_least > 0, "needs more, but no byte, at {at} of {end}");
                    if !remembers {
                        cursor = before;
                    }
                    asked = asked.max(end.saturating_add(at_least));
                    break;
                }
                Ok(Parsed::Request { request, consumed }) => (consumed, Found::Request(request)),
                Ok(Parsed::Part { request, consumed }) => {
                    inside(&request, &input[at..at + consumed]);
                    (consumed, Found::Parts)
                }
                Err(malformed) => {
                    (malformed.skip.unwrap_or(input.len()), Found::Malformed(malformed))
                }
            };
            assert!(taken > 0, "a step that takes no byte, at {at} of {end}");
            assert!(asked <= end, "asked for {asked} bytes, yet {end} were enough, at {at}");
            let closed = matches!(&found, Found::Malformed(malformed) if malformed.skip.is_none());
            match steps.last_mut() {
                Some(last @ Step { found: Found::Parts, .. }) if matches!(found, Found::Parts) => {
                    (last.taken, last.cursor) = (last.taken + taken, cursor);
                }
                _ => steps.push(Step { at, taken, found, cursor }),
            }
            if closed || steps.len() == STEPS_MAX {
                return steps;
            }
            at = at.saturating_add(taken);
            asked = 0;
        }
    }
    steps
}

/// Checks that `slice` lies within `input`; an empty one may come from anywhere.
pub(crate) fn assert_inside(slice: &[u8], input: &[u8]) {
    let (slice, input) = (slice.as_ptr_range(), input.as_ptr_range());
    let within = input.start <= slice.start && slice.end <= input.end;
    assert!(slice.is_empty() || within, "a request borrows bytes that are not its own");
}
