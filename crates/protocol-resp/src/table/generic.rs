// SPDX-License-Identifier: Apache-2.0
//! Commands on keys with values of any type.

use super::key_spec::OptionWord;
use super::macros::commands;

/// The options of MIGRATE that have values.
const AUTHS: &[(&str, u8)] = &[("AUTH", 1), ("AUTH2", 2)];

/// What the keys of MIGRATE are behind, if there are several.
static MIGRATE_KEYS: OptionWord =
    OptionWord { word: "KEYS", from: 6, others: AUTHS, shown_from: -2 };

commands! {
    group: Generic;

    Copy = generic::copy {
        name: "copy", arity: -3, since: "6.2.0",
        flags: [WRITE DENYOOM], categories: [KEYSPACE], keys: [at(1): RO ACCESS; at(2): OW UPDATE],
        syntax: "source destination [DB destination-db] [REPLACE]",
        databases: super::spec::Databases::SelectedAndOption(3),
        reply: Integer, complexity: "O(N) in the size of the value",
        summary: "Copies a value to another key.",
    }
    Del = generic::del {
        name: "del", arity: -2, since: "1.0.0",
        flags: [WRITE BRIEF], categories: [KEYSPACE], keys: [range(1, -1, 1): RM DELETE],
        syntax: "key...",
        reply: Integer, complexity: "O(N) in the number of keys",
        summary: "Removes keys.",
        tips: ["request_policy:multi_shard", "response_policy:agg_sum"],
    }
    Dump = generic::dump {
        name: "dump", arity: 2, since: "2.6.0",
        flags: [READONLY], categories: [KEYSPACE], keys: [at(1): RO ACCESS],
        syntax: "key",
        reply: BulkOrNull, complexity: "O(N) in the size of the value",
        summary: "Shows a value in serial form.",
        tips: ["nondeterministic_output"],
    }
    Exists = generic::exists {
        name: "exists", arity: -2, since: "1.0.0",
        flags: [READONLY FAST], categories: [KEYSPACE], keys: [range(1, -1, 1): RO],
        syntax: "key...",
        reply: Integer, complexity: "O(N) in the number of keys",
        summary: "Counts how many of the keys exist.",
        tips: ["request_policy:multi_shard", "response_policy:agg_sum"],
    }
    Expire = generic::expire {
        name: "expire", arity: -3, since: "1.0.0",
        flags: [WRITE FAST], categories: [KEYSPACE], keys: [at(1): RW UPDATE],
        syntax: "key seconds [condition: NX | XX | GT | LT]",
        reply: Integer, complexity: "O(1)",
        summary: "Lets a key expire after so many seconds.",
    }
    Expireat = generic::expireat {
        name: "expireat", arity: -3, since: "1.2.0",
        flags: [WRITE FAST], categories: [KEYSPACE], keys: [at(1): RW UPDATE],
        syntax: "key unix-time-seconds [condition: NX | XX | GT | LT]",
        reply: Integer, complexity: "O(1)",
        summary: "Lets a key expire at a time in seconds.",
    }
    Expiretime = generic::expiretime {
        name: "expiretime", arity: 2, since: "7.0.0",
        flags: [READONLY FAST], categories: [KEYSPACE], keys: [at(1): RO ACCESS],
        syntax: "key",
        reply: Integer, complexity: "O(1)",
        summary: "Tells when a key expires, in seconds.",
    }
    Keys = generic::keys {
        name: "keys", arity: 2, since: "1.0.0",
        flags: [READONLY ARBITRARY_KEYS], categories: [KEYSPACE DANGEROUS], keys: [],
        syntax: "pattern",
        reply: Array, complexity: "O(N) in the number of keys of the database",
        summary: "Lists the keys that match a pattern.",
        tips: ["request_policy:all_shards", "nondeterministic_output_order"],
    }
    Migrate = generic::migrate {
        name: "migrate", arity: -6, since: "2.6.0",
        flags: [WRITE MOVES_SLOTS], categories: [KEYSPACE DANGEROUS],
        keys: [
            at_unless(3, &MIGRATE_KEYS): RW ACCESS DELETE;
            behind(&MIGRATE_KEYS): RW ACCESS DELETE INCOMPLETE
        ],
        syntax: "host port:integer (key_or_empty_string: key | (empty_string: \"\")) \
                 destination-db:integer timeout:integer [COPY] [REPLACE] \
                 [authentication: AUTH password | AUTH2 (username password)] [KEYS key...]",
        secret: super::spec::Secret::OfOptions {
            options: &[("AUTH", 1), ("AUTH2", 2)],
            from: 6,
            end: "KEYS",
        },
        reply: Status, complexity: "O(N) in the size of the values",
        summary: "Moves values to another server.",
        tips: ["nondeterministic_output"],
    }
    Move = generic::move_key {
        name: "move", arity: 3, since: "1.0.0",
        flags: [WRITE FAST], categories: [KEYSPACE], keys: [at(1): RW ACCESS UPDATE],
        syntax: "key db",
        databases: super::spec::Databases::SelectedAndNamed(2),
        reply: Integer, complexity: "O(1)",
        summary: "Moves a key to another database.",
    }
    Object = dispatch::unknown_subcommand {
        name: "object", arity: -2, since: "2.2.3",
        flags: [], categories: [], keys: [],
        syntax: "",
        reply: Various, complexity: "O(1)",
        summary: "Looks at how a value is kept.",
    }
    ObjectEncoding = generic::object_encoding {
        name: "object|encoding", arity: 3, since: "2.2.3",
        flags: [READONLY], categories: [KEYSPACE], keys: [at(2): RO],
        syntax: "key",
        reply: BulkOrNull, complexity: "O(1)",
        summary: "Tells how a value is laid out in memory.",
        tips: ["nondeterministic_output"],
    }
    ObjectFreq = generic::object_freq {
        name: "object|freq", arity: 3, since: "4.0.0",
        flags: [READONLY], categories: [KEYSPACE], keys: [at(2): RO],
        syntax: "key",
        reply: IntegerOrNull, complexity: "O(1)",
        summary: "Tells how often a key has been used, on a logarithmic scale.",
        tips: ["nondeterministic_output"],
    }
    ObjectHelp = dispatch::help {
        name: "object|help", arity: 2, since: "6.2.0",
        flags: [LOADING STALE HELP], categories: [KEYSPACE], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the sub-commands.",
    }
    ObjectIdletime = generic::object_idletime {
        name: "object|idletime", arity: 3, since: "2.2.3",
        flags: [READONLY], categories: [KEYSPACE], keys: [at(2): RO],
        syntax: "key",
        reply: IntegerOrNull, complexity: "O(1)",
        summary: "Tells for how many seconds a key has not been used.",
        tips: ["nondeterministic_output"],
    }
    ObjectRefcount = generic::object_refcount {
        name: "object|refcount", arity: 3, since: "2.2.3",
        flags: [READONLY], categories: [KEYSPACE], keys: [at(2): RO],
        syntax: "key",
        reply: IntegerOrNull, complexity: "O(1)",
        summary: "Tells how many references a value has.",
        tips: ["nondeterministic_output"],
    }
    Persist = generic::persist {
        name: "persist", arity: 2, since: "2.2.0",
        flags: [WRITE FAST], categories: [KEYSPACE], keys: [at(1): RW UPDATE],
        syntax: "key",
        reply: Integer, complexity: "O(1)",
        summary: "Keeps a key from expiring.",
    }
    Pexpire = generic::pexpire {
        name: "pexpire", arity: -3, since: "2.6.0",
        flags: [WRITE FAST], categories: [KEYSPACE], keys: [at(1): RW UPDATE],
        syntax: "key milliseconds [condition: NX | XX | GT | LT]",
        reply: Integer, complexity: "O(1)",
        summary: "Lets a key expire after so many milliseconds.",
    }
    Pexpireat = generic::pexpireat {
        name: "pexpireat", arity: -3, since: "2.6.0",
        flags: [WRITE FAST], categories: [KEYSPACE], keys: [at(1): RW UPDATE],
        syntax: "key unix-time-milliseconds [condition: NX | XX | GT | LT]",
        reply: Integer, complexity: "O(1)",
        summary: "Lets a key expire at a time in milliseconds.",
    }
    Pexpiretime = generic::pexpiretime {
        name: "pexpiretime", arity: 2, since: "7.0.0",
        flags: [READONLY FAST], categories: [KEYSPACE], keys: [at(1): RO ACCESS],
        syntax: "key",
        reply: Integer, complexity: "O(1)",
        summary: "Tells when a key expires, in milliseconds.",
    }
    Pttl = generic::pttl {
        name: "pttl", arity: 2, since: "2.6.0",
        flags: [READONLY FAST], categories: [KEYSPACE], keys: [at(1): RO ACCESS],
        syntax: "key",
        reply: Integer, complexity: "O(1)",
        summary: "Tells in how many milliseconds a key expires.",
        tips: ["nondeterministic_output"],
    }
    Randomkey = generic::randomkey {
        name: "randomkey", arity: 1, since: "1.0.0",
        flags: [READONLY ARBITRARY_KEYS], categories: [KEYSPACE], keys: [],
        syntax: "",
        reply: BulkOrNull, complexity: "O(1)",
        summary: "Picks a key at random.",
        tips: ["request_policy:all_shards", "nondeterministic_output"],
    }
    Rename = generic::rename {
        name: "rename", arity: 3, since: "1.0.0",
        flags: [WRITE], categories: [KEYSPACE], keys: [at(1): RW ACCESS DELETE; at(2): OW UPDATE],
        syntax: "key newkey",
        reply: Ok, complexity: "O(1)",
        summary: "Gives a value another key, in place of what is there.",
    }
    Renamenx = generic::renamenx {
        name: "renamenx", arity: 3, since: "1.0.0",
        flags: [WRITE FAST], categories: [KEYSPACE],
        keys: [at(1): RW ACCESS DELETE; at(2): OW INSERT],
        syntax: "key newkey",
        reply: Integer, complexity: "O(1)",
        summary: "Gives a value another key, if that does not exist.",
    }
    Scan = generic::scan {
        name: "scan", arity: -2, since: "2.8.0",
        flags: [READONLY ARBITRARY_KEYS], categories: [KEYSPACE], keys: [],
        syntax: "cursor [MATCH pattern] [COUNT count] [TYPE type]",
        reply: Array, complexity: "O(1) a call, O(N) for all keys",
        summary: "Walks over the keys of the database in steps.",
        tips: ["nondeterministic_output", "request_policy:special"],
    }
    Restore = generic::restore {
        name: "restore", arity: -4, since: "2.6.0",
        flags: [WRITE DENYOOM], categories: [KEYSPACE DANGEROUS], keys: [at(1): OW UPDATE],
        syntax: "key ttl:integer serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] \
                 [FREQ frequency:integer]",
        reply: Ok, complexity: "O(N) in the size of the value, O(N*log(N)) of a sorted set",
        summary: "Stores a value that was shown in serial form.",
    }
    Sort = generic::sort {
        name: "sort", arity: -2, since: "1.0.0",
        flags: [WRITE DENYOOM ARBITRARY_KEYS], categories: [SET SORTED_SET LIST DANGEROUS],
        keys: [
            at(1): RO ACCESS;
            unknown(): RO ACCESS, "For the optional BY/GET keyword. It is marked 'unknown' because the \
                                    key names derive from the content of the key we sort";
            option("STORE", 2, &[("LIMIT", 2), ("GET", 1), ("BY", 1)]): OW UPDATE,
                "For the optional STORE keyword. It is marked 'unknown' because the keyword can \
                 appear anywhere in the argument array"
        ],
        syntax: "key [BY pattern#1] [LIMIT (offset count)] [(GET pattern#1)...] \
                 [order: ASC | DESC] [sorting: ALPHA] [STORE destination#2]",
        reply: Various, complexity: "O(N+M*log(M)) in the elements N and those returned M",
        summary: "Sorts a list, set or sorted set, and returns or stores it.",
    }
    SortRo = generic::sort_ro {
        name: "sort_ro", arity: -2, since: "7.0.0",
        flags: [READONLY ARBITRARY_KEYS], categories: [SET SORTED_SET LIST DANGEROUS],
        keys: [
            at(1): RO ACCESS;
            unknown(): RO ACCESS, "For the optional BY/GET keyword. It is marked 'unknown' because the \
                                    key names derive from the content of the key we sort"
        ],
        syntax: "key [BY pattern#1] [LIMIT (offset count)] [(GET pattern#1)...] \
                 [order: ASC | DESC] [sorting: ALPHA]",
        reply: Array, complexity: "O(N+M*log(M)) in the elements N and those returned M",
        summary: "Sorts a list, set or sorted set.",
    }
    Touch = generic::touch {
        name: "touch", arity: -2, since: "3.2.1",
        flags: [READONLY FAST ALWAYS_TOUCHES], categories: [KEYSPACE], keys: [range(1, -1, 1): RO],
        syntax: "key...",
        reply: Integer, complexity: "O(N) in the number of keys",
        summary: "Marks keys as used just now and counts those that exist.",
        tips: ["request_policy:multi_shard", "response_policy:agg_sum"],
    }
    Ttl = generic::ttl {
        name: "ttl", arity: 2, since: "1.0.0",
        flags: [READONLY FAST], categories: [KEYSPACE], keys: [at(1): RO ACCESS],
        syntax: "key",
        reply: Integer, complexity: "O(1)",
        summary: "Tells in how many seconds a key expires.",
        tips: ["nondeterministic_output"],
    }
    Type = generic::type_of {
        name: "type", arity: 2, since: "1.0.0",
        flags: [READONLY FAST], categories: [KEYSPACE], keys: [at(1): RO],
        syntax: "key",
        reply: Status, complexity: "O(1)",
        summary: "Tells the type of a value.",
    }
    Unlink = generic::unlink {
        name: "unlink", arity: -2, since: "4.0.0",
        flags: [WRITE FAST], categories: [KEYSPACE], keys: [range(1, -1, 1): RM DELETE],
        syntax: "key...",
        reply: Integer, complexity: "O(N) in the number of keys",
        summary: "Removes keys; their memory comes back in the background.",
        tips: ["request_policy:multi_shard", "response_policy:agg_sum"],
    }
    Wait = generic::wait {
        name: "wait", arity: 3, since: "3.0.0",
        flags: [BLOCKING], categories: [CONNECTION], keys: [],
        syntax: "numreplicas timeout",
        reply: Integer, complexity: "O(1)",
        summary: "Waits until replicas have the writes of this connection.",
        tips: ["request_policy:all_shards", "response_policy:agg_min"],
    }
    Waitaof = generic::waitaof {
        name: "waitaof", arity: 4, since: "7.2.0",
        flags: [BLOCKING], categories: [CONNECTION], keys: [],
        syntax: "numlocal numreplicas timeout",
        reply: Array, complexity: "O(1)",
        summary: "Waits until the writes of this connection are on disk.",
        tips: ["request_policy:all_shards", "response_policy:agg_min"],
    }
}
