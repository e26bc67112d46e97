// SPDX-License-Identifier: Apache-2.0
//! Libraries of functions.

use super::macros::commands;

commands! {
    group: Scripting;

    Fcall = functions::fcall {
        name: "fcall", arity: -3, since: "7.0.0",
        flags: [NOSCRIPT STALE SKIP_MONITOR NO_MANDATORY_KEYS MAY_REPLICATE RUNS_SCRIPT],
        categories: [SCRIPTING],
        keys: [
            counted(2): RW ACCESS UPDATE,
            "We cannot tell how the keys will be used so we assume the worst, RW and UPDATE"
        ],
        syntax: "function numkeys [key...] [arg...]",
        reply: Various, complexity: "that of its commands",
        summary: "Calls a function.",
    }
    FcallRo = functions::fcall_ro {
        name: "fcall_ro", arity: -3, since: "7.0.0",
        flags: [READONLY NOSCRIPT STALE SKIP_MONITOR NO_MANDATORY_KEYS RUNS_SCRIPT],
        categories: [SCRIPTING],
        keys: [
            counted(2): RO ACCESS,
            "We cannot tell how the keys will be used so we assume the worst, RO and ACCESS"
        ],
        syntax: "function numkeys [key...] [arg...]",
        reply: Various, complexity: "that of its commands",
        summary: "Calls a function that only reads.",
    }
    Function = dispatch::unknown_subcommand {
        name: "function", arity: -2, since: "7.0.0",
        flags: [], categories: [], keys: [],
        syntax: "",
        reply: Various, complexity: "O(1)",
        summary: "Looks after the libraries of functions.",
    }
    FunctionDelete = functions::delete {
        name: "function|delete", arity: 3, since: "7.0.0",
        flags: [WRITE NOSCRIPT], categories: [SCRIPTING], keys: [],
        syntax: "library-name",
        reply: Ok, complexity: "O(N) in the number of its functions",
        summary: "Deletes a library and its functions.",
        tips: ["request_policy:all_shards", "response_policy:all_succeeded"],
    }
    FunctionDump = functions::dump {
        name: "function|dump", arity: 2, since: "7.0.0",
        flags: [NOSCRIPT], categories: [SCRIPTING], keys: [],
        syntax: "",
        reply: Bulk, complexity: "O(N) in the number of libraries",
        summary: "Returns the libraries in the form that FUNCTION RESTORE takes.",
    }
    FunctionFlush = functions::flush {
        name: "function|flush", arity: -2, since: "7.0.0",
        flags: [WRITE NOSCRIPT], categories: [SCRIPTING], keys: [],
        syntax: "[(async: ASYNC | SYNC)]",
        reply: Ok, complexity: "O(N) in the number of functions",
        summary: "Deletes all libraries.",
        tips: ["request_policy:all_shards", "response_policy:all_succeeded"],
    }
    FunctionHelp = dispatch::help {
        name: "function|help", arity: 2, since: "7.0.0",
        flags: [LOADING STALE HELP], categories: [SCRIPTING], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the sub-commands.",
    }
    FunctionKill = functions::kill {
        name: "function|kill", arity: 2, since: "7.0.0",
        flags: [NOSCRIPT ALLOW_BUSY], categories: [SCRIPTING], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(1)",
        summary: "Ends the functions that take long and have written nothing.",
        tips: ["request_policy:all_shards", "response_policy:one_succeeded"],
    }
    FunctionList = functions::list {
        name: "function|list", arity: -2, since: "7.0.0",
        flags: [NOSCRIPT], categories: [SCRIPTING], keys: [],
        syntax: "[LIBRARYNAME library-name-pattern] [WITHCODE]",
        reply: Array, complexity: "O(N) in the number of functions",
        summary: "Lists the libraries and their functions.",
        tips: ["nondeterministic_output_order"],
    }
    FunctionLoad = functions::load {
        name: "function|load", arity: -3, since: "7.0.0",
        flags: [WRITE DENYOOM NOSCRIPT], categories: [SCRIPTING], keys: [],
        syntax: "[REPLACE] function-code",
        reply: Bulk, complexity: "that of the library's code",
        summary: "Loads a library.",
        tips: ["request_policy:all_shards", "response_policy:all_succeeded"],
    }
    FunctionRestore = functions::restore {
        name: "function|restore", arity: -3, since: "7.0.0",
        flags: [WRITE DENYOOM NOSCRIPT], categories: [SCRIPTING], keys: [],
        syntax: "serialized-value [(policy: FLUSH | APPEND | REPLACE)]",
        reply: Ok, complexity: "that of the libraries' code",
        summary: "Loads libraries that FUNCTION DUMP has returned.",
        tips: ["request_policy:all_shards", "response_policy:all_succeeded"],
    }
    FunctionStats = functions::stats {
        name: "function|stats", arity: 2, since: "7.0.0",
        flags: [NOSCRIPT ALLOW_BUSY], categories: [SCRIPTING], keys: [],
        syntax: "",
        reply: Map, complexity: "O(1)",
        summary: "Tells which function runs, and how many there are.",
        tips: ["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
    }
}
