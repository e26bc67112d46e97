// SPDX-License-Identifier: Apache-2.0
//! Channels and who listens to them.

use super::macros::commands;

commands! {
    group: Pubsub;

    Psubscribe = pubsub::psubscribe {
        name: "psubscribe", arity: -2, since: "2.0.0",
        flags: [PUBSUB NOSCRIPT LOADING STALE HOLDS FOR_SUBSCRIBERS], categories: [], keys: [],
        syntax: "(pattern: pattern)...",
        channels: SubscribePattern,
        reply: Push, complexity: "O(N) in the number of patterns",
        summary: "Starts listening to the channels that match patterns.",
    }
    Publish = pubsub::publish {
        name: "publish", arity: 3, since: "2.0.0",
        flags: [PUBSUB LOADING STALE FAST MAY_REPLICATE], categories: [], keys: [],
        syntax: "channel message",
        channels: Publish,
        reply: Integer, complexity: "O(N+M) in the listeners N and the patterns M",
        summary: "Sends a message to a channel.",
    }
    Pubsub = dispatch::unknown_subcommand {
        name: "pubsub", arity: -2, since: "2.8.0",
        flags: [], categories: [], keys: [],
        syntax: "",
        reply: Various, complexity: "O(1)",
        summary: "Looks at channels and their listeners.",
    }
    PubsubChannels = pubsub::pubsub_channels {
        name: "pubsub|channels", arity: -2, since: "2.8.0",
        flags: [PUBSUB LOADING STALE], categories: [], keys: [],
        syntax: "[pattern]",
        reply: Array, complexity: "O(N) in the number of channels",
        summary: "Lists the channels that have listeners.",
    }
    PubsubHelp = dispatch::help {
        name: "pubsub|help", arity: 2, since: "6.2.0",
        flags: [LOADING STALE HELP], categories: [], keys: [],
        syntax: "",
        reply: Array, complexity: "O(1)",
        summary: "Lists the sub-commands.",
    }
    PubsubNumpat = pubsub::pubsub_numpat {
        name: "pubsub|numpat", arity: 2, since: "2.8.0",
        flags: [PUBSUB LOADING STALE], categories: [], keys: [],
        syntax: "",
        reply: Integer, complexity: "O(1)",
        summary: "Counts the patterns that are listened to.",
    }
    PubsubNumsub = pubsub::pubsub_numsub {
        name: "pubsub|numsub", arity: -2, since: "2.8.0",
        flags: [PUBSUB LOADING STALE], categories: [], keys: [],
        syntax: "[channel...]",
        reply: Array, complexity: "O(N) in the number of channels asked for",
        summary: "Counts the listeners of channels.",
    }
    PubsubShardchannels = pubsub::pubsub_shardchannels {
        name: "pubsub|shardchannels", arity: -2, since: "7.0.0",
        flags: [PUBSUB LOADING STALE], categories: [], keys: [],
        syntax: "[pattern]",
        reply: Array, complexity: "O(N) in the number of channels",
        summary: "Lists the shard channels that have listeners.",
    }
    PubsubShardnumsub = pubsub::pubsub_shardnumsub {
        name: "pubsub|shardnumsub", arity: -2, since: "7.0.0",
        flags: [PUBSUB LOADING STALE], categories: [], keys: [],
        syntax: "[shardchannel...]",
        reply: Array, complexity: "O(N) in the number of channels asked for",
        summary: "Counts the listeners of shard channels.",
    }
    Punsubscribe = pubsub::punsubscribe {
        name: "punsubscribe", arity: -1, since: "2.0.0",
        flags: [PUBSUB NOSCRIPT LOADING STALE FOR_SUBSCRIBERS], categories: [], keys: [],
        syntax: "[pattern...]",
        channels: Unsubscribe,
        reply: Push, complexity: "O(N) in the number of patterns",
        summary: "Stops listening to the channels that match patterns.",
    }
    Spublish = pubsub::spublish {
        name: "spublish", arity: 3, since: "7.0.0",
        flags: [PUBSUB LOADING STALE FAST MAY_REPLICATE], categories: [], keys: [at(1): NOT_KEY],
        syntax: "shardchannel message",
        channels: Publish,
        reply: Integer, complexity: "O(N) in the number of listeners",
        summary: "Sends a message to a shard channel.",
    }
    Ssubscribe = pubsub::ssubscribe {
        name: "ssubscribe", arity: -2, since: "7.0.0",
        flags: [PUBSUB NOSCRIPT LOADING STALE HOLDS FOR_SUBSCRIBERS], categories: [], keys: [range(1, -1, 1): NOT_KEY],
        syntax: "shardchannel...",
        channels: Subscribe,
        reply: Push, complexity: "O(N) in the number of channels",
        summary: "Starts listening to shard channels.",
    }
    Subscribe = pubsub::subscribe {
        name: "subscribe", arity: -2, since: "2.0.0",
        flags: [PUBSUB NOSCRIPT LOADING STALE HOLDS FOR_SUBSCRIBERS], categories: [], keys: [],
        syntax: "channel...",
        channels: Subscribe,
        reply: Push, complexity: "O(N) in the number of channels",
        summary: "Starts listening to channels.",
    }
    Sunsubscribe = pubsub::sunsubscribe {
        name: "sunsubscribe", arity: -1, since: "7.0.0",
        flags: [PUBSUB NOSCRIPT LOADING STALE FOR_SUBSCRIBERS], categories: [], keys: [range(1, -1, 1): NOT_KEY],
        syntax: "[shardchannel...]",
        channels: Unsubscribe,
        reply: Push, complexity: "O(N) in the number of channels",
        summary: "Stops listening to shard channels.",
    }
    Unsubscribe = pubsub::unsubscribe {
        name: "unsubscribe", arity: -1, since: "2.0.0",
        flags: [PUBSUB NOSCRIPT LOADING STALE FOR_SUBSCRIBERS], categories: [], keys: [],
        syntax: "[channel...]",
        channels: Unsubscribe,
        reply: Push, complexity: "O(N) in the number of channels",
        summary: "Stops listening to channels.",
    }
}
