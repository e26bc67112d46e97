// SPDX-License-Identifier: Apache-2.0
//! Users and what they may do.

use super::macros::commands;
use super::spec::Secret;

commands! {
    group: Server;

    Acl = dispatch::unknown_subcommand {
        name: "acl", arity: -2, since: "6.0.0",
        flags: [], categories: [], keys: [],
        syntax: "",
        reply: Various, complexity: "O(1)",
        summary: "Says who may do what.",
    }
    AclCat = acl::cat {
        name: "acl|cat", arity: -2, since: "6.0.0",
        flags: [NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "[categoryname]",
        reply: Array, complexity: "O(N) in the number of commands",
        summary: "Lists the categories, or the commands of one.",
    }
    AclDeluser = acl::deluser {
        name: "acl|deluser", arity: -3, since: "6.0.0",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "username...",
        secret: Secret::From(2),
        reply: Integer, complexity: "O(1) amortized time considering the typical user",
        summary: "Removes users, and closes their connections.",
    }
    AclDryrun = acl::dryrun {
        name: "acl|dryrun", arity: -4, since: "7.0.0",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "username command [arg...]",
        reply: Various, complexity: "O(1)",
        summary: "Tells whether a user may run a command.",
    }
    AclGenpass = acl::genpass {
        name: "acl|genpass", arity: -2, since: "6.0.0",
        flags: [NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "[bits]",
        reply: Bulk, complexity: "O(1)",
        summary: "Makes up a password.",
    }
    AclGetuser = acl::getuser {
        name: "acl|getuser", arity: 3, since: "6.0.0",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "username",
        secret: Secret::From(2),
        reply: Various, complexity: "O(N) in the number of rules",
        summary: "Describes a user.",
    }
    AclHelp = dispatch::help {
        name: "acl|help", arity: 2, since: "6.0.0",
        flags: [LOADING STALE HELP], categories: [], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the sub-commands.",
    }
    AclList = acl::list {
        name: "acl|list", arity: 2, since: "6.0.0",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the users and what they may do.",
    }
    AclLoad = acl::load {
        name: "acl|load", arity: 2, since: "6.0.0",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(N) in the number of users",
        summary: "Reads the file of users again.",
    }
    AclLog = acl::log {
        name: "acl|log", arity: -2, since: "6.0.0",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "[operation: count | RESET]",
        reply: Various, complexity: "O(N) in the number of entries",
        summary: "Lists what users were denied, or forgets it.",
    }
    AclSave = acl::save {
        name: "acl|save", arity: 2, since: "6.0.0",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(N) in the number of users",
        summary: "Writes the file of users.",
    }
    AclSetuser = acl::setuser {
        name: "acl|setuser", arity: -3, since: "6.0.0",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "username [rule...]",
        secret: Secret::From(2),
        reply: Ok, complexity: "O(N) in the number of rules",
        summary: "Makes or changes a user.",
    }
    AclUsers = acl::users {
        name: "acl|users", arity: 2, since: "6.0.0",
        flags: [ADMIN NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the users.",
    }
    AclWhoami = acl::whoami {
        name: "acl|whoami", arity: 2, since: "6.0.0",
        flags: [NOSCRIPT LOADING STALE], categories: [], keys: [],
        syntax: "",
        reply: Bulk, complexity: "O(1)",
        summary: "Tells the user of this connection.",
    }
}
