// SPDX-License-Identifier: Apache-2.0
//! Bytes that scripts read as values; see `fuzz::script_values`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::script_values(input));
