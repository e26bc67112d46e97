// SPDX-License-Identifier: Apache-2.0
//! Sets.

use super::macros::commands;

commands! {
    group: Set;

    Sadd = sets::sadd {
        name: "sadd", arity: -3, since: "1.0.0",
        flags: [WRITE DENYOOM FAST], categories: [SET], keys: [at(1): RW INSERT],
        element: 2,
        syntax: "key member...",
        reply: Integer, complexity: "O(N) in the number of members",
        summary: "Adds members to a set and counts the new ones.",
    }
    Scard = sets::scard {
        name: "scard", arity: 2, since: "1.0.0",
        flags: [READONLY FAST], categories: [SET], keys: [at(1): RO],
        syntax: "key",
        reply: Integer, complexity: "O(1)",
        summary: "Counts the members of a set.",
    }
    Sdiff = sets::sdiff {
        name: "sdiff", arity: -2, since: "1.0.0",
        flags: [READONLY], categories: [SET], keys: [range(1, -1, 1): RO ACCESS],
        syntax: "key...",
        reply: Set, complexity: "O(N) in the members of all sets",
        summary: "Lists what is in the first set and in none of the others.",
        tips: ["nondeterministic_output_order"],
    }
    Sdiffcard = sets::sdiffcard {
        name: "sdiffcard", arity: -3, since: "8.10.0",
        flags: [READONLY], categories: [SET], keys: [counted(1): RO ACCESS],
        syntax: "numkeys key... [LIMIT limit]",
        reply: Integer, complexity: "O(N) in the members of all sets",
        summary: "Counts what is in the first set and in none of the others.",
    }
    Sdiffstore = sets::sdiffstore {
        name: "sdiffstore", arity: -3, since: "1.0.0",
        flags: [WRITE DENYOOM], categories: [SET],
        keys: [at(1): OW UPDATE; range(2, -1, 1): RO ACCESS],
        syntax: "destination key...",
        reply: Integer, complexity: "O(N) in the members of all sets",
        summary: "Stores what is in the first set and in none of the others.",
    }
    Sinter = sets::sinter {
        name: "sinter", arity: -2, since: "1.0.0",
        flags: [READONLY], categories: [SET], keys: [range(1, -1, 1): RO ACCESS],
        syntax: "key...",
        reply: Set, complexity: "O(N*M) in the members of the smallest set N and the sets M",
        summary: "Lists what is in all the sets.",
        tips: ["nondeterministic_output_order"],
    }
    Sintercard = sets::sintercard {
        name: "sintercard", arity: -3, since: "7.0.0",
        flags: [READONLY], categories: [SET], keys: [counted(1): RO ACCESS],
        syntax: "numkeys key... [LIMIT limit]",
        reply: Integer, complexity: "O(N*M) in the members of the smallest set N and the sets M",
        summary: "Counts what is in all the sets.",
    }
    Sinterstore = sets::sinterstore {
        name: "sinterstore", arity: -3, since: "1.0.0",
        flags: [WRITE DENYOOM], categories: [SET],
        keys: [at(1): RW UPDATE; range(2, -1, 1): RO ACCESS],
        syntax: "destination key...",
        reply: Integer, complexity: "O(N*M) in the members of the smallest set N and the sets M",
        summary: "Stores what is in all the sets.",
    }
    Sismember = sets::sismember {
        name: "sismember", arity: 3, since: "1.0.0",
        flags: [READONLY FAST], categories: [SET], keys: [at(1): RO],
        element: 2,
        syntax: "key member",
        reply: Integer, complexity: "O(1)",
        summary: "Tells whether a set has a member.",
    }
    Smembers = sets::smembers {
        name: "smembers", arity: 2, since: "1.0.0",
        flags: [READONLY], categories: [SET], keys: [at(1): RO ACCESS],
        syntax: "key",
        reply: Set, complexity: "O(N) in the size of the set",
        summary: "Lists the members of a set.",
        tips: ["nondeterministic_output_order"],
    }
    Smismember = sets::smismember {
        name: "smismember", arity: -3, since: "6.2.0",
        flags: [READONLY FAST], categories: [SET], keys: [at(1): RO ACCESS],
        element: 2,
        syntax: "key member...",
        reply: Array, complexity: "O(N) in the number of members",
        summary: "Tells which of the members a set has.",
    }
    Smove = sets::smove {
        name: "smove", arity: 4, since: "1.0.0",
        flags: [WRITE FAST], categories: [SET], keys: [at(1): RW ACCESS DELETE; at(2): RW INSERT],
        syntax: "source destination member",
        reply: Integer, complexity: "O(1)",
        summary: "Moves a member from one set to another.",
    }
    Spop = sets::spop {
        name: "spop", arity: -2, since: "1.0.0",
        flags: [WRITE FAST], categories: [SET], keys: [at(1): RW ACCESS DELETE],
        syntax: "key [count]",
        reply: Various, complexity: "O(N) in the members returned",
        summary: "Takes members of a set at random.",
        tips: ["nondeterministic_output"],
    }
    Srandmember = sets::srandmember {
        name: "srandmember", arity: -2, since: "1.0.0",
        flags: [READONLY], categories: [SET], keys: [at(1): RO ACCESS],
        syntax: "key [count]",
        reply: Various, complexity: "O(N) in the members returned",
        summary: "Picks members of a set at random.",
        tips: ["nondeterministic_output"],
    }
    Srem = sets::srem {
        name: "srem", arity: -3, since: "1.0.0",
        flags: [WRITE FAST], categories: [SET], keys: [at(1): RW DELETE],
        element: 2,
        syntax: "key member...",
        reply: Integer, complexity: "O(N) in the number of members",
        summary: "Removes members of a set.",
    }
    Sscan = sets::sscan {
        name: "sscan", arity: -3, since: "2.8.0",
        flags: [READONLY], categories: [SET], keys: [at(1): RO ACCESS],
        syntax: "key cursor [MATCH pattern] [COUNT count]",
        reply: Array, complexity: "O(1) a call, O(N) for all members",
        summary: "Walks over the members of a set in steps.",
        tips: ["nondeterministic_output"],
    }
    Sunion = sets::sunion {
        name: "sunion", arity: -2, since: "1.0.0",
        flags: [READONLY], categories: [SET], keys: [range(1, -1, 1): RO ACCESS],
        syntax: "key...",
        reply: Set, complexity: "O(N) in the members of all sets",
        summary: "Lists what is in any of the sets.",
        tips: ["nondeterministic_output_order"],
    }
    Sunioncard = sets::sunioncard {
        name: "sunioncard", arity: -3, since: "8.10.0",
        flags: [READONLY], categories: [SET], keys: [counted(1): RO ACCESS],
        syntax: "numkeys key... [APPROX] [LIMIT limit]",
        reply: Integer, complexity: "O(N) in the members of all sets",
        summary: "Counts what is in any of the sets.",
    }
    Sunionstore = sets::sunionstore {
        name: "sunionstore", arity: -3, since: "1.0.0",
        flags: [WRITE DENYOOM], categories: [SET],
        keys: [at(1): OW UPDATE; range(2, -1, 1): RO ACCESS],
        syntax: "destination key...",
        reply: Integer, complexity: "O(N) in the members of all sets",
        summary: "Stores what is in any of the sets.",
    }
}
