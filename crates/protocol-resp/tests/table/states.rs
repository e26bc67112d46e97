// SPDX-License-Identifier: Apache-2.0
//! Columns that `COMMAND` does not show: each command is sent to redis-server in the states of a client in
//! which commands are refused or put off, with as few arguments as it takes.

use crate::redis::Redis;
use protocol_resp::Version;
use protocol_resp::client::Value;
use protocol_resp::table::{self, Channels, CommandId, Flags, Spec};

/// The commands that are known to `redis`, but for containers that do nothing themselves.
fn known(redis: &mut Redis) -> Vec<&'static Spec> {
    let stands_alone = |id: &CommandId| !id.is_container() || id.spec().accepts(1);
    let specs = table::all().filter(stands_alone).map(CommandId::spec);
    specs
        .filter(|spec| {
            let entry = redis.ask(&["COMMAND", "INFO", spec.name]);
            entry.as_items().expect("an array")[0] != Value::Null
        })
        .collect()
}

/// The words of a command with as few arguments as it takes.
fn words(spec: &Spec) -> Vec<&'static str> {
    let mut words: Vec<_> = spec.name.split('|').collect();
    words.resize(spec.arity.unsigned_abs().into(), "x");
    if spec.name.starts_with("command|getkeys") {
        words.push("x"); // Before Redis 7.2 it wants an argument of the command.
    }
    words
}

fn is_error(reply: &Value, text: &str) -> bool {
    matches!(reply, Value::Error(error) if String::from_utf8_lossy(error).contains(text))
}

#[test]
fn a_subscriber_in_resp2_may_send_what_the_column_says() {
    let Some(mut redis) = Redis::start(Version::Resp2) else { return };
    for spec in known(&mut redis) {
        redis.reconnect();
        redis.ask(&["SUBSCRIBE", "channel"]);
        let refused = is_error(&redis.ask(&words(spec)), "Can't execute");
        assert_eq!(spec.flags.has(Flags::FOR_SUBSCRIBERS), !refused, "{}", spec.name);
    }
}

#[test]
fn a_transaction_puts_off_what_the_columns_say() {
    let Some(mut redis) = Redis::start(Version::Resp2) else { return };
    for spec in known(&mut redis) {
        redis.reconnect();
        redis.ask(&["MULTI"]);
        let reply = redis.ask(&words(spec));
        let refused = is_error(&reply, "not allowed inside a transaction");
        assert_eq!(spec.flags.has(Flags::NO_MULTI), refused, "{}", spec.name);
        let queued = reply == Value::Simple(b"QUEUED".to_vec());
        assert_eq!(spec.flags.has(Flags::NEVER_QUEUED), !queued && !refused, "{}", spec.name);
    }
}

/// To redis-server a monitor is a replica, which must neither read nor write, nor replicate.
#[test]
fn a_monitor_may_send_what_the_columns_say() {
    let Some(mut redis) = Redis::start(Version::Resp2) else { return };
    let replicates = Flags::WRITE.with(Flags::READONLY).with(Flags::MAY_REPLICATE);
    let passed_on = Flags::NEVER_QUEUED.with(Flags::NO_MULTI);
    for spec in known(&mut redis) {
        if spec.flags.meets(passed_on) {
            continue;
        }
        redis.reconnect();
        redis.ask(&["MONITOR"]);
        // Nothing is carried out in a transaction, and what the monitor sees comes in between.
        redis.ask(&["MULTI"]);
        let mut reply = redis.ask(&words(spec));
        while !matches!(&reply, Value::Error(_)) && reply != Value::Simple(b"QUEUED".to_vec()) {
            reply = redis.receive();
        }
        let refused = is_error(&reply, "can't interact with the keyspace");
        assert_eq!(spec.flags.meets(replicates), refused, "{}", spec.name);
    }
}

#[test]
fn channels_are_those_that_a_user_needs() {
    let Some(mut redis) = Redis::start(Version::Resp2) else { return };
    redis.ask(&["ACL", "SETUSER", "deaf", "on", "+@all", "~*", "resetchannels"]);
    for spec in known(&mut redis) {
        let reply = redis.ask(&[&["ACL", "DRYRUN", "deaf"], &words(spec)[..]].concat());
        let text = String::from_utf8_lossy(reply.as_bytes().unwrap_or_default());
        let needs = match spec.channels {
            Channels::None | Channels::Unsubscribe => false,
            Channels::Publish | Channels::Subscribe | Channels::SubscribePattern => true,
        };
        assert_eq!(needs, text.contains("channel"), "{}: {reply:?}", spec.name);
    }
}

#[test]
fn elements_are_fields_and_members() {
    for spec in table::all().map(CommandId::spec) {
        let Some(element) = spec.element else { continue };
        let arguments = spec.arguments();
        let mut given = arguments.iter().filter(|argument| !argument.optional);
        let mut names = Vec::new();
        for argument in &mut given {
            if argument.arguments.is_empty() {
                names.push(argument.name.as_str());
            }
            names.extend(argument.arguments.iter().map(|part| part.name.as_str()));
        }
        let name = names[usize::from(element) - 1];
        assert!(["field", "member"].contains(&name), "{}: {name}", spec.name);
    }
}
