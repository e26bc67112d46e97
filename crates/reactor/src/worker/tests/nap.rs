// SPDX-License-Identifier: Apache-2.0
//! How long a worker sleeps to which nothing comes.

use super::*;
use std::thread;

const NAP: Duration = Duration::from_millis(40);

type Service = fn(&[u8], &mut SendBuf, &mut Context<'_>) -> Control;

/// A rig whose service has nothing to do for as long as a nap takes.
fn rig(options: Options) -> Rig<Service> {
    MAY_NAP.set(options.nap);
    Rig::new(options, answer as Service)
}

/// `much` is answered with more than a socket takes at once.
fn answer(line: &[u8], out: &mut SendBuf, context: &mut Context<'_>) -> Control {
    if line == b"much" {
        out.put(&vec![b'm'; 1 << 20]);
        return Control::Continue;
    }
    echo(line, out, context)
}

fn napping() -> Options {
    Options { nap: NAP, ..options() }
}

/// Lets some ticks pass, until the worker would sleep for longer than one; whether it comes to that.
fn comes_to_rest<F>(rig: &mut Rig<F>) -> bool
where
    F: FnMut(&[u8], &mut SendBuf, &mut Context<'_>) -> Control,
{
    let tick = rig.worker.options.tick;
    (0..50).any(|_| {
        rig.settle();
        rig.clock.advance(tick);
        rig.step();
        rig.worker.sleep().is_some_and(|sleep| sleep > tick)
    })
}

#[test]
fn a_worker_without_connections_naps() {
    let mut rig = rig(napping());
    assert_eq!(rig.worker.sleep(), Some(options().tick), "it has looked at nothing");
    assert!(comes_to_rest(&mut rig));
    assert_eq!(rig.worker.sleep(), Some(NAP));
}

#[test]
fn a_worker_whose_clients_have_left_naps_as_soon_as_one_that_never_had_any() {
    let mut rig = rig(napping());
    let clients: Vec<_> = (0..300).map(|_| rig.connect()).collect();
    rig.settle();
    drop(clients);
    rig.settle();
    assert!(rig.worker.connections.is_empty() && rig.worker.connections.capacity() >= 300);
    assert!(comes_to_rest(&mut rig));
    assert_eq!(rig.worker.sleep(), Some(NAP));
}

#[test]
fn it_naps_once_all_connections_are_found_at_rest_and_what_comes_ends_that() {
    let mut rig = rig(napping());
    let mut clients: Vec<_> = (0..300).map(|_| rig.connect()).collect();
    rig.settle();
    clients[7].write_all(b"hello\n").unwrap();
    assert_eq!(rig.read_all(&mut clients[7]).0, b"hello\n");
    assert!(comes_to_rest(&mut rig));
    assert_eq!(rig.worker.sleep(), Some(NAP));
    clients[299].write_all(b"again\n").unwrap();
    assert_eq!(rig.read_all(&mut clients[299]).0, b"again\n");
    assert_eq!(rig.worker.sleep(), Some(options().tick));
    assert!(comes_to_rest(&mut rig));
}

#[test]
fn it_goes_on_by_the_tick_if_the_service_wants_it_and_wakes_up_when_the_service_does() {
    let mut rig = rig(napping());
    MAY_NAP.set(Duration::ZERO);
    assert!(!comes_to_rest(&mut rig));
    assert!(ASKED.get() > 0);
    MAY_NAP.set(NAP);
    assert!(comes_to_rest(&mut rig));
    let at = rig.clock.now().ticks + NAP / 2;
    WAKE_AT.set(Some(at));
    assert_eq!(rig.worker.sleep(), Some(NAP / 2));
    WAKE_AT.set(None);
}

#[test]
fn a_worker_with_something_to_serve_does_not_ask() {
    let mut rig = rig(napping());
    let mut client = rig.connect();
    for round in 0..100 {
        client.write_all(b"x\n").unwrap();
        assert_eq!(rig.read_all(&mut client).0, b"x\n");
        if round == 0 {
            ASKED.set(0);
        }
    }
    assert_eq!(ASKED.get(), 0, "no tick has passed");
}

#[test]
fn a_connection_in_the_middle_of_something_keeps_the_tick() {
    let mut rig = rig(napping());
    let mut client = rig.connect();
    client.write_all(b"half a li").unwrap();
    assert!(!comes_to_rest(&mut rig), "the read timeout");
    client.write_all(b"ne\n").unwrap();
    assert!(comes_to_rest(&mut rig));
    drop(client);
    let mut deaf = rig.connect();
    deaf.write_all(b"much\n").unwrap();
    assert!(!comes_to_rest(&mut rig), "the write timeout");
    rig.read_all(&mut deaf);
    assert!(comes_to_rest(&mut rig));
}

/// No event tells the worker that they have let go of it.
#[test]
fn a_message_that_others_hold_keeps_the_tick_until_the_service_has_heard_that_it_is_gone() {
    let mut rig = rig(napping());
    assert!(comes_to_rest(&mut rig));
    let outbox = &mut rig.worker.outbox;
    outbox.push(ConnectionId::new(1, 1), Bytes::from(vec![b'm'; 1 << 20]));
    let letters: Vec<_> = outbox.take().drain().collect();
    assert!(!comes_to_rest(&mut rig), "another worker has it");
    HEARD.take();
    drop(letters);
    assert_eq!(rig.worker.sleep(), Some(options().tick), "it was dropped since the last turn");
    assert!(comes_to_rest(&mut rig));
    assert!(HEARD.take().contains(&Heard::Buffers(0)));
}

#[test]
fn a_nap_ends_when_a_connection_has_been_idle_for_too_long() {
    let idle_timeout = Duration::from_secs(10);
    let mut rig = rig(Options { idle_timeout, ..napping() });
    let mut clients: Vec<_> = (0..200).map(|_| rig.connect()).collect();
    let _patient = rig.connect_with(PATIENT);
    assert!(comes_to_rest(&mut rig));
    assert_eq!(rig.worker.sleep(), Some(NAP));
    let begun = rig.connection(1).unwrap().peer.since;
    rig.clock.advance((begun + idle_timeout).since(rig.clock.now().ticks) - NAP / 2);
    rig.step();
    assert_eq!(rig.worker.connections.len(), 201);
    assert_eq!(rig.worker.sleep(), Some(NAP / 2));
    // As many ticks have passed as it takes to look at all.
    rig.clock.advance(NAP / 2);
    rig.step();
    assert_eq!(rig.worker.connections.len(), 1);
    assert!(clients.iter_mut().all(|client| rig.read_all(client).1));
}

#[test]
fn what_others_send_wakes_a_worker_that_naps() {
    let mut rig = rig(napping());
    let mut client = rig.connect();
    assert!(comes_to_rest(&mut rig));
    let nap = Duration::from_secs(3600);
    rig.worker.options.nap = nap;
    MAY_NAP.set(nap);
    assert_eq!(rig.worker.sleep(), Some(nap));
    let other = rig.worker.mailbox();
    let sender = thread::spawn(move || {
        let letter = (ConnectionId::new(0, 1), Errand::Push(Bytes::from_static(b"hello\n")));
        other.deliver(&mut vec![letter]).unwrap();
    });
    rig.step();
    sender.join().unwrap();
    rig.worker.options.nap = NAP;
    assert_eq!(rig.read_all(&mut client).0, b"hello\n");
}

#[test]
fn a_worker_that_drains_does_not_nap() {
    let mut rig = rig(napping());
    let mut deaf = rig.connect();
    deaf.write_all(b"much\n").unwrap();
    rig.settle();
    let deadline = rig.clock.now().ticks + Duration::from_secs(60);
    rig.worker.mailbox().send(Message::Drain { deadline }).unwrap();
    assert!(!comes_to_rest(&mut rig));
}
