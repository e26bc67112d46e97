// SPDX-License-Identifier: Apache-2.0
//! Arbitrary bytes through the memcache codec, both ways; see `fuzz::memcache_parse`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::memcache_parse(input));
