// SPDX-License-Identifier: Apache-2.0
//! Messages to a worker, the number of wake-ups, and the connections that are overrun when it does
//! not read.

use super::*;
use bytes::Bytes;
use mio::{Events, Poll, Token};
use protocol::Ticket;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// A worker's end, and the poll that it would sleep in.
struct Rig {
    mailbox: Mailbox,
    inbox: Inbox,
    poll: Poll,
}

impl Rig {
    fn new(most: usize) -> Self {
        let poll = Poll::new().unwrap();
        let waker = mio::Waker::new(poll.registry(), Token(0)).unwrap();
        let (mailbox, inbox) = mailbox(waker.into(), most);
        Rig { mailbox, inbox, poll }
    }

    /// Whether somebody has woken the worker since this was last asked.
    fn was_woken(&mut self) -> bool {
        let mut events = Events::with_capacity(8);
        self.poll.poll(&mut events, Some(Duration::ZERO)).unwrap();
        !events.is_empty()
    }

    fn take(&self, letters: usize) -> Mail {
        let mut mail = Mail::default();
        self.inbox.take_letters(letters, &mut mail);
        mail
    }

    fn take_all(&self) -> Mail {
        self.take(usize::MAX)
    }

    fn write(&self, to: ConnectionId, errand: Errand) {
        self.mailbox.deliver(&mut vec![(to, errand)]).unwrap();
    }
}

fn id(serial: u64) -> ConnectionId {
    ConnectionId::new(0, serial)
}

fn push(bytes: usize) -> Errand {
    Errand::Push(Bytes::from(vec![b'm'; bytes]))
}

#[test]
fn one_wake_up_serves_all_that_comes_until_the_worker_looks() {
    let mut rig = Rig::new(1 << 20);
    assert!(!rig.inbox.has_mail() && !rig.was_woken());
    let mut batch: Vec<Letter> = (1..=1000).map(|serial| (id(serial), push(1))).collect();
    rig.mailbox.deliver(&mut batch).unwrap();
    assert!(batch.is_empty() && rig.inbox.has_mail() && rig.was_woken());
    rig.write(id(1), Errand::Close);
    rig.mailbox.send(Message::Drain { deadline: Ticks::ZERO }).unwrap();
    assert!(!rig.was_woken(), "it has been woken already");

    let mut messages = Vec::new();
    assert!(!rig.inbox.take_messages(1, &mut messages), "there are no more");
    assert_eq!((messages.len(), rig.take(600).letters.len()), (1, 600));
    assert!(rig.inbox.has_mail(), "it knows that it has not taken everything");
    rig.write(id(1), Errand::Close);
    assert!(!rig.was_woken(), "and needs no waking for that");
    assert_eq!(rig.take_all().letters.len(), 402);
    assert!(!rig.inbox.has_mail());
    rig.write(id(1), Errand::Close);
    assert!(rig.was_woken());
}

/// How long the lock is held must not depend on how many there are.
#[test]
fn letters_are_taken_as_they_are_queued_and_the_queues_change_places() {
    let rig = Rig::new(1 << 20);
    let mut mail = Mail::default();
    let mut places = HashSet::new();
    for round in 0..10 {
        (0..100).for_each(|serial| rig.write(id(serial), push(1)));
        rig.inbox.take_letters(100 + round % 2, &mut mail);
        assert_eq!(mail.letters.len(), 100);
        assert!(!rig.inbox.has_mail());
        places.insert(mail.letters.as_slices().0.as_ptr());
        mail.letters.clear();
    }
    assert_eq!(places.len(), 2, "neither is copied or made anew");
    // All that was counted is counted out.
    let large = (1 << 20) / 2;
    for _ in 0..10 {
        rig.write(id(1), push(large));
        rig.inbox.take_letters(1, &mut mail);
        assert_eq!((mail.letters.len(), mail.overrun.len()), (1, 0));
        mail.letters.clear();
    }
}

#[test]
fn what_is_sent_to_a_worker_that_has_ended_is_dropped() {
    let Rig { mailbox, inbox, .. } = Rig::new(1 << 20);
    let message = Bytes::from(vec![b'm'; 100]);
    let letter = |message: &Bytes| (id(1), Errand::Push(message.clone()));
    mailbox.deliver(&mut vec![letter(&message)]).unwrap();
    assert!(!message.is_unique());
    drop(inbox);
    assert!(message.is_unique(), "what waited is dropped");
    let mut batch = vec![letter(&message)];
    mailbox.deliver(&mut batch).unwrap();
    assert!(batch.is_empty() && message.is_unique());
    mailbox.send(Message::Drain { deadline: Ticks::ZERO }).unwrap();
}

#[test]
fn a_mark_is_read_when_the_letters_in_front_of_it_are_taken() {
    let rig = Rig::new(10_000);
    assert!(rig.inbox.has_read(rig.inbox.end()));
    (0..10).for_each(|serial| rig.write(id(serial), push(1)));
    let mark = rig.inbox.end();
    rig.write(id(1), push(1));
    for taken in 0..10 {
        assert!(!rig.inbox.has_read(mark), "{taken} of 10");
        rig.take(1);
    }
    assert!(rig.inbox.has_read(mark) && !rig.inbox.has_read(rig.inbox.end()));
    // Dropped letters are waited for no longer than others.
    let mark = rig.inbox.end();
    rig.write(id(2), push(20_000));
    rig.write(id(3), push(1));
    rig.take_all();
    assert!(rig.inbox.has_read(mark) && rig.inbox.has_read(rig.inbox.end()));
    rig.write(id(3), push(1));
    assert!(!rig.inbox.has_read(rig.inbox.end()));
}

