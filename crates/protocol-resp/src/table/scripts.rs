// SPDX-License-Identifier: Apache-2.0
//! Lua scripts.

use super::macros::commands;

commands! {
    group: Scripting;

    Eval = scripts::eval {
        name: "eval", arity: -3, since: "2.6.0",
        flags: [NOSCRIPT STALE SKIP_MONITOR NO_MANDATORY_KEYS MAY_REPLICATE RUNS_SCRIPT],
        categories: [SCRIPTING],
        keys: [
            counted(2): RW ACCESS UPDATE,
            "We cannot tell how the keys will be used so we assume the worst, RW and UPDATE"
        ],
        syntax: "script numkeys [key...] [arg...]",
        reply: Various, complexity: "that of its commands",
        summary: "Runs a Lua script.",
    }
    Evalsha = scripts::evalsha {
        name: "evalsha", arity: -3, since: "2.6.0",
        flags: [NOSCRIPT STALE SKIP_MONITOR NO_MANDATORY_KEYS MAY_REPLICATE RUNS_SCRIPT],
        categories: [SCRIPTING], keys: [counted(2): RW ACCESS UPDATE],
        syntax: "sha1 numkeys [key...] [arg...]",
        reply: Various, complexity: "that of its commands",
        summary: "Runs a Lua script that is in the cache.",
    }
    EvalRo = scripts::eval_ro {
        name: "eval_ro", arity: -3, since: "7.0.0",
        flags: [READONLY NOSCRIPT STALE SKIP_MONITOR NO_MANDATORY_KEYS RUNS_SCRIPT],
        categories: [SCRIPTING],
        keys: [
            counted(2): RO ACCESS,
            "We cannot tell how the keys will be used so we assume the worst, RO and ACCESS"
        ],
        syntax: "script numkeys [key...] [arg...]",
        reply: Various, complexity: "that of its commands",
        summary: "Runs a Lua script that only reads.",
    }
    EvalshaRo = scripts::evalsha_ro {
        name: "evalsha_ro", arity: -3, since: "7.0.0",
        flags: [READONLY NOSCRIPT STALE SKIP_MONITOR NO_MANDATORY_KEYS RUNS_SCRIPT],
        categories: [SCRIPTING], keys: [counted(2): RO ACCESS],
        syntax: "sha1 numkeys [key...] [arg...]",
        reply: Various, complexity: "that of its commands",
        summary: "Runs a Lua script that only reads and is in the cache.",
    }
    Script = dispatch::unknown_subcommand {
        name: "script", arity: -2, since: "2.6.0",
        flags: [], categories: [], keys: [],
        syntax: "",
        reply: Various, complexity: "O(1)",
        summary: "Looks after the cache of scripts.",
    }
    ScriptDebug = scripts::debug {
        name: "script|debug", arity: 3, since: "3.2.0",
        flags: [NOSCRIPT], categories: [SCRIPTING], keys: [],
        syntax: "(mode: YES | SYNC | NO)",
        reply: Ok, complexity: "O(1)",
        summary: "Debugs scripts. Scripts are not debugged here.",
    }
    ScriptExists = scripts::exists {
        name: "script|exists", arity: -3, since: "2.6.0",
        flags: [NOSCRIPT], categories: [SCRIPTING], keys: [],
        syntax: "sha1...",
        reply: Array, complexity: "O(N) in the number of scripts",
        summary: "Tells which scripts are in the cache.",
        tips: ["request_policy:all_shards", "response_policy:agg_logical_and"],
    }
    ScriptFlush = scripts::flush {
        name: "script|flush", arity: -2, since: "2.6.0",
        flags: [NOSCRIPT], categories: [SCRIPTING], keys: [],
        syntax: "[(async: ASYNC | SYNC)]",
        reply: Ok, complexity: "O(N) in the number of scripts",
        summary: "Empties the cache of scripts.",
        tips: ["request_policy:all_nodes", "response_policy:all_succeeded"],
    }
    ScriptHelp = dispatch::help {
        name: "script|help", arity: 2, since: "5.0.0",
        flags: [LOADING STALE HELP], categories: [SCRIPTING], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the sub-commands.",
    }
    ScriptKill = scripts::kill {
        name: "script|kill", arity: 2, since: "2.6.0",
        flags: [NOSCRIPT ALLOW_BUSY], categories: [SCRIPTING], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(1)",
        summary: "Ends the scripts that take long and have written nothing.",
        tips: ["request_policy:all_shards", "response_policy:one_succeeded"],
    }
    ScriptLoad = scripts::load {
        name: "script|load", arity: 3, since: "2.6.0",
        flags: [NOSCRIPT STALE], categories: [SCRIPTING], keys: [],
        syntax: "script",
        reply: Bulk, complexity: "O(N) in the length of the script",
        summary: "Puts a script into the cache.",
        tips: ["request_policy:all_nodes", "response_policy:all_succeeded"],
    }
    ScriptShow = scripts::show {
        name: "script|show", arity: 3, since: "8.0.0",
        flags: [NOSCRIPT], categories: [SCRIPTING], keys: [],
        syntax: "sha1",
        reply: Bulk, complexity: "O(1)",
        summary: "Returns the text of a script in the cache. A command of Valkey.",
    }
}
