// SPDX-License-Identifier: Apache-2.0
//! Cluster commands. The nodes come from a file, so what would change them is refused.

use super::macros::commands;

commands! {
    group: Cluster;

    Asking = cluster::asking {
        name: "asking", arity: 1, since: "3.0.0",
        flags: [FAST], categories: [CONNECTION], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(1)",
        summary: "Announces a redirected request.",
    }
    Cluster = dispatch::unknown_subcommand {
        name: "cluster", arity: -2, since: "3.0.0",
        flags: [], categories: [], keys: [],
        syntax: "",
        reply: Various, complexity: "O(1)",
        summary: "Tells of the cluster that this server is a node of.",
    }
    ClusterAddslots = cluster::fixed {
        name: "cluster|addslots", arity: -3, since: "3.0.0",
        flags: [ADMIN STALE NO_ASYNC_LOADING], categories: [], keys: [],
        syntax: "slot...",
        reply: Ok, complexity: "O(N) in the number of slots",
        summary: "Gives slots to a node.",
    }
    ClusterAddslotsrange = cluster::fixed {
        name: "cluster|addslotsrange", arity: -4, since: "7.0.0",
        flags: [ADMIN STALE NO_ASYNC_LOADING], categories: [], keys: [],
        syntax: "(start-slot end-slot)...",
        reply: Ok, complexity: "O(N) in the number of slots",
        summary: "Gives ranges of slots to a node.",
    }
    ClusterBumpepoch = cluster::fixed {
        name: "cluster|bumpepoch", arity: 2, since: "3.0.0",
        flags: [ADMIN STALE NO_ASYNC_LOADING], categories: [], keys: [],
        syntax: "",
        reply: Status, complexity: "O(1)",
        summary: "Advances the configuration epoch.",
        tips: ["nondeterministic_output"],
    }
    ClusterCountFailureReports = cluster::count_failure_reports {
        name: "cluster|count-failure-reports", arity: 3, since: "3.0.0",
        flags: [ADMIN STALE], categories: [], keys: [],
        syntax: "node-id",
        reply: Integer, complexity: "O(N) in the number of reports",
        summary: "Counts who has reported a node as failing.",
        tips: ["nondeterministic_output"],
    }
    ClusterCountkeysinslot = cluster::countkeysinslot {
        name: "cluster|countkeysinslot", arity: 3, since: "3.0.0",
        flags: [STALE ARBITRARY_KEYS], categories: [], keys: [],
        syntax: "slot",
        reply: Integer, complexity: "O(N) in the keys of the node",
        summary: "Counts the keys of a slot.",
    }
    ClusterDelslots = cluster::fixed {
        name: "cluster|delslots", arity: -3, since: "3.0.0",
        flags: [ADMIN STALE NO_ASYNC_LOADING], categories: [], keys: [],
        syntax: "slot...",
        reply: Ok, complexity: "O(N) in the number of slots",
        summary: "Takes slots from a node.",
    }
    ClusterDelslotsrange = cluster::fixed {
        name: "cluster|delslotsrange", arity: -4, since: "7.0.0",
        flags: [ADMIN STALE NO_ASYNC_LOADING], categories: [], keys: [],
        syntax: "(start-slot end-slot)...",
        reply: Ok, complexity: "O(N) in the number of slots",
        summary: "Takes ranges of slots from a node.",
    }
    ClusterFailover = cluster::fixed {
        name: "cluster|failover", arity: -2, since: "3.0.0",
        flags: [ADMIN STALE NO_ASYNC_LOADING], categories: [], keys: [],
        syntax: "[options: FORCE | TAKEOVER]",
        reply: Ok, complexity: "O(1)",
        summary: "Lets a replica take over from its primary.",
    }
    ClusterFlushslots = cluster::fixed {
        name: "cluster|flushslots", arity: 2, since: "3.0.0",
        flags: [ADMIN STALE NO_ASYNC_LOADING], categories: [], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(1)",
        summary: "Takes all slots from a node.",
    }
    ClusterForget = cluster::fixed {
        name: "cluster|forget", arity: 3, since: "3.0.0",
        flags: [ADMIN STALE NO_ASYNC_LOADING], categories: [], keys: [],
        syntax: "node-id",
        reply: Ok, complexity: "O(1)",
        summary: "Removes a node from the list of nodes.",
    }
    ClusterGetkeysinslot = cluster::getkeysinslot {
        name: "cluster|getkeysinslot", arity: 4, since: "3.0.0",
        flags: [STALE ARBITRARY_KEYS], categories: [], keys: [],
        syntax: "slot count",
        reply: Array, complexity: "O(N) in the keys of the node",
        summary: "Lists keys of a slot.",
        tips: ["nondeterministic_output"],
    }
    ClusterHelp = dispatch::help {
        name: "cluster|help", arity: 2, since: "5.0.0",
        flags: [LOADING STALE HELP], categories: [], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the sub-commands.",
    }
    ClusterInfo = cluster::info {
        name: "cluster|info", arity: 2, since: "3.0.0",
        flags: [STALE], categories: [], keys: [],
        syntax: "",
        reply: Text, complexity: "O(1)",
        summary: "Tells about the state of the cluster.",
        tips: ["nondeterministic_output"],
    }
    ClusterKeyslot = cluster::keyslot {
        name: "cluster|keyslot", arity: 3, since: "3.0.0",
        flags: [STALE], categories: [], keys: [],
        syntax: "key:string",
        reply: Integer, complexity: "O(N) in the length of the key",
        summary: "Tells the slot of a key.",
    }
    ClusterLinks = cluster::links {
        name: "cluster|links", arity: 2, since: "7.0.0",
        flags: [STALE], categories: [], keys: [],
        syntax: "",
        reply: Array, complexity: "O(N) in the number of nodes",
        summary: "Lists the connections between nodes.",
        tips: ["nondeterministic_output"],
    }
    ClusterMeet = cluster::fixed {
        name: "cluster|meet", arity: -4, since: "3.0.0",
        flags: [ADMIN STALE NO_ASYNC_LOADING], categories: [], keys: [],
        syntax: "ip port [cluster_bus_port]",
        reply: Ok, complexity: "O(1)",
        summary: "Introduces a node to another.",
    }
    ClusterMyid = cluster::myid {
        name: "cluster|myid", arity: 2, since: "3.0.0",
        flags: [STALE], categories: [], keys: [],
        syntax: "",
        reply: Bulk, complexity: "O(1)",
        summary: "Tells the name of this node.",
    }
    ClusterMyshardid = cluster::myshardid {
        name: "cluster|myshardid", arity: 2, since: "7.2.0",
        flags: [STALE], categories: [], keys: [],
        syntax: "",
        reply: Bulk, complexity: "O(1)",
        summary: "Tells the name of this node's shard.",
        tips: ["nondeterministic_output"],
    }
    ClusterNodes = cluster::nodes {
        name: "cluster|nodes", arity: 2, since: "3.0.0",
        flags: [STALE], categories: [], keys: [],
        syntax: "",
        reply: Text, complexity: "O(N) in the number of nodes",
        summary: "Describes the nodes, as text.",
        tips: ["nondeterministic_output"],
    }
    ClusterReplicas = cluster::replicas {
        name: "cluster|replicas", arity: 3, since: "5.0.0",
        flags: [ADMIN STALE], categories: [], keys: [],
        syntax: "node-id",
        reply: Array, complexity: "O(1)",
        summary: "Lists the replicas of a node.",
        tips: ["nondeterministic_output"],
    }
    ClusterReplicate = cluster::fixed {
        name: "cluster|replicate", arity: 3, since: "3.0.0",
        flags: [ADMIN STALE NO_ASYNC_LOADING], categories: [], keys: [],
        syntax: "node-id",
        reply: Ok, complexity: "O(1)",
        summary: "Makes this node the replica of another.",
    }
    ClusterReset = cluster::fixed {
        name: "cluster|reset", arity: -2, since: "3.0.0",
        flags: [ADMIN NOSCRIPT STALE], categories: [], keys: [],
        syntax: "[HARD | SOFT]",
        reply: Ok, complexity: "O(N) in the number of nodes",
        summary: "Makes this node as if it were new.",
    }
    ClusterSaveconfig = cluster::fixed {
        name: "cluster|saveconfig", arity: 2, since: "3.0.0",
        flags: [ADMIN STALE NO_ASYNC_LOADING], categories: [], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(1)",
        summary: "Writes the state of this node to disk.",
    }
    ClusterSetConfigEpoch = cluster::fixed {
        name: "cluster|set-config-epoch", arity: 3, since: "3.0.0",
        flags: [ADMIN STALE NO_ASYNC_LOADING], categories: [], keys: [],
        syntax: "config-epoch",
        reply: Ok, complexity: "O(1)",
        summary: "Sets the configuration epoch of a new node.",
    }
    ClusterSetslot = cluster::fixed {
        name: "cluster|setslot", arity: -4, since: "3.0.0",
        flags: [ADMIN STALE NO_ASYNC_LOADING], categories: [], keys: [],
        syntax: "slot (subcommand: IMPORTING node-id | MIGRATING node-id | NODE node-id | STABLE)",
        reply: Ok, complexity: "O(1)",
        summary: "Says which node has a slot, or will have it.",
    }
    ClusterShards = cluster::shards {
        name: "cluster|shards", arity: 2, since: "7.0.0",
        flags: [STALE], categories: [], keys: [],
        syntax: "",
        reply: Array, complexity: "O(N) in the number of nodes",
        summary: "Describes the shards and their nodes.",
        tips: ["nondeterministic_output"],
    }
    ClusterSlaves = cluster::replicas {
        name: "cluster|slaves", arity: 3, since: "3.0.0",
        flags: [ADMIN STALE], categories: [], keys: [],
        syntax: "node-id",
        reply: Array, complexity: "O(1)",
        summary: "Lists the replicas of a node.",
        tips: ["nondeterministic_output"],
        deprecated: "5.0.0" => "`CLUSTER REPLICAS`",
    }
    ClusterSlotStats = cluster::slot_stats {
        name: "cluster|slot-stats", arity: -4, since: "8.2.0",
        flags: [STALE LOADING ARBITRARY_KEYS], categories: [], keys: [],
        syntax: "(filter: (slotsrange: SLOTSRANGE start-slot end-slot) | \
                 (orderby: ORDERBY metric:string [LIMIT limit:integer] [order: ASC | DESC]))",
        reply: Array, complexity: "O(N) in the keys of the node",
        summary: "Tells how many keys slots of this node have.",
        tips: ["nondeterministic_output", "request_policy:all_shards"],
    }
    ClusterSlots = cluster::slots {
        name: "cluster|slots", arity: 2, since: "3.0.0",
        flags: [STALE], categories: [], keys: [],
        syntax: "",
        reply: Array, complexity: "O(N) in the number of nodes",
        summary: "Lists which nodes have which slots.",
        tips: ["nondeterministic_output"],
        deprecated: "7.0.0" => "`CLUSTER SHARDS`",
    }
    Clusterscan = cluster::clusterscan {
        name: "clusterscan", arity: -2, since: "9.1.0",
        flags: [READONLY ARBITRARY_KEYS], categories: [KEYSPACE], keys: [at(1): NOT_KEY],
        syntax: "cursor:string [MATCH pattern] [COUNT count] [TYPE type] [SLOT slot]",
        reply: Array, complexity: "O(1) a call, O(N) for all keys of a node and each range of its slots",
        summary: "Walks over the keys of all nodes in steps.",
        tips: ["nondeterministic_output", "request_policy:special", "response_policy:special"],
    }
    Readonly = cluster::readonly {
        name: "readonly", arity: 1, since: "3.0.0",
        flags: [LOADING STALE FAST], categories: [CONNECTION], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(1)",
        summary: "Allows reads from a replica.",
    }
    Readwrite = cluster::readwrite {
        name: "readwrite", arity: 1, since: "3.0.0",
        flags: [LOADING STALE FAST], categories: [CONNECTION], keys: [],
        syntax: "",
        reply: Ok, complexity: "O(1)",
        summary: "Takes READONLY back.",
    }
}
