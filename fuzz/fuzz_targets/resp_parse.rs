// SPDX-License-Identifier: Apache-2.0
//! Arbitrary bytes through the RESP codec; see `fuzz::resp_parse`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::resp_parse(input));
