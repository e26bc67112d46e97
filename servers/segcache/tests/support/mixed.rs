// SPDX-License-Identifier: Apache-2.0
//! Makes commands of all three dialects on the same keys: each dialect has its connection, and runs of its commands
//! take turns.
//!
//! Frames write the keys that lines write; of keys whose numbers meta commands give they only read, touch and delete the
//! items. Left out is what the generators of the dialects leave out.

use crate::support::frames::{self, Keys};
use crate::support::generate::Generator;
use crate::support::meta::{self, COUNTED, SHARED};
use crate::support::unit::Unit;
use test_support::random::Random;

/// Keys that lines write, too, some of them odd.
const ODD: [&[u8]; 4] = [b"noreply", b"\xff\x80", b"cr\rkey", &[b'l'; 250]];

/// Keys that meta commands write, the last two in base64.
const OF_META: [&[u8]; 7] = [b"m0", b"m1", b"m\xff", b"p0", b"p1", b"\xff\xff\xff", b"bin\0key"];

/// `count` units.
pub(crate) fn units(seed: u64, count: usize) -> Vec<Unit> {
    let mut random = Random::new(seed);
    let owned = |keys: &[&[u8]]| keys.iter().map(|key| key.to_vec()).collect::<Vec<_>>();
    let written = [owned(&SHARED), owned(&SHARED), owned(&ODD)].concat();
    let read = [&written[..], &owned(&OF_META)].concat();
    let keys = Keys { read, written, counted: owned(&SHARED[..COUNTED]) };
    let mut lines = Generator::beside(seed, COUNTED, owned(&OF_META[..6]));
    let mut units = Vec::with_capacity(count + 1);
    while units.len() < count {
        let dialect = random.below(3);
        for _ in 0..1 + random.below(12) {
            match dialect {
                0 => lines.append(&mut units),
                1 => units.push(meta::shared_unit(&mut random)),
                _ => units.push(frames::unit(&mut random, &keys)),
            }
        }
    }
    units.truncate(count);
    units
}
