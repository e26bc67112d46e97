// SPDX-License-Identifier: Apache-2.0
//! How long turns are: the CPU time that is recorded, and INV-SHORT.

use super::*;
use crate::metrics::REQUEST_DURATION;
use crate::worker::post::{LETTERS, MESSAGES, PARTS};
use crate::worker::stopwatch::TURN_CPU_TIME;
use crate::worker::tests::ONE_AT_A_TIME;
use session::{TlsConnector, Trust};
use std::sync::PoisonError;

/// Has a worker serve three lines, each of which takes 3 ms of CPU time, in a turn of their own; what was
/// recorded: turns, and nanoseconds of all of them.
fn recorded(is_on: bool) -> (u64, u64) {
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let before = (TURN_CPU_TIME.count(), TURN_CPU_TIME.sum());
    let cpu = CpuClock::manual();
    let work = cpu.clone();
    let mut rig = Rig::new(options(), move |line, out, context| {
        work.advance(Duration::from_millis(3));
        echo(line, out, context)
    });
    rig.worker.stopwatch = is_on.then(|| Stopwatch::new(cpu));
    let mut client = rig.connect();
    rig.settle();
    for _ in 0..3 {
        client.write_all(b"x\n").unwrap();
        assert_eq!(rig.read_all(&mut client).0, b"x\n");
    }
    (TURN_CPU_TIME.count() - before.0, TURN_CPU_TIME.sum() - before.1)
}

#[test]
fn each_turn_is_recorded_with_the_cpu_time_it_took() {
    let (turns, ns) = recorded(true);
    assert!(turns > 3, "{turns} turns, of which three had something to do");
    assert_eq!(ns, 9_000_000);
}

#[test]
fn nothing_is_recorded_unless_it_is_asked_for() {
    assert_eq!(recorded(false), (0, 0));
    assert!(!Options::default().turn_cpu_time);
}

#[test]
fn asked_for_it_is_the_cpu_time_of_the_workers_thread() {
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let before = TURN_CPU_TIME.sum();
    let mut rig = Rig::new(Options { turn_cpu_time: true, ..options() }, echo);
    while TURN_CPU_TIME.sum() == before {
        rig.step();
    }
}

/// Turns that have taken their time as soon as they have served anybody.
fn shortest() -> Options {
    Options { turn_time: Duration::ZERO, ..options() }
}

#[test]
fn inv_short_a_turn_that_has_taken_its_time_serves_nobody_else() {
    let mut rig = Rig::new(shortest(), echo);
    let mut clients: Vec<_> = (0..30).map(|_| rig.connect()).collect();
    rig.settle();
    for (number, client) in clients.iter_mut().enumerate() {
        client.write_all(format!("{number}\n").as_bytes()).unwrap();
    }
    DIARY.take();
    let mut served = Vec::new();
    for _ in 0..100 {
        rig.step();
        let lines: Vec<_> =
            DIARY.take().into_iter().filter(|line| line.starts_with("run")).collect();
        assert!(lines.len() <= 1, "{lines:?} in one turn");
        served.extend(lines);
    }
    let expected: Vec<_> = (0..30).map(|number| format!("run {number}")).collect();
    assert_eq!(served, expected, "in the order in which they came");
    for (number, client) in clients.iter_mut().enumerate() {
        assert_eq!(rig.read_all(client).0, format!("{number}\n").as_bytes());
    }
}

#[test]
fn inv_short_nobody_is_served_a_third_time_before_those_who_wait() {
    let limits = Limits { requests_per_turn: 10, ..Limits::default() };
    let mut rig = Rig::new(Options { limits, ..shortest() }, echo);
    let mut greedy: Vec<_> = (0..12).map(|_| rig.connect()).collect();
    let mut modest = rig.connect();
    rig.settle();
    DIARY.take();
    for client in &mut greedy {
        client.write_all(&b"f\n".repeat(200)).unwrap();
    }
    modest.write_all(b"m\n").unwrap();
    rig.settle();
    let lines: Vec<_> = DIARY.take().into_iter().filter(|line| line.starts_with("run")).collect();
    assert_eq!(lines.len(), 12 * 200 + 1, "all are served");
    let before = lines.iter().position(|line| line == "run m").unwrap();
    assert!(before <= 2 * 12 * 10, "the modest one waited for {before} requests");
}

