// SPDX-License-Identifier: Apache-2.0
//! Strings, and the numbers in them.

use super::macros::commands;

commands! {
    group: String;

    Append = strings::append {
        name: "append", arity: 3, since: "2.0.0",
        flags: [WRITE DENYOOM FAST], categories: [STRING], keys: [at(1): RW INSERT],
        syntax: "key value",
        reply: Integer, complexity: "O(1), amortised",
        summary: "Adds bytes at the end of a string, which is made if there is none.",
    }
    Decr = strings::decr {
        name: "decr", arity: 2, since: "1.0.0",
        flags: [WRITE DENYOOM FAST], categories: [STRING], keys: [at(1): RW ACCESS UPDATE],
        syntax: "key",
        reply: Integer, complexity: "O(1)",
        summary: "Subtracts one from an integer.",
    }
    Decrby = strings::decrby {
        name: "decrby", arity: 3, since: "1.0.0",
        flags: [WRITE DENYOOM FAST], categories: [STRING], keys: [at(1): RW ACCESS UPDATE],
        syntax: "key decrement",
        reply: Integer, complexity: "O(1)",
        summary: "Subtracts from an integer.",
    }
    Delex = strings::delex {
        name: "delex", arity: -2, since: "8.4.0",
        flags: [WRITE FAST], categories: [STRING], keys: [at(1): RW DELETE VARIABLE],
        syntax: "key [condition: IFEQ ifeq-value | IFNE ifne-value | IFDEQ ifdeq-digest | IFDNE ifdne-digest]",
        reply: Integer, complexity: "O(1) for IFEQ and IFNE, O(N) in the length of the string for the others",
        summary: "Removes a key, or does so if its string or the digest of it is as expected.",
    }
    Delifeq = strings::delifeq {
        name: "delifeq", arity: 3, since: "9.0.0",
        flags: [WRITE FAST], categories: [STRING], keys: [at(1): RM DELETE],
        syntax: "key value",
        reply: Integer, complexity: "O(1)",
        summary: "Removes a key if its string is the one that is given.",
    }
    Digest = strings::digest {
        name: "digest", arity: 2, since: "8.4.0",
        flags: [READONLY FAST], categories: [STRING], keys: [at(1): RO ACCESS],
        syntax: "key",
        reply: BulkOrNull, complexity: "O(N) in the length of the string",
        summary: "Returns the XXH3 hash of a string, as 16 hexadecimal digits.",
    }
    Get = strings::get {
        name: "get", arity: 2, since: "1.0.0",
        flags: [READONLY FAST], categories: [STRING], keys: [at(1): RO ACCESS],
        syntax: "key",
        reply: BulkOrNull, complexity: "O(1)",
        summary: "Reads a string.",
    }
    Getdel = strings::getdel {
        name: "getdel", arity: 2, since: "6.2.0",
        flags: [WRITE FAST], categories: [STRING], keys: [at(1): RW ACCESS DELETE],
        syntax: "key",
        reply: BulkOrNull, complexity: "O(1)",
        summary: "Reads a string and removes its key.",
    }
    Getex = strings::getex {
        name: "getex", arity: -2, since: "6.2.0",
        flags: [WRITE FAST], categories: [STRING],
        keys: [at(1): RW ACCESS UPDATE, "RW and UPDATE because it changes the TTL"],
        syntax: "key [expiration: EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT \
                 unix-time-milliseconds | PERSIST]",
        reply: BulkOrNull, complexity: "O(1)",
        summary: "Reads a string and changes when it expires.",
    }
    Getrange = strings::getrange {
        name: "getrange", arity: 4, since: "2.4.0",
        flags: [READONLY], categories: [STRING], keys: [at(1): RO ACCESS],
        syntax: "key start end",
        reply: Bulk, complexity: "O(N) in the bytes returned",
        summary: "Reads a part of a string.",
    }
    Getset = strings::getset {
        name: "getset", arity: 3, since: "1.0.0",
        flags: [WRITE DENYOOM FAST], categories: [STRING], keys: [at(1): RW ACCESS UPDATE],
        syntax: "key value",
        reply: BulkOrNull, complexity: "O(1)",
        summary: "Stores a string and returns the one it replaces.",
        deprecated: "6.2.0" => "`SET` with `GET`",
    }
    Incr = strings::incr {
        name: "incr", arity: 2, since: "1.0.0",
        flags: [WRITE DENYOOM FAST], categories: [STRING], keys: [at(1): RW ACCESS UPDATE],
        syntax: "key",
        reply: Integer, complexity: "O(1)",
        summary: "Adds one to an integer.",
    }
    Incrby = strings::incrby {
        name: "incrby", arity: 3, since: "1.0.0",
        flags: [WRITE DENYOOM FAST], categories: [STRING], keys: [at(1): RW ACCESS UPDATE],
        syntax: "key increment",
        reply: Integer, complexity: "O(1)",
        summary: "Adds to an integer.",
    }
    Incrbyfloat = strings::incrbyfloat {
        name: "incrbyfloat", arity: 3, since: "2.6.0",
        flags: [WRITE DENYOOM FAST], categories: [STRING], keys: [at(1): RW ACCESS UPDATE],
        syntax: "key increment:double",
        reply: Bulk, complexity: "O(1)",
        summary: "Adds to a floating-point number.",
    }
    Increx = strings::increx {
        name: "increx", arity: -2, since: "8.8.0",
        flags: [WRITE DENYOOM FAST], categories: [STRING], keys: [at(1): RW ACCESS UPDATE],
        syntax: "key [condition: NX | XX] [increment: BYFLOAT float:double | BYINT integer:integer] \
                 [LBOUND lowerbound] [UBOUND upperbound] [SATURATE] [expiration: EX seconds | PX \
                 milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST] [ENX]",
        reply: Array, complexity: "O(1)",
        summary: "Adds to a number within bounds and says when it expires.",
    }
    Lcs = strings::lcs {
        name: "lcs", arity: -3, since: "7.0.0",
        flags: [READONLY], categories: [STRING], keys: [range(1, 1, 1): RO ACCESS],
        syntax: "key1 key2 [LEN] [IDX] [MINMATCHLEN len] [WITHMATCHLEN]",
        reply: Various, complexity: "O(N*M) in the lengths of the strings",
        summary: "Finds the longest common subsequence of two strings.",
    }
    Mget = strings::mget {
        name: "mget", arity: -2, since: "1.0.0",
        flags: [READONLY FAST], categories: [STRING], keys: [range(1, -1, 1): RO ACCESS],
        syntax: "key...",
        reply: Array, complexity: "O(N) in the number of keys",
        summary: "Reads the strings of several keys.",
        tips: ["request_policy:multi_shard"],
    }
    Mset = strings::mset {
        name: "mset", arity: -3, since: "1.0.1",
        flags: [WRITE DENYOOM BRIEF], categories: [STRING], keys: [range(1, -1, 2): OW UPDATE],
        syntax: "(key value)...",
        reply: Ok, complexity: "O(N) in the number of keys",
        summary: "Stores several strings at once.",
        tips: ["request_policy:multi_shard", "response_policy:all_succeeded"],
    }
    Msetex = strings::msetex {
        name: "msetex", arity: -4, since: "8.4.0",
        flags: [WRITE DENYOOM BRIEF], categories: [STRING], keys: [counted_pairs(1): OW UPDATE],
        syntax: "numkeys (data: key value)... [condition: NX | XX] [expiration: EX seconds | PX \
                 milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]",
        reply: Integer, complexity: "O(N) in the number of keys",
        summary: "Stores several strings at once that expire together.",
        tips: ["request_policy:multi_shard", "response_policy:all_succeeded"],
    }
    Msetnx = strings::msetnx {
        name: "msetnx", arity: -3, since: "1.0.1",
        flags: [WRITE DENYOOM BRIEF], categories: [STRING], keys: [range(1, -1, 2): OW INSERT],
        syntax: "(key value)...",
        reply: Integer, complexity: "O(N) in the number of keys",
        summary: "Stores several strings at once, if none of the keys exists.",
        tips: ["request_policy:multi_shard", "response_policy:agg_min"],
    }
    Psetex = strings::psetex {
        name: "psetex", arity: 4, since: "2.6.0",
        flags: [WRITE DENYOOM BRIEF], categories: [STRING], keys: [at(1): OW UPDATE],
        syntax: "key milliseconds value",
        reply: Ok, complexity: "O(1)",
        summary: "Stores a string that expires after so many milliseconds.",
    }
    Set = strings::set {
        name: "set", arity: -3, since: "1.0.0",
        flags: [WRITE DENYOOM BRIEF], categories: [STRING],
        keys: [at(1): RW ACCESS UPDATE VARIABLE, "RW and ACCESS due to the optional `GET` argument"],
        syntax: "key value [condition: NX | XX | IFEQ ifeq-value | IFNE ifne-value | IFDEQ \
                 ifdeq-digest | IFDNE ifdne-digest] [GET] [expiration: EX seconds | PX milliseconds | \
                 EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]",
        reply: Various, complexity: "O(1)",
        summary: "Stores a string.",
    }
    Setex = strings::setex {
        name: "setex", arity: 4, since: "2.0.0",
        flags: [WRITE DENYOOM BRIEF], categories: [STRING], keys: [at(1): OW UPDATE],
        syntax: "key seconds value",
        reply: Ok, complexity: "O(1)",
        summary: "Stores a string that expires after so many seconds.",
    }
    Setnx = strings::setnx {
        name: "setnx", arity: 3, since: "1.0.0",
        flags: [WRITE DENYOOM FAST], categories: [STRING], keys: [at(1): OW INSERT],
        syntax: "key value",
        reply: Integer, complexity: "O(1)",
        summary: "Stores a string if the key does not exist.",
    }
    Setrange = strings::setrange {
        name: "setrange", arity: 4, since: "2.2.0",
        flags: [WRITE DENYOOM], categories: [STRING], keys: [at(1): RW UPDATE],
        syntax: "key offset value",
        reply: Integer, complexity: "O(1) for short values, else O(N) in their length",
        summary: "Overwrites a part of a string, which is made or lengthened as needed.",
    }
    Strlen = strings::strlen {
        name: "strlen", arity: 2, since: "2.2.0",
        flags: [READONLY FAST], categories: [STRING], keys: [at(1): RO],
        syntax: "key",
        reply: Integer, complexity: "O(1)",
        summary: "Tells the length of a string.",
    }
    Substr = strings::getrange {
        name: "substr", arity: 4, since: "1.0.0",
        flags: [READONLY], categories: [STRING], keys: [at(1): RO ACCESS],
        syntax: "key start end",
        reply: Bulk, complexity: "O(N) in the bytes returned",
        summary: "Reads a part of a string.",
        deprecated: "2.0.0" => "`GETRANGE`",
    }
}
