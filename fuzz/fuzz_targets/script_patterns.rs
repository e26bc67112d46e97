// SPDX-License-Identifier: Apache-2.0
//! Patterns of scripts, and texts to find them in; see `fuzz::script_patterns`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::script_patterns(input));
