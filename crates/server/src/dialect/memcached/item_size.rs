// SPDX-License-Identifier: Apache-2.0
//! [`item_size`]: sizes as memcached's `-I` takes them.

use config::ByteSize;

/// memcached's item sizes: bytes, or with suffix k or m.
///
/// ```
/// use server::dialect::memcached::item_size;
///
/// assert_eq!(item_size("2m").unwrap().0, 2 << 20);
/// assert!(item_size("2g").is_err());
/// ```
///
/// # Errors
///
/// What was expected, when it is none.
pub fn item_size(text: &str) -> Result<ByteSize, String> {
    let lower = text.to_ascii_lowercase();
    let (digits, shift) = match lower.strip_suffix(['k', 'm']) {
        Some(digits) if lower.ends_with('k') => (digits, 10),
        Some(digits) => (digits, 20),
        None => (lower.as_str(), 0),
    };
    match digits.parse::<u64>() {
        Ok(number) if number <= u64::MAX >> shift => Ok(ByteSize(number << shift)),
        _ => Err("expected a number of bytes, or one with suffix k or m".to_owned()),
    }
}
