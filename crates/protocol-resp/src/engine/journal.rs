// SPDX-License-Identifier: Apache-2.0
//! The command log.

use crate::table::{Spec, keys};
use crate::wire::fault::Done;
use crate::wire::parse::Args;
use protocol::Control;
use ringlog::klog;

/// Logs a command that has run, with its first key.
#[cold]
pub(super) fn command(
    spec: &Spec,
    args: Args<'_>,
    reply_bytes: usize,
    done: &Done,
    control: Control,
) {
    let found = keys::keys(spec, &args).ok();
    let first = found.and_then(|found| found.positions().next());
    let key = first.and_then(|at| args.get(at)).unwrap_or_default();
    let outcome = match (done, control) {
        (Err(fault), _) => str::from_utf8(fault.code()).unwrap_or("ERR"),
        (Ok(()), Control::Block | Control::Stream) => "waits",
        (Ok(()), Control::Continue | Control::Close | Control::Defer) => "ok",
    };
    klog::command(spec.name, key, wire_bytes(args), reply_bytes, outcome);
}

/// The size of a request on the wire, as an array of strings.
fn wire_bytes(args: Args<'_>) -> usize {
    let line = |number: usize| 1 + itoa::Buffer::new().format(number).len() + 2;
    let bulk = |arg: &[u8]| line(arg.len()) + arg.len() + 2;
    line(args.len()) + args.iter().map(bulk).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::parse;
    use crate::wire::parse::{Cursor, Framing};
    use protocol::Parsed;

    #[test]
    fn the_size_on_the_wire_is_that_of_an_array() {
        let input = b"*2\r\n$3\r\nGET\r\n$10\r\n0123456789\r\n";
        let parsed = parse::parse(&Framing::default(), &mut Cursor::default(), input);
        let Ok(Parsed::Request { request, consumed }) = parsed else { panic!("a request") };
        let mut spans = Vec::new();
        assert_eq!(wire_bytes(request.args(&mut spans)), consumed);
    }
}
