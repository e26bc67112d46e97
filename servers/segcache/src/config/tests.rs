// SPDX-License-Identifier: Apache-2.0
//! What is accepted can be served.

use super::*;

#[test]
fn what_is_accepted_can_be_built() {
    for memory in [1_u64 << 20, 3 << 20, 64 << 20, 1 << 30] {
        for size in [None, Some(16 << 10), Some(memory / 8).filter(|size| size.is_power_of_two())] {
            let mut config = Config::default();
            config.cache.storage = Storage::Seg;
            config.cache.memory = ByteSize(memory);
            config.cache.set_value_max(ByteSize((memory / 4).min(1 << 20)));
            config.seg.segment_size = size.filter(|size| *size <= 8 << 20).map(ByteSize);
            config.check().unwrap_or_else(|error| panic!("{memory} {size:?}: {error}"));
            let store = crate::segments(&config);
            store.unwrap_or_else(|error| panic!("{memory} {size:?}: {error}"));
        }
    }
}

#[test]
fn eight_segments_must_fit_the_memory_of_a_cache_of_segments() {
    let check = |size: u64, storage| {
        let mut config = Config::default();
        config.cache.storage = storage;
        config.seg.segment_size = Some(ByteSize(size));
        config.check()
    };
    assert!(check(8 << 20, Storage::Seg).is_ok());
    let mut config = Config::default();
    config.cache.memory = ByteSize(8 << 20);
    config.seg.segment_size = Some(ByteSize(2 << 20));
    config.cache.storage = Storage::HashMap;
    assert!(config.check().is_ok(), "another storage has no segments");
    config.cache.storage = Storage::Seg;
    assert!(config.check().is_err());
}

#[test]
fn the_policy_is_told_by_its_name() {
    let policy = |text: &str| {
        let config: Config = ::config::parse(text, "test.toml").unwrap();
        config.resp_options(String::new()).memory_policy
    };
    assert_eq!(policy(""), "scored");
    assert_eq!(policy("[seg]\neviction = \"s3fifo\"\n"), "s3fifo");
    assert_eq!(policy("[cache]\nevict = false\n"), "noeviction");
    assert_eq!(policy("[seg]\neviction = \"none\"\n"), "noeviction");
    assert_eq!(policy("[cache]\nstorage = \"hashmap\"\n"), "allkeys-lru");
}
