// SPDX-License-Identifier: Apache-2.0
//! What a store of segments refuses, in the words of the configuration.

use server::Error;

/// Why a store of segments cannot be built, as the key to change.
pub(crate) fn refusal(error: &storage_seg::Error) -> Error {
    let key = match error {
        storage_seg::Error::Option { option: "segment_bytes", .. } => "[seg] segment_size",
        storage_seg::Error::Option { option: "value_max", .. } => "[cache] value_max",
        storage_seg::Error::Option { option: "workers", .. } => "[worker] threads",
        _ => "[cache] memory",
    };
    let problem = match error {
        storage_seg::Error::Option { value, reason, .. } => format!("{value}: {reason}"),
        other => other.to_string(),
    };
    Error::Setting { key, problem }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Storage};
    use ::config::ByteSize;

    #[test]
    fn what_is_accepted_can_be_built() {
        for memory in [1_u64 << 20, 3 << 20, 64 << 20, 1 << 30] {
            for size in
                [None, Some(16 << 10), Some(memory / 8).filter(|size| size.is_power_of_two())]
            {
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
    fn a_store_that_cannot_be_built_names_the_key() {
        use storage_seg::{Builder, SegStore};
        let refused = |builder: Builder| {
            let error = builder.build().expect_err("it cannot be built");
            refusal(&error).to_string()
        };
        for (builder, parts) in [
            (SegStore::builder().segment_bytes(3), ["[seg] segment_size", "power of two"]),
            (
                SegStore::builder().value_max(1 << 30),
                ["[cache] value_max", "a quarter of the memory"],
            ),
            (SegStore::builder().workers(0), ["[worker] threads", "from 1 to"]),
            (SegStore::builder().memory(1), ["[cache] memory", "at least 1 MiB"]),
        ] {
            let message = refused(builder);
            assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        }
    }
}
