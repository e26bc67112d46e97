// SPDX-License-Identifier: Apache-2.0
//! What a worker reports to its service besides requests: its sleep, the memory of connections, the end of
//! one. And when it wakes up for the service.

use super::*;
use crate::worker::post::LETTERS;
use std::time::Instant;

/// What the service heard since it was last asked, without the calls of `maintain`.
fn told() -> Vec<Heard> {
    HEARD.take().into_iter().filter(|&heard| heard != Heard::Maintain).collect()
}

#[test]
fn it_rests_before_it_sleeps_and_not_between_busy_turns() {
    let limits = Limits { requests_per_turn: 10, ..Limits::default() };
    let mut rig = Rig::new(Options { limits, ..options() }, echo);
    let mut client = rig.connect();
    // The first blocks are worth a report, the next ones are not.
    client.write_all(b"x\n").unwrap();
    rig.settle();
    HEARD.take();
    client.write_all(&b"x\n".repeat(35)).unwrap();
    for _ in 0..6 {
        rig.step();
    }
    use Heard::{Maintain, Rest};
    // It wakes up, serves 10, looks three times without sleeping and serves the rest, sleeps again.
    let expected = [Rest, Maintain, Maintain, Maintain, Maintain, Rest, Maintain, Rest, Maintain];
    assert_eq!(HEARD.take(), expected);
}

#[test]
fn it_does_not_rest_while_letters_wait() {
    let mut rig = Rig::new(options(), echo);
    let letter = (ConnectionId::new(0, 99), Errand::Push(Bytes::new()));
    rig.worker.mailbox().deliver(&mut vec![letter; LETTERS + 1]).unwrap();
    rig.step();
    assert_eq!(told(), [], "it has been written to");
    rig.step();
    assert_eq!(told(), [], "one letter was left over");
    rig.step();
    assert_eq!(told(), [Heard::Rest]);
}

#[test]
fn it_does_not_sleep_while_the_service_has_more_to_do() {
    let mut rig = Rig::new(options(), echo);
    rig.settle();
    HEARD.take();
    CHORES.set(3);
    for _ in 0..4 {
        rig.step();
    }
    use Heard::{Maintain, Rest};
    assert_eq!(HEARD.take(), [Rest, Maintain, Maintain, Maintain, Rest, Maintain]);
}

#[test]
fn it_rests_on_its_way_out() {
    let mut rig = Rig::new(options(), echo);
    let mut client = rig.connect();
    client.write_all(b"one\n").unwrap();
    rig.settle();
    let deadline = rig.clock.now().ticks + Duration::from_secs(1);
    rig.worker.mailbox().send(Message::Drain { deadline }).unwrap();
    while !rig.step() {}
    assert_eq!(HEARD.take().pop(), Some(Heard::Rest));
}

/// Takes steps until nothing more happens; the reports of these steps, each of which must be news,
/// the last one true but for the step that is not worth a report.
fn reports<F>(rig: &mut Rig<F>, mut before: u64) -> Vec<u64>
where
    F: FnMut(&[u8], &mut SendBuf, &mut Context<'_>) -> Control,
{
    rig.settle();
    let heard = HEARD.take();
    let mut reports = Vec::new();
    let mut is_first_of_turn = true;
    for heard in heard {
        match heard {
            Heard::Buffers(bytes) => {
                assert!(is_first_of_turn, "two reports in one turn");
                assert!(bytes.abs_diff(before) >= 64 << 10, "{bytes} after {before} is no news");
                is_first_of_turn = false;
                before = bytes;
                reports.push(bytes);
            }
            Heard::Maintain => is_first_of_turn = true,
            Heard::Rest | Heard::Closed(..) => {}
        }
    }
    let off = before.abs_diff(rig.worker.pool.bytes() as u64);
    assert!(off < 64 << 10, "the last report is {off} bytes off");
    reports
}

#[test]
fn the_service_hears_how_much_the_buffers_hold() {
    let mut rig = Rig::new(options(), |line, out: &mut SendBuf, _: &mut Context<'_>| {
        out.put(&vec![b'r'; if line == b"much" { 4 << 20 } else { 10 }]);
        Control::Continue
    });
    let mut clients: Vec<UnixStream> = (0..4).map(|_| rig.connect()).collect();
    clients[0].write_all(b"short\n").unwrap();
    let first = reports(&mut rig, 0);
    assert_eq!(first.len(), 1, "the first blocks: {first:?}");
    let steady = first[0];
    for _ in 0..50 {
        clients[1].write_all(b"short\n").unwrap();
        assert_eq!(reports(&mut rig, steady), [], "which serve everybody");
    }

    // Requests of which only a part arrives, and replies that nobody reads.
    let half = vec![b'h'; 100_000];
    for client in &mut clients[..3] {
        client.write_all(&half).unwrap();
    }
    let held = reports(&mut rig, steady);
    let grown = *held.last().expect("the buffers have grown");
    assert!(grown >= steady + 300_000, "{held:?}");
    clients[3].write_all(b"much\n").unwrap();
    let held = reports(&mut rig, grown);
    let most = *held.last().expect("a buffer has grown");
    assert!(most >= grown + (3 << 20), "{held:?}");

    // One client goes on, the others go without reading or ending what they began.
    clients[0].write_all(b"\n").unwrap();
    clients.truncate(1);
    let held = reports(&mut rig, most);
    let last = *held.last().expect("memory has come back");
    assert!(last <= steady + 200_000, "{held:?}");
    drop(clients);
    rig.settle();
    assert_eq!(rig.worker.pool.bytes(), rig.worker.pool.idle_bytes(), "nobody holds anything");
}

