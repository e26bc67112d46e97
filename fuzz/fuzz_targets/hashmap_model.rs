// SPDX-License-Identifier: Apache-2.0
//! Arbitrary operations on `storage-hashmap` beside a plain map; see `fuzz::hashmap_model`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::hashmap_model(input));
