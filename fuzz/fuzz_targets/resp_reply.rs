// SPDX-License-Identifier: Apache-2.0
//! Arbitrary bytes as RESP replies; see `fuzz::resp_reply`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::resp_reply(input));
