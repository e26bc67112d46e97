// SPDX-License-Identifier: Apache-2.0
//! Parameters of other servers that have no place in our table: they are accepted in files, and have no effect.

/// Those of Redis 8.0 and Valkey 9.1, sorted.
static NAMES: [&str; 5] =
    ["cluster-ping-interval", "rdma-bind", "rdma-completion-vector", "rdma-port", "rdma-rx-size"];

/// Whether a name is a parameter of Redis or Valkey, though none here.
pub(super) fn has(name: &str) -> bool {
    NAMES.binary_search(&name.to_ascii_lowercase().as_str()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case() {
        assert!(NAMES.is_sorted());
        assert!(has("Rdma-Port") && !has("maxmemory"));
    }
}
