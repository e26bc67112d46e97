// SPDX-License-Identifier: Apache-2.0
//! HyperLogLogs: estimates of how many different elements there were.

use super::macros::commands;

commands! {
    group: Hyperloglog;

    Pfadd = hyperloglog::pfadd {
        name: "pfadd", arity: -2, since: "2.8.9",
        flags: [WRITE DENYOOM FAST], categories: [HYPERLOGLOG], keys: [at(1): RW INSERT],
        syntax: "key [element...]",
        reply: Integer, complexity: "O(1) an element",
        summary: "Notes elements in a HyperLogLog, which is made if there is none.",
    }
    Pfcount = hyperloglog::pfcount {
        name: "pfcount", arity: -2, since: "2.8.9",
        flags: [READONLY MAY_REPLICATE], categories: [HYPERLOGLOG],
        keys: [
            range(1, -1, 1): RW ACCESS,
            "RW because it may change the internal representation of the key, and propagate to replicas"
        ],
        syntax: "key...",
        reply: Integer, complexity: "O(1), with small constants for one key; O(N) in the number of keys",
        summary: "Estimates how many different elements HyperLogLogs have seen.",
    }
    Pfdebug = hyperloglog::pfdebug {
        name: "pfdebug", arity: 3, since: "2.8.9",
        flags: [WRITE DENYOOM ADMIN SYSTEM], categories: [HYPERLOGLOG], keys: [at(2): RW ACCESS],
        syntax: "subcommand key",
        reply: Various, complexity: "O(1)",
        summary: "Shows how a HyperLogLog is stored, and changes that.",
    }
    Pfmerge = hyperloglog::pfmerge {
        name: "pfmerge", arity: -2, since: "2.8.9",
        flags: [WRITE DENYOOM], categories: [HYPERLOGLOG],
        keys: [at(1): RW ACCESS INSERT; range(2, -1, 1): RO ACCESS],
        syntax: "destkey:key [sourcekey:key...]",
        reply: Ok, complexity: "O(N) in the number of keys",
        summary: "Merges HyperLogLogs into one.",
    }
    Pfselftest = hyperloglog::pfselftest {
        name: "pfselftest", arity: 1, since: "2.8.9",
        flags: [ADMIN SYSTEM], categories: [HYPERLOGLOG], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(1)",
        summary: "Tests HyperLogLogs.",
    }
}
