// SPDX-License-Identifier: Apache-2.0
//! Keyspaces of tests, which do one thing by themselves and leave all others to a [`TypedStore`](storage_typed::TypedStore).

/// What every such keyspace leaves to its field `inner`: all but `view` and prefetches, and `make_room` if it says so.
macro_rules! forward_to_inner {
    () => {
        forward_to_inner!(all but make_room);

        fn make_room(&mut self, unix_ms: u64, gone: &mut dyn FnMut(keyspace::Gone<'_>)) -> bool {
            self.inner.make_room(unix_ms, gone)
        }
    };
    (all but make_room) => {
        type View<'a> = <storage_typed::TypedStore as keyspace::Keyspace>::View<'a>;

        fn databases(&self) -> usize {
            self.inner.databases()
        }

        fn scope(&self, key: &[u8]) -> keyspace::Scope {
            self.inner.scope(key)
        }

        fn maintain(
            &mut self,
            unix_ms: u64,
            budget: usize,
            gone: &mut dyn FnMut(keyspace::Gone<'_>),
        ) -> bool {
            self.inner.maintain(unix_ms, budget, gone)
        }

        fn settings(&self) -> &std::sync::Arc<keyspace::Settings> {
            self.inner.settings()
        }

        fn stats(&self) -> keyspace::KeyspaceStats {
            self.inner.stats()
        }

        fn observer(&self) -> keyspace::Observer {
            self.inner.observer()
        }

        fn reset_stats(&mut self) {
            self.inner.reset_stats();
        }

        fn used_bytes(&self) -> u64 {
            self.inner.used_bytes()
        }

        fn reserve(&mut self, bytes: u64) {
            self.inner.reserve(bytes);
        }

        fn check_integrity(&self) {
            self.inner.check_integrity();
        }
    };
}
