// SPDX-License-Identifier: Apache-2.0
//! The command log.

use super::outcome::Outcome;
use crate::exptime::Exptime;
use crate::op::{Act, Arith, Detail, Dump, Get, Listing, Manage, Meta, Op, Set, Upload};
use crate::parse::binary::HEADER_LEN;
use crate::reply::{Binary, Text};
use crate::request::{Form, Request};
use ringlog::klog;

/// Logs a request: each key of a list by itself, but not the end of the list. Allocates nothing.
#[cold]
pub(super) fn command(request: &Request<'_>, reply_bytes: usize, outcome: Outcome) {
    if matches!(request.op, Op::ListEnd { .. }) {
        return;
    }
    let name = request.command.command().name;
    let key = request.key().unwrap_or_default();
    klog::command(name, key, wire_bytes(name, request), reply_bytes, outcome.word());
}

/// The size of a request on the wire, written in its shortest form.
fn wire_bytes(name: &str, request: &Request<'_>) -> usize {
    let noreply = match request.form {
        Form::Text(Text::Quiet) => " noreply".len(),
        Form::Text(Text::Whole | Text::Listed) | Form::Meta => 0,
        Form::Binary(binary) => return frame_bytes(binary, request),
    };
    let key = request.key().map_or(0, |key| 1 + key.len());
    let rest = match request.op {
        Op::Get(Get { touch, .. }) => touch.map_or(0, word),
        Op::Set(Set { value, flags, exptime, cas, .. }) => {
            stored(value.len(), flags, exptime, cas) + noreply
        }
        Op::Upload(Upload { value_len, flags, exptime, cas, .. }) => {
            stored(value_len as usize, flags, exptime, cas) + noreply
        }
        Op::Arith(Arith { delta, .. }) => digits(delta) + noreply,
        Op::Touch { exptime, .. } => word(exptime) + noreply,
        Op::Delete { .. } | Op::Noop => noreply,
        Op::Manage(Manage::Shutdown { .. }) => noreply,
        Op::Manage(Manage::Reread) | Op::Watch(_) => 0,
        Op::Manage(Manage::Verbosity(number) | Manage::MemoryLimit(number)) => {
            digits(number.into()) + noreply
        }
        Op::FlushAll { delay } => delay.map_or(0, word) + noreply,
        Op::BadFlush { delay } => 1 + delay.len() + noreply,
        Op::Stats { topic: b"" } | Op::ListEnd { .. } | Op::Version | Op::Quit => 0,
        Op::Stats { topic } => 1 + topic.len(),
        Op::Config { what } => " get ".len() + what.len(),
        Op::Detail(Detail::On) => " detail on".len(),
        Op::Detail(Detail::Off) => " detail off".len(),
        Op::Detail(Detail::Dump) => " detail dump".len(),
        Op::Detail(Detail::Unknown) => " detail".len(),
        Op::Dump(Dump { listing: Listing::Cachedump, limit, .. }) => {
            " cachedump 1".len() + digits(limit.into())
        }
        Op::Dump(Dump { listing, prefix, .. }) => {
            let prefix = if prefix.is_empty() { 0 } else { 1 + prefix.len() };
            let rest = if listing == Listing::Mgdump { " mgdump all" } else { " metadump all" };
            rest.len() + prefix
        }
        Op::Meta(ref meta) => {
            let is_set = meta.act == Act::Set;
            meta_words(meta, is_set.then_some(meta.value.len()))
        }
        Op::UploadMeta(ref meta) => meta_words(meta, Some(meta.announced_len())),
        // Nor is it told how long a password is.
        Op::Login(_) => 0,
        // Bytes that were not read are not counted.
        Op::Oversized { .. } => 0,
        // They belong to the request that announced them.
        Op::Piece(_) => 0,
    };
    name.len() + key + rest + 2
}

/// The words of a storage command behind its key, and its body.
fn stored(value_len: usize, flags: u32, exptime: Exptime, cas: u64) -> usize {
    let cas = if cas == 0 { 0 } else { digits(cas) };
    digits(flags.into()) + word(exptime) + digits(value_len as u64) + cas + value_len + 2
}

/// The words of a meta command behind its key, and its body if it has one of so many bytes.
fn meta_words(meta: &Meta<'_>, body: Option<usize>) -> usize {
    meta.flags().text().len() + body.map_or(0, |len| digits(len as u64) + len + 2)
}

/// The size of a request of the binary protocol.
fn frame_bytes(binary: Binary, request: &Request<'_>) -> usize {
    let extras = match request.op {
        Op::FlushAll { delay } => delay.map_or(0, |_| 4),
        _ => usize::from(binary.opcode.row().extras[0]),
    };
    let rest = match request.op {
        Op::Set(Set { value, .. }) => value.len(),
        Op::Upload(Upload { value_len, .. }) => value_len as usize,
        Op::Stats { topic } => topic.len(),
        _ => 0,
    };
    HEADER_LEN + extras + request.key().map_or(0, <[u8]>::len) + rest
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
        let lines: [&[u8]; 10] = [
            b"get key\r\n",
            b"set key 1 -2 3\r\nabc\r\n",
            b"cas key 1 2 3 444 noreply\r\nabc\r\n",
            b"delete key noreply\r\n",
            b"incr key 100\r\n",
            b"touch key 100 noreply\r\n",
            b"flush_all 10 noreply\r\n",
            b"flush_all soon noreply\r\n",
            b"stats items\r\n",
            b"gat 10 key\r\n",
        ];
        for line in lines {
            let parsed = Memcache::new(100).parse(&mut Default::default(), line);
            let Ok(Parsed::Request { request, consumed }) = parsed else {
                panic!("{} is a request", line.escape_ascii());
            };
            assert_eq!(
                wire_bytes(request.command.command().name, &request),
                consumed,
                "{}",
                line.escape_ascii()
            );
        }
    }
}
