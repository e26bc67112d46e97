// SPDX-License-Identifier: Apache-2.0
//! Connections.

use super::macros::commands;
use super::spec::Secret;

commands! {
    group: Connection;

    Auth = connection::auth {
        name: "auth", arity: -2, since: "1.0.0",
        flags: [NOSCRIPT LOADING STALE FAST NO_AUTH ALLOW_BUSY ENDS_BATCH], categories: [CONNECTION], keys: [],
        syntax: "[username] password",
        secret: Secret::From(1),
        reply: Ok, complexity: "O(1)",
        summary: "Says who the client is.",
    }
    Client = dispatch::unknown_subcommand {
        name: "client", arity: -2, since: "2.4.0",
        flags: [HOLDS_CACHING], categories: [], keys: [],
        syntax: "",
        reply: Various, complexity: "O(1)",
        summary: "Looks after connections.",
    }
    ClientCaching = connection::client_caching {
        name: "client|caching", arity: 3, since: "6.0.0",
        flags: [NOSCRIPT LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "(mode: YES | NO)",
        reply: Ok, complexity: "O(1)",
        summary: "Says whether the client caches what its next command reads.",
    }
    ClientCapa = connection::client_capa {
        name: "client|capa", arity: -3, since: "8.0.0",
        flags: [NOSCRIPT LOADING STALE ALLOW_BUSY], categories: [CONNECTION], keys: [],
        syntax: "capability...",
        reply: Ok, complexity: "O(1)",
        summary: "Tells the server what the client is capable of.",
    }
    ClientGetname = connection::client_getname {
        name: "client|getname", arity: 2, since: "2.6.9",
        flags: [NOSCRIPT LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "",
        reply: BulkOrNull, complexity: "O(1)",
        summary: "Tells the name of this connection.",
    }
    ClientGetredir = connection::client_getredir {
        name: "client|getredir", arity: 2, since: "6.0.0",
        flags: [NOSCRIPT LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "",
        reply: Integer, complexity: "O(1)",
        summary: "Tells which connection gets the invalidations of this one.",
    }
    ClientHelp = dispatch::help {
        name: "client|help", arity: 2, since: "5.0.0",
        flags: [LOADING STALE HELP], categories: [CONNECTION], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the sub-commands.",
    }
    ClientId = connection::client_id {
        name: "client|id", arity: 2, since: "5.0.0",
        flags: [NOSCRIPT LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "",
        reply: Integer, complexity: "O(1)",
        summary: "Tells the number of this connection.",
    }
    ClientImportSource = connection::client_import_source {
        name: "client|import-source", arity: 3, since: "8.1.0",
        flags: [NOSCRIPT LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "(enabled: ON | OFF)",
        reply: Ok, complexity: "O(1)",
        summary: "Marks the connection as a source of imported data.",
    }
    ClientInfo = connection::client_info {
        name: "client|info", arity: 2, since: "6.2.0",
        flags: [NOSCRIPT LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "",
        reply: Text, complexity: "O(1)",
        summary: "Describes this connection.",
        tips: ["nondeterministic_output"],
    }
    ClientKill = connection::client_kill {
        name: "client|kill", arity: -3, since: "2.4.0",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "(filter: ip:port | (new-format: [ID (id: client-id...)] | \
                 [TYPE (NORMAL | MASTER | SLAVE | REPLICA | PUBSUB)] | [USER username] | \
                 [ADDR ip:port] | [LADDR ip:port] | [SKIPME yes/no] | [MAXAGE maxage] | \
                 [NAME name] | [IDLE seconds] | [FLAGS flags] | \
                 [LIB-NAME lib-name] | [LIB-VER lib-ver] | [DB db] | [CAPA capa] | [IP ip] | \
                 [NOT-ID (not-id: client-id...)] | \
                 [NOT-TYPE (not-type: NORMAL | MASTER | REPLICA | PUBSUB)] | [NOT-USER not-user] | \
                 [NOT-ADDR not-addr] | [NOT-LADDR not-laddr] | [NOT-NAME not-name] | [NOT-FLAGS not-flags] | \
                 [NOT-LIB-NAME not-lib-name] | [NOT-LIB-VER not-lib-ver] | [NOT-DB db] | \
                 [NOT-CAPA not-capa] | [NOT-IP not-ip])...)",
        reply: Various, complexity: "O(N) in the number of connections",
        summary: "Closes connections.",
    }
    ClientList = connection::client_list {
        name: "client|list", arity: -2, since: "2.4.0",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "[TYPE (NORMAL | MASTER | REPLICA | PUBSUB)] [ID (id: client-id...)] \
                 [USER username] [ADDR ip:port] [LADDR ip:port] [SKIPME yes/no] [MAXAGE maxage] \
                 [NAME name] [IDLE seconds] [FLAGS flags] \
                 [LIB-NAME lib-name] [LIB-VER lib-ver] [DB db] [CAPA capa] [IP ip] \
                 [NOT-ID (not-id: client-id...)] \
                 [NOT-TYPE (not-type: NORMAL | MASTER | REPLICA | PUBSUB)] [NOT-USER not-user] \
                 [NOT-ADDR not-addr] [NOT-LADDR not-laddr] [NOT-NAME not-name] [NOT-FLAGS not-flags] \
                 [NOT-LIB-NAME not-lib-name] [NOT-LIB-VER not-lib-ver] [NOT-DB db] \
                 [NOT-CAPA not-capa] [NOT-IP not-ip]",
        reply: Text, complexity: "O(N) in the number of connections",
        summary: "Describes connections.",
        tips: ["nondeterministic_output"],
    }
    ClientNoEvict = connection::client_no_evict {
        name: "client|no-evict", arity: 3, since: "7.0.0",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "(enabled: ON | OFF)",
        reply: Ok, complexity: "O(1)",
        summary: "Exempts this connection from being closed to save memory.",
    }
    ClientNoTouch = connection::client_no_touch {
        name: "client|no-touch", arity: 3, since: "7.2.0",
        flags: [NOSCRIPT LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "(enabled: ON | OFF)",
        reply: Ok, complexity: "O(1)",
        summary: "Lets this connection use keys without a trace of it.",
    }
    ClientPause = connection::client_pause {
        name: "client|pause", arity: -3, since: "2.9.50",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "timeout [mode: WRITE | ALL]",
        reply: Ok, complexity: "O(1)",
        summary: "Holds the commands of all clients back for a while.",
    }
    ClientReply = connection::client_reply {
        name: "client|reply", arity: 3, since: "3.2.0",
        flags: [NOSCRIPT LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "(ON | OFF | SKIP)",
        reply: Various, complexity: "O(1)",
        summary: "Turns the replies to this connection off and on.",
    }
    ClientSetinfo = connection::client_setinfo {
        name: "client|setinfo", arity: 4, since: "7.2.0",
        flags: [NOSCRIPT LOADING STALE HOLDS], categories: [CONNECTION], keys: [],
        syntax: "(attr: LIB-NAME libname | LIB-VER libver)",
        reply: Ok, complexity: "O(1)",
        summary: "Tells the server which library the client uses.",
        tips: ["request_policy:all_nodes", "response_policy:all_succeeded"],
    }
    ClientSetname = connection::client_setname {
        name: "client|setname", arity: 3, since: "2.6.9",
        flags: [NOSCRIPT LOADING STALE HOLDS], categories: [CONNECTION], keys: [],
        syntax: "connection-name",
        reply: Ok, complexity: "O(1)",
        summary: "Names this connection.",
    }
    ClientTracking = connection::client_tracking {
        name: "client|tracking", arity: -3, since: "6.0.0",
        flags: [NOSCRIPT LOADING STALE HOLDS], categories: [CONNECTION], keys: [],
        syntax: "(status: ON | OFF) [REDIRECT client-id] [(PREFIX prefix)...] [BCAST] [OPTIN] [OPTOUT] [NOLOOP]",
        reply: Ok, complexity: "O(1). Some options may introduce additional complexity",
        summary: "Tells this connection, or another, when keys that it caches change.",
    }
    ClientTrackinginfo = connection::client_trackinginfo {
        name: "client|trackinginfo", arity: 2, since: "6.2.0",
        flags: [NOSCRIPT LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "",
        reply: Map, complexity: "O(1)",
        summary: "Tells how this connection caches keys.",
    }
    ClientUnblock = connection::client_unblock {
        name: "client|unblock", arity: -3, since: "5.0.0",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "client-id [TIMEOUT | ERROR]",
        reply: Integer, complexity: "O(1)",
        summary: "Ends the waiting of another connection's command.",
    }
    ClientUnpause = connection::client_unpause {
        name: "client|unpause", arity: 2, since: "6.2.0",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [CONNECTION], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(N) in the number of held connections",
        summary: "Ends a pause.",
    }
    Echo = connection::echo {
        name: "echo", arity: 2, since: "1.0.0",
        flags: [LOADING STALE FAST], categories: [CONNECTION], keys: [],
        syntax: "message",
        reply: Bulk, complexity: "O(1)",
        summary: "Returns its argument.",
    }
    Hello = connection::hello {
        name: "hello", arity: -1, since: "6.0.0",
        flags: [NOSCRIPT LOADING STALE FAST NO_AUTH ALLOW_BUSY HOLDS ENDS_BATCH], categories: [CONNECTION], keys: [],
        syntax: "[arguments: protover [AUTH (username password)] [SETNAME clientname]]",
        secret: Secret::Behind { option: "auth", from: 2, count: 2, others: &[("setname", 1)] },
        reply: Map, complexity: "O(1)",
        summary: "Chooses the version of the protocol and describes the server.",
    }
    Ping = connection::ping {
        name: "ping", arity: -1, since: "1.0.0",
        flags: [FAST FOR_SUBSCRIBERS], categories: [CONNECTION], keys: [],
        syntax: "[message]",
        reply: Various, complexity: "O(1)",
        summary: "Answers, so that one knows that the server does.",
        tips: ["request_policy:all_shards", "response_policy:all_succeeded"],
    }
    Quit = connection::quit {
        name: "quit", arity: -1, since: "1.0.0",
        flags: [NOSCRIPT LOADING STALE FAST NO_AUTH ALLOW_BUSY FOR_SUBSCRIBERS NEVER_QUEUED], categories: [CONNECTION], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(1)",
        summary: "Closes the connection.",
    }
    Reset = connection::reset {
        name: "reset", arity: 1, since: "6.2.0",
        flags: [NOSCRIPT LOADING STALE FAST NO_AUTH ALLOW_BUSY FOR_SUBSCRIBERS NEVER_QUEUED ENDS_BATCH], categories: [CONNECTION], keys: [],
        syntax: "",
        reply: Status, complexity: "O(1)",
        summary: "Makes the connection as if it were new.",
    }
    Select = connection::select {
        name: "select", arity: 2, since: "1.0.0",
        flags: [LOADING STALE FAST], categories: [CONNECTION], keys: [],
        syntax: "index",
        databases: super::spec::Databases::Named(&[1]),
        reply: Ok, complexity: "O(1)",
        summary: "Chooses the database of the connection.",
    }
}
