// SPDX-License-Identifier: Apache-2.0
//! Arbitrary operations on the typed keyspace beside plain collections; see `fuzz::keyspace_model`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::keyspace_model(input));
