// SPDX-License-Identifier: Apache-2.0
//! Errands other than messages: closing a client, letters to other workers. And which connections
//! may idle.

use super::*;
use crate::worker::post::{LETTERS, MESSAGES, PARTS};

const LIMIT: Duration = Duration::from_secs(60);

/// Larger than the socket takes at once.
const MUCH: usize = 1 << 20;

/// `close N` closes the `N`-th connection, `cut N` cuts it off, `much` is answered with [`MUCH`] bytes, `W/N` sends a line
/// to the `N`-th connection of worker `W`, `gather W/N` does so when the service is asked for what it has gathered, all
/// else is answered with itself.
fn act(line: &[u8], out: &mut SendBuf, context: &mut Context<'_>) -> Control {
    let text = std::str::from_utf8(line).unwrap();
    if let Some(to) = text.strip_prefix("close ") {
        context.outbox.close(ConnectionId::new(0, to.parse().unwrap()));
        out.put(b"closed\n");
    } else if let Some(to) = text.strip_prefix("cut ") {
        context.outbox.cut(ConnectionId::new(0, to.parse().unwrap()));
    } else if let Some(address) = text.strip_prefix("gather ") {
        let message = Errand::Push(Bytes::from(format!("{address}\n")));
        GATHERED.with_borrow_mut(|gathered| gathered.push((connection_at(address), message)));
    } else if text.contains('/') {
        context.outbox.push(connection_at(text), Bytes::from(format!("{text}\n")));
    } else if text == "much" {
        out.put(&vec![b'm'; MUCH]);
    } else {
        return echo(line, out, context);
    }
    Control::Continue
}

/// The `N`-th connection of worker `W`, of `W/N`.
fn connection_at(address: &str) -> ConnectionId {
    let (worker, serial) = address.split_once('/').unwrap();
    ConnectionId::new(worker.parse().unwrap(), serial.parse().unwrap())
}

#[test]
fn a_client_that_is_closed_gets_what_was_written_to_it() {
    let mut rig = Rig::new(options(), act);
    let (mut one, mut two) = (rig.connect(), rig.connect());
    two.write_all(b"a\nmuch\n").unwrap();
    rig.settle();
    assert!(rig.pending(2) > 0);
    one.write_all(b"0/2\nclose 2\n0/2\nclose 9\n").unwrap();
    rig.settle();
    // What it sends from now on is not executed.
    two.write_all(b"never\n").unwrap();
    let (all, ended) = rig.read_all(&mut two);
    assert_eq!((all.len(), ended), (2 + MUCH + 4, true), "one of the two messages");
    assert!(all.ends_with(b"m0/2\n"));
    assert_eq!(rig.read_all(&mut one), (b"closed\nclosed\n".to_vec(), false));
}

#[test]
fn a_client_that_is_cut_off_gets_no_more_and_its_memory_is_free() {
    let mut rig = Rig::new(options(), act);
    let (mut one, mut two) = (rig.connect(), rig.connect());
    two.write_all(b"much\n").unwrap();
    rig.settle();
    assert!(rig.pending(2) > 0);
    // Also one that is being closed already.
    one.write_all(b"close 2\ncut 2\ncut 9\n").unwrap();
    rig.settle();
    assert!(rig.connection(2).is_none());
    let (all, _) = rig.read_all(&mut two);
    assert!(all.len() < MUCH, "{} bytes", all.len());
    assert_eq!(rig.read_all(&mut one), (b"closed\n".to_vec(), false));
}

#[test]
fn a_client_may_close_itself() {
    let mut rig = Rig::new(options(), act);
    let mut client = rig.connect();
    client.write_all(b"a\nclose 1\n").unwrap();
    assert_eq!(rig.read_all(&mut client), (b"a\nclosed\n".to_vec(), true));
    client.write_all(b"never\n").unwrap_err();
    assert!(rig.connection(1).is_none());
}

#[test]
fn a_closed_client_that_does_not_read_is_gone_after_the_write_timeout() {
    is_gone_after(LIMIT, LIMIT);
}

#[test]
fn it_is_gone_after_a_minute_where_there_is_no_write_timeout() {
    is_gone_after(LIMIT, Duration::ZERO);
}

