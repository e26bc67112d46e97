// SPDX-License-Identifier: Apache-2.0
//! Arbitrary text as the nodes of a cluster; see `fuzz::nodes_file`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::nodes_file(input));
