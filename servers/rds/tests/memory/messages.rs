// SPDX-License-Identifier: Apache-2.0
//! Messages that wait for subscribers who do not read: what they take is what INFO says.

use super::{MIB, Rig};
use crate::flood::{self, Flood};

/// Subscribers that never read, on all workers.
fn deaf(rig: &mut Rig, count: usize) -> Vec<Flood> {
    let subscribers = (0..count).map(|_| {
        let mut subscriber = Flood::deaf(rig.address);
        subscriber.send(b"SUBSCRIBE news\r\n");
        subscriber
    });
    let subscribers: Vec<_> = subscribers.collect();
    rig.wait_for("all have subscribed", |rig| {
        rig.operator.send(b"PUBSUB NUMSUB news\r\n");
        rig.operator.expect(b"*2\r\n$4\r\nnews\r\n");
        rig.operator.line() == format!(":{count}")
    });
    subscribers
}

impl Rig {
    /// Sends so many messages of a size to so many subscribers.
    fn publish(&mut self, messages: usize, len: usize, subscribers: usize) {
        let request = flood::request(&[b"PUBLISH", b"news", &vec![b'm'; len]]);
        let reply = format!(":{subscribers}\r\n");
        self.operator.ask(&request.repeat(messages), reply.repeat(messages).as_bytes());
    }
}

/// A place in the queue of each subscriber is no less than a message in all.
#[test]
fn many_small_messages_for_many_subscribers_count_as_what_they_take() {
    const SUBSCRIBERS: usize = 40;
    for workers in ["1", "4"] {
        let mut rig =
            Rig::start(&["--io-threads", workers, "--client-output-buffer-limit", "pubsub 0 0 0"]);
        let subscribers = deaf(&mut rig, SUBSCRIBERS);
        let (used, resident) = (rig.number("used_memory"), rig.own_bytes());
        for _ in 0..600 {
            rig.publish(50, 600, SUBSCRIBERS);
        }
        // Each worker reports what has changed at the end of its turn.
        rig.wait_for("what is resident is counted", |rig| {
            let resident = rig.own_bytes().saturating_sub(resident);
            let used = rig.number("used_memory") - used;
            resident > 10 * MIB && used > resident / 10 * 8
        });
        drop(subscribers);
        rig.wait_for("the memory is free", |rig| rig.number("mem_clients_normal") < MIB);
    }
}

/// However many workers deliver it, in however many parts.
#[test]
fn a_large_message_counts_once() {
    const SUBSCRIBERS: usize = 40;
    const MESSAGES: usize = 24;
    let mut rig =
        Rig::start(&["--io-threads", "4", "--client-output-buffer-limit", "pubsub 0 0 0"]);
    let subscribers = deaf(&mut rig, SUBSCRIBERS);
    let used = rig.number("used_memory");
    let most = used + (MESSAGES as u64 + 8) * MIB;
    for _ in 0..MESSAGES {
        rig.publish(1, 1 << 20, SUBSCRIBERS);
        let used = rig.number("used_memory");
        assert!(used < most, "{used} bytes are used");
    }
    // The sockets have taken the first ones.
    rig.wait_for("they count", |rig| rig.number("used_memory") > used + MESSAGES as u64 / 2 * MIB);
    drop(subscribers);
    rig.wait_for("the memory is free", |rig| rig.number("mem_clients_normal") < MIB);
}

/// Each message waits for one of them alone, so that its memory is that client's.
#[test]
fn messages_of_their_own_that_subscribers_do_not_read_push_no_keys_out() {
    const SUBSCRIBERS: usize = 24;
    let flags = ["--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru"];
    let mut rig = Rig::start(&[&["--io-threads", "1"][..], &flags].concat());
    for n in 0..400 {
        rig.set(&format!("key:{n}"), 100_000);
    }
    let mut subscribers: Vec<_> = (0..SUBSCRIBERS).map(|_| Flood::deaf(rig.address)).collect();
    for (n, subscriber) in subscribers.iter_mut().enumerate() {
        subscriber.send(format!("SUBSCRIBE news:{n}\r\n").as_bytes());
    }
    rig.wait_for("all have subscribed", |rig| rig.number("pubsub_clients") == SUBSCRIBERS as u64);
    // Sockets hold some megabytes for each; all messages are four times the memory.
    let message = vec![b'm'; 1 << 20];
    for _ in 0..11 {
        for n in 0..SUBSCRIBERS {
            let channel = format!("news:{n}");
            let request = flood::request(&[b"PUBLISH", channel.as_bytes(), &message]);
            rig.operator.send(&request);
            assert!(rig.operator.line().starts_with(':'));
            rig.set("another", 1_000);
        }
    }
    assert!(rig.number("evicted_clients") > 0, "they are closed");
    // Half of the memory is for what is on its way: sockets that grow look like clients that read, for a second.
    let left: usize = rig.ask("DBSIZE").parse().unwrap();
    assert!(left > 200, "{left} keys are left");
    assert!(rig.number("used_memory") < 72 * MIB);
}

#[test]
fn subscribers_that_do_not_read_small_messages_are_closed_when_they_take_too_much() {
    const SUBSCRIBERS: usize = 40;
    let limits = ["--maxmemory-clients", "8mb", "--client-output-buffer-limit", "pubsub 0 0 0"];
    let mut rig =
        Rig::start(&[&["--io-threads", "4", "--maxmemory", "64mb"][..], &limits].concat());
    let mut subscribers = deaf(&mut rig, SUBSCRIBERS);
    let request = flood::request(&[b"PUBLISH", b"news", &[b'm'; 600]]);
    let mut rounds = 0;
    while rig.number("evicted_clients") == 0 {
        rig.operator.send(&request.repeat(50));
        (0..50).for_each(|_| assert!(rig.operator.line().starts_with(':')));
        rounds += 1;
        assert!(rounds < 2_000, "nobody is closed, {} used", rig.number("used_memory"));
    }
    rig.wait_for("the memory is free", |rig| rig.number("mem_clients_normal") < 8 * MIB);
    rig.expect_resident(64 * MIB, "messages");
    subscribers.clear();
}
