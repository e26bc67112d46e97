// SPDX-License-Identifier: Apache-2.0
//! Hashes.

use super::macros::commands;

commands! {
    group: Hash;

    Hdel = hashes::hdel {
        name: "hdel", arity: -3, since: "2.0.0",
        flags: [WRITE FAST], categories: [HASH], keys: [at(1): RW DELETE],
        element: 2,
        syntax: "key field...",
        reply: Integer, complexity: "O(N) in the number of fields",
        summary: "Removes fields of a hash.",
    }
    Hexists = hashes::hexists {
        name: "hexists", arity: 3, since: "2.0.0",
        flags: [READONLY FAST], categories: [HASH], keys: [at(1): RO],
        element: 2,
        syntax: "key field",
        reply: Integer, complexity: "O(1)",
        summary: "Tells whether a hash has a field.",
    }
    Hexpire = hashes::hexpire {
        name: "hexpire", arity: -6, since: "7.4.0",
        flags: [WRITE FAST], categories: [HASH], keys: [at(1): RW UPDATE],
        syntax: "key seconds [condition: NX | XX | GT | LT] FIELDS (fields: numfields field...)",
        reply: Array, complexity: "O(N) in the number of fields",
        summary: "Lets fields of a hash expire after so many seconds.",
    }
    Hexpireat = hashes::hexpireat {
        name: "hexpireat", arity: -6, since: "7.4.0",
        flags: [WRITE FAST], categories: [HASH], keys: [at(1): RW UPDATE],
        syntax: "key unix-time-seconds [condition: NX | XX | GT | LT] FIELDS (fields: numfields \
                 field...)",
        reply: Array, complexity: "O(N) in the number of fields",
        summary: "Lets fields of a hash expire at a time in seconds.",
    }
    Hexpiretime = hashes::hexpiretime {
        name: "hexpiretime", arity: -5, since: "7.4.0",
        flags: [READONLY FAST], categories: [HASH], keys: [at(1): RO ACCESS],
        syntax: "key FIELDS (fields: numfields field...)",
        reply: Array, complexity: "O(N) in the number of fields",
        summary: "Tells when fields of a hash expire, in seconds.",
    }
    Hget = hashes::hget {
        name: "hget", arity: 3, since: "2.0.0",
        flags: [READONLY FAST], categories: [HASH], keys: [at(1): RO ACCESS],
        element: 2,
        syntax: "key field",
        reply: BulkOrNull, complexity: "O(1)",
        summary: "Reads a field of a hash.",
    }
    Hgetall = hashes::hgetall {
        name: "hgetall", arity: 2, since: "2.0.0",
        flags: [READONLY], categories: [HASH], keys: [at(1): RO ACCESS],
        syntax: "key",
        reply: Map, complexity: "O(N) in the size of the hash",
        summary: "Reads all fields of a hash with their values.",
        tips: ["nondeterministic_output_order"],
    }
    Hgetdel = hashes::hgetdel {
        name: "hgetdel", arity: -5, since: "8.0.0",
        flags: [WRITE FAST], categories: [HASH], keys: [at(1): RW ACCESS DELETE],
        syntax: "key FIELDS (fields: numfields field...)",
        reply: Array, complexity: "O(N) in the number of fields",
        summary: "Reads fields of a hash and removes them.",
    }
    Hgetex = hashes::hgetex {
        name: "hgetex", arity: -5, since: "8.0.0",
        flags: [WRITE FAST], categories: [HASH],
        keys: [at(1): RW ACCESS UPDATE, "RW and UPDATE because it changes the TTL"],
        syntax: "key [expiration: EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT \
                 unix-time-milliseconds | PERSIST] FIELDS (fields: numfields field...)",
        reply: Array, complexity: "O(N) in the number of fields",
        summary: "Reads fields of a hash and changes when they expire.",
    }
    Himport = dispatch::unknown_subcommand {
        name: "himport", arity: -2, since: "8.10.0",
        flags: [], categories: [HASH], keys: [],
        syntax: "",
        reply: Various, complexity: "O(1)",
        summary: "Makes many hashes with the same fields, whose names are sent once.",
    }
    HimportDiscard = hashes::himport_discard {
        name: "himport|discard", arity: 3, since: "8.10.0",
        flags: [], categories: [HASH], keys: [],
        syntax: "fieldset-name",
        reply: Integer, complexity: "O(log N) in the number of prepared lists",
        summary: "Drops a prepared list of field names.",
        tips: ["request_policy:all_shards"],
    }
    HimportDiscardall = hashes::himport_discardall {
        name: "himport|discardall", arity: 2, since: "8.10.0",
        flags: [], categories: [HASH], keys: [],
        syntax: "",
        reply: Integer, complexity: "O(N) in the number of prepared lists",
        summary: "Drops all prepared lists of field names.",
        tips: ["request_policy:all_shards"],
    }
    HimportHelp = dispatch::help {
        name: "himport|help", arity: 2, since: "8.10.0",
        flags: [LOADING STALE HELP], categories: [HASH], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the sub-commands.",
    }
    HimportPrepare = hashes::himport_prepare {
        name: "himport|prepare", arity: -4, since: "8.10.0",
        flags: [DENYOOM HOLDS], categories: [HASH], keys: [],
        syntax: "fieldset-name field...",
        reply: Ok, complexity: "O(N log N) in the number of fields",
        summary: "Names the fields of hashes that the connection is going to make.",
        tips: ["request_policy:all_shards"],
    }
    HimportSet = hashes::himport_set {
        name: "himport|set", arity: -5, since: "8.10.0",
        flags: [WRITE DENYOOM], categories: [HASH], keys: [at(2): OW UPDATE],
        syntax: "key fieldset-name value...",
        reply: Ok, complexity: "O(N) in the number of fields",
        summary: "Makes a hash of a prepared list of field names and as many values.",
    }
    Hincrby = hashes::hincrby {
        name: "hincrby", arity: 4, since: "2.0.0",
        flags: [WRITE DENYOOM FAST], categories: [HASH], keys: [at(1): RW ACCESS UPDATE],
        element: 2,
        syntax: "key field increment",
        reply: Integer, complexity: "O(1)",
        summary: "Adds to the integer in a field of a hash.",
    }
    Hincrbyfloat = hashes::hincrbyfloat {
        name: "hincrbyfloat", arity: 4, since: "2.6.0",
        flags: [WRITE DENYOOM FAST], categories: [HASH], keys: [at(1): RW ACCESS UPDATE],
        element: 2,
        syntax: "key field increment:double",
        reply: Bulk, complexity: "O(1)",
        summary: "Adds to the floating-point number in a field of a hash.",
    }
    Hkeys = hashes::hkeys {
        name: "hkeys", arity: 2, since: "2.0.0",
        flags: [READONLY], categories: [HASH], keys: [at(1): RO ACCESS],
        syntax: "key",
        reply: Array, complexity: "O(N) in the size of the hash",
        summary: "Lists the fields of a hash.",
        tips: ["nondeterministic_output_order"],
    }
    Hlen = hashes::hlen {
        name: "hlen", arity: 2, since: "2.0.0",
        flags: [READONLY FAST], categories: [HASH], keys: [at(1): RO],
        syntax: "key",
        reply: Integer, complexity: "O(1)",
        summary: "Counts the fields of a hash.",
    }
    Hmget = hashes::hmget {
        name: "hmget", arity: -3, since: "2.0.0",
        flags: [READONLY FAST], categories: [HASH], keys: [at(1): RO ACCESS],
        element: 2,
        syntax: "key field...",
        reply: Array, complexity: "O(N) in the number of fields",
        summary: "Reads several fields of a hash.",
    }
    Hmset = hashes::hmset {
        name: "hmset", arity: -4, since: "2.0.0",
        flags: [WRITE DENYOOM FAST], categories: [HASH], keys: [at(1): RW UPDATE],
        element: 2,
        syntax: "key (field value)...",
        reply: Ok, complexity: "O(N) in the number of fields",
        summary: "Sets several fields of a hash.",
        deprecated: "4.0.0" => "`HSET`",
    }
    Hpersist = hashes::hpersist {
        name: "hpersist", arity: -5, since: "7.4.0",
        flags: [WRITE FAST], categories: [HASH], keys: [at(1): RW UPDATE],
        syntax: "key FIELDS (fields: numfields field...)",
        reply: Array, complexity: "O(N) in the number of fields",
        summary: "Keeps fields of a hash from expiring.",
    }
    Hpexpire = hashes::hpexpire {
        name: "hpexpire", arity: -6, since: "7.4.0",
        flags: [WRITE FAST], categories: [HASH], keys: [at(1): RW UPDATE],
        syntax: "key milliseconds [condition: NX | XX | GT | LT] FIELDS (fields: numfields \
                 field...)",
        reply: Array, complexity: "O(N) in the number of fields",
        summary: "Lets fields of a hash expire after so many milliseconds.",
    }
    Hpexpireat = hashes::hpexpireat {
        name: "hpexpireat", arity: -6, since: "7.4.0",
        flags: [WRITE FAST], categories: [HASH], keys: [at(1): RW UPDATE],
        syntax: "key unix-time-milliseconds [condition: NX | XX | GT | LT] FIELDS (fields: \
                 numfields field...)",
        reply: Array, complexity: "O(N) in the number of fields",
        summary: "Lets fields of a hash expire at a time in milliseconds.",
    }
    Hpexpiretime = hashes::hpexpiretime {
        name: "hpexpiretime", arity: -5, since: "7.4.0",
        flags: [READONLY FAST], categories: [HASH], keys: [at(1): RO ACCESS],
        syntax: "key FIELDS (fields: numfields field...)",
        reply: Array, complexity: "O(N) in the number of fields",
        summary: "Tells when fields of a hash expire, in milliseconds.",
    }
    Hpttl = hashes::hpttl {
        name: "hpttl", arity: -5, since: "7.4.0",
        flags: [READONLY FAST], categories: [HASH], keys: [at(1): RO ACCESS],
        syntax: "key FIELDS (fields: numfields field...)",
        reply: Array, complexity: "O(N) in the number of fields",
        summary: "Tells in how many milliseconds fields of a hash expire.",
        tips: ["nondeterministic_output"],
    }
    Hrandfield = hashes::hrandfield {
        name: "hrandfield", arity: -2, since: "6.2.0",
        flags: [READONLY], categories: [HASH], keys: [at(1): RO ACCESS],
        syntax: "key [options: count [WITHVALUES]]",
        reply: Various, complexity: "O(N) in the number of fields returned",
        summary: "Picks fields of a hash at random.",
        tips: ["nondeterministic_output"],
    }
    Hscan = hashes::hscan {
        name: "hscan", arity: -3, since: "2.8.0",
        flags: [READONLY], categories: [HASH], keys: [at(1): RO ACCESS],
        syntax: "key cursor [MATCH pattern] [COUNT count] [NOVALUES]",
        reply: Array, complexity: "O(1) a call, O(N) for all fields",
        summary: "Walks over the fields of a hash in steps.",
        tips: ["nondeterministic_output"],
    }
    Hset = hashes::hset {
        name: "hset", arity: -4, since: "2.0.0",
        flags: [WRITE DENYOOM FAST], categories: [HASH], keys: [at(1): RW UPDATE],
        element: 2,
        syntax: "key (field value)...",
        reply: Integer, complexity: "O(N) in the number of fields",
        summary: "Sets fields of a hash and counts the new ones.",
    }
    Hsetex = hashes::hsetex {
        name: "hsetex", arity: -6, since: "8.0.0",
        flags: [WRITE DENYOOM FAST], categories: [HASH], keys: [at(1): RW UPDATE],
        syntax: "key [condition: NX | XX] [fields-condition: FNX | FXX] [expiration: EX seconds | \
                 PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL] \
                 FIELDS (fields: numfields (data: field value)...)",
        reply: Integer, complexity: "O(N) in the number of fields",
        summary: "Sets fields of a hash and when they expire.",
    }
    Hsetnx = hashes::hsetnx {
        name: "hsetnx", arity: 4, since: "2.0.0",
        flags: [WRITE DENYOOM FAST], categories: [HASH], keys: [at(1): RW INSERT],
        element: 2,
        syntax: "key field value",
        reply: Integer, complexity: "O(1)",
        summary: "Sets a field of a hash if there is none.",
    }
    Hstrlen = hashes::hstrlen {
        name: "hstrlen", arity: 3, since: "3.2.0",
        flags: [READONLY FAST], categories: [HASH], keys: [at(1): RO],
        element: 2,
        syntax: "key field",
        reply: Integer, complexity: "O(1)",
        summary: "Tells the length of the value in a field of a hash.",
    }
    Httl = hashes::httl {
        name: "httl", arity: -5, since: "7.4.0",
        flags: [READONLY FAST], categories: [HASH], keys: [at(1): RO ACCESS],
        syntax: "key FIELDS (fields: numfields field...)",
        reply: Array, complexity: "O(N) in the number of fields",
        summary: "Tells in how many seconds fields of a hash expire.",
        tips: ["nondeterministic_output"],
    }
    Hvals = hashes::hvals {
        name: "hvals", arity: 2, since: "2.0.0",
        flags: [READONLY], categories: [HASH], keys: [at(1): RO ACCESS],
        syntax: "key",
        reply: Array, complexity: "O(N) in the size of the hash",
        summary: "Lists the values of a hash.",
        tips: ["nondeterministic_output_order"],
    }
}
