// SPDX-License-Identifier: Apache-2.0
//! CONFIG GET.

use super::store_call::{DATABASES, StoreCall};
use crate::wire::fault::Done;
use crate::wire::glob;
use storage::Store;

/// Shows those of Redis's parameters that have a meaning here, and constants that tools look for.
pub(super) fn config_get<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    let options = &call.shared.options;
    let parameters: [(&str, String); 11] = [
        ("appendonly", "no".to_owned()),
        ("cluster-enabled", "no".to_owned()),
        ("databases", DATABASES.to_string()),
        ("io-threads", options.threads.to_string()),
        ("maxclients", options.connections_max.to_string()),
        ("maxmemory", call.store.limit_bytes().to_string()),
        ("maxmemory-policy", options.memory_policy.clone()),
        ("port", options.port.to_string()),
        ("proto-max-bulk-len", options.value_max.to_string()),
        ("save", String::new()),
        ("timeout", options.idle_timeout.as_secs().to_string()),
    ];
    let patterns = call.args.tail(2);
    let is_asked_for = |name: &str| {
        patterns.iter().any(|pattern| glob::matches_with(pattern, name.as_bytes(), true))
    };
    let chosen = parameters.iter().filter(|(name, _)| is_asked_for(name));
    call.out.map(chosen.clone().count());
    for (name, value) in chosen {
        call.out.bulk(name.as_bytes());
        call.out.bulk(value.as_bytes());
    }
    Ok(())
}
