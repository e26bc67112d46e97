// SPDX-License-Identifier: Apache-2.0
//! Scripts of commands, each for one thing that clients do.

/// What clients do, by what it shows. How a line is read is said in `commands.rs`.
pub(super) const SCRIPTS: [(&str, &str); 31] = [
    (
        "strings",
        r#"
SET s1 hello
GET s1
APPEND s1 " world"
GETRANGE s1 -5 -1
SETRANGE s1 20 end
STRLEN s1
SET s2 41
INCR s2
INCRBYFLOAT s2 0.5
GETDEL s2
MSET s1 a s2 b k c
MGET s1 s2 k h1
LCS s1 s2
"#,
    ),
    (
        "string-options",
        r#"
SET s1 a NX EX 10
SET s1 b XX GET KEEPTTL
TTL s1
GETEX s1 PERSIST
SET s1 c PXAT 1700000000500
@+1000
GET s1
SET s1 d EX 0
SET s1 d EX 9223372036854775807
GETSET s1 e
SETNX s1 f
"#,
    ),
    (
        "expiry",
        r#"
SET s1 a
PEXPIRE s1 100
PTTL s1
@+99
EXISTS s1
@+1
EXISTS s1
SET s1 b PX 50
RENAME s1 s2
PEXPIRETIME s2
PERSIST s2
EXPIRE s2 100 GT
EXPIRE s2 100 LT
EXPIRE s2 -1
"#,
    ),
    (
        "hashes",
        r#"
HSET h1 a 1 b 2 c 3
HGETALL h1
HINCRBY h1 a 5
HINCRBYFLOAT h1 b 0.5
HMGET h1 a b nothing
HDEL h1 a b c
EXISTS h1
HSETNX h1 a 1
HRANDFIELD h1 -5 WITHVALUES
HSCAN h1 0
"#,
    ),
    (
        "fields-expire",
        r#"
HSET h1 a 1 b 2 c 3
HPEXPIRE h1 100 FIELDS 2 a b
HTTL h1 FIELDS 3 a b c
HGETEX h1 PERSIST FIELDS 1 b
@+200
HGETALL h1
HLEN h1
HSETEX h1 FNX EX 1 FIELDS 1 d 4
HPEXPIRE h1 10 FIELDS 3 b c d
@+2000
HLEN h1
EXISTS h1
HSET h1 e 5
"#,
    ),
    (
        "lists",
        r#"
RPUSH l1 a b c d e
LPUSH l1 1 2 3
LRANGE l1 0 -1
LINSERT l1 BEFORE c x
LREM l1 -1 a
LSET l1 0 first
LTRIM l1 1 3
LPOS l1 b RANK -1
LMOVE l1 l2 LEFT RIGHT
LMPOP 2 l2 l1 LEFT COUNT 10
RPOPLPUSH l1 l1
"#,
    ),
    (
        "blocked-pops",
        r#"
BLPOP l1 l2 0
@1
BRPOP l2 l1 0
@2
RPUSH l2 a
RPUSH l1 b c
@0
BLMPOP 1 2 l1 l2 LEFT COUNT 2
BLPOP l1 0.1
@+50
@+100
PING
"#,
    ),
    (
        "blocked-moves",
        r#"
BLMOVE l1 l2 LEFT RIGHT 0
@1
BLMOVE l2 l1 LEFT RIGHT 0
@2
BRPOPLPUSH l1 l1 0
@3
RPUSH l1 a
SET l2 x
RPUSH l1 b c
DEL l2
RPUSH l2 d
"#,
    ),
    (
        "blocked-in-many-ways",
        r#"
BLPOP l1 0
@1
RPUSH l2 a b c
RENAME l2 l1
@0
BLPOP l1 l1 0
@1
COPY l1 l2
SELECT 1
RPUSH l1 x
SWAPDB 0 1
@2
BZPOPMIN z1 0
@1
SELECT 0
SADD t1 a b
SORT t1 ALPHA STORE l1
ZUNIONSTORE z1 1 t1
"#,
    ),
    (
        "blocked-pipeline",
        r#"
BLPOP l1 0
PING
SET s1 x
@1
RPUSH l1 a
CLIENT LIST
"#,
    ),
    (
        "sets",
        r#"
SADD t1 a b c 1 2 3
SADD t2 b c d
SINTER t1 t2
SDIFFSTORE t1 t1 t2
SUNION t1 t2
SINTERCARD 2 t1 t2 LIMIT 1
SMOVE t1 t2 a
SPOP t1 10
SRANDMEMBER t2 -5
SSCAN t2 0 COUNT 100
SMISMEMBER t2 a b z
"#,
    ),
    (
        "sorted-sets",
        r#"
ZADD z1 1 a 2 b 3 c
ZADD z1 GT CH 5 a 0 b
ZADD z1 INCR 1.5 c
ZRANGE z1 0 -1 WITHSCORES
ZRANGE z1 (1 +inf BYSCORE LIMIT 0 2
ZRANGE z1 + - BYLEX REV
ZRANGESTORE z2 z1 0 1
ZUNIONSTORE z2 2 z1 z2 WEIGHTS 2 -1 AGGREGATE MIN
ZINTER 2 z1 z2 WITHSCORES
ZRANK z1 a WITHSCORE
ZPOPMAX z1 2
ZMPOP 2 z1 z2 MIN COUNT 5
ZREMRANGEBYSCORE z2 -inf +inf
"#,
    ),
    (
        "blocked-sorted-sets",
        r#"
BZPOPMIN z1 z2 0
@1
BZMPOP 0 2 z2 z1 MAX COUNT 2
@2
ZADD z1 1 a 2 b 3 c
ZADD z2 1 x
ZINCRBY z2 1 y
"#,
    ),
    (
        "transactions",
        r#"
MULTI
SET s1 a
INCR s1
BLPOP l1 0
LPUSH l1 x
GET
EXEC
MULTI
SET s1 1
INCR s1
HSET s1 a b
SELECT 1
SET s1 other
EXEC
GET s1
DISCARD
"#,
    ),
    (
        "watched",
        r#"
SET s1 a
WATCH s1 s2
@1
SET s1 b
@0
MULTI
GET s1
EXEC
SET s2 x PX 100
WATCH s2
@+200
MULTI
GET s2
EXEC
WATCH k
@1
SWAPDB 0 1
FLUSHALL
@0
MULTI
EXEC
"#,
    ),
    (
        "channels",
        r#"
SUBSCRIBE ch1 ch2 ch1
PSUBSCRIBE c* *
SSUBSCRIBE ch1
@2
SUBSCRIBE ch1
GET s1
@1
PUBLISH ch1 hello
SPUBLISH ch1 shard
PUBSUB NUMSUB ch1 ch2
PUBSUB NUMPAT
@0
PING
UNSUBSCRIBE
PUNSUBSCRIBE nothing c*
GET s1
RESET
GET s1
"#,
    ),
    (
        "events",
        r#"
CONFIG SET notify-keyspace-events KEA
@2
PSUBSCRIBE __key*
@1
SET s1 a PX 50
LPUSH l1 a
LPOP l1
@+100
RENAME s1 s2
SET s1 a
RENAME s1 s2
"#,
    ),
    (
        "versions",
        r#"
HELLO
HELLO 3
HSET h1 a 1
HGETALL h1
ZADD z1 1.5 a
ZSCORE z1 a
HELLO 2 SETNAME me
HGETALL h1
HELLO 4
HELLO 3 AUTH default wrong
"#,
    ),
    (
        "passwords",
        r#"
CONFIG SET requirepass secret
@-
GET s1
AUTH wrong
AUTH default secret
GET s1
CONFIG SET requirepass ""
"#,
    ),
    (
        "clients",
        r#"
CLIENT SETNAME a
CLIENT INFO
@1
CLIENT LIST
CLIENT KILL ID 1
CLIENT NO-TOUCH ON
CLIENT REPLY SKIP
PING
CLIENT REPLY OFF
PING
CLIENT REPLY ON
@2
BLPOP l1 0
@3
CLIENT UNBLOCK 3 ERROR
QUIT
"#,
    ),
    (
        "pause",
        r#"
CLIENT PAUSE 1000 WRITE
SET s1 a
@1
GET s1
CLIENT PAUSE 100 ALL
GET s1
@2
PING
@+500
@+1000
@3
CLIENT UNPAUSE
"#,
    ),
    (
        "monitor",
        r#"
@3
MONITOR
@0
SET s1 "\x00 \""
@1
MULTI
GET s1
EXEC
@3
PING
"#,
    ),
    (
        "limits",
        r#"
CONFIG SET hash-max-listpack-entries 2 set-max-intset-entries 2 list-max-listpack-size 2
HSET h1 a 1 b 2 c 3
OBJECT ENCODING h1
SADD t1 1 2 3
OBJECT ENCODING t1
RPUSH l1 a b c
OBJECT ENCODING l1
CONFIG SET zset-max-listpack-entries 0
ZADD z1 1 a
OBJECT ENCODING z1
DEBUG OBJECT z1
MEMORY USAGE z1
"#,
    ),
    (
        "eviction",
        r#"
CONFIG SET maxmemory 5000 maxmemory-policy allkeys-lru
SETRANGE s1 1000 a
SETRANGE s2 1000 a
SETRANGE k 1000 a
SETRANGE h1 1000 a
SETRANGE l1 1000 a
DBSIZE
CONFIG SET maxmemory-policy noeviction
SETRANGE h2 1000 a
DEL s1 s2 k h1 l1
OBJECT FREQ k
INFO memory
"#,
    ),
    (
        "walks",
        r#"
MSET s1 a s2 b k c h1 d
SCAN 0 COUNT 1
SCAN 9223372036854775808 MATCH s* TYPE string
KEYS *
RANDOMKEY
DBSIZE
SCAN 18446744073709551615
SCAN x
"#,
    ),
    (
        "sorted",
        r#"
RPUSH l1 3 1 2
MSET w1 30 w2 10 w3 20
SORT l1
SORT l1 BY w* DESC
SORT l1 GET # GET w*
SORT l1 ALPHA LIMIT 1 1 STORE l2
SORT_RO l1 BY nosort
RPUSH l1 x
SORT l1
"#,
    ),
    (
        "databases",
        r#"
SET s1 a
MOVE s1 1
SELECT 1
COPY s1 s2 DB 2 REPLACE
SWAPDB 1 2
DBSIZE
FLUSHDB ASYNC
SELECT 16
SELECT 0
FLUSHALL
"#,
    ),
    (
        "wrong",
        r#"
NOTHING a b c
GET
GET a b
CLIENT NOTHING
CONFIG SET maxmemory x
SET s1 a
LPUSH s1 a
HSET s1 a b
ZADD s1 1 a
SADD s1 a
EXEC
"unbalanced
OBJECT HELP
DEBUG SLEEP 0
INFO everything
COMMAND DOCS get
"#,
    ),
    (
        "monitor-twice",
        r#"
@3
MONITOR
MONITOR
PING
@0
SET s1 a
"#,
    ),
    (
        "held-by-a-pause",
        r#"
RPUSH l1 a
CLIENT PAUSE 5000 WRITE
@1
BLPOP l1 1
@2
BLPOP l2 1
@+2000
@+4000
@+2000
"#,
    ),
    (
        "transaction-of-all-types",
        r#"
SET s1 a PX 100
MULTI
RPUSH l1 a b c
LMOVE l1 l2 LEFT RIGHT
LPOP l1 2
ZADD z1 1 a 2 b
ZPOPMAX z1
SADD t1 a b
SMOVE t1 t2 a
HSET h1 a 1
APPEND s1 b
SELECT 1
SET s1 c
COPY s1 k DB 2
MOVE s1 0
SWAPDB 1 2
GET k
FLUSHDB
EXEC
@+200
GET s1
"#,
    ),
];