/// What a connection alone with requests of `request` bytes has served in each turn that served it, with
/// replies of `reply` bytes.
fn served_per_turn(options: Options, request: usize, reply: usize) -> Vec<usize> {
    let mut rig = Rig::new(options, move |_: &[u8], out: &mut SendBuf, _: &mut Context<'_>| {
        out.put(&vec![b'r'; reply]);
        Control::Continue
    });
    let mut client = rig.connect();
    rig.settle();
    let mut line = vec![b'f'; request - 1];
    line.push(b'\n');
    client.write_all(&line.repeat(100)).unwrap();
    DIARY.take();
    let mut turns = Vec::new();
    let mut replies = Vec::new();
    while replies.len() < 100 * reply {
        rig.step();
        read_ready(&mut client, &mut replies);
        let lines = DIARY.take().iter().filter(|line| line.starts_with("run")).count();
        turns.push(lines);
    }
    turns.retain(|&lines| lines > 0);
    turns
}

#[test]
fn inv_short_a_connection_ends_its_turn_with_a_write() {
    // Each reply is past the mark, so that it leaves before the next request is executed.
    let limits = Limits { high_water: 1024, ..Limits::default() };
    assert_eq!(served_per_turn(Options { limits, ..shortest() }, 2, 1024), [1; 100]);
}

#[test]
fn inv_short_a_connection_ends_its_turn_with_a_read() {
    let block = Options { recv_block: 256, ..shortest() };
    let turns = served_per_turn(block, 128, 1);
    assert!(turns.iter().all(|&lines| lines <= 4), "{turns:?}");
}

#[test]
fn inv_short_a_handshake_that_is_late_waits_for_the_next_turn() {
    let mut rig = Rig::new(Options { handshake_time: Duration::ZERO, ..options() }, echo);
    let connector = TlsConnector::new("localhost", &Trust::Anybody).unwrap();
    // Ours is the client's side, which needs no certificate.
    let mut peers: Vec<_> = (0..20).map(|serial| rig.shake_hands(serial, &connector)).collect();
    let mut plain = rig.connect();
    rig.settle();
    for peer in &mut peers {
        peer.write_all(b"this is no handshake").unwrap();
    }
    plain.write_all(b"x\n").unwrap();
    let mut turns = 0;
    while rig.worker.connections.len() > 1 {
        let before = rig.worker.connections.len();
        rig.step();
        let failed = before - rig.worker.connections.len();
        assert!(failed <= 1, "{failed} handshakes in one turn");
        turns += failed;
    }
    assert_eq!(turns, 20);
    assert_eq!(rig.read_all(&mut plain).0, b"x\n");
}

