// SPDX-License-Identifier: Apache-2.0
//! A memcache session through `reactor::turn` under several chunkings; see `fuzz::turn_chunks`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::turn_chunks(input));