fn is_gone_after(limit: Duration, write_timeout: Duration) {
    let mut rig = Rig::new(Options { write_timeout, ..options() }, act);
    let (mut deaf, mut other) = (rig.connect(), rig.connect());
    deaf.write_all(b"much\n").unwrap();
    rig.settle();
    other.write_all(b"close 1\n").unwrap();
    for _ in 0..3 {
        rig.clock.advance(limit / 4);
        // Messages make its end no later.
        other.write_all(b"0/1\n").unwrap();
        rig.settle();
        assert!(rig.connection(1).is_some());
    }
    rig.clock.advance(limit / 4);
    rig.step();
    assert!(rig.connection(1).is_none());
    assert!(rig.connection(2).is_some());
}

#[test]
fn a_connection_that_may_idle_does() {
    let options = Options { idle_timeout: LIMIT, read_timeout: LIMIT, ..options() };
    let mut rig = Rig::new(options, act);
    let (_impatient, _patient) = (rig.connect(), rig.connect_with(PATIENT));
    let mut inside = rig.connect_with(PATIENT);
    inside.write_all(b"half a requ").unwrap();
    rig.settle();
    rig.clock.advance(LIMIT);
    rig.step();
    assert!(rig.connection(1).is_none());
    assert!(rig.connection(2).is_some(), "it waits for messages");
    assert!(rig.connection(3).is_none(), "but not in the middle of a request");
}

#[test]
fn letters_for_another_worker_are_there_before_the_reply_leaves() {
    let mut there = Rig::new(options(), act);
    let far_mail = there.worker.mailbox();
    // The reply to `0/1` has left when the next connection is served, unless the ring sends it after all were.
    let seen = far_mail.clone();
    let mut here = Rig::new(options(), move |line: &[u8], out: &mut SendBuf, context: &mut Context<'_>| {
        if line == b"look" {
            out.put(if seen.has_mail() { b"mail\n" } else { b"none\n" });
            return Control::Continue;
        }
        act(line, out, context)
    });
    here.worker.index = 1;
    here.worker.introduce(vec![far_mail, here.worker.mailbox()]);
    let (mut one, mut two) = (here.connect(), here.connect());
    let mut far = there.connect();
    there.settle();
    here.settle();
    for line in ["0/1\n", "gather 0/1\n"] {
        one.write_all(line.as_bytes()).unwrap();
        two.write_all(b"look\n").unwrap();
        assert_eq!(here.read_all(&mut two), (b"mail\n".to_vec(), false), "{line}");
        assert_eq!(there.read_all(&mut far), (b"0/1\n".to_vec(), false));
    }
}

#[test]
fn what_was_sent_to_a_client_before_it_asked_reaches_it_before_the_answer() {
    // In the middle of a turn of this worker, another one writes to its second connection.
    let mailbox = std::rc::Rc::new(std::cell::OnceCell::<Mailbox>::new());
    let writes = mailbox.clone();
    let mut rig = Rig::new(options(), move |line: &[u8], out: &mut SendBuf, context: &mut Context<'_>| {
        if line == b"write" {
            let letter = |serial| (ConnectionId::new(0, serial), Errand::Push(Bytes::from_static(b"message\n")));
            writes.get().unwrap().deliver(&mut vec![letter(2), letter(3)]).unwrap();
        }
        echo(line, out, context)
    });
    mailbox.set(rig.worker.mailbox()).unwrap();
    let (mut writer, mut asks) = (rig.connect(), rig.connect());
    let mut aloof = rig.connect_with(ALOOF);
    rig.settle();
    for _ in 0..20 {
        writer.write_all(b"write\n").unwrap();
        asks.write_all(b"ping\n").unwrap();
        aloof.write_all(b"ping\n").unwrap();
        assert_eq!(rig.read_all(&mut asks), (b"message\nping\n".to_vec(), false));
        assert_eq!(rig.read_all(&mut aloof), (b"ping\n".to_vec(), false));
        assert_eq!(rig.read_all(&mut writer), (b"write\n".to_vec(), false));
    }
}

#[test]
fn letters_of_several_turns_that_were_there_before_reach_a_client_before_the_answer() {
    let mut rig = Rig::new(Options { turn_time: Duration::ZERO, ..options() }, act);
    let mut client = rig.connect();
    rig.settle();
    let nobody = || (ConnectionId::new(0, 9), Errand::Push(Bytes::from_static(b"to nobody\n")));
    let mut letters: Vec<_> = std::iter::repeat_with(nobody).take(3 * LETTERS / PARTS).collect();
    letters.push((ConnectionId::new(0, 1), Errand::Push(Bytes::from_static(b"message\n"))));
    client.write_all(b"ping\n").unwrap();
    rig.worker.mailbox().deliver(&mut letters).unwrap();
    assert_eq!(rig.read_all(&mut client), (b"message\nping\n".to_vec(), false));
}

