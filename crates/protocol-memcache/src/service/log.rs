// SPDX-License-Identifier: Apache-2.0
//! The command log.

use super::outcome::Outcome;
use crate::exptime::Exptime;
use crate::request::{Request, Write};
use ringlog::klog;

/// Logs a request; the keys of a list each for itself, and not its end. No allocation.
#[cold]
pub(super) fn command(request: &Request<'_>, reply_bytes: usize, outcome: Outcome) {
    if matches!(request, Request::End { .. }) {
        return;
    }
    let key = request.key().unwrap_or_default();
    let bytes = wire_bytes(request);
    klog::command(request.verb(), key, bytes, reply_bytes, outcome.word());
}

/// The size of a request on the wire, written in its shortest form.
fn wire_bytes(request: &Request<'_>) -> usize {
    const NOREPLY: usize = " noreply".len();
    let name = request.verb().len();
    let key = request.key().map_or(0, |key| 1 + key.len());
    let rest = match *request {
        Request::Read { exptime, .. } => exptime.map_or(0, word),
        Request::Write(Write { value, flags, exptime, cas, quiet, .. }) => {
            let numbers = digits(flags.into()) + word(exptime) + digits(value.len() as u64);
            let cas = if cas == 0 { 0 } else { digits(cas) };
            numbers + cas + value.len() + 2 + usize::from(quiet) * NOREPLY
        }
        Request::Arith { delta, quiet, .. } => digits(delta) + usize::from(quiet) * NOREPLY,
        Request::Touch { exptime, quiet, .. } => word(exptime) + usize::from(quiet) * NOREPLY,
        Request::Delete { quiet, .. } | Request::Verbosity { quiet } => {
            usize::from(quiet) * NOREPLY
        }
        Request::FlushAll { delay, quiet } => delay.map_or(0, word) + usize::from(quiet) * NOREPLY,
        Request::Stats { topic } if !topic.is_empty() => 1 + topic.len(),
        _ => 0,
    };
    name + key + rest + 2
}

/// A space and an expiry time.
fn word(exptime: Exptime) -> usize {
    1 + itoa::Buffer::new().format(exptime.0).len()
}

/// A space and a number.
fn digits(number: u64) -> usize {
    1 + itoa::Buffer::new().format(number).len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::Memcache;
    use protocol::{Parsed, Protocol};

    #[test]
    fn the_size_on_the_wire_is_that_of_the_shortest_form() {
        let lines: [&[u8]; 9] = [
            b"get key\r\n",
            b"set key 1 -2 3\r\nabc\r\n",
            b"cas key 1 2 3 444 noreply\r\nabc\r\n",
            b"delete key noreply\r\n",
            b"incr key 100\r\n",
            b"touch key 100 noreply\r\n",
            b"flush_all 10 noreply\r\n",
            b"stats items\r\n",
            b"gat 10 key\r\n",
        ];
        for line in lines {
            let parsed = Memcache::new(100).parse(&mut Default::default(), line);
            let Ok(Parsed::Request { request, consumed }) = parsed else {
                panic!("{} is a request", line.escape_ascii());
            };
            assert_eq!(wire_bytes(&request), consumed, "{}", line.escape_ascii());
        }
    }
}
