// SPDX-License-Identifier: Apache-2.0
//! The server itself: commands, configuration, what it measures.

use super::macros::commands;
use super::spec::{SECRET_PARAMETERS, Secret};

commands! {
    group: Server;

    Command = server::command {
        name: "command", arity: -1, since: "2.8.13",
        flags: [LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "",
        reply: Array, complexity: "O(N) in the number of commands",
        summary: "Describes the commands.",
        tips: ["nondeterministic_output_order"],
    }
    CommandCount = server::command_count {
        name: "command|count", arity: 2, since: "2.8.13",
        flags: [LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "",
        reply: Integer, complexity: "O(1)",
        summary: "Counts the commands.",
    }
    CommandDocs = server::command_docs {
        name: "command|docs", arity: -2, since: "7.0.0",
        flags: [LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "[command-name...]",
        reply: Map, complexity: "O(N) in the number of commands",
        summary: "Returns what is written about commands.",
        tips: ["nondeterministic_output_order"],
    }
    CommandGetkeys = server::command_getkeys {
        name: "command|getkeys", arity: -3, since: "2.8.13",
        flags: [LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "",
        reply: Array, complexity: "O(N) in the number of arguments",
        summary: "Finds the keys of a command.",
    }
    CommandGetkeysandflags = server::command_getkeysandflags {
        name: "command|getkeysandflags", arity: -3, since: "7.0.0",
        flags: [LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "",
        reply: Array, complexity: "O(N) in the number of arguments",
        summary: "Finds the keys of a command and what it does to them.",
    }
    CommandHelp = dispatch::help {
        name: "command|help", arity: 2, since: "5.0.0",
        flags: [LOADING STALE HELP], categories: [CONNECTION], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the sub-commands.",
    }
    CommandInfo = server::command_info {
        name: "command|info", arity: -2, since: "2.8.13",
        flags: [LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "[command-name...]",
        reply: Array, complexity: "O(N) in the number of commands",
        summary: "Describes some of the commands.",
        tips: ["nondeterministic_output_order"],
    }
    CommandList = server::command_list {
        name: "command|list", arity: -2, since: "7.0.0",
        flags: [LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "[FILTERBY (filterby: MODULE module-name | ACLCAT category | PATTERN pattern)]",
        reply: Array, complexity: "O(N) in the number of commands",
        summary: "Lists the names of commands.",
        tips: ["nondeterministic_output_order"],
    }
    Commandlog = dispatch::unknown_subcommand {
        name: "commandlog", arity: -2, since: "8.1.0",
        flags: [], categories: [], keys: [],
        syntax: "",
        reply: Various, complexity: "O(1)",
        summary: "Looks at the commands that took long or were large.",
    }
    CommandlogGet = server::commandlog_get {
        name: "commandlog|get", arity: 4, since: "8.1.0",
        flags: [ADMIN LOADING STALE], categories: [], keys: [],
        syntax: "count (type: SLOW | LARGE-REQUEST | LARGE-REPLY)",
        reply: Array, complexity: "O(N) in the entries returned",
        summary: "Lists the commands that took long, or whose requests or replies were large.",
        tips: ["request_policy:all_nodes", "nondeterministic_output"],
    }
    CommandlogHelp = dispatch::help {
        name: "commandlog|help", arity: 2, since: "8.1.0",
        flags: [LOADING STALE HELP], categories: [], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the sub-commands.",
    }
    CommandlogLen = server::commandlog_len {
        name: "commandlog|len", arity: 3, since: "8.1.0",
        flags: [ADMIN LOADING STALE], categories: [], keys: [],
        syntax: "(type: SLOW | LARGE-REQUEST | LARGE-REPLY)",
        reply: Integer, complexity: "O(1)",
        summary: "Counts the commands of a kind that are remembered.",
        tips: ["request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output"],
    }
    CommandlogReset = server::commandlog_reset {
        name: "commandlog|reset", arity: 3, since: "8.1.0",
        flags: [ADMIN LOADING STALE], categories: [], keys: [],
        syntax: "(type: SLOW | LARGE-REQUEST | LARGE-REPLY)",
        reply: Ok, complexity: "O(N) in the number of entries",
        summary: "Forgets the commands of a kind.",
        tips: ["request_policy:all_nodes", "response_policy:all_succeeded"],
    }
    Config = dispatch::unknown_subcommand {
        name: "config", arity: -2, since: "2.0.0",
        flags: [], categories: [], keys: [],
        syntax: "",
        reply: Various, complexity: "O(1)",
        summary: "Reads and changes the configuration.",
    }
    ConfigGet = server::config_get {
        name: "config|get", arity: -3, since: "2.0.0",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "(parameter: parameter)...",
        reply: Map, complexity: "O(N*M) in the parameters N and the patterns M",
        summary: "Reads parameters.",
    }
    ConfigHelp = dispatch::help {
        name: "config|help", arity: 2, since: "5.0.0",
        flags: [LOADING STALE HELP], categories: [], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the sub-commands.",
    }
    ConfigResetstat = server::config_resetstat {
        name: "config|resetstat", arity: 2, since: "2.0.0",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(1)",
        summary: "Sets the counters of INFO to zero.",
    }
    ConfigRewrite = server::config_rewrite {
        name: "config|rewrite", arity: 2, since: "2.8.0",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(1)",
        summary: "Writes the parameters in force to the configuration file.",
    }
    ConfigSet = server::config_set {
        name: "config|set", arity: -4, since: "2.0.0",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "(parameter value)...",
        secret: Secret::Values { names: SECRET_PARAMETERS, from: 2 },
        reply: Ok, complexity: "O(N) in the number of parameters",
        summary: "Changes parameters.",
        tips: ["request_policy:all_nodes", "response_policy:all_succeeded"],
    }
    Dbsize = server::dbsize {
        name: "dbsize", arity: 1, since: "1.0.0",
        flags: [READONLY FAST ARBITRARY_KEYS], categories: [KEYSPACE], keys: [],
        syntax: "",
        reply: Integer, complexity: "O(1)",
        summary: "Counts the keys of the database.",
        tips: ["request_policy:all_shards", "response_policy:agg_sum"],
    }
    Debug = server::debug {
        name: "debug", arity: -2, since: "1.0.0",
        flags: [ADMIN NOSCRIPT LOADING STALE SYSTEM ARBITRARY_KEYS], categories: [], keys: [],
        syntax: "",
        reply: Various, complexity: "depends on the sub-command",
        summary: "What tests need.",
    }
    Flushall = server::flushall {
        name: "flushall", arity: -1, since: "1.0.0",
        flags: [WRITE ARBITRARY_KEYS], categories: [KEYSPACE DANGEROUS], keys: [],
        syntax: "[async: ASYNC | SYNC]",
        databases: super::spec::Databases::All,
        reply: Ok, complexity: "O(1)",
        summary: "Empties all databases.",
        tips: ["request_policy:all_shards", "response_policy:all_succeeded"],
    }
    Flushdb = server::flushdb {
        name: "flushdb", arity: -1, since: "1.0.0",
        flags: [WRITE ARBITRARY_KEYS], categories: [KEYSPACE DANGEROUS], keys: [],
        syntax: "[async: ASYNC | SYNC]",
        reply: Ok, complexity: "O(1)",
        summary: "Empties the database.",
        tips: ["request_policy:all_shards", "response_policy:all_succeeded"],
    }
    Hotkeys = dispatch::unknown_subcommand {
        name: "hotkeys", arity: -2, since: "8.6.0",
        flags: [], categories: [], keys: [],
        syntax: "",
        reply: Various, complexity: "O(1)",
        summary: "Finds the keys that take the most time and bytes.",
    }
    HotkeysGet = server::hotkeys_get {
        name: "hotkeys|get", arity: 2, since: "8.6.0",
        flags: [ADMIN NOSCRIPT], categories: [], keys: [],
        syntax: "",
        reply: Array, complexity: "O(K) in the keys that are shown",
        summary: "Tells what the last session has found.",
        tips: ["request_policy:special", "response_policy:special", "nondeterministic_output"],
    }
    HotkeysHelp = dispatch::help {
        name: "hotkeys|help", arity: 2, since: "8.6.0",
        flags: [LOADING STALE HELP], categories: [], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the sub-commands.",
    }
    HotkeysReset = server::hotkeys_reset {
        name: "hotkeys|reset", arity: 2, since: "8.6.0",
        flags: [ADMIN NOSCRIPT], categories: [], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(K) in the keys that are known",
        summary: "Forgets what the last session has found.",
        tips: ["request_policy:special"],
    }
    HotkeysStart = server::hotkeys_start {
        name: "hotkeys|start", arity: -2, since: "8.6.0",
        flags: [ADMIN NOSCRIPT], categories: [], keys: [],
        syntax: "METRICS (metrics: count [CPU] [NET]) [COUNT k:integer] [DURATION seconds] \
                 [SAMPLE ratio:integer] [SLOTS (slots: slot-count:integer (slot:integer)...)]",
        reply: Ok, complexity: "O(1)",
        summary: "Begins to look for such keys.",
        tips: ["request_policy:special"],
    }
    HotkeysStop = server::hotkeys_stop {
        name: "hotkeys|stop", arity: 2, since: "8.6.0",
        flags: [ADMIN NOSCRIPT], categories: [], keys: [],
        syntax: "",
        reply: Various, complexity: "O(1)",
        summary: "Looks for such keys no more, and keeps what was found.",
        tips: ["request_policy:special"],
    }
    Info = server::info {
        name: "info", arity: -1, since: "1.0.0",
        flags: [LOADING STALE NEEDS_STATS], categories: [DANGEROUS], keys: [],
        syntax: "[section...]",
        reply: Text, complexity: "O(1)",
        summary: "Tells about the server.",
        tips: ["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
    }
    Latency = dispatch::unknown_subcommand {
        name: "latency", arity: -2, since: "2.8.13",
        flags: [], categories: [], keys: [],
        syntax: "",
        reply: Various, complexity: "O(1)",
        summary: "Looks at how long things take.",
    }
    LatencyDoctor = server::latency_doctor {
        name: "latency|doctor", arity: 2, since: "2.8.13",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "",
        reply: Text, complexity: "O(1)",
        summary: "Says what might be slow.",
        tips: ["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"],
    }
    LatencyGraph = server::latency_graph {
        name: "latency|graph", arity: 3, since: "2.8.13",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "event",
        reply: Text, complexity: "O(1)",
        summary: "Draws the latencies of an event.",
        tips: ["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"],
    }
    LatencyHelp = dispatch::help {
        name: "latency|help", arity: 2, since: "2.8.13",
        flags: [LOADING STALE HELP], categories: [], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the sub-commands.",
    }
    LatencyHistogram = server::latency_histogram {
        name: "latency|histogram", arity: -2, since: "7.0.0",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "[command...]",
        reply: Map, complexity: "O(N) in the number of commands",
        summary: "Tells how long commands took, as histograms.",
        tips: ["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"],
    }
    LatencyHistory = server::latency_history {
        name: "latency|history", arity: 3, since: "2.8.13",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "event",
        reply: Array, complexity: "O(1)",
        summary: "Lists the latencies of an event.",
        tips: ["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"],
    }
    LatencyLatest = server::latency_latest {
        name: "latency|latest", arity: 2, since: "2.8.13",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the last latency of each event.",
        tips: ["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"],
    }
    LatencyReset = server::latency_reset {
        name: "latency|reset", arity: -2, since: "2.8.13",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "[event...]",
        reply: Integer, complexity: "O(1)",
        summary: "Forgets the latencies of events.",
        tips: ["request_policy:all_nodes", "response_policy:all_succeeded"],
    }
    Lolwut = server::lolwut {
        name: "lolwut", arity: -1, since: "5.0.0",
        flags: [READONLY FAST], categories: [], keys: [],
        syntax: "[VERSION version]",
        reply: Text, complexity: "O(1)",
        summary: "Shows a piece of art and the version.",
    }
    Memory = dispatch::unknown_subcommand {
        name: "memory", arity: -2, since: "4.0.0",
        flags: [], categories: [], keys: [],
        syntax: "",
        reply: Various, complexity: "O(1)",
        summary: "Looks at what memory is used for.",
    }
    MemoryDoctor = server::memory_doctor {
        name: "memory|doctor", arity: 2, since: "4.0.0",
        flags: [NEEDS_STATS], categories: [], keys: [],
        syntax: "",
        reply: Text, complexity: "O(1)",
        summary: "Says what might waste memory.",
        tips: ["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
    }
    MemoryHelp = dispatch::help {
        name: "memory|help", arity: 2, since: "4.0.0",
        flags: [LOADING STALE HELP], categories: [], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the sub-commands.",
    }
    MemoryMallocStats = server::memory_malloc_stats {
        name: "memory|malloc-stats", arity: 2, since: "4.0.0",
        flags: [], categories: [], keys: [],
        syntax: "",
        reply: Text, complexity: "O(1)",
        summary: "Tells about the allocator.",
        tips: ["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
    }
    MemoryPurge = server::memory_purge {
        name: "memory|purge", arity: 2, since: "4.0.0",
        flags: [], categories: [], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(1)",
        summary: "Asks the allocator to return memory.",
        tips: ["request_policy:all_shards", "response_policy:all_succeeded"],
    }
    MemoryStats = server::memory_stats {
        name: "memory|stats", arity: 2, since: "4.0.0",
        flags: [NEEDS_STATS], categories: [], keys: [],
        syntax: "",
        reply: Map, complexity: "O(1)",
        summary: "Tells what memory is used for.",
        tips: ["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
    }
    MemoryUsage = server::memory_usage {
        name: "memory|usage", arity: -3, since: "4.0.0",
        flags: [READONLY], categories: [], keys: [at(2): RO],
        syntax: "key [SAMPLES count]",
        reply: IntegerOrNull, complexity: "O(1)",
        summary: "Tells how many bytes a key and its value take.",
    }
    Monitor = monitor::monitor {
        name: "monitor", arity: 1, since: "1.0.0",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(1)",
        summary: "Shows every command that the server is sent.",
    }
    RestoreAsking = generic::restore {
        name: "restore-asking", arity: -4, since: "3.0.0",
        flags: [WRITE DENYOOM ASKING SYSTEM], categories: [KEYSPACE DANGEROUS],
        keys: [at(1): OW UPDATE],
        syntax: "key ttl:integer serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] \
                 [FREQ frequency:integer]",
        reply: Ok, complexity: "O(N) in the size of the value, O(N*log(N)) of a sorted set",
        summary: "Is RESTORE, as nodes of a cluster send it.",
    }
    Shutdown = server::shutdown {
        name: "shutdown", arity: -1, since: "1.0.0",
        flags: [ADMIN NOSCRIPT LOADING STALE NO_MULTI ALLOW_BUSY], categories: [], keys: [],
        syntax: "[NOSAVE | SAVE] [NOW] [FORCE] [ABORT]",
        reply: Various, complexity: "O(1)",
        summary: "Stops the server.",
    }
    Slowlog = dispatch::unknown_subcommand {
        name: "slowlog", arity: -2, since: "2.2.12",
        flags: [], categories: [], keys: [],
        syntax: "",
        reply: Various, complexity: "O(1)",
        summary: "Looks at the commands that took long.",
    }
    SlowlogGet = server::slowlog_get {
        name: "slowlog|get", arity: -2, since: "2.2.12",
        flags: [ADMIN LOADING STALE], categories: [], keys: [],
        syntax: "[count]",
        reply: Array, complexity: "O(N) in the entries returned",
        summary: "Lists the commands that took long.",
        tips: ["request_policy:all_nodes", "nondeterministic_output"],
    }
    SlowlogHelp = dispatch::help {
        name: "slowlog|help", arity: 2, since: "6.2.0",
        flags: [LOADING STALE HELP], categories: [], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the sub-commands.",
    }
    SlowlogLen = server::slowlog_len {
        name: "slowlog|len", arity: 2, since: "2.2.12",
        flags: [ADMIN LOADING STALE], categories: [], keys: [],
        syntax: "",
        reply: Integer, complexity: "O(1)",
        summary: "Counts the commands that took long.",
        tips: ["request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output"],
    }
    SlowlogReset = server::slowlog_reset {
        name: "slowlog|reset", arity: 2, since: "2.2.12",
        flags: [ADMIN LOADING STALE], categories: [], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(N) in the number of entries",
        summary: "Forgets the commands that took long.",
        tips: ["request_policy:all_nodes", "response_policy:all_succeeded"],
    }
    Swapdb = server::swapdb {
        name: "swapdb", arity: 3, since: "4.0.0",
        flags: [WRITE FAST ARBITRARY_KEYS], categories: [KEYSPACE DANGEROUS], keys: [],
        syntax: "index1 index2",
        databases: super::spec::Databases::Named(&[1, 2]),
        reply: Ok, complexity: "O(1)",
        summary: "Swaps two databases.",
    }
    Time = server::time {
        name: "time", arity: 1, since: "2.6.0",
        flags: [LOADING STALE FAST], categories: [], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Tells the time of the server.",
        tips: ["nondeterministic_output"],
    }
}
