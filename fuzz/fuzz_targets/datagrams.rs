// SPDX-License-Identifier: Apache-2.0
//! Arbitrary datagrams with requests of memcache; see `fuzz::datagrams`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::datagrams(input));
