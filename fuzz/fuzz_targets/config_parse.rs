// SPDX-License-Identifier: Apache-2.0
//! Arbitrary text as a configuration; see `fuzz::config_parse`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::config_parse(input));
