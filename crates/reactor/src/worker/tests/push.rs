// SPDX-License-Identifier: Apache-2.0
//! Messages from one connection to another.

use super::*;
use protocol::Ticket;

/// `N line` sends the line to the `N`-th connection, `N*C` sends it `C` times; `quit` closes.
fn post(line: &[u8], _: &mut SendBuf, context: &mut Context<'_>) -> Control {
    let text = std::str::from_utf8(line).unwrap();
    if text == "quit" {
        return Control::Close;
    }
    let (to, message) = text.split_once(' ').unwrap();
    let (to, times) = to.split_once('*').unwrap_or((to, "1"));
    let to = ConnectionId::new(0, to.parse().unwrap());
    for _ in 0..times.parse().unwrap() {
        context.outbox.push(to, Bytes::from(format!("{message}\n")));
    }
    Control::Continue
}

#[test]
fn messages_arrive_in_order_at_others_and_at_the_sender() {
    let mut rig = Rig::new(options(), post);
    let (mut a, mut b) = (rig.connect(), rig.connect());
    a.write_all(b"2 first\n1 self\n2 second\n9 nobody\n").unwrap();
    assert_eq!(rig.read_all(&mut b), (b"first\nsecond\n".to_vec(), false));
    assert_eq!(rig.read_all(&mut a), (b"self\n".to_vec(), false));
}

/// They are one message in memory, however many wait for it.
#[test]
fn a_message_to_many_counts_once_until_all_have_taken_it() {
    let mut rig = Rig::new(options(), post);
    let (mut one, mut other) = (rig.connect(), rig.connect());
    rig.settle();
    let count = |rig: &Rig<_>| rig.worker.outbox.shared_bytes();
    let message = Bytes::from(vec![b'm'; 8 << 20]);
    ERRANDS.set([1, 2].map(|serial| letter(serial, &message)).into());
    rig.settle();
    let first = count(&rig);
    assert!((8 << 20..(8 << 20) + 1_000).contains(&first), "{first} bytes");
    ERRANDS.set(vec![letter(1, &Bytes::from(vec![b'n'; 1 << 20]))]);
    rig.settle();
    let another = count(&rig) - first;
    assert!((1 << 20..(1 << 20) + 1_000).contains(&another), "{another} bytes");
    assert_eq!(rig.read_all(&mut one).0.len(), 9 << 20);
    assert_eq!(count(&rig), first);
    assert_eq!(rig.read_all(&mut other).0.len(), message.len());
    assert_eq!(count(&rig), 0);
}

/// The worker that delivers it takes more than one part of its letters for them.
#[test]
fn a_message_from_another_worker_counts_there_however_many_get_it() {
    let mut rig = Rig::new(options(), post);
    let mut clients: Vec<_> = (0..300).map(|_| rig.connect()).collect();
    rig.settle();
    let before = rig.worker.pool.lent_bytes();
    let (mut origin, message) = (Outbox::new(), Bytes::from(vec![b'm'; 1 << 20]));
    put((1..=300).map(|serial| letter(serial, &message)).collect(), &mut origin);
    origin.drain().for_each(|(to, errand)| rig.write(to.serial(), errand));
    rig.settle();
    assert!(rig.pending(1) > 0 && rig.pending(300) > 0, "all wait");
    let counted = origin.shared_bytes();
    assert!((1 << 20..(1 << 20) + 1_000).contains(&counted), "{counted} bytes");
    assert_eq!(rig.worker.outbox.shared_bytes(), 0);
    let grown = rig.worker.pool.lent_bytes() - before;
    assert!(grown < 1 << 20, "{grown} bytes of buffers");
    for client in &mut clients {
        assert_eq!(rig.read_all(client).0.len(), message.len());
    }
    assert_eq!(origin.shared_bytes(), 0);
}

fn letter(serial: u64, message: &Bytes) -> (ConnectionId, Errand) {
    (ConnectionId::new(0, serial), Errand::Push(message.clone()))
}

/// Nothing is written for who gets them, so there is nothing to borrow a block for.
#[test]
fn a_message_takes_no_blocks_of_those_that_get_it() {
    let mut rig = Rig::new(options(), post);
    let mut clients: Vec<_> = (0..40).map(|_| rig.connect()).collect();
    rig.settle();
    for message in [vec![b'm'; 600], vec![b'm'; 100]].map(Bytes::from) {
        let before = rig.worker.pool.bytes();
        ERRANDS.set((1..=40).map(|serial| letter(serial, &message)).collect());
        rig.settle();
        let grown = rig.worker.pool.bytes().saturating_sub(before);
        assert!(grown < 2 * rig.worker.options.send_block, "{grown} bytes of buffers");
        for client in &mut clients {
            assert_eq!(rig.read_all(client).0.len(), message.len());
        }
    }
}

