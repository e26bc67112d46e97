// SPDX-License-Identifier: Apache-2.0
//! [`Strings`]: the service over a hash table of items.

use crate::support::Subject;
use protocol_resp::Version;
use protocol_resp::strings::{Connection, RespStrings, StringsOptions};
use storage::Store;
use storage_hashmap::HashMapStore;

const VALUE_MAX: usize = 1 << 20;

/// A server of strings.
pub(crate) struct Strings {
    /// A handle of its own on the services' items.
    store: HashMapStore,
}

impl Subject for Strings {
    type Connection = Connection;
    type Service = RespStrings<HashMapStore>;

    fn make(workers: usize) -> (Self, Vec<Self::Service>) {
        let store = HashMapStore::builder().memory(16 << 20).item_max(VALUE_MAX as u64).seed(7);
        let store = store.build();
        let options = StringsOptions::new().value_max(VALUE_MAX).port(6379).threads(2);
        let service = RespStrings::new(store.clone(), options);
        (Strings { store }, vec![service; workers])
    }

    fn connection(&self, version: Version) -> Connection {
        Connection::new(VALUE_MAX).speaking(version)
    }

    fn check_integrity(&self) {
        self.store.check_integrity();
    }
}