#[test]
fn a_message_to_many_is_counted_once() {
    let rig = Rig::new(1 << 20);
    let message = Bytes::from(vec![b'm'; 100_000]);
    let mut batch = (1..=1000).map(|n| (id(n), Errand::Push(message.clone()))).collect();
    rig.mailbox.deliver(&mut batch).unwrap();
    let mail = rig.take_all();
    assert_eq!((mail.letters.len(), mail.overrun.len()), (1000, 0));
}

#[test]
fn those_that_most_is_written_to_lose_and_the_others_notice_nothing() {
    let rig = Rig::new(50_000);
    let reply = Bytes::from(vec![b'r'; 60_000]);
    rig.write(id(3), Errand::Resume(Ticket::default(), reply.clone()));
    for _ in 0..8 {
        rig.write(id(1), push(4000));
        rig.write(id(2), push(10));
        rig.write(id(4), push(3000));
    }
    let mut mail = rig.take_all();
    mail.overrun.sort();
    assert_eq!(mail.overrun, [id(1), id(4)], "they are within a factor of two");
    let mut expected = vec![(id(3), Errand::Resume(Ticket::default(), reply))];
    expected.extend((0..8).map(|_| (id(2), push(10))));
    assert_eq!(mail.letters, expected);
}

#[test]
fn a_reply_of_any_size_is_delivered() {
    let rig = Rig::new(1000);
    let reply = Errand::Resume(Ticket::default(), Bytes::from(vec![b'r'; 1 << 20]));
    for serial in 1..=3 {
        rig.write(id(serial), reply.clone());
        rig.write(id(serial), Errand::Close);
    }
    let mail = rig.take_all();
    assert_eq!((mail.letters.len(), mail.overrun.len()), (6, 0));
}

/// INV-NO-GAP, with a worker that takes seldom and little.
#[test]
fn a_connection_gets_everything_in_order_or_it_is_overrun() {
    let rig = Rig::new(20_000);
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut below = move |n: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % n
    };
    let (mut sent, mut got) = (HashMap::<ConnectionId, u32>::new(), HashMap::new());
    let mut gone = HashSet::new();
    let mut receive = |mail: Mail, gone: &mut HashSet<ConnectionId>| {
        gone.extend(mail.overrun);
        for (to, errand) in mail.letters {
            let Errand::Push(bytes) = errand else { panic!("all are messages") };
            let number = u32::from_le_bytes(bytes[..4].try_into().unwrap());
            let next = got.entry(to).or_insert(0);
            // The worker finds no connection for a letter to one that it has removed.
            if !gone.contains(&to) {
                assert_eq!(number, *next, "to {to:?}");
                *next += 1;
            }
        }
    };
    for round in 0..20_000 {
        let batch = (0..below(8)).map(|_| {
            // Some are written to far more than others.
            let to = id(below(40) * below(40) / 40);
            let number = sent.entry(to).or_default();
            let mut message = number.to_le_bytes().to_vec();
            message.resize(4 + below(100) as usize, b'm');
            *number += 1;
            (to, Errand::Push(Bytes::from(message)))
        });
        rig.mailbox.deliver(&mut batch.collect()).unwrap();
        // For a third of the time it is busy with something else.
        if round % 3000 < 2000 && below(2) == 0 {
            receive(rig.take(below(12) as usize), &mut gone);
        }
    }
    receive(rig.take_all(), &mut gone);
    assert!(gone.len() > 1 && gone.len() < sent.len(), "{} of {}", gone.len(), sent.len());
    for (to, sent) in sent.iter().filter(|(to, _)| !gone.contains(to)) {
        assert_eq!(got[to], *sent, "all that was sent to {to:?}");
    }
}

#[test]
fn no_wake_up_is_lost_and_each_sender_keeps_its_order() {
    const SENDERS: u64 = 4;
    const BATCHES: u32 = 3000;
    let mut rig = Rig::new(usize::MAX);
    let mut next = [0; SENDERS as usize];
    std::thread::scope(|scope| {
        for sender in 0..SENDERS {
            let mailbox = rig.mailbox.clone();
            scope.spawn(move || {
                for number in 0..BATCHES {
                    let message =
                        |part: u32| Bytes::from((2 * number + part).to_le_bytes().to_vec());
                    let letter = |part| (id(sender), Errand::Push(message(part)));
                    mailbox.deliver(&mut vec![letter(0), letter(1)]).unwrap();
                }
            });
        }
        let mut events = Events::with_capacity(8);
        while next.iter().sum::<u32>() < 2 * BATCHES * SENDERS as u32 {
            if !rig.inbox.has_mail() {
                rig.poll.poll(&mut events, Some(Duration::from_secs(20))).unwrap();
                assert!(!events.is_empty(), "it would sleep for ever");
            }
            for (to, errand) in rig.take(5).letters {
                let Errand::Push(bytes) = errand else { panic!("all are messages") };
                let next = &mut next[to.serial() as usize];
                assert_eq!(bytes[..], next.to_le_bytes());
                *next += 1;
            }
        }
    });
}
