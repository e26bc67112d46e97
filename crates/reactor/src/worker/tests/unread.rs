// SPDX-License-Identifier: Apache-2.0
//! Clients that write before they read, and clients that never read.

use super::*;

/// `count` requests of three figures, whose replies of 10,000 bytes no socket pair holds.
fn pipeline(count: usize) -> Vec<u8> {
    (100..100 + count).flat_map(|n| format!("{n}\n").into_bytes()).collect()
}

/// Reads all replies to [`pipeline`] and checks them.
fn expect_all<F>(rig: &mut Rig<F>, client: &mut UnixStream, count: usize)
where
    F: FnMut(&[u8], &mut SendBuf, &mut Context<'_>) -> Control,
{
    let mut all = Vec::new();
    while all.len() < count * 10_000 {
        let before = all.len();
        assert!(!read_ready(client, &mut all), "it stays connected");
        assert!(all.len() > before, "it gets everything, and got {before} bytes");
        rig.settle();
    }
    for (reply, n) in all.chunks(10_000).zip(100..) {
        assert!(reply.starts_with(format!("{n}{n}{n}").as_bytes()), "the reply to {n}, intact");
        assert_eq!(reply[9_999], b'\n');
    }
}

fn limited(replies: OutputLimit) -> Options {
    Options { output: Output { replies, ..Output::default() }, ..options() }
}

#[test]
fn a_whole_pipeline_is_served_before_its_first_reply_is_read() {
    let mut rig = Rig::new(options(), long_reply);
    let mut client = rig.connect();
    client.write_all(&pipeline(800)).unwrap();
    rig.settle();
    assert!(rig.pending(1) > 6_000_000, "{} bytes wait", rig.pending(1));
    let held = rig.worker.pool.lent_bytes();
    assert!(held < 2 * rig.pending(1), "{held} bytes are held for {}", rig.pending(1));
    let peer = rig.connection(1).unwrap().peer.clone();
    assert_eq!(peer.output_bytes(), rig.pending(1), "others can see it");
    expect_all(&mut rig, &mut client, 800);
    let buffers = rig.worker.pool.bytes();
    assert_eq!(buffers, rig.worker.pool.idle_bytes(), "nobody holds anything");
    assert_eq!(peer.output_bytes(), 0);
}

/// No time passes meanwhile.
#[test]
fn a_client_that_takes_more_than_any_socket_holds_is_a_reader() {
    let mut rig = Rig::new(options(), long_reply);
    let mut client = rig.connect();
    client.write_all(&pipeline(800)).unwrap();
    rig.settle();
    let peer = rig.connection(1).unwrap().peer.clone();
    assert!(!peer.is_reader(), "it has not read yet");
    assert!(peer.output_memory() >= rig.pending(1), "of replies that are copied");
    expect_all(&mut rig, &mut client, 800);
    assert!(peer.is_reader());
}

#[test]
fn rule_fair_replies_that_pile_up_let_others_in_between() {
    let limits = Limits { high_water: 20_000, ..Limits::default() };
    let mut rig = Rig::new(Options { limits, ..options() }, long_reply);
    let (mut greedy, mut modest) = (rig.connect(), rig.connect());
    greedy.write_all(&pipeline(800)).unwrap();
    while rig.pending(1) < 500_000 {
        rig.step();
    }
    modest.write_all(b"x\n").unwrap();
    let (before, mut reply) = (rig.pending(1), Vec::new());
    while reply.is_empty() {
        rig.step();
        let _ = read_ready(&mut modest, &mut reply);
    }
    let meanwhile = rig.pending(1) - before;
    assert!(meanwhile <= 200_000, "{meanwhile} bytes came first");
}

#[test]
fn a_client_that_is_held_goes_on_when_others_give_memory_back() {
    let output = Output { memory: 1 << 20, ..Output::default() };
    let mut rig = Rig::new(Options { output, ..options() }, long_reply);
    let (mut first, mut second) = (rig.connect(), rig.connect());
    first.write_all(&pipeline(400)).unwrap();
    rig.settle();
    second.write_all(&pipeline(80)).unwrap();
    rig.settle();
    let held = rig.worker.pool.lent_bytes();
    assert!(held < (1 << 20) + 3 * rig.worker.options.send_block, "{held} bytes are held");
    let before = rig.pending(2);
    assert!(before < 100_000, "the second found the memory used: {before}");
    drop(first);
    rig.settle();
    for _ in 0..20 {
        rig.clock.advance(rig.worker.options.tick);
        rig.settle();
    }
    assert!(rig.pending(2) > 500_000, "it has gone on without an event: {}", rig.pending(2));
    expect_all(&mut rig, &mut second, 80);
}

#[test]
fn a_client_that_has_not_said_who_it_is_reads_its_replies_or_is_closed() {
    let mut rig = Rig::new(options(), long_reply);
    let (mut modest, mut deaf) = (rig.connect_with(STRANGER), rig.connect_with(STRANGER));
    modest.write_all(b"x\n").unwrap();
    deaf.write_all(&pipeline(800)).unwrap();
    rig.settle();
    assert!(rig.connection(2).is_none(), "{} bytes wait", rig.pending(2));
    assert!(rig.connection(1).is_some(), "it reads");
}

#[test]
fn past_the_hard_limit_a_client_is_closed_and_gets_nothing_of_it() {
    for requests in [1, 11, 800] {
        // One reply over the limit, one pipeline over it though none of its replies is, and more.
        let hard = if requests == 1 { 10_000 } else { 105_000 };
        let replies = OutputLimit { hard, ..OutputLimit::NONE };
        let mut rig = Rig::new(limited(replies), long_reply);
        let (mut client, mut other) = (rig.connect(), rig.connect());
        client.write_all(&pipeline(requests)).unwrap();
        other.write_all(b"x\n").unwrap();
        rig.settle();
        assert!(rig.connection(1).is_none(), "{requests} requests");
        let mut got = Vec::new();
        let _ = read_ready(&mut client, &mut got);
        assert!(got.is_empty(), "{} bytes", got.len());
        assert_eq!(rig.connection(2).is_some(), requests != 1, "its own reply is over the limit, too");
    }
}

#[test]
fn past_the_soft_limit_a_client_has_a_while() {
    let soft_time = Duration::from_secs(5);
    let replies = OutputLimit { soft: 100_000, soft_time, ..OutputLimit::NONE };
    let mut rig = Rig::new(limited(replies), long_reply);
    let (mut slow, mut deaf) = (rig.connect(), rig.connect());
    for client in [&mut slow, &mut deaf] {
        client.write_all(&pipeline(200)).unwrap();
    }
    rig.settle();
    let pass = |rig: &mut Rig<_>, time: Duration| {
        rig.clock.advance(time);
        for _ in 0..20 {
            rig.clock.advance(rig.worker.options.tick / 20);
            rig.settle();
        }
    };
    pass(&mut rig, Duration::from_secs(4));
    assert!(rig.connection(1).is_some() && rig.connection(2).is_some(), "a while it may");
    expect_all(&mut rig, &mut slow, 200);
    slow.write_all(&pipeline(200)).unwrap();
    rig.settle();
    assert!(rig.pending(1) > 100_000);
    pass(&mut rig, Duration::from_secs(1));
    rig.clock.advance(rig.worker.options.tick * 10);
    pass(&mut rig, Duration::ZERO);
    assert!(rig.connection(2).is_none(), "it was over the limit all the time");
    assert!(rig.connection(1).is_some(), "its time has begun anew");
}

#[test]
fn a_client_that_still_sends_is_not_said_to_have_stopped_reading() {
    let write_timeout = Duration::from_secs(10);
    let mut rig = Rig::new(Options { write_timeout, ..options() }, long_reply);
    let (mut sender, mut silent) = (rig.connect(), rig.connect());
    for client in [&mut sender, &mut silent] {
        client.write_all(&pipeline(100)).unwrap();
    }
    rig.settle();
    for _ in 0..4 {
        rig.clock.advance(Duration::from_secs(4));
        sender.write_all(b"100\n").unwrap();
        for _ in 0..20 {
            rig.clock.advance(rig.worker.options.tick);
            rig.settle();
        }
    }
    assert!(rig.connection(1).is_some());
    assert!(rig.connection(2).is_none());
}

/// Two replies that wait for a moment may be in the buffers of the system, however long it is from one to the other, if they
/// are no more than these hold.
#[test]
fn who_takes_a_reply_that_has_waited_for_long_without_a_break_is_a_reader() {
    let mut rig = Rig::new(options(), long_reply);
    let mut client = rig.connect();
    rig.settle();
    let peer = rig.connection(1).unwrap().peer.clone();
    for _ in 0..3 {
        client.write_all(&pipeline(30)).unwrap();
        rig.settle();
        assert!(rig.pending(1) > 0, "a part waits");
        expect_all(&mut rig, &mut client, 30);
        rig.settle();
        assert_eq!(rig.pending(1), 0);
        assert!(!peer.is_reader(), "each has been taken at once");
        rig.clock.advance(Duration::from_secs(1));
    }
    client.write_all(&pipeline(30)).unwrap();
    rig.settle();
    rig.clock.advance(Duration::from_millis(100));
    expect_all(&mut rig, &mut client, 30);
    rig.settle();
    assert!(peer.is_reader());
}
