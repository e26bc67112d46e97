// SPDX-License-Identifier: Apache-2.0
//! All connections, for the commands that look at them.

use crate::engine::any_call::CallParts;
use crate::session::listed_client::ListedClient;
use std::collections::BTreeMap;

/// All connections, oldest first.
pub(crate) fn all_clients(parts: &CallParts<'_, '_>) -> Vec<ListedClient> {
    let mut all = BTreeMap::new();
    for peer in parts.directory.iter().flat_map(|directory| directory.list()) {
        all.insert(peer.id, ListedClient::of_peer(peer));
    }
    for client in parts.clients.list() {
        all.insert(client.id, ListedClient::of(&client));
    }
    all.into_values().filter(|listed| !listed.is_going()).collect()
}
