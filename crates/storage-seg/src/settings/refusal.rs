// SPDX-License-Identifier: Apache-2.0
//! [`refusal`]: what a store refuses, in the words of a configuration.

use crate::Error;

/// Why a store cannot be built, as the key to change and the problem with its value.
#[must_use]
pub fn refusal(error: &Error) -> (&'static str, String) {
    let key = match error {
        Error::Option { option: "segment_bytes", .. } => "[seg] segment_size",
        Error::Option { option: "value_max", .. } => "[cache] value_max",
        Error::Option { option: "workers", .. } => "[worker] threads",
        _ => "[cache] memory",
    };
    let problem = match error {
        Error::Option { value, reason, .. } => format!("{value}: {reason}"),
        other => other.to_string(),
    };
    (key, problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, SegStore};

    #[test]
    fn a_store_that_cannot_be_built_names_the_key() {
        let refused = |builder: Builder| refusal(&builder.build().expect_err("it cannot be built"));
        for (builder, key, part) in [
            (SegStore::builder().segment_bytes(3), "[seg] segment_size", "power of two"),
            (
                SegStore::builder().value_max(1 << 30),
                "[cache] value_max",
                "a quarter of the memory",
            ),
            (SegStore::builder().workers(0), "[worker] threads", "from 1 to"),
            (SegStore::builder().memory(1), "[cache] memory", "at least 1 MiB"),
        ] {
            let (named, problem) = refused(builder);
            assert!(named == key && problem.contains(part), "{named}: {problem}");
        }
    }
}
