// SPDX-License-Identifier: Apache-2.0
//! Arbitrary bytes through the memcache codec as the binary protocol; see `fuzz::memcache_binary`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::memcache_binary(input));
