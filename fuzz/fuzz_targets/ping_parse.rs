// SPDX-License-Identifier: Apache-2.0
//! Arbitrary bytes through the ping codec; see `fuzz::ping_parse`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::ping_parse(input));