#[test]
fn the_service_hears_once_of_each_connection_that_ends() {
    let mut rig = Rig::new(options(), echo);
    let mut clients: Vec<UnixStream> = (0..5).map(|_| rig.connect()).collect();
    rig.settle();
    clients[0].write_all(b"quit\n").unwrap();
    rig.settle();
    drop(clients.remove(1));
    rig.settle();
    rig.write(3, Errand::Close);
    rig.settle();
    let closed = |heard: Vec<Heard>| -> Vec<u64> {
        let serial = |heard| if let Heard::Closed(serial, _) = heard { Some(serial) } else { None };
        heard.into_iter().filter_map(serial).collect()
    };
    assert_eq!(closed(HEARD.take()), [1, 2, 3]);
    let deadline = rig.clock.now().ticks;
    rig.worker.mailbox().send(Message::Drain { deadline }).unwrap();
    while !rig.step() {}
    assert_eq!(closed(HEARD.take()), [4, 5]);
}

#[test]
fn what_the_service_sends_besides_requests_is_delivered() {
    let mut rig = Rig::new(options(), echo);
    let (mut one, two) = (rig.connect(), rig.connect());
    rig.settle();
    let to = ConnectionId::new(0, 1);
    ERRANDS.set(vec![(to, Errand::Push(Bytes::from_static(b"from maintain\n")))]);
    rig.settle();
    let mut got = Vec::new();
    read_ready(&mut one, &mut got);
    assert_eq!(got, b"from maintain\n");
    WILL.set(vec![(to, Errand::Push(Bytes::from_static(b"two is gone\n")))]);
    drop(two);
    rig.settle();
    got.clear();
    read_ready(&mut one, &mut got);
    assert_eq!(got, b"two is gone\n");
}

#[test]
fn it_sleeps_no_longer_than_the_service_wants() {
    let tick = Duration::from_secs(3600);
    let mut rig = Rig::new(Options { tick, ..options() }, echo);
    let now = rig.clock.now().ticks;
    WAKE_AT.set(Some(now + Duration::from_millis(30)));
    assert_eq!(rig.worker.sleep(), Some(Duration::from_millis(30)));
    let begun = Instant::now();
    rig.step();
    assert!(begun.elapsed() >= Duration::from_millis(30), "and no shorter, or it would spin");
    WAKE_AT.set(Some(now + 2 * tick));
    assert_eq!(rig.worker.sleep(), Some(tick));
    // The clock is at the moment, or past it: this is for `maintain` to see to.
    HEARD.take();
    rig.clock.advance(Duration::from_millis(1));
    for at in [rig.clock.now().ticks, now] {
        WAKE_AT.set(Some(at));
        assert_eq!(rig.worker.sleep(), None);
        rig.step();
        assert_eq!(HEARD.take(), [Heard::Maintain], "without a rest");
    }
}
