// SPDX-License-Identifier: Apache-2.0
//! Transactions.

use super::macros::commands;

commands! {
    group: Transactions;

    Discard = transactions::discard {
        name: "discard", arity: 1, since: "2.0.0",
        flags: [NOSCRIPT LOADING STALE FAST ALLOW_BUSY NEVER_QUEUED], categories: [TRANSACTION], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(N) in the number of queued commands",
        summary: "Drops the commands of a transaction.",
    }
    Exec = transactions::exec {
        name: "exec", arity: 1, since: "1.2.0",
        flags: [NOSCRIPT LOADING STALE SKIP_SLOWLOG NEVER_QUEUED], categories: [TRANSACTION], keys: [],
        syntax: "",
        reply: ArrayOrNull, complexity: "that of its commands",
        summary: "Carries out the commands of a transaction.",
    }
    Multi = transactions::multi {
        name: "multi", arity: 1, since: "1.2.0",
        flags: [NOSCRIPT LOADING STALE FAST ALLOW_BUSY NEVER_QUEUED], categories: [TRANSACTION], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(1)",
        summary: "Begins a transaction: what follows is queued.",
    }
    Unwatch = transactions::unwatch {
        name: "unwatch", arity: 1, since: "2.2.0",
        flags: [NOSCRIPT LOADING STALE FAST ALLOW_BUSY], categories: [TRANSACTION], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(N) in the number of watched keys",
        summary: "Forgets all watched keys.",
    }
    Watch = transactions::watch {
        name: "watch", arity: -2, since: "2.2.0",
        flags: [NOSCRIPT LOADING STALE FAST ALLOW_BUSY HOLDS NEVER_QUEUED], categories: [TRANSACTION],
        keys: [range(1, -1, 1): RO],
        syntax: "key...",
        reply: Ok, complexity: "O(N) in the number of keys",
        summary: "Lets the next transaction fail if one of the keys changes before.",
    }
}
