// SPDX-License-Identifier: Apache-2.0
//! The lists of items, as memcached writes them: a line for each item.

use crate::op::Listing;
use crate::parse::meta::base64;
use clock::Now;
use std::io::Write;
use storage::Item;

/// Room for everything in a line but the key.
pub(crate) const AROUND_KEY: usize = 128;

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// What follows statistics.
pub(crate) const STATS_END: &[u8] = b"END\r\n";

/// What precedes the items.
pub(crate) fn head(listing: Listing) -> &'static [u8] {
    match listing {
        Listing::Metadump | Listing::Mgdump => b"OK\r\n",
        Listing::Cachedump => b"",
    }
}

/// What follows the items.
pub(crate) fn end(listing: Listing) -> &'static [u8] {
    match listing {
        Listing::Metadump | Listing::Cachedump => STATS_END,
        Listing::Mgdump => b"EN\r\n",
    }
}

/// The reply where clients may not list items.
pub(crate) fn not_allowed(listing: Listing) -> &'static [u8] {
    match listing {
        Listing::Metadump => b"ERROR metadump not allowed\r\n",
        Listing::Mgdump => b"ERROR key dump not allowed\r\n",
        Listing::Cachedump => b"CLIENT_ERROR stats cachedump not allowed\r\n",
    }
}

/// Appends the line of an item.
pub(crate) fn line(listing: Listing, bytes: &mut Vec<u8>, item: &impl Item, now: Now) {
    match listing {
        Listing::Metadump => metadump(bytes, item, now),
        Listing::Mgdump => mgdump(bytes, item.key()),
        Listing::Cachedump => cachedump(bytes, item, now),
    }
}

/// `key=… exp=… la=… cas=… fetch=… cls=… size=… flags=… `, with a space and no `\r` at its end.
fn metadump(bytes: &mut Vec<u8>, item: &impl Item, now: Now) {
    let mut digits = itoa::Buffer::new();
    bytes.extend_from_slice(b"key=");
    uri(item.key(), bytes);
    bytes.extend_from_slice(b" exp=");
    match item.expiry().ticks() {
        None => bytes.extend_from_slice(b"-1"),
        Some(at) => bytes.extend_from_slice(digits.format(now.unix_at(at) / 1000).as_bytes()),
    }
    let idle = item.idle(now.ticks).duration().as_secs();
    bytes.extend_from_slice(b" la=");
    bytes.extend_from_slice(digits.format(now.unix_seconds().saturating_sub(idle)).as_bytes());
    bytes.extend_from_slice(b" cas=");
    bytes.extend_from_slice(digits.format(item.version().get()).as_bytes());
    let fetched: &[u8] = if item.was_read() { b" fetch=yes" } else { b" fetch=no" };
    bytes.extend_from_slice(fetched);
    bytes.extend_from_slice(b" cls=");
    bytes.extend_from_slice(digits.format(item.class()).as_bytes());
    bytes.extend_from_slice(b" size=");
    bytes.extend_from_slice(digits.format(item.footprint()).as_bytes());
    bytes.extend_from_slice(b" flags=");
    bytes.extend_from_slice(digits.format(item.flags()).as_bytes());
    bytes.extend_from_slice(b" \n");
}

/// `mg <key>`, or `mg <base64> b` for a key that no line can hold as it is.
fn mgdump(bytes: &mut Vec<u8>, key: &[u8]) {
    bytes.extend_from_slice(b"mg ");
    if is_plain(key) {
        bytes.extend_from_slice(key);
    } else {
        base64::encode(key, bytes);
        bytes.extend_from_slice(b" b");
    }
    bytes.extend_from_slice(b"\r\n");
}

/// `ITEM <key> [<size> b; <expiry> s]`. Left out are keys that no line can hold.
fn cachedump(bytes: &mut Vec<u8>, item: &impl Item, now: Now) {
    if !is_plain(item.key()) {
        return;
    }
    let expiry = item.expiry().ticks().map_or(0, |at| now.unix_at(at) / 1000);
    bytes.extend_from_slice(b"ITEM ");
    bytes.extend_from_slice(item.key());
    // Writing to a vector cannot fail.
    let _ = write!(bytes, " [{} b; {expiry} s]\r\n", item.value().len());
}

/// Whether a key can be a word of a line.
pub(crate) fn is_plain(key: &[u8]) -> bool {
    !key.is_empty() && !key.iter().any(|byte| matches!(byte, b' ' | b'\r' | b'\n' | 0))
}

/// Appends a key as a URI has it: letters, digits and `-._~` as they are, all else as `%XX`.
pub(crate) fn uri(key: &[u8], bytes: &mut Vec<u8>) {
    for &byte in key {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            bytes.push(byte);
        } else {
            let [high, low] = [byte >> 4, byte & 15].map(|half| HEX[usize::from(half)]);
            bytes.extend_from_slice(&[b'%', high, low]);
        }
    }
}
