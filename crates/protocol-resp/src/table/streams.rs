// SPDX-License-Identifier: Apache-2.0
//! Streams.

use super::macros::commands;

commands! {
    group: Stream;

    Xack = streams::xack {
        name: "xack", arity: -4, since: "5.0.0",
        flags: [WRITE FAST], categories: [STREAM], keys: [at(1): RW UPDATE],
        syntax: "key group id...",
        reply: Integer, complexity: "O(log(N)) an item",
        summary: "Acknowledges items that a consumer was given.",
    }
    Xackdel = streams::xackdel {
        name: "xackdel", arity: -6, since: "8.2.0",
        flags: [WRITE FAST], categories: [STREAM], keys: [at(1): RW DELETE],
        syntax: "key group [condition: KEEPREF | DELREF | ACKED] IDS (ids: numids id...)",
        reply: Array, complexity: "O(log(N)) an item",
        summary: "Acknowledges items, and removes them from the stream.",
    }
    Xadd = streams::xadd {
        name: "xadd", arity: -5, since: "5.0.0",
        flags: [WRITE DENYOOM FAST], categories: [STREAM],
        keys: [at(1): RW UPDATE, "UPDATE instead of INSERT because of the optional trimming feature"],
        syntax: "key [NOMKSTREAM] [condition: KEEPREF | DELREF | ACKED] \
                 [idmp: (IDMPAUTO producer-id:string) | (IDMP (producer: producer-id:string \
                 idempotent-id:string))] [(trim: (strategy: MAXLEN | MINID) \
                 [operator: (equal: =) | (approximately: ~)] threshold [LIMIT count])] \
                 (id_or_auto: (auto_id: *) | id) (field value)...",
        reply: BulkOrNull, complexity: "O(1), and O(N) in the items trimmed",
        summary: "Adds an item to a stream, which is made if there is none.",
        tips: ["nondeterministic_output"],
    }
    Xautoclaim = streams::xautoclaim {
        name: "xautoclaim", arity: -6, since: "6.2.0",
        flags: [WRITE FAST], categories: [STREAM], keys: [at(1): RW DELETE],
        syntax: "key group consumer min-idle-time start:string [COUNT count] [JUSTID]",
        reply: Array, complexity: "O(N) in COUNT",
        summary: "Gives a consumer what others have had for some time.",
        tips: ["nondeterministic_output"],
    }
    Xcfgset = streams::xcfgset {
        name: "xcfgset", arity: -2, since: "8.6.0",
        flags: [WRITE FAST], categories: [STREAM], keys: [at(1): RW UPDATE],
        syntax: "key [IDMP-DURATION seconds:integer] [IDMP-MAXSIZE messages:integer]",
        reply: Ok, complexity: "O(1), and O(N) in the messages that are forgotten",
        summary: "Sets for how long and how many messages that may come again a stream knows.",
    }
    Xclaim = streams::xclaim {
        name: "xclaim", arity: -6, since: "5.0.0",
        flags: [WRITE FAST], categories: [STREAM], keys: [at(1): RW UPDATE],
        syntax: "key group consumer min-idle-time id... [IDLE ms:integer] \
                 [TIME unix-time-milliseconds] [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID id]",
        reply: Array, complexity: "O(log(N)) an item",
        summary: "Gives a consumer items that another has had for some time.",
        tips: ["nondeterministic_output"],
    }
    Xdel = streams::xdel {
        name: "xdel", arity: -3, since: "5.0.0",
        flags: [WRITE FAST], categories: [STREAM], keys: [at(1): RW DELETE],
        syntax: "key id...",
        reply: Integer, complexity: "O(1) an item",
        summary: "Removes items of a stream.",
    }
    Xdelex = streams::xdelex {
        name: "xdelex", arity: -5, since: "8.2.0",
        flags: [WRITE FAST], categories: [STREAM], keys: [at(1): RW DELETE],
        syntax: "key [condition: KEEPREF | DELREF | ACKED] IDS (ids: numids id...)",
        reply: Array, complexity: "O(1) an item, and O(log(N)) in each consumer group",
        summary: "Removes items of a stream, with regard to consumer groups that need them.",
    }
    Xgroup = dispatch::unknown_subcommand {
        name: "xgroup", arity: -2, since: "5.0.0",
        flags: [], categories: [], keys: [],
        syntax: "",
        reply: Various, complexity: "O(1)",
        summary: "Manages consumer groups.",
    }
    XgroupCreate = streams::xgroup_create {
        name: "xgroup|create", arity: -5, since: "5.0.0",
        flags: [WRITE DENYOOM], categories: [STREAM], keys: [at(2): RW INSERT],
        syntax: "key groupname (id: id | (new_id: $)) [MKSTREAM] [ENTRIESREAD entries_read:integer]",
        reply: Ok, complexity: "O(1)",
        summary: "Makes a consumer group.",
    }
    XgroupCreateconsumer = streams::xgroup_createconsumer {
        name: "xgroup|createconsumer", arity: 5, since: "6.2.0",
        flags: [WRITE DENYOOM], categories: [STREAM], keys: [at(2): RW INSERT],
        syntax: "key groupname consumername",
        reply: Integer, complexity: "O(1)",
        summary: "Adds a consumer to a group.",
    }
    XgroupDelconsumer = streams::xgroup_delconsumer {
        name: "xgroup|delconsumer", arity: 5, since: "5.0.0",
        flags: [WRITE], categories: [STREAM], keys: [at(2): RW DELETE],
        syntax: "key groupname consumername",
        reply: Integer, complexity: "O(N) in the items that it has not acknowledged",
        summary: "Removes a consumer of a group.",
    }
    XgroupDestroy = streams::xgroup_destroy {
        name: "xgroup|destroy", arity: 4, since: "5.0.0",
        flags: [WRITE], categories: [STREAM], keys: [at(2): RW DELETE],
        syntax: "key groupname",
        reply: Integer, complexity: "O(N) in the items that are not acknowledged",
        summary: "Removes a consumer group.",
    }
    XgroupHelp = dispatch::help {
        name: "xgroup|help", arity: 2, since: "5.0.0",
        flags: [LOADING STALE HELP], categories: [STREAM], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the sub-commands.",
    }
    XgroupSetid = streams::xgroup_setid {
        name: "xgroup|setid", arity: -5, since: "5.0.0",
        flags: [WRITE], categories: [STREAM], keys: [at(2): RW UPDATE],
        syntax: "key groupname (id: id | (new_id: $)) [ENTRIESREAD entries_read:integer]",
        reply: Ok, complexity: "O(1)",
        summary: "Sets up to which item a consumer group has read.",
    }
    Xinfo = dispatch::unknown_subcommand {
        name: "xinfo", arity: -2, since: "5.0.0",
        flags: [], categories: [], keys: [],
        syntax: "",
        reply: Various, complexity: "O(1)",
        summary: "Describes streams.",
    }
    XinfoConsumers = streams::xinfo_consumers {
        name: "xinfo|consumers", arity: 4, since: "5.0.0",
        flags: [READONLY], categories: [STREAM], keys: [at(2): RO ACCESS],
        syntax: "key groupname",
        reply: Array, complexity: "O(N) in the consumers",
        summary: "Describes the consumers of a group.",
        tips: ["nondeterministic_output"],
    }
    XinfoGroups = streams::xinfo_groups {
        name: "xinfo|groups", arity: 3, since: "5.0.0",
        flags: [READONLY], categories: [STREAM], keys: [at(2): RO ACCESS],
        syntax: "key",
        reply: Array, complexity: "O(N) in the groups",
        summary: "Describes the consumer groups of a stream.",
    }
    XinfoHelp = dispatch::help {
        name: "xinfo|help", arity: 2, since: "5.0.0",
        flags: [LOADING STALE HELP], categories: [STREAM], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the sub-commands.",
    }
    XinfoStream = streams::xinfo_stream {
        name: "xinfo|stream", arity: -3, since: "5.0.0",
        flags: [READONLY], categories: [STREAM], keys: [at(2): RO ACCESS],
        syntax: "key [FULL (full: [COUNT count])]",
        reply: Map, complexity: "O(1), and O(N) in the items shown",
        summary: "Describes a stream.",
    }
    Xlen = streams::xlen {
        name: "xlen", arity: 2, since: "5.0.0",
        flags: [READONLY FAST], categories: [STREAM], keys: [at(1): RO],
        syntax: "key",
        reply: Integer, complexity: "O(1)",
        summary: "Counts the items of a stream.",
    }
    Xnack = streams::xnack {
        name: "xnack", arity: -7, since: "8.8.0",
        flags: [WRITE FAST], categories: [STREAM], keys: [at(1): RW UPDATE],
        syntax: "key group (mode: SILENT | FAIL | FATAL) IDS (ids: numids id...) [RETRYCOUNT count] [FORCE]",
        reply: Integer, complexity: "O(log(N)) an item",
        summary: "Gives items back that a consumer was given, so that any may claim them.",
    }
    Xpending = streams::xpending {
        name: "xpending", arity: -3, since: "5.0.0",
        flags: [READONLY], categories: [STREAM], keys: [at(1): RO ACCESS],
        syntax: "key group [(filters: [IDLE min-idle-time:integer] start:string end:string count \
                 [consumer])]",
        reply: Array, complexity: "O(N) in the items shown, or in the consumers",
        summary: "Tells what consumers have not acknowledged.",
        tips: ["nondeterministic_output"],
    }
    Xrange = streams::xrange {
        name: "xrange", arity: -4, since: "5.0.0",
        flags: [READONLY], categories: [STREAM], keys: [at(1): RO ACCESS],
        syntax: "key start:string end:string [COUNT count]",
        reply: Array, complexity: "O(log(N)+M) in the stream N and the items returned M",
        summary: "Reads a range of a stream.",
    }
    Xread = streams::xread {
        name: "xread", arity: -4, since: "5.0.0",
        flags: [READONLY BLOCKING], categories: [STREAM], keys: [half_behind("STREAMS", 1): RO ACCESS],
        syntax: "[COUNT count] [MAXCOUNT maxcount:integer] [MAXSIZE maxsize:integer] [BLOCK milliseconds] \
                 STREAMS (streams: key... id...)",
        reply: Various, complexity: "O(log(N)+M) in the streams N and the items returned M",
        summary: "Reads what is new in streams; waits for it.",
    }
    Xreadgroup = streams::xreadgroup {
        name: "xreadgroup", arity: -7, since: "5.0.0",
        flags: [WRITE BLOCKING], categories: [STREAM], keys: [half_behind("STREAMS", 4): RO ACCESS],
        syntax: "GROUP (group_consumer: group consumer) [COUNT count] [MAXCOUNT maxcount:integer] \
                 [MAXSIZE maxsize:integer] [BLOCK milliseconds] [CLAIM min-idle-time:integer] [NOACK] \
                 STREAMS (streams: key... id...)",
        reply: Various, complexity: "O(log(N)+M) in the streams N and the items returned M",
        summary: "Gives a consumer of a group the next items of streams; waits for them.",
    }
    Xrevrange = streams::xrevrange {
        name: "xrevrange", arity: -4, since: "5.0.0",
        flags: [READONLY], categories: [STREAM], keys: [at(1): RO ACCESS],
        syntax: "key end:string start:string [COUNT count]",
        reply: Array, complexity: "O(log(N)+M) in the stream N and the items returned M",
        summary: "Reads a range of a stream backwards.",
    }
    Xsetid = streams::xsetid {
        name: "xsetid", arity: -3, since: "5.0.0",
        flags: [WRITE DENYOOM FAST], categories: [STREAM], keys: [at(1): RW UPDATE],
        syntax: "key last-id [ENTRIESADDED entries_added:integer] \
                 [MAXDELETEDID max_deleted_entry_id]",
        reply: Ok, complexity: "O(1)",
        summary: "Sets the id that the next item of a stream must exceed.",
    }
    Xtrim = streams::xtrim {
        name: "xtrim", arity: -4, since: "5.0.0",
        flags: [WRITE], categories: [STREAM], keys: [at(1): RW DELETE],
        syntax: "key (trim: (strategy: MAXLEN | MINID) [operator: (equal: =) | (approximately: ~)] \
                 threshold [LIMIT count]) [condition: KEEPREF | DELREF | ACKED]",
        reply: Integer, complexity: "O(N) in the items removed",
        summary: "Removes the oldest items of a stream.",
        tips: ["nondeterministic_output"],
    }
}
