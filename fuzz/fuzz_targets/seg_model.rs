// SPDX-License-Identifier: Apache-2.0
//! Arbitrary operations on `storage-seg` beside a plain map; see `fuzz::seg_model`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::seg_model(input));
