// SPDX-License-Identifier: Apache-2.0
//! From a kind and keys to the bytes of a request.

use crate::dialect::{Dialect, Op};
use crate::workload::{Key, MULTI_MAX, value};

/// Writes one request. Copies the texts of its keys once, and allocates nothing once `texts` and `out`
/// are large enough.
#[inline]
pub(super) fn write<D: Dialect>(
    dialect: D,
    out: &mut Vec<u8>,
    op: Op,
    mut keys: impl Iterator<Item = Key>,
    ttl_s: u32,
    digits: usize,
    texts: &mut Vec<u8>,
) {
    texts.clear();
    if op == Op::GetMany {
        return write_many(dialect, out, keys, digits, texts);
    }
    let Some(key) = keys.next() else { return dialect.ping(out) };
    key.write(digits, texts);
    match op {
        Op::Set => {
            let len = key.value_len as usize;
            dialect.set(out, texts, ttl_s, len, |out| value::write(key.id, len, out));
        }
        Op::Delete => dialect.delete(out, texts),
        _ => dialect.get(out, &[texts]),
    }
}

fn write_many<D: Dialect>(
    dialect: D,
    out: &mut Vec<u8>,
    keys: impl Iterator<Item = Key>,
    digits: usize,
    texts: &mut Vec<u8>,
) {
    let mut ends = [0; MULTI_MAX];
    let mut count = 0;
    for (key, end) in keys.zip(&mut ends) {
        key.write(digits, texts);
        *end = texts.len();
        count += 1;
    }
    let mut slices = [&b""[..]; MULTI_MAX];
    let mut start = 0;
    for (slice, end) in slices.iter_mut().zip(&ends[..count]) {
        *slice = &texts[start..*end];
        start = *end;
    }
    dialect.get(out, &slices[..count]);
}