#[test]
fn an_event_of_a_connection_that_a_letter_removes_is_none_of_a_newcomer() {
    let mut rig = Rig::new(options(), act);
    let old = rig.connect();
    rig.settle();
    // In one turn: the old connection is closed by its peer, and cut; more come than are welcomed at once.
    drop(old);
    rig.write(1, Errand::Cut);
    let mut clients: Vec<_> = (0..2 * MESSAGES / PARTS).map(|_| rig.connect()).collect();
    for client in &mut clients {
        client.write_all(b"ping\n").unwrap();
        assert_eq!(rig.read_all(client), (b"ping\n".to_vec(), false));
    }
}

#[test]
fn mail_without_end_keeps_no_client_from_its_answer() {
    let mailbox = std::rc::Rc::new(std::cell::OnceCell::<Mailbox>::new());
    let writes = mailbox.clone();
    let letter = || (ConnectionId::new(0, 9), Errand::Push(Bytes::from_static(b"to nobody\n")));
    let mut rig = Rig::new(options(), move |line: &[u8], out: &mut SendBuf, context: &mut Context<'_>| {
        writes.get().unwrap().deliver(&mut vec![letter()]).unwrap();
        echo(line, out, context)
    });
    mailbox.set(rig.worker.mailbox()).unwrap();
    let mut client = rig.connect();
    rig.settle();
    client.write_all(&b"ping\n".repeat(1000)).unwrap();
    for _ in 0..1000 {
        rig.worker.mailbox().deliver(&mut vec![letter()]).unwrap();
        rig.step();
    }
    assert_eq!(rig.read_all(&mut client), (b"ping\n".repeat(1000), false));
}

#[test]
fn letters_for_another_worker_leave_by_the_end_of_the_turn() {
    let (mut here, mut there) = (Rig::new(options(), act), Rig::new(options(), act));
    here.worker.index = 7;
    there.worker.index = 0;
    here.worker.introduce(vec![there.worker.mailbox()]);
    let (mut one, mut two) = (here.connect(), here.connect());
    let mut far = there.connect();
    there.settle();
    for client in [&mut one, &mut two] {
        client.write_all(b"0/1\n0/1\n5/1\n").unwrap();
    }
    here.settle();
    let before = there.worker.inbox.has_mail();
    let (all, _) = there.read_all(&mut far);
    assert!(before);
    assert_eq!(all, b"0/1\n".repeat(4), "and those for a worker that is not there go nowhere");
}

#[test]
fn a_connection_that_more_was_written_to_than_the_mailbox_holds_is_closed() {
    let mut rig = Rig::new(Options { mail_bytes: 10_000, ..options() }, act);
    let (mut one, mut two) = (rig.connect(), rig.connect());
    rig.settle();
    HEARD.take();
    for _ in 0..20 {
        rig.write(1, Errand::Push(Bytes::from(vec![b'm'; 1000])));
        rig.write(2, Errand::Push(Bytes::from_static(b"m\n")));
    }
    assert_eq!(rig.read_all(&mut one), (Vec::new(), true));
    assert_eq!(rig.read_all(&mut two), (b"m\n".repeat(20), false));
    assert!(HEARD.take().contains(&Heard::Closed(1, Ending::Error)));
}

/// INV-FIRST: the event of this turn that tells of its end is not one of the newcomer's.
#[test]
fn no_newcomer_takes_the_place_of_a_connection_that_a_newcomer_cuts() {
    let mut rig = Rig::new(options(), echo);
    let first = rig.connect();
    rig.settle();
    WELCOME.set(vec![(ConnectionId::new(0, 1), Errand::Cut)]);
    // More than are taken in one part.
    let mut clients: Vec<_> = (0..3 * MESSAGES / PARTS).map(|_| rig.connect()).collect();
    drop(first);
    rig.settle();
    assert!(rig.connection(1).is_none());
    for (serial, client) in (2..).zip(&mut clients) {
        assert!(rig.connection(serial).is_some(), "{serial} was taken for the first");
        client.write_all(b"hello\n").unwrap();
        assert_eq!(rig.read_all(client), (b"hello\n".to_vec(), false), "{serial}");
    }
}
