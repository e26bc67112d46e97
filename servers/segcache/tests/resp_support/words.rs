// SPDX-License-Identifier: Apache-2.0
//! The words that generated commands are made of.

/// Keys. The first few are used most.
pub(crate) const KEYS: &[&[u8]] = &[
    b"a",
    b"b",
    b"c",
    b"d",
    b"e",
    b"f",
    b"a key with spaces",
    b"",
    b"\x00\r\n\xff",
    b"key:with:a:name:that:is:longer:than:what:a:tag:or:an:inline:buffer:would:hold:0123456789",
];

/// Values that are integers, or nearly.
pub(crate) const NUMBERS: &[&[u8]] = &[
    b"0",
    b"1",
    b"-1",
    b"10",
    b"42",
    b"99",
    b"-100",
    b"4294967296",
    b"9223372036854775807",
    b"9223372036854775806",
    b"-9223372036854775808",
    b"9223372036854775808",
    b"18446744073709551615",
    b"007",
    b"+7",
    b"-0",
    b" 7",
    b"1.5",
    b"0x10",
];

/// Values that are floating-point numbers, or nearly.
pub(crate) const FLOATS: &[&[u8]] = &[
    b"0.1", b"0.2", b"-1.5", b"3.0e3", b"1e17", b"2.", b".5", b"1e-5", b"-0", b"5e", b"1.2.3",
    b"x", b"inf", b"-INF", b"nan", b"0x1p4",
];

/// Values that are no numbers.
pub(crate) const TEXTS: &[&[u8]] =
    &[b"", b"hello", b"hello world", b"\x00", b"\r\n", b"$-1\r\n", b"\xff\xfe", b"\"quoted\""];

/// Amounts to add.
pub(crate) const DELTAS: &[&[u8]] = &[
    b"1",
    b"0",
    b"-1",
    b"5",
    b"1000",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"-9223372036854775807",
    b"9223372036854775808",
    b"x",
    b"",
    b"1.0",
    b"01",
];

/// Places in a value.
pub(crate) const OFFSETS: &[&[u8]] = &[
    b"0",
    b"1",
    b"2",
    b"5",
    b"10",
    b"100",
    b"-1",
    b"-2",
    b"-100",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"x",
    b"1000000000",
];

/// Times to live and points in time that are wrong, or far away.
pub(crate) const TIMES: &[&[u8]] = &[
    b"0",
    b"-1",
    b"x",
    b"",
    b"1.5",
    b"9223372036854775807",
    b"9223372036854775",
    b"9223372036854775808",
    b"-9223372036854775808",
];

/// Patterns of keys.
pub(crate) const PATTERNS: &[&[u8]] =
    &[b"*", b"a*", b"?", b"[a-c]", b"[^a]", b"*key*", b"nothing", b"", b"\\a", b"a key*"];

/// What has no place in most commands.
pub(crate) const NONSENSE: &[&[u8]] =
    &[b"foo", b"NX", b"xx", b"GT", b"EX", b"GET", b"", b"COUNT", b"*", b"KEEPTTL", b"PERSIST"];

/// Names that no server knows.
pub(crate) const UNKNOWN: &[&[u8]] =
    &[b"foo", b"GETS", b"set ", b"", b"SETT", b"client|id", b"a\r\nb", b"\xff", b"gets\x00"];
