// SPDX-License-Identifier: Apache-2.0
//! [`item_size`]: sizes as memcached's `-I` takes them.

use config::ByteSize;

/// memcached's item sizes: bytes, or with suffix k or m; and with suffix g.
///
/// ```
/// use server::dialect::memcached::item_size;
///
/// assert_eq!(item_size("2m").unwrap().0, 2 << 20);
/// assert_eq!(item_size("1g").unwrap().0, 1 << 30);
/// assert!(item_size("2t").is_err());
/// ```
///
/// # Errors
///
/// What was expected, when it is none.
pub fn item_size(text: &str) -> Result<ByteSize, String> {
    let lower = text.to_ascii_lowercase();
    let units = [('k', 10), ('m', 20), ('g', 30)];
    let unit = units.iter().find_map(|(unit, shift)| Some((lower.strip_suffix(*unit)?, *shift)));
    let (digits, shift) = unit.unwrap_or((lower.as_str(), 0));
    match digits.parse::<u64>() {
        Ok(number) if number <= u64::MAX >> shift => Ok(ByteSize(number << shift)),
        _ => Err("expected a number of bytes, or one with suffix k, m or g".to_owned()),
    }
}