/// What each connection holds of them for itself is counted when they come, not when they leave.
#[test]
fn the_places_of_messages_that_wait_count_as_buffers() {
    let mut rig = Rig::new(options(), post);
    let _deaf = rig.connect();
    rig.settle();
    let message = Bytes::from(vec![b'm'; 600]);
    for _ in 0..20 {
        ERRANDS.set(vec![letter(1, &message); 1_000]);
        rig.settle();
    }
    let waiting = rig.pending(1) / 600;
    assert!(waiting > 10_000, "{waiting} messages wait");
    let lent = rig.worker.pool.lent_send_bytes();
    assert!(lent > waiting * 40, "{lent} bytes for {waiting}");
}

#[test]
fn who_takes_no_messages_gets_replies_alone() {
    let mut rig =
        Rig::new(options(), |line: &[u8], out: &mut SendBuf, context: &mut Context<'_>| {
            match line {
                b"wait" => return Control::Block,
                b"go" => {
                    let (to, reply) = (ConnectionId::new(0, 2), Bytes::from_static(b"at last\n"));
                    context.outbox.push(to, Bytes::from_static(b"never\n"));
                    context.outbox.resume(to, Ticket::default(), reply);
                }
                _ => out.put(b"ok\n"),
            }
            Control::Continue
        });
    let (mut sender, mut aloof) = (rig.connect(), rig.connect_with(ALOOF));
    aloof.write_all(b"hello\nwait\n").unwrap();
    rig.settle();
    sender.write_all(b"go\n").unwrap();
    assert_eq!(rig.read_all(&mut aloof), (b"ok\nat last\n".to_vec(), false));
}

#[test]
fn a_client_whose_messages_pile_up_is_closed_and_nobody_else() {
    let messages = OutputLimit { hard: 100_000, ..OutputLimit::NONE };
    let output = Output { messages, ..Output::default() };
    let mut rig = Rig::new(Options { output, ..options() }, post);
    let (mut sender, mut deaf) = (rig.connect(), rig.connect_with(PATIENT));
    let mut listener = rig.connect_with(PATIENT);
    rig.settle();
    let message = "m".repeat(999);
    let mut heard = Vec::new();
    let mut rounds = 0;
    while rig.connection(2).is_some() {
        assert!(rig.pending(2) < 100_000);
        for to in [2, 3] {
            sender.write_all(format!("{to}*10 {message}\n").as_bytes()).unwrap();
        }
        rig.settle();
        assert!(!read_ready(&mut listener, &mut heard));
        rounds += 1;
        assert!(rounds < 1_000, "the one that does not read is closed in the end");
    }
    assert_eq!(heard.len(), rounds * 10_000, "the one that reads got everything");
    sender.write_all(b"2 gone\n3 here\n").unwrap();
    heard.clear();
    rig.settle();
    assert!(!read_ready(&mut listener, &mut heard));
    assert_eq!(heard, b"here\n");
    assert!(read_ready(&mut deaf, &mut heard), "its stream has ended");
}

#[test]
fn small_messages_that_wait_take_little_more_than_their_bytes() {
    let mut rig = Rig::new(options(), post);
    let (mut sender, _deaf) = (rig.connect(), rig.connect());
    rig.settle();
    for _ in 0..30 {
        sender.write_all(b"2*10000 123456789\n").unwrap();
        rig.settle();
    }
    let send = rig.connection(2).unwrap().session.send();
    assert!(send.pending() > 1 << 20, "{} bytes wait", send.pending());
    assert!(send.capacity() <= 2 * send.pending());
}

#[test]
fn a_message_for_a_connection_that_has_been_closed_is_dropped() {
    let mut rig = Rig::new(options(), post);
    let (mut sender, mut closed) = (rig.connect(), rig.connect());
    closed.write_all(b"quit\nand more").unwrap();
    assert_eq!(rig.read_all(&mut closed), (Vec::new(), true));
    assert!(rig.connection(2).is_some(), "it is kept until its client closes too");
    sender.write_all(b"2*1000 too late\n").unwrap();
    rig.settle();
    assert_eq!(rig.pending(2), 0);
    drop(closed);
    rig.settle();
    assert!(rig.connection(2).is_none());
}
