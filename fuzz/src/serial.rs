// SPDX-License-Identifier: Apache-2.0
//! Values in serial form, for `serial_values`. An input is a byte that chooses the version, the type and the value; or
//! a whole payload with its checksum.

use crate::keyspace::value::Value;
use values::serial::{self, Bounds, FormVersion};
use values::{Entry, Limits};

/// The present time: fields of hashes that expire before it are gone.
const NOW_MS: u64 = 1_700_000_000_000;

/// The most bytes that come out of compressed strings.
const BYTES_MAX: usize = 1 << 20;

/// Reads an input as a value, and as a payload.
pub(crate) fn check(input: &[u8]) {
    if let Some((value, version)) = serial::open(input) {
        check_value(value, version);
    }
    let Some((&choice, value)) = input.split_first() else { return };
    let versions = [FormVersion::REDIS_7_0, FormVersion::REDIS_7_4, FormVersion(80)];
    check_value(value, versions[usize::from(choice) % versions.len()]);
}

/// What is read is whole, takes memory in proportion to its bytes, and is the same when it is written and read again.
fn check_value(value: &[u8], version: FormVersion) {
    let none_packed = Limits {
        hash_entries: 0,
        list_bytes: 1,
        set_intset: 0,
        set_entries: 0,
        zset_entries: 0,
        ..Limits::default()
    };
    for limits in [Limits::default(), none_packed] {
        let bounds = Bounds { limits: &limits, now_ms: NOW_MS, bytes_max: BYTES_MAX };
        let Ok(Some(entry)) = serial::read(b"key", value, version, bounds) else { continue };
        let most = 1_000 + 200 * value.len() + 2 * BYTES_MAX;
        assert!(entry.heap_bytes() <= most, "{} bytes of {}", entry.heap_bytes(), value.len());
        let again = written_and_read(&entry, bounds);
        Value::of(&entry, NOW_MS).check(&entry, NOW_MS);
        Value::of(&entry, NOW_MS).check(&again, NOW_MS);
    }
}

fn written_and_read(entry: &Entry, bounds: Bounds<'_>) -> Entry {
    let mut payload = Vec::new();
    let version = serial::write(entry, NOW_MS, &mut payload);
    serial::seal(&mut payload, version);
    let (value, version) = serial::open(&payload).expect("its checksum is right");
    let bounds = Bounds { bytes_max: usize::MAX, ..bounds };
    serial::read(b"key", value, version, bounds).expect("it was written").expect("it is there")
}
