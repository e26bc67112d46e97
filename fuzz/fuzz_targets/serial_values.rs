// SPDX-License-Identifier: Apache-2.0
//! Values in serial form, as RESTORE takes them; see `fuzz::serial_values`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::serial_values(input));
