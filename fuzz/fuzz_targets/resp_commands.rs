// SPDX-License-Identifier: Apache-2.0
//! Commands from the table to the RESP service; see `fuzz::resp_commands`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::resp_commands(input));
