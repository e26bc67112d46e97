// SPDX-License-Identifier: Apache-2.0
//! The words that lines are made of. No expiry time is in the near future, so that no reply depends
//! on when a command arrives.

/// The commands that are generated, the interesting ones more often.
pub(crate) const NAMES: &[&[u8]] = &[
    b"set",
    b"set",
    b"set",
    b"set",
    b"add",
    b"add",
    b"replace",
    b"append",
    b"append",
    b"prepend",
    b"cas",
    b"get",
    b"get",
    b"get",
    b"get",
    b"gets",
    b"gets",
    b"gat",
    b"gats",
    b"delete",
    b"delete",
    b"incr",
    b"incr",
    b"incr",
    b"decr",
    b"decr",
    b"touch",
    b"touch",
    b"version",
    b"verbosity",
    b"stats",
];

/// What is no command, also not one that only memcached has.
pub(crate) const UNKNOWN: &[&[u8]] = &[
    b"GET",
    b"Set",
    b"getss",
    b"ge",
    b"sett",
    b"nothing",
    b"delet",
    b"incrr",
    b"flush",
    b"0",
    b"\xff\xfe",
    b"\t",
    b"noreply",
    b"stat",
    b"versions",
    b"END",
    b"get\tk0",
    b"touchy",
    b"get,",
    b"bget",
    b"get\0",
    b"  get",
    b" set",
    b" noreply",
];

pub(crate) const FLAGS: &[&[u8]] = &[b"0", b"1", b"123", b"65535", b"4294967295"];

/// Flags that are written in an odd way and taken.
pub(crate) const ODD_FLAGS: &[&[u8]] = &[
    b"007",
    b"+7",
    b"-0",
    b"4294967296",
    b"4294967303",
    b"18446744073709551615",
    b"\t",
    b"\t7",
    b"7\tx",
    b"7\0x",
    b"18446744073709551615\t-",
];

/// Flags that are refused.
pub(crate) const BAD_FLAGS: &[&[u8]] =
    &[b"-1", b"abc", b"1x", b"18446744073709551616", b"0x10", b"1.5", b"noreply"];

/// The first ten are valid and mean what they say.
pub(crate) const EXPTIMES: &[&[u8]] = &[
    b"0",
    b"-1",
    b"-100",
    b"100000",
    b"2591999",
    b"2592000",
    b"2592001",
    b"1700000000",
    b"2100000000",
    b"2147483647",
    b"-2147483648",
    b"2147483648",
    b"4294967295",
    b"4294967296",
    b"4295067296",
    b"9223372036854775807",
    b"9223372036854775808",
    b"-9223372036854775808",
    b"abc",
    b"0x",
    b"+0",
    b"000",
    b"00000000000",
    b"000000000000",
    b"0\t",
    b"\t0",
    b"0\0",
    b"-0",
    b"1e5",
    b"99999999999999999999999",
    b"-",
    b"--1",
];

/// Of `EXPTIMES` those that are written in an odd way, or do not fit, and are taken by `set`.
pub(crate) const ODD_EXPTIMES: &[&[u8]] = &[
    b"2147483648",
    b"4294967295",
    b"4294967296",
    b"4295067296",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"+0",
    b"000",
    b"000000000000",
    b"\t0",
    b"0\tx",
    b"0\0x",
    b"-0",
];

/// Of `EXPTIMES` those that are refused.
pub(crate) const BAD_EXPTIMES: &[&[u8]] =
    &[b"9223372036854775808", b"abc", b"0x", b"1e5", b"99999999999999999999999", b"-", b"--1"];

/// The first four are valid, and no sum comes to 2^63.
pub(crate) const DELTAS: &[&[u8]] = &[
    b"1",
    b"7",
    b"0",
    b"100",
    b"007",
    b"+5",
    b"-0",
    b"-1",
    b"-18446744073709551615",
    b"18446744073709551616",
    b"99999999999999999999999",
    b"abc",
    b"1x",
    b"1.5",
    b"0x1",
    b"-",
    b"+",
    b"1\t2",
    b"0000000000000000000001",
    b"00000000000000000000001",
    b"1\0",
];

