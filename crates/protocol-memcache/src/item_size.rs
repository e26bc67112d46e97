// SPDX-License-Identifier: Apache-2.0
//! How large an item is, as memcached counts it.

use crate::op::KEY_MAX;

/// Bytes of an item besides its key, its flags and its value, in memcached: a header of 48, the CAS number, a NUL behind
/// the key and a line end behind the value.
const REST: usize = 48 + 8 + 1 + 2;

/// Bytes of flags, for which an item has room if they are not 0.
const FLAGS: usize = 4;

/// The most that an item has besides its value.
pub(crate) const AROUND_MAX: usize = REST + FLAGS + KEY_MAX;

/// Bytes of an item. memcached's limit (`-I`) is on these, whatever the item takes in memory.
#[inline]
pub(crate) fn item_bytes(key_len: usize, flags: u32, value_len: usize) -> usize {
    let flags = if flags == 0 { 0 } else { FLAGS };
    value_len.saturating_add(key_len).saturating_add(REST + flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_has_more_than_key_and_value() {
        assert_eq!(item_bytes(1, 0, 0), 60);
        assert_eq!(item_bytes(1, 7, 0), 64);
        assert_eq!(item_bytes(KEY_MAX, u32::MAX, 5), AROUND_MAX + 5);
        assert_eq!(item_bytes(1, 0, usize::MAX), usize::MAX);
    }
}
