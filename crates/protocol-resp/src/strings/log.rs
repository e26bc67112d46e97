// SPDX-License-Identifier: Apache-2.0
//! The command log.

use super::store_call::Outcome;
use crate::session::command::Command;
use crate::wire::parse::Args;
use ringlog::klog;

/// Logs a command with its first key. No allocation.
#[cold]
pub(super) fn command(command: &Command<'_>, args: Args<'_>, reply_bytes: usize, outcome: Outcome) {
    let verb = command.id.map_or("unknown", |id| id.spec().name);
    let key = command.only_key();
    let outcome = match (outcome, key) {
        (Outcome::Hit, Some(_)) => "hit",
        (Outcome::Miss, Some(_)) => "miss",
        // Some of several keys may be there.
        (Outcome::Done | Outcome::Hit | Outcome::Miss, _) => "ok",
        (Outcome::Error, _) => "error",
    };
    klog::command(verb, key.unwrap_or_default(), wire_bytes(args), reply_bytes, outcome);
}

/// The size of a request on the wire, written as an array.
#[expect(clippy::arithmetic_side_effects, reason = "lengths of arguments, which are in memory")]
fn wire_bytes(args: Args<'_>) -> usize {
    args.iter().map(|arg| header_bytes(arg.len()) + arg.len() + 2).sum::<usize>()
        + header_bytes(args.len())
}

/// A line with a length.
#[expect(clippy::arithmetic_side_effects, reason = "lengths of arguments, which are in memory")]
fn header_bytes(number: usize) -> usize {
    1 + itoa::Buffer::new().format(number).len() + 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::client::Encoder;
    use crate::wire::parse;
    use crate::wire::parse::{Cursor, Framing};
    use protocol::Parsed;

    #[test]
    fn the_size_on_the_wire_is_that_of_an_array() {
        let words = ["set", "key", &"v".repeat(1000), "ex", "10", ""];
        let mut wire = Vec::new();
        Encoder::new(&mut wire).request(words);
        let step = parse::parse(&Framing::default(), &mut Cursor::default(), &wire);
        let Ok(Parsed::Request { request, .. }) = step else { panic!("a whole request") };
        assert_eq!(wire_bytes(request.args(&mut Vec::new())), wire.len());
    }
}
