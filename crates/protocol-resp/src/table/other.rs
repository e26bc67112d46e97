// SPDX-License-Identifier: Apache-2.0
//! What does not apply to a cache: replication, files, modules. Tools send these, so each
//! has an answer: a constant, or the error of a server that does not do it.

use super::macros::commands;

commands! {
    group: Server;

    Bgrewriteaof = other::bgrewriteaof {
        name: "bgrewriteaof", arity: 1, since: "1.0.0",
        flags: [ADMIN NOSCRIPT NO_ASYNC_LOADING], categories: [], keys: [],
        syntax: "",
        reply: Status, complexity: "O(1)",
        summary: "Rewrites the log of writes. There is none.",
    }
    Bgsave = other::bgsave {
        name: "bgsave", arity: -1, since: "1.0.0",
        flags: [ADMIN NOSCRIPT NO_ASYNC_LOADING], categories: [], keys: [],
        syntax: "[SCHEDULE]",
        reply: Status, complexity: "O(1)",
        summary: "Saves the data in the background. Nothing is saved.",
    }
    Failover = other::failover {
        name: "failover", arity: -1, since: "6.2.0",
        flags: [ADMIN NOSCRIPT STALE], categories: [], keys: [],
        syntax: "[TO (target: host port [FORCE])] [ABORT] [TIMEOUT milliseconds]",
        reply: Ok, complexity: "O(1)",
        summary: "Lets a replica take over. There is none.",
    }
    Lastsave = other::lastsave {
        name: "lastsave", arity: 1, since: "1.0.0",
        flags: [LOADING STALE FAST], categories: [ADMIN DANGEROUS], keys: [],
        syntax: "",
        reply: Integer, complexity: "O(1)",
        summary: "Tells when data was last saved.",
        tips: ["nondeterministic_output"],
    }
    Module = dispatch::unknown_subcommand {
        name: "module", arity: -2, since: "4.0.0",
        flags: [], categories: [], keys: [],
        syntax: "",
        reply: Various, complexity: "O(1)",
        summary: "Looks after modules. There are none.",
    }
    ModuleHelp = dispatch::help {
        name: "module|help", arity: 2, since: "5.0.0",
        flags: [LOADING STALE HELP], categories: [], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the sub-commands.",
    }
    ModuleList = other::module_list {
        name: "module|list", arity: 2, since: "4.0.0",
        flags: [ADMIN NOSCRIPT], categories: [], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the modules.",
        tips: ["nondeterministic_output_order"],
    }
    ModuleLoad = other::module_load {
        name: "module|load", arity: -3, since: "4.0.0",
        flags: [ADMIN NOSCRIPT NO_ASYNC_LOADING], categories: [], keys: [],
        syntax: "path [arg...]",
        reply: Ok, complexity: "O(1)",
        summary: "Loads a module.",
    }
    ModuleLoadex = other::module_loadex {
        name: "module|loadex", arity: -3, since: "7.0.0",
        flags: [ADMIN NOSCRIPT NO_ASYNC_LOADING], categories: [], keys: [],
        syntax: "path [(CONFIG (configs: name value))...] [ARGS (args: arg)...]",
        reply: Ok, complexity: "O(1)",
        summary: "Loads a module with parameters.",
    }
    ModuleUnload = other::module_unload {
        name: "module|unload", arity: 3, since: "4.0.0",
        flags: [ADMIN NOSCRIPT NO_ASYNC_LOADING], categories: [], keys: [],
        syntax: "name",
        reply: Ok, complexity: "O(1)",
        summary: "Unloads a module.",
    }
    Psync = other::psync {
        name: "psync", arity: -3, since: "2.8.0",
        flags: [ADMIN NOSCRIPT NO_ASYNC_LOADING NO_MULTI], categories: [], keys: [],
        syntax: "replicationid offset",
        reply: Various, complexity: "O(1)",
        summary: "What a replica asks its primary for.",
    }
    Replconf = other::replconf {
        name: "replconf", arity: -1, since: "3.0.0",
        flags: [ADMIN NOSCRIPT LOADING STALE ALLOW_BUSY SYSTEM], categories: [], keys: [],
        syntax: "",
        reply: Various, complexity: "O(1)",
        summary: "What a replica tells its primary.",
    }
    Replicaof = other::replicaof {
        name: "replicaof", arity: 3, since: "5.0.0",
        flags: [ADMIN NOSCRIPT STALE NO_ASYNC_LOADING], categories: [], keys: [],
        syntax: "(args: (host-port: host port) | (no-one: NO ONE))",
        reply: Ok, complexity: "O(1)",
        summary: "Makes the server a replica, or a primary again.",
    }
    Role = other::role {
        name: "role", arity: 1, since: "2.8.12",
        flags: [NOSCRIPT LOADING STALE FAST], categories: [ADMIN DANGEROUS], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Tells the server's part in replication.",
    }
    Save = other::save {
        name: "save", arity: 1, since: "1.0.0",
        flags: [ADMIN NOSCRIPT NO_ASYNC_LOADING NO_MULTI], categories: [], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(1)",
        summary: "Saves the data. Nothing is saved.",
    }
    Slaveof = other::slaveof {
        name: "slaveof", arity: 3, since: "1.0.0",
        flags: [ADMIN NOSCRIPT STALE NO_ASYNC_LOADING], categories: [], keys: [],
        syntax: "(args: (host-port: host port) | (no-one: NO ONE))",
        reply: Ok, complexity: "O(1)",
        summary: "Makes the server a replica, or a primary again.",
        deprecated: "5.0.0" => "`REPLICAOF`",
    }
    Sync = other::sync {
        name: "sync", arity: 1, since: "1.0.0",
        flags: [ADMIN NOSCRIPT NO_ASYNC_LOADING NO_MULTI], categories: [], keys: [],
        syntax: "",
        reply: Various, complexity: "O(1)",
        summary: "What a replica asks its primary for.",
    }
}
