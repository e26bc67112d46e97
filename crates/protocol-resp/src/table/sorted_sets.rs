// SPDX-License-Identifier: Apache-2.0
//! Sorted sets.

use super::macros::commands;

commands! {
    group: SortedSet;

    Bzmpop = sorted_sets::bzmpop {
        name: "bzmpop", arity: -5, since: "7.0.0",
        flags: [WRITE BLOCKING], categories: [SORTED_SET], keys: [counted(2): RW ACCESS DELETE],
        syntax: "timeout:double numkeys key... (where: MIN | MAX) [COUNT count]",
        reply: ArrayOrNull,
        complexity: "O(K+M*log(N)) in the keys K, the members taken M and the set N",
        summary: "Takes the lowest or highest of the first sorted set that has any; waits for one.",
    }
    Bzpopmax = sorted_sets::bzpopmax {
        name: "bzpopmax", arity: -3, since: "5.0.0",
        flags: [WRITE BLOCKING FAST], categories: [SORTED_SET],
        keys: [range(1, -2, 1): RW ACCESS DELETE],
        syntax: "key... timeout:double",
        reply: ArrayOrNull, complexity: "O(K+log(N)) in the keys K and the set N",
        summary: "Takes the highest of the first sorted set that has any; waits for one.",
    }
    Bzpopmin = sorted_sets::bzpopmin {
        name: "bzpopmin", arity: -3, since: "5.0.0",
        flags: [WRITE BLOCKING FAST], categories: [SORTED_SET],
        keys: [range(1, -2, 1): RW ACCESS DELETE],
        syntax: "key... timeout:double",
        reply: ArrayOrNull, complexity: "O(K+log(N)) in the keys K and the set N",
        summary: "Takes the lowest of the first sorted set that has any; waits for one.",
    }
    Zadd = sorted_sets::zadd {
        name: "zadd", arity: -4, since: "1.2.0",
        flags: [WRITE DENYOOM FAST], categories: [SORTED_SET], keys: [at(1): RW UPDATE],
        element: 3,
        syntax: "key [condition: NX | XX] [comparison: GT | LT] [change: CH] [increment: INCR] \
                 (score member)...",
        reply: Various, complexity: "O(log(N)) a member",
        summary: "Adds members to a sorted set or changes their scores.",
    }
    Zcard = sorted_sets::zcard {
        name: "zcard", arity: 2, since: "1.2.0",
        flags: [READONLY FAST], categories: [SORTED_SET], keys: [at(1): RO],
        syntax: "key",
        reply: Integer, complexity: "O(1)",
        summary: "Counts the members of a sorted set.",
    }
    Zcount = sorted_sets::zcount {
        name: "zcount", arity: 4, since: "2.0.0",
        flags: [READONLY FAST], categories: [SORTED_SET], keys: [at(1): RO ACCESS],
        syntax: "key min:double max:double",
        reply: Integer, complexity: "O(log(N))",
        summary: "Counts the members of a sorted set in a range of scores.",
    }
    Zdiff = sorted_sets::zdiff {
        name: "zdiff", arity: -3, since: "6.2.0",
        flags: [READONLY], categories: [SORTED_SET], keys: [counted(1): RO ACCESS],
        syntax: "numkeys key... [WITHSCORES]",
        reply: Array,
        complexity: "O(L+(N-K)*log(N)) in all members L, the first set N and the result K",
        summary: "Lists what is in the first sorted set and in none of the others.",
    }
    Zdiffstore = sorted_sets::zdiffstore {
        name: "zdiffstore", arity: -4, since: "6.2.0",
        flags: [WRITE DENYOOM], categories: [SORTED_SET],
        keys: [at(1): OW UPDATE; counted(2): RO ACCESS],
        syntax: "destination numkeys key...",
        reply: Integer,
        complexity: "O(L+(N-K)*log(N)) in all members L, the first set N and the result K",
        summary: "Stores what is in the first sorted set and in none of the others.",
    }
    Zincrby = sorted_sets::zincrby {
        name: "zincrby", arity: 4, since: "1.2.0",
        flags: [WRITE DENYOOM FAST], categories: [SORTED_SET], keys: [at(1): RW ACCESS UPDATE],
        element: 3,
        syntax: "key increment:double member",
        reply: Float, complexity: "O(log(N))",
        summary: "Adds to the score of a member of a sorted set.",
    }
    Zinter = sorted_sets::zinter {
        name: "zinter", arity: -3, since: "6.2.0",
        flags: [READONLY], categories: [SORTED_SET], keys: [counted(1): RO ACCESS],
        syntax: "numkeys key... [WEIGHTS weight...] [AGGREGATE (aggregate: SUM | MIN | MAX | COUNT)] \
                 [WITHSCORES]",
        reply: Array,
        complexity: "O(N*K+M*log(M)) in the smallest set N, the sets K and the result M",
        summary: "Lists what is in all the sorted sets, with the scores combined.",
    }
    Zintercard = sorted_sets::zintercard {
        name: "zintercard", arity: -3, since: "7.0.0",
        flags: [READONLY], categories: [SORTED_SET], keys: [counted(1): RO ACCESS],
        syntax: "numkeys key... [LIMIT limit]",
        reply: Integer, complexity: "O(N*K) in the smallest set N and the sets K",
        summary: "Counts what is in all the sorted sets.",
    }
    Zinterstore = sorted_sets::zinterstore {
        name: "zinterstore", arity: -4, since: "2.0.0",
        flags: [WRITE DENYOOM], categories: [SORTED_SET],
        keys: [at(1): OW UPDATE; counted(2): RO ACCESS],
        syntax: "destination numkeys key... [WEIGHTS weight...] [AGGREGATE (aggregate: SUM | MIN \
                 | MAX | COUNT)]",
        reply: Integer,
        complexity: "O(N*K+M*log(M)) in the smallest set N, the sets K and the result M",
        summary: "Stores what is in all the sorted sets, with the scores combined.",
    }
    Zlexcount = sorted_sets::zlexcount {
        name: "zlexcount", arity: 4, since: "2.8.9",
        flags: [READONLY FAST], categories: [SORTED_SET], keys: [at(1): RO ACCESS],
        syntax: "key min max",
        reply: Integer, complexity: "O(log(N))",
        summary: "Counts the members of a sorted set in a range of names.",
    }
    Zmpop = sorted_sets::zmpop {
        name: "zmpop", arity: -4, since: "7.0.0",
        flags: [WRITE], categories: [SORTED_SET], keys: [counted(1): RW ACCESS DELETE],
        syntax: "numkeys key... (where: MIN | MAX) [COUNT count]",
        reply: ArrayOrNull,
        complexity: "O(K+M*log(N)) in the keys K, the members taken M and the set N",
        summary: "Takes the lowest or highest of the first sorted set that has any.",
    }
    Zmscore = sorted_sets::zmscore {
        name: "zmscore", arity: -3, since: "6.2.0",
        flags: [READONLY FAST], categories: [SORTED_SET], keys: [at(1): RO ACCESS],
        element: 2,
        syntax: "key member...",
        reply: Array, complexity: "O(N) in the number of members",
        summary: "Tells the scores of several members of a sorted set.",
    }
    Zpopmax = sorted_sets::zpopmax {
        name: "zpopmax", arity: -2, since: "5.0.0",
        flags: [WRITE FAST], categories: [SORTED_SET], keys: [at(1): RW ACCESS DELETE],
        syntax: "key [count]",
        reply: Array, complexity: "O(M*log(N)) in the members taken M and the set N",
        summary: "Takes the members of a sorted set with the highest scores.",
    }
    Zpopmin = sorted_sets::zpopmin {
        name: "zpopmin", arity: -2, since: "5.0.0",
        flags: [WRITE FAST], categories: [SORTED_SET], keys: [at(1): RW ACCESS DELETE],
        syntax: "key [count]",
        reply: Array, complexity: "O(M*log(N)) in the members taken M and the set N",
        summary: "Takes the members of a sorted set with the lowest scores.",
    }
    Zrandmember = sorted_sets::zrandmember {
        name: "zrandmember", arity: -2, since: "6.2.0",
        flags: [READONLY], categories: [SORTED_SET], keys: [at(1): RO ACCESS],
        syntax: "key [options: count [WITHSCORES]]",
        reply: Various, complexity: "O(N) in the members returned",
        summary: "Picks members of a sorted set at random.",
        tips: ["nondeterministic_output"],
    }
    Zrange = sorted_sets::zrange {
        name: "zrange", arity: -4, since: "1.2.0",
        flags: [READONLY], categories: [SORTED_SET], keys: [at(1): RO ACCESS],
        syntax: "key start:string stop:string [sortby: BYSCORE | BYLEX] [REV] [LIMIT (offset \
                 count)] [WITHSCORES]",
        reply: Array, complexity: "O(log(N)+M) in the set N and the members returned M",
        summary: "Lists a range of a sorted set, by rank, score or name.",
    }
    Zrangebylex = sorted_sets::zrangebylex {
        name: "zrangebylex", arity: -4, since: "2.8.9",
        flags: [READONLY], categories: [SORTED_SET], keys: [at(1): RO ACCESS],
        syntax: "key min max [LIMIT (offset count)]",
        reply: Array, complexity: "O(log(N)+M) in the set N and the members returned M",
        summary: "Lists the members of a sorted set in a range of names.",
        deprecated: "6.2.0" => "`ZRANGE` with `BYLEX`",
    }
    Zrangebyscore = sorted_sets::zrangebyscore {
        name: "zrangebyscore", arity: -4, since: "1.0.5",
        flags: [READONLY], categories: [SORTED_SET], keys: [at(1): RO ACCESS],
        syntax: "key min:double max:double [WITHSCORES] [LIMIT (offset count)]",
        reply: Array, complexity: "O(log(N)+M) in the set N and the members returned M",
        summary: "Lists the members of a sorted set in a range of scores.",
        deprecated: "6.2.0" => "`ZRANGE` with `BYSCORE`",
    }
    Zrangestore = sorted_sets::zrangestore {
        name: "zrangestore", arity: -5, since: "6.2.0",
        flags: [WRITE DENYOOM], categories: [SORTED_SET],
        keys: [at(1): OW UPDATE; at(2): RO ACCESS],
        syntax: "dst src min max [sortby: BYSCORE | BYLEX] [REV] [LIMIT (offset count)]",
        reply: Integer, complexity: "O(log(N)+M) in the set N and the members stored M",
        summary: "Stores a range of a sorted set, by rank, score or name.",
    }
    Zrank = sorted_sets::zrank {
        name: "zrank", arity: -3, since: "2.0.0",
        flags: [READONLY FAST], categories: [SORTED_SET], keys: [at(1): RO ACCESS],
        element: 2,
        syntax: "key member [WITHSCORE]",
        reply: Various, complexity: "O(log(N))",
        summary: "Tells how many members of a sorted set come before one.",
    }
    Zrem = sorted_sets::zrem {
        name: "zrem", arity: -3, since: "1.2.0",
        flags: [WRITE FAST], categories: [SORTED_SET], keys: [at(1): RW DELETE],
        element: 2,
        syntax: "key member...",
        reply: Integer, complexity: "O(M*log(N)) in the members removed M and the set N",
        summary: "Removes members of a sorted set.",
    }
    Zremrangebylex = sorted_sets::zremrangebylex {
        name: "zremrangebylex", arity: 4, since: "2.8.9",
        flags: [WRITE], categories: [SORTED_SET], keys: [at(1): RW DELETE],
        syntax: "key min max",
        reply: Integer, complexity: "O(log(N)+M) in the set N and the members removed M",
        summary: "Removes the members of a sorted set in a range of names.",
    }
    Zremrangebyrank = sorted_sets::zremrangebyrank {
        name: "zremrangebyrank", arity: 4, since: "2.0.0",
        flags: [WRITE], categories: [SORTED_SET], keys: [at(1): RW DELETE],
        syntax: "key start stop",
        reply: Integer, complexity: "O(log(N)+M) in the set N and the members removed M",
        summary: "Removes the members of a sorted set in a range of ranks.",
    }
    Zremrangebyscore = sorted_sets::zremrangebyscore {
        name: "zremrangebyscore", arity: 4, since: "1.2.0",
        flags: [WRITE], categories: [SORTED_SET], keys: [at(1): RW DELETE],
        syntax: "key min:double max:double",
        reply: Integer, complexity: "O(log(N)+M) in the set N and the members removed M",
        summary: "Removes the members of a sorted set in a range of scores.",
    }
    Zrevrange = sorted_sets::zrevrange {
        name: "zrevrange", arity: -4, since: "1.2.0",
        flags: [READONLY], categories: [SORTED_SET], keys: [at(1): RO ACCESS],
        syntax: "key start stop [WITHSCORES]",
        reply: Array, complexity: "O(log(N)+M) in the set N and the members returned M",
        summary: "Lists a range of a sorted set by rank, from the highest score.",
        deprecated: "6.2.0" => "`ZRANGE` with `REV`",
    }
    Zrevrangebylex = sorted_sets::zrevrangebylex {
        name: "zrevrangebylex", arity: -4, since: "2.8.9",
        flags: [READONLY], categories: [SORTED_SET], keys: [at(1): RO ACCESS],
        syntax: "key max min [LIMIT (offset count)]",
        reply: Array, complexity: "O(log(N)+M) in the set N and the members returned M",
        summary: "Lists the members of a sorted set in a range of names, backwards.",
        deprecated: "6.2.0" => "`ZRANGE` with `REV` and `BYLEX`",
    }
    Zrevrangebyscore = sorted_sets::zrevrangebyscore {
        name: "zrevrangebyscore", arity: -4, since: "2.2.0",
        flags: [READONLY], categories: [SORTED_SET], keys: [at(1): RO ACCESS],
        syntax: "key max:double min:double [WITHSCORES] [LIMIT (offset count)]",
        reply: Array, complexity: "O(log(N)+M) in the set N and the members returned M",
        summary: "Lists the members of a sorted set in a range of scores, from the highest.",
        deprecated: "6.2.0" => "`ZRANGE` with `REV` and `BYSCORE`",
    }
    Zrevrank = sorted_sets::zrevrank {
        name: "zrevrank", arity: -3, since: "2.0.0",
        flags: [READONLY FAST], categories: [SORTED_SET], keys: [at(1): RO ACCESS],
        element: 2,
        syntax: "key member [WITHSCORE]",
        reply: Various, complexity: "O(log(N))",
        summary: "Tells how many members of a sorted set come after one.",
    }
    Zscan = sorted_sets::zscan {
        name: "zscan", arity: -3, since: "2.8.0",
        flags: [READONLY], categories: [SORTED_SET], keys: [at(1): RO ACCESS],
        syntax: "key cursor [MATCH pattern] [COUNT count] [NOSCORES]",
        reply: Array, complexity: "O(1) a call, O(N) for all members",
        summary: "Walks over the members of a sorted set in steps.",
        tips: ["nondeterministic_output"],
    }
    Zscore = sorted_sets::zscore {
        name: "zscore", arity: 3, since: "1.2.0",
        flags: [READONLY FAST], categories: [SORTED_SET], keys: [at(1): RO ACCESS],
        element: 2,
        syntax: "key member",
        reply: FloatOrNull, complexity: "O(1)",
        summary: "Tells the score of a member of a sorted set.",
    }
    Zunion = sorted_sets::zunion {
        name: "zunion", arity: -3, since: "6.2.0",
        flags: [READONLY], categories: [SORTED_SET], keys: [counted(1): RO ACCESS],
        syntax: "numkeys key... [WEIGHTS weight...] [AGGREGATE (aggregate: SUM | MIN | MAX | COUNT)] \
                 [WITHSCORES]",
        reply: Array, complexity: "O(N+M*log(M)) in all members N and the result M",
        summary: "Lists what is in any of the sorted sets, with the scores combined.",
    }
    Zunionstore = sorted_sets::zunionstore {
        name: "zunionstore", arity: -4, since: "2.0.0",
        flags: [WRITE DENYOOM], categories: [SORTED_SET],
        keys: [at(1): OW UPDATE; counted(2): RO ACCESS],
        syntax: "destination numkeys key... [WEIGHTS weight...] [AGGREGATE (aggregate: SUM | MIN \
                 | MAX | COUNT)]",
        reply: Integer, complexity: "O(N+M*log(M)) in all members N and the result M",
        summary: "Stores what is in any of the sorted sets, with the scores combined.",
    }
}