/// Connects `n` peers whose handshakes have a step to take, each of which fails.
fn storm<F>(rig: &mut Rig<F>, n: u64) -> Vec<UnixStream>
where
    F: FnMut(&[u8], &mut SendBuf, &mut Context<'_>) -> Control,
{
    let connector = TlsConnector::new("localhost", &Trust::Anybody).unwrap();
    let mut peers: Vec<_> = (0..n).map(|serial| rig.shake_hands(serial, &connector)).collect();
    rig.settle();
    for peer in &mut peers {
        peer.write_all(b"this is no handshake").unwrap();
    }
    peers
}

#[test]
fn inv_short_established_connections_do_not_wait_for_handshakes() {
    let mut rig = Rig::new(Options { handshake_time: Duration::ZERO, ..options() }, echo);
    let _peers = storm(&mut rig, 40);
    let mut plain = rig.connect();
    while rig.connection(1).is_none() {
        rig.step();
    }
    for _ in 0..5 {
        plain.write_all(b"x\n").unwrap();
        let (mut turns, mut reply) = (0, Vec::new());
        while reply != b"x\n" {
            rig.step();
            read_ready(&mut plain, &mut reply);
            turns += 1;
        }
        // Epoll reports it at once. A ring receives in one turn and sends with the begin of the next.
        assert!(turns <= 3, "{turns} turns");
    }
    assert!(rig.worker.connections.len() > 20, "handshakes have waited all the time");
}

#[test]
fn inv_short_a_handshake_goes_on_in_each_turn_that_others_use_up() {
    let limits = Limits { requests_per_turn: 1, ..Limits::default() };
    let options = Options { limits, handshake_time: Duration::ZERO, ..shortest() };
    let mut rig = Rig::new(options, echo);
    let _peers = storm(&mut rig, 20);
    let mut greedy: Vec<_> = (0..3).map(|_| rig.connect()).collect();
    for client in &mut greedy {
        client.write_all(&b"f\n".repeat(200)).unwrap();
    }
    DIARY.take();
    let mut turns = 0;
    while rig.worker.connections.len() > greedy.len() {
        rig.step();
        turns += 1;
    }
    // On a ring some turns pass before the first events.
    assert!((20..30).contains(&turns), "{turns} turns");
    let served = DIARY.take().iter().filter(|line| line.starts_with("run")).count();
    assert!(served >= 15, "{served} requests");
}

#[test]
fn inv_short_newcomers_take_no_more_than_their_part_of_a_turn() {
    let mut rig = Rig::new(shortest(), echo);
    let mut old = rig.connect();
    rig.settle();
    let part = MESSAGES / PARTS;
    let mut clients: Vec<_> = (0..3 * part).map(|_| rig.connect()).collect();
    old.write_all(b"x\n").unwrap();
    DIARY.take();
    rig.step();
    assert_eq!(rig.worker.connections.len(), 1 + part);
    assert_eq!(rig.worker.sleep(), None, "the others wait");
    rig.step();
    assert_eq!(rig.worker.connections.len(), 1 + 2 * part);
    assert_eq!(DIARY.take().last().map(String::as_str), Some("run x"), "between newcomers");
    for client in &mut clients {
        client.write_all(b"hello\n").unwrap();
        assert_eq!(rig.read_all(client).0, b"hello\n");
    }
}

#[test]
fn inv_short_letters_take_no_more_than_their_part_of_a_turn_and_keep_their_order() {
    let mut rig = Rig::new(shortest(), echo);
    let (mut old, mut other) = (rig.connect(), rig.connect());
    rig.settle();
    let part = LETTERS / PARTS;
    let lines: Vec<_> = (0..3 * part).map(|number| format!("{number}\n")).collect();
    let to = ConnectionId::new(0, 1);
    let push = |line: &String| (to, Errand::Push(Bytes::from(line.clone())));
    rig.worker.mailbox().deliver(&mut lines.iter().map(push).collect()).unwrap();
    other.write_all(b"x\n").unwrap();
    for is_last in [false, false, true] {
        rig.step();
        assert_eq!(rig.worker.mailbox().has_mail(), !is_last);
        assert!(is_last || rig.worker.sleep().is_none(), "the others wait");
    }
    assert_eq!(String::from_utf8(rig.read_all(&mut old).0).unwrap(), lines.concat());
    assert_eq!(rig.read_all(&mut other).0, b"x\n");
}

#[test]
fn messages_that_take_little_time_are_taken_in_one_turn() {
    let mut rig = Rig::new(options(), echo);
    let letter = (ConnectionId::new(0, 99), Errand::Push(Bytes::new()));
    rig.worker.mailbox().deliver(&mut vec![letter; LETTERS]).unwrap();
    let _clients: Vec<_> = (0..100).map(|_| rig.connect()).collect();
    rig.step();
    assert_eq!(rig.worker.connections.len(), 100);
    assert!(!rig.worker.mailbox().has_mail());
}

#[test]
fn the_time_in_which_a_connection_waits_for_its_turn_is_recorded() {
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let long = Duration::from_millis(20);
    let mut rig = Rig::new(shortest(), |line, out: &mut SendBuf, context: &mut Context<'_>| {
        if line == b"long" {
            std::thread::sleep(Duration::from_millis(20));
        }
        echo(line, out, context)
    });
    let (mut one, mut two) = (rig.connect(), rig.connect());
    rig.settle();
    one.write_all(b"long\n").unwrap();
    two.write_all(b"x\n").unwrap();
    DIARY.take();
    while !DIARY.take().contains(&"run long".to_owned()) {
        rig.step();
    }
    let woken = rig.worker.woken;
    let noted = rig.connection(2).unwrap().noted.expect("it waits");
    assert_eq!(noted.nanos_until(woken), 0);
    // What comes meanwhile does not begin its wait anew.
    two.write_all(b"y\n").unwrap();
    let before = REQUEST_DURATION.sum();
    rig.step();
    assert!(noted.nanos_until(rig.worker.woken) >= long.as_nanos() as u64);
    assert!(REQUEST_DURATION.sum() - before >= long.as_nanos() as u64);
    assert_eq!(rig.read_all(&mut two).0, b"x\ny\n");
    assert!(rig.connection(2).unwrap().noted.is_none());
    assert!(rig.connection(1).unwrap().noted.is_none());
}