/// CAS numbers that no item has.
pub(crate) const CASES: &[&[u8]] =
    &[b"0", b"18446744073709551615", b"9223372036854775808", b"000999999999999999"];

/// CAS numbers that are refused.
pub(crate) const BAD_CASES: &[&[u8]] = &[
    b"-1",
    b"abc",
    b"18446744073709551616",
    b"9999999999999x",
    b"0x1",
    b"1.5",
    b"-",
    b"99999999999999999999999",
    b"noreply",
    b"+7",
    b"-0",
    b"7\t",
    b"7\0",
];

/// What becomes 2^63 or more, or goes round, and is not looked at by another `incr`.
pub(crate) const SUMS: &[&[u8]] = &[
    b"set n 7 0 2\r\n10\r\nincr n 18446744073709551610\r\nget n\r\n",
    b"set n 0 0 1\r\n5\r\nincr n 9223372036854775808\r\nget n\r\ndelete n\r\n",
    b"set n 0 0 1\r\n0\r\nincr n 18446744073709551615\r\nget n\r\ndelete n\r\n",
    b"set n 0 0 19\r\n9223372036854775807\r\nincr n 9223372036854775809\r\nget n\r\n",
    b"set n 0 0 2\r\n99\r\ndecr n 18446744073709551615\r\nget n\r\n",
    b"set n 0 0 19\r\n9223372036854775807\r\ndecr n 9223372036854775806 noreply\r\nget n\r\n",
];

/// Lengths that are refused.
pub(crate) const LENGTHS: &[&[u8]] = &[
    b"-1",
    b"-100",
    b"abc",
    b"1x",
    b"2147483646",
    b"2147483647",
    b"2147483648",
    b"4294967295",
    b"9223372036854775808",
    b"18446744073709551615",
    b"99999999999999999999999",
    b"",
    b"-",
];

/// Values that `incr` and `decr` look at. None is 2^63 or more: with a `-` anywhere in the memory behind
/// such a value, up to the next NUL, memcached takes it for a negative one.
pub(crate) const NUMBERS: &[&[u8]] = &[
    b"0",
    b"1",
    b"9",
    b"10",
    b"99",
    b"100",
    b"007",
    b"9223372036854700000",
    b"18446744073709551616",
    b"+5",
    b" 5",
    b"5 ",
    b"5 6",
    b"5x",
    b"abc",
    b"12\r\n34",
    b"5\0",
    b"00000000000000000000000000001",
    b"1234567890123456789012345678901",
    b"5                                        ",
    b"\t7",
    b"7\t",
    b"1.5",
    b"0x10",
];

pub(crate) const LEVELS: &[&[u8]] = &[b"0", b"1", b"2", b"3"];

/// What stands in the place of a level.
pub(crate) const COUNTS: &[&[u8]] =
    &[b"-1", b"abc", b"1x", b"99", b"4294967295", b"4294967296", b"18446744073709551616", b"-0"];

pub(crate) const TOPICS: &[&[u8]] = &[
    b"",
    b"settings",
    b"items",
    b"slabs",
    b"conns",
    b"sizes",
    b"reset",
    b"extstore",
    b"nothing",
    b"RESET",
    b"cachedump",
    b"items x",
    b"r",
    b"rese",
    b"se",
    b"co",
    b"c",
    b"d",
    b"e x",
    b"proxy",
    b"it",
    b"slab",
];

/// A key of its own, because older versions of memcached end the line at its NUL.
pub(crate) const NUL_KEY: &[u8] = b"nul\0key";

/// All other keys: a few that all commands share, and odd ones.
pub(crate) fn keys() -> Vec<Vec<u8>> {
    let plain = (0..6).map(|index| format!("k{index}").into_bytes());
    let odd: [&[u8]; 14] = [
        b"noreply",
        b"0",
        b"-1",
        b"a,b",
        b"\x01\x7f",
        b"\xff\x80",
        b"tab\tkey",
        b"cr\rkey",
        b"get",
        b"odd",
        b"K1",
        b"1234567",
        b"VALUE",
        &[b'm'; 249],
    ];
    plain
        .chain(odd.iter().map(|key| key.to_vec()))
        .chain([vec![b'l'; 250], b"x".to_vec()])
        .collect()
}
