// SPDX-License-Identifier: Apache-2.0
//! Lists.

use super::macros::commands;

commands! {
    group: List;

    Blmove = lists::blmove {
        name: "blmove", arity: 6, since: "6.2.0",
        flags: [WRITE DENYOOM BLOCKING], categories: [LIST],
        keys: [at(1): RW ACCESS DELETE; at(2): RW INSERT],
        syntax: "source destination (wherefrom: LEFT | RIGHT) (whereto: LEFT | RIGHT) \
                 timeout:double",
        reply: BulkOrNull, complexity: "O(1)",
        summary: "Moves an end of a list to an end of another; waits for one.",
    }
    Blmovem = lists::blmovem {
        name: "blmovem", arity: -6, since: "8.10.0",
        flags: [WRITE DENYOOM BLOCKING], categories: [LIST],
        keys: [at(1): RW ACCESS DELETE; at(2): RW INSERT],
        syntax: "source destination (wherefrom: LEFT | RIGHT) (whereto: LEFT | RIGHT) \
                 timeout:double \
                 [how-many: (selector: COUNT count | EXACTLY exactly:integer) (ordering: OBO | BULK)]",
        reply: ArrayOrNull, complexity: "O(N) in the elements moved",
        summary: "Moves elements of an end of a list to an end of another; waits for them.",
    }
    Blmpop = lists::blmpop {
        name: "blmpop", arity: -5, since: "7.0.0",
        flags: [WRITE BLOCKING], categories: [LIST], keys: [counted(2): RW ACCESS DELETE],
        syntax: "timeout:double numkeys key... (where: LEFT | RIGHT) [COUNT count]",
        reply: ArrayOrNull, complexity: "O(N+M) in the keys N and the elements M",
        summary: "Takes elements from the first list that has any; waits for one.",
    }
    Blpop = lists::blpop {
        name: "blpop", arity: -3, since: "2.0.0",
        flags: [WRITE BLOCKING], categories: [LIST],
        keys: [range(1, -2, 1): RW ACCESS DELETE],
        syntax: "key... timeout:double",
        reply: ArrayOrNull, complexity: "O(N) in the number of keys",
        summary: "Takes the first element of the first list that has any; waits for one.",
    }
    Brpop = lists::brpop {
        name: "brpop", arity: -3, since: "2.0.0",
        flags: [WRITE BLOCKING], categories: [LIST],
        keys: [range(1, -2, 1): RW ACCESS DELETE],
        syntax: "key... timeout:double",
        reply: ArrayOrNull, complexity: "O(N) in the number of keys",
        summary: "Takes the last element of the first list that has any; waits for one.",
    }
    Brpoplpush = lists::brpoplpush {
        name: "brpoplpush", arity: 4, since: "2.2.0",
        flags: [WRITE DENYOOM BLOCKING], categories: [LIST],
        keys: [at(1): RW ACCESS DELETE; at(2): RW INSERT],
        syntax: "source destination timeout:double",
        reply: BulkOrNull, complexity: "O(1)",
        summary: "Moves the last element of a list to the front of another; waits for one.",
        deprecated: "6.2.0" => "`BLMOVE` with `RIGHT` and `LEFT`",
    }
    Lindex = lists::lindex {
        name: "lindex", arity: 3, since: "1.0.0",
        flags: [READONLY], categories: [LIST], keys: [at(1): RO ACCESS],
        syntax: "key index",
        reply: BulkOrNull, complexity: "O(N) in the elements to pass, O(1) at the ends",
        summary: "Reads an element of a list.",
    }
    Linsert = lists::linsert {
        name: "linsert", arity: 5, since: "2.2.0",
        flags: [WRITE DENYOOM], categories: [LIST], keys: [at(1): RW INSERT],
        syntax: "key (where: BEFORE | AFTER) pivot element",
        reply: Integer, complexity: "O(N) in the elements to pass",
        summary: "Puts an element before or after another of a list.",
    }
    Llen = lists::llen {
        name: "llen", arity: 2, since: "1.0.0",
        flags: [READONLY FAST], categories: [LIST], keys: [at(1): RO],
        syntax: "key",
        reply: Integer, complexity: "O(1)",
        summary: "Counts the elements of a list.",
    }
    Lmove = lists::lmove {
        name: "lmove", arity: 5, since: "6.2.0",
        flags: [WRITE DENYOOM], categories: [LIST],
        keys: [at(1): RW ACCESS DELETE; at(2): RW INSERT],
        syntax: "source destination (wherefrom: LEFT | RIGHT) (whereto: LEFT | RIGHT)",
        reply: BulkOrNull, complexity: "O(1)",
        summary: "Moves an end of a list to an end of another.",
    }
    Lmovem = lists::lmovem {
        name: "lmovem", arity: -5, since: "8.10.0",
        flags: [WRITE DENYOOM], categories: [LIST],
        keys: [at(1): RW ACCESS DELETE; at(2): RW INSERT],
        syntax: "source destination (wherefrom: LEFT | RIGHT) (whereto: LEFT | RIGHT) \
                 [how-many: (selector: COUNT count | EXACTLY exactly:integer) (ordering: OBO | BULK)]",
        reply: ArrayOrNull, complexity: "O(N) in the elements moved",
        summary: "Moves elements of an end of a list to an end of another.",
    }
    Lmpop = lists::lmpop {
        name: "lmpop", arity: -4, since: "7.0.0",
        flags: [WRITE], categories: [LIST], keys: [counted(1): RW ACCESS DELETE],
        syntax: "numkeys key... (where: LEFT | RIGHT) [COUNT count]",
        reply: ArrayOrNull, complexity: "O(N+M) in the keys N and the elements M",
        summary: "Takes elements from the first list that has any.",
    }
    Lpop = lists::lpop {
        name: "lpop", arity: -2, since: "1.0.0",
        flags: [WRITE FAST], categories: [LIST], keys: [at(1): RW ACCESS DELETE],
        syntax: "key [count]",
        reply: Various, complexity: "O(N) in the elements returned",
        summary: "Takes the first elements of a list.",
    }
    Lpos = lists::lpos {
        name: "lpos", arity: -3, since: "6.0.6",
        flags: [READONLY], categories: [LIST], keys: [at(1): RO ACCESS],
        syntax: "key element [RANK rank] [COUNT num-matches] [MAXLEN len]",
        reply: Various, complexity: "O(N) in the elements to pass",
        summary: "Finds elements of a list.",
    }
    Lpush = lists::lpush {
        name: "lpush", arity: -3, since: "1.0.0",
        flags: [WRITE DENYOOM FAST], categories: [LIST], keys: [at(1): RW INSERT],
        syntax: "key element...",
        reply: Integer, complexity: "O(N) in the number of elements",
        summary: "Puts elements at the front of a list, which is made if there is none.",
    }
    Lpushx = lists::lpushx {
        name: "lpushx", arity: -3, since: "2.2.0",
        flags: [WRITE DENYOOM FAST], categories: [LIST], keys: [at(1): RW INSERT],
        syntax: "key element...",
        reply: Integer, complexity: "O(N) in the number of elements",
        summary: "Puts elements at the front of a list if there is one.",
    }
    Lrange = lists::lrange {
        name: "lrange", arity: 4, since: "1.0.0",
        flags: [READONLY], categories: [LIST], keys: [at(1): RO ACCESS],
        syntax: "key start stop",
        reply: Array, complexity: "O(S+N) in the elements to pass S and those returned N",
        summary: "Reads a range of a list.",
    }
    Lrem = lists::lrem {
        name: "lrem", arity: 4, since: "1.0.0",
        flags: [WRITE], categories: [LIST], keys: [at(1): RW DELETE],
        syntax: "key count element",
        reply: Integer, complexity: "O(N) in the length of the list",
        summary: "Removes elements of a list that are equal to a value.",
    }
    Lset = lists::lset {
        name: "lset", arity: 4, since: "1.0.0",
        flags: [WRITE DENYOOM], categories: [LIST], keys: [at(1): RW UPDATE],
        syntax: "key index element",
        reply: Ok, complexity: "O(N) in the elements to pass, O(1) at the ends",
        summary: "Replaces an element of a list.",
    }
    Ltrim = lists::ltrim {
        name: "ltrim", arity: 4, since: "1.0.0",
        flags: [WRITE], categories: [LIST], keys: [at(1): RW DELETE],
        syntax: "key start stop",
        reply: Ok, complexity: "O(N) in the elements removed",
        summary: "Removes what is outside of a range of a list.",
    }
    Rpop = lists::rpop {
        name: "rpop", arity: -2, since: "1.0.0",
        flags: [WRITE FAST], categories: [LIST], keys: [at(1): RW ACCESS DELETE],
        syntax: "key [count]",
        reply: Various, complexity: "O(N) in the elements returned",
        summary: "Takes the last elements of a list.",
    }
    Rpoplpush = lists::rpoplpush {
        name: "rpoplpush", arity: 3, since: "1.2.0",
        flags: [WRITE DENYOOM], categories: [LIST],
        keys: [at(1): RW ACCESS DELETE; at(2): RW INSERT],
        syntax: "source destination",
        reply: BulkOrNull, complexity: "O(1)",
        summary: "Moves the last element of a list to the front of another.",
        deprecated: "6.2.0" => "`LMOVE` with `RIGHT` and `LEFT`",
    }
    Rpush = lists::rpush {
        name: "rpush", arity: -3, since: "1.0.0",
        flags: [WRITE DENYOOM FAST], categories: [LIST], keys: [at(1): RW INSERT],
        syntax: "key element...",
        reply: Integer, complexity: "O(N) in the number of elements",
        summary: "Puts elements at the end of a list, which is made if there is none.",
    }
    Rpushx = lists::rpushx {
        name: "rpushx", arity: -3, since: "2.2.0",
        flags: [WRITE DENYOOM FAST], categories: [LIST], keys: [at(1): RW INSERT],
        syntax: "key element...",
        reply: Integer, complexity: "O(N) in the number of elements",
        summary: "Puts elements at the end of a list if there is one.",
    }
}
