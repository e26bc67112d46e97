// SPDX-License-Identifier: Apache-2.0
//! Frames of the binary protocol: their layout, and generated requests.

use crate::support::unit::Unit;
use test_support::random::Random;

pub(crate) const HEADER_LEN: usize = 24;
pub(crate) const CAS_AT: usize = 16;
const OPAQUE_AT: usize = 12;
pub(crate) const REQUEST: u8 = 0x80;
pub(crate) const RESPONSE: u8 = 0x81;
const NOOP: u8 = 0x0a;
const UNKNOWN: u8 = 0x60;

/// The opcodes of reads, which keep an item busy until the reply is sent.
pub(crate) const READS: [u8; 9] = [0x00, 0x09, 0x0c, 0x0d, 0x1c, 0x1d, 0x1e, 0x23, 0x24];
/// The opcodes that change a number.
pub(crate) const ARITH: [u8; 4] = [0x05, 0x06, 0x15, 0x16];
/// The opcodes of writes.
const WRITES: [u8; 10] = [0x01, 0x02, 0x03, 0x11, 0x12, 0x13, 0x0e, 0x0f, 0x19, 0x1a];
/// The opcodes that delete.
const DELETES: [u8; 2] = [0x04, 0x14];
/// The opcodes that take no key.
const KEYLESS: [u8; 5] = [0x08, 0x18, NOOP, 0x1b, UNKNOWN];

const VALUES: [&[u8]; 9] =
    [b"", b"1", b"99", b"007", b"5x", b"value", b"\r\nEND\r\n", b"10 ", &[b'v'; 70_000]];
const EXPTIMES: [u32; 7] = [0, 0, 0, 1000, 2_592_001, 0x8000_0000, u32::MAX];
const NUMBERS: [u64; 5] = [0, 1, 7, 1000, 1 << 62];

/// The keys of frames.
#[derive(Debug, Clone)]
pub(crate) struct Keys {
    /// Those that are read, touched and deleted.
    pub(crate) read: Vec<Vec<u8>>,
    /// Those that are written.
    pub(crate) written: Vec<Vec<u8>>,
    /// Those whose numbers are changed.
    pub(crate) counted: Vec<Vec<u8>>,
}

impl Keys {
    /// Keys that only frames have, of any bytes.
    pub(crate) fn own() -> Self {
        let keys: [&[u8]; 6] = [b"a", b"b", b"\0\r\n ", b"number", b"\xff", &[b'k'; 250]];
        let keys: Vec<Vec<u8>> = keys.map(<[u8]>::to_vec).into();
        Keys { read: keys.clone(), written: keys.clone(), counted: keys }
    }
}

fn any<'a, T>(random: &mut Random, from: &'a [T]) -> &'a T {
    &from[random.below(from.len())]
}

/// Makes a request.
pub(crate) fn unit(random: &mut Random, keys: &Keys) -> Unit {
    let opcode = match random.below(100) {
        0..36 => *any(random, &READS),
        36..56 => *any(random, &ARITH),
        56..90 => *any(random, &WRITES),
        90..96 => *any(random, &DELETES),
        96 if random.one_in(2) => *any(random, &KEYLESS[..2]),
        _ => *any(random, &KEYLESS[2..]),
    };
    let keys = if ARITH.contains(&opcode) {
        &keys.counted
    } else if WRITES.contains(&opcode) {
        &keys.written
    } else {
        &keys.read
    };
    let key = if KEYLESS.contains(&opcode) { Vec::new() } else { any(random, keys).clone() };
    let (extras, value) = behind(random, opcode);
    let demand = random.below(10);
    let mut bytes = vec![REQUEST, opcode, 0, key.len() as u8, extras.len() as u8, 0, 0, 0];
    bytes.extend(((extras.len() + key.len() + value.len()) as u32).to_be_bytes());
    bytes.extend([0; 4]);
    // None that an item ever has.
    let cas = if demand == 2 { u64::MAX - 5 } else { 0 };
    bytes.extend(cas.to_be_bytes());
    let bytes = [&bytes[..], &extras, &key, &value].concat();
    let mut unit = Unit::frame(&bytes, opcode, &key, demand < 2);
    unit.ends_batch = random.one_in(16);
    unit
}

/// Extras and value.
fn behind(random: &mut Random, opcode: u8) -> (Vec<u8>, Vec<u8>) {
    let exptime = any(random, &EXPTIMES).to_be_bytes();
    match opcode {
        0x01..=0x03 | 0x11..=0x13 => {
            let flags = (random.below(3) as u32 * 0x7fff_ffff).to_be_bytes();
            let is_too_large = random.one_in(300);
            let value =
                if is_too_large { vec![b'l'; 1_100_000] } else { any(random, &VALUES).to_vec() };
            ([flags, exptime].concat(), value)
        }
        0x0e | 0x0f | 0x19 | 0x1a => (Vec::new(), any(random, &VALUES[..6]).to_vec()),
        0x1c..=0x1e | 0x23 | 0x24 => (exptime.to_vec(), Vec::new()),
        0x05 | 0x06 | 0x15 | 0x16 => {
            let [delta, initial] = [0; 2].map(|_: u8| any(random, &NUMBERS).to_be_bytes());
            ([&delta[..], &initial, &exptime].concat(), Vec::new())
        }
        UNKNOWN => (Vec::new(), vec![REQUEST; random.below(50)]),
        _ => (Vec::new(), Vec::new()),
    }
}

/// A frame without a body, behind `len` others.
pub(crate) fn noop(magic: u8, len: usize) -> Vec<u8> {
    let mut frame = vec![0; HEADER_LEN];
    (frame[0], frame[1]) = (magic, NOOP);
    number(&mut frame, len);
    frame
}

/// Writes into a frame that it is the one `at` this place.
pub(crate) fn number(frame: &mut [u8], at: usize) {
    frame[OPAQUE_AT..CAS_AT].copy_from_slice(&(at as u32).to_be_bytes());
}

/// Which frame a reply is to.
pub(crate) fn opaque(frame: &[u8]) -> u32 {
    u32::from_be_bytes(frame[OPAQUE_AT..CAS_AT].try_into().unwrap())
}

pub(crate) fn cas(frame: &[u8]) -> u64 {
    u64::from_be_bytes(frame[CAS_AT..HEADER_LEN].try_into().unwrap())
}

/// The first frame, and what follows it; `None` if it is not all there.
pub(crate) fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let len = u32::from_be_bytes(bytes.get(8..OPAQUE_AT)?.try_into().unwrap()) as usize;
    bytes.split_at_checked(HEADER_LEN + len)
}
