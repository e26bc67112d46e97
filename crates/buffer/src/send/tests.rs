// SPDX-License-Identifier: Apache-2.0
//! Order, places, and where blocks are.

use super::values::{LENT_MOST, PINNED_MOST};
use super::*;
use crate::Pool;

/// What counts besides the queue.
fn held(send: &SendBuf) -> usize {
    send.capacity() - send.queue_bytes()
}

fn sent(send: &mut SendBuf, most: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while !send.is_empty() {
        let mut slices = [IoSlice::new(&[]); 3];
        let filled = send.slices(&mut slices);
        let all: Vec<u8> = slices[..filled].iter().flat_map(|s| s.to_vec()).collect();
        let n = all.len().min(most);
        out.extend_from_slice(&all[..n]);
        send.consume(n);
    }
    out
}

#[test]
fn pieces_leave_in_order_however_they_are_cut() {
    for most in [1, 2, 3, 5, 7, 100] {
        let mut send = SendBuf::new();
        send.put(b"head ");
        send.put_pinned(Bytes::from_static(b"first"));
        send.put_pinned(Bytes::from_static(b"second"));
        send.put_pinned(Bytes::new());
        send.put(b" middle ");
        send.put_pinned(Bytes::from_static(b"last"));
        assert_eq!(send.pending(), 28);
        assert!(!send.is_contiguous());
        assert_eq!(sent(&mut send, most), b"head firstsecond middle last", "{most} at a time");
        assert_eq!((send.pending(), send.is_contiguous()), (0, true));
    }
}

#[test]
fn an_insertion_lands_between_what_was_before_and_behind_its_mark() {
    let mut send = SendBuf::new();
    send.put(b"sent ");
    send.consume(3);
    send.put(b"before ");
    send.put_pinned(Bytes::from_static(b"pinned before "));
    let outer = send.mark();
    send.put_pinned(Bytes::from_static(b"first "));
    let inner = send.mark();
    send.insert(inner, b"inner ");
    send.put(b"second ");
    send.put_pinned(Bytes::from_static(b"third "));
    send.insert(outer, b"outer ");
    send.insert(send.mark(), b"end");
    let expected = b"t before pinned before outer first inner second third end";
    assert_eq!(send.pending(), expected.len());
    assert_eq!(sent(&mut send, 4), expected);
}

#[test]
fn what_is_taken_back_is_as_if_it_had_never_been_written() {
    let mut send = SendBuf::new();
    send.put(b"kept ");
    send.put_pinned(Bytes::from_static(b"pinned "));
    let mark = send.mark();
    send.truncate(mark);
    send.put_pinned(Bytes::from_static(b"gone"));
    send.put(b"gone");
    send.put_pinned(Bytes::from_static(b"gone"));
    send.truncate(mark);
    assert_eq!(send.pending(), 12);
    send.put(b"more");
    assert_eq!(sent(&mut send, 100), b"kept pinned more");
}

#[test]
fn a_sent_buffer_starts_again_at_the_front_of_its_block() {
    let mut pool = Pool::new(64, 64, 1);
    let mut send = SendBuf::new();
    send.lend(&mut pool);
    for _ in 0..100 {
        send.put(b"twenty bytes of data");
        assert_eq!(send.front().len(), 20);
        send.consume(20);
    }
    assert_eq!(send.capacity(), 64, "it never had to grow");
    send.release(&mut pool);
    assert_eq!((send.capacity(), pool.idle_bytes()), (0, 64));
}

#[test]
fn a_buffer_that_never_drains_does_not_grow() {
    let mut send = SendBuf::new();
    send.put(b"0123456789");
    for _ in 0..10_000 {
        send.put(b"0123456789");
        send.put_pinned(Bytes::from_static(b"abc"));
        send.consume(13);
        assert!(send.pending() < 30 && send.capacity() <= 128, "{}", send.capacity());
    }
}

#[test]
fn what_departs_stays_pending_until_it_lands() {
    let mut pool = Pool::new(64, 64, 2);
    let (mut send, mut flight) = (SendBuf::new(), SendBuf::new());
    send.lend(&mut pool);
    send.put(b"first ");
    send.put_pinned(Bytes::from_static(b"pinned"));
    send.depart(&mut flight);
    assert_eq!((send.pending(), send.waiting(), send.departed()), (12, 0, 12));
    assert!(!send.is_empty() && send.capacity() == 0, "its block has gone along");
    send.lend(&mut pool);
    send.put(b"second");
    assert_eq!((send.pending(), send.front()), (18, &b"second"[..]));
    assert_eq!(pool.bytes(), 128, "both blocks are counted");
    send.consume(6);
    send.release(&mut pool);
    assert_eq!((send.capacity(), send.pending()), (0, 12), "an empty block goes back all the same");

    assert_eq!(sent(&mut flight, 5), b"first pinned");
    send.landed(5);
    send.landed(7);
    flight.release(&mut pool);
    assert!(send.is_empty());
    assert_eq!((pool.bytes(), pool.idle_bytes()), (128, 128));
    send.put(b"third");
    send.depart(&mut flight);
    assert_eq!((flight.front(), send.departed()), (&b"third"[..], 5));
}

#[test]
#[should_panic(expected = "one flight at a time")]
fn a_second_flight_before_the_first_has_landed_is_a_bug() {
    let mut send = SendBuf::new();
    send.put(b"first");
    send.depart(&mut SendBuf::new());
    send.depart(&mut SendBuf::new());
}

#[test]
fn a_buffer_with_replies_keeps_its_block() {
    let mut pool = Pool::new(64, 64, 1);
    let mut send = SendBuf::new();
    send.lend(&mut pool);
    send.put(b"x");
    send.release(&mut pool);
    assert_eq!((send.front(), send.capacity()), (&b"x"[..], 64));
}

#[test]
fn replies_that_pile_up_are_not_moved_and_leave_in_order() {
    for most in [9_973, 40_000, 100_000, usize::MAX] {
        let (mut pool, mut send) = (Pool::new(1, 50_000, 1), SendBuf::new());
        let mut expected = Vec::new();
        for round in 0..20_u8 {
            send.lend(&mut pool);
            for reply in 0..40 {
                let reply = [round * 10 + reply % 7; 1_000];
                send.put(&reply);
                expected.extend_from_slice(&reply);
                if round % 3 == 0 {
                    send.put_shared(Bytes::from(vec![round; 10]));
                    expected.extend_from_slice(&[round; 10]);
                }
            }
            let place = send.mark();
            send.put_shared(Bytes::from_static(b"behind"));
            send.insert(place, b"between");
            expected.extend_from_slice(b"betweenbehind");
            if round == 10 {
                // Half a block has been sent when it is sealed.
                send.consume(20_000);
                expected.drain(..20_000);
            }
        }
        assert_eq!(send.pending(), expected.len());
        send.lend(&mut pool);
        assert_eq!(pool.bytes(), send.capacity());
        assert!(send.capacity() <= 22 * 50_000, "blocks as they were lent: {}", send.capacity());
        assert!(sent(&mut send, most) == expected, "{most} at a time");
        send.release(&mut pool);
        assert_eq!((pool.bytes(), pool.idle_bytes()), (50_000, 50_000), "and all are given back");
    }
}

#[test]
fn values_are_copied_where_much_waits_and_messages_never() {
    let value = Bytes::from(vec![1; 16_000]);
    let is_shared = |send: &SendBuf| {
        send.pieces.back().is_some_and(|last| last.bytes.as_ptr() == value.as_ptr())
    };
    let mut send = SendBuf::new();
    for (waiting, shared) in [(0, true), (500_000, true), (600_000, false), (0, false)] {
        send.put(&vec![1; waiting]);
        send.put_pinned(value.clone());
        assert_eq!(is_shared(&send), shared, "{} bytes wait", send.waiting());
    }
    send.put_shared(value.clone());
    assert!(is_shared(&send));
    let (place, before) = (send.mark(), send.capacity());
    send.put_pinned(value.clone());
    assert!(!is_shared(&send));
    send.truncate(place);
    assert_eq!((send.capacity(), send.pending()), (before, 1_180_000));
    send.consume(1_150_000);
    send.put_pinned(value.clone());
    assert!(is_shared(&send), "by reference again");
}

#[test]
fn large_values_are_never_copied_but_count() {
    let value = Bytes::from(vec![1; 400_000]);
    let mut send = SendBuf::new();
    (0..PINNED_MOST * 2).for_each(|_| send.put_pinned(value.clone()));
    assert!(send.pieces.iter().all(|piece| piece.bytes.as_ptr() == value.as_ptr()));
    let counted = (PINNED_MOST * 2 - 1) * value.len();
    assert_eq!(held(&send), counted, "all but the first");
}

#[test]
fn many_values_are_copied_however_small() {
    let value = Bytes::from(vec![1; 100]);
    let mut send = SendBuf::new();
    (0..PINNED_MOST + 2).for_each(|_| send.put_pinned(value.clone()));
    let shared = send.pieces.iter().filter(|piece| piece.bytes.as_ptr() == value.as_ptr());
    assert_eq!((shared.count(), send.pieces.len()), (PINNED_MOST, PINNED_MOST + 2));
    assert_eq!(held(&send), 200, "copies count, however little waits");
}

#[test]
fn values_by_reference_count_as_memory_where_some_wait() {
    let value = Bytes::from(vec![1; 30_000]);
    let mut send = SendBuf::new();
    for counted in [0, 0, 0, 30_000, 60_000] {
        send.put_pinned(value.clone());
        assert_eq!((held(&send), send.copied()), (counted, 0));
    }
    send.put_shared(value.clone());
    assert_eq!((held(&send), send.pending()), (60_000, 180_000));
    send.consume(120_000);
    assert_eq!(held(&send), 30_000);
    send.consume(60_000);
    assert_eq!(held(&send), 0);
    send.put(b"own");
    let mut flight = SendBuf::new();
    send.depart(&mut flight);
    assert_eq!(
        (send.copied(), flight.copied()),
        (3, 3),
        "what has departed is not waited for by reference"
    );
}

#[test]
fn a_portion_ends_where_a_value_does() {
    let portion = |values: &[usize]| {
        let mut send = SendBuf::new();
        send.put(b"head");
        for &value in values {
            send.put_shared(vec![1; value].into());
        }
        send.portion(100)
    };
    assert_eq!([&[][..], &[208], &[209]].map(portion), [4, 212, 100]);
    assert_eq!(portion(&[200, 200]), 204, "the first of two");
    assert_eq!(portion(&[201, 200]), 100, "a longer one is cut");
    assert_eq!(portion(&[40, 40, 40, 40, 60]), 124);
    assert_eq!(portion(&[40, 201]), 100);
    assert_eq!(portion(&[96, 200]), 100, "the next one has not begun");
    let mut send = SendBuf::new();
    send.put(&[1; 300]);
    assert_eq!((send.portion(100), send.portion(150)), (100, 300));
}

#[test]
fn a_peer_that_does_not_read_keeps_no_block_for_a_few_bytes() {
    let mut pool = Pool::new(100, 1_000, 1);
    let value = Bytes::from(vec![b'v'; 5_000]);
    let mut send = SendBuf::new();
    send.lend(&mut pool);
    send.put(b"VALUE\r\n");
    send.put_shared(value.clone());
    send.put(b"\r\nEND\r\n");
    send.consume(107);
    send.give_way(&mut pool);
    assert_eq!((send.capacity(), pool.idle_bytes()), (7, 1_000), "the block is back");
    send.lend(&mut pool);
    send.put(b"more");
    let mut slices = [IoSlice::new(&[]); 4];
    let filled = send.slices(&mut slices);
    let waiting: Vec<u8> = slices[..filled].iter().flat_map(|slice| slice.to_vec()).collect();
    assert_eq!(waiting, [&value[100..], b"\r\nEND\r\nmore"].concat());
    send.consume(4_900);
    send.release(&mut pool);
    assert_eq!((send.front(), pool.idle_bytes()), (&b"\r\nEND\r\nmore"[..], 1_000));
    send.consume(11);
    send.release(&mut pool);
    assert_eq!((send.capacity(), pool.bytes()), (0, 1_000));

    // What is no more than a part of a block stays in it.
    send.lend(&mut pool);
    send.put(&[b'x'; 63]);
    send.give_way(&mut pool);
    assert_eq!((send.capacity(), pool.idle_bytes()), (1_000, 0));
}

#[test]
fn few_values_of_a_store_that_counts_them_wait_by_reference() {
    let mut send = SendBuf::new();
    let value = Bytes::from(vec![b'v'; 200_000]);
    for _ in 0..LENT_MOST {
        send.put_lent(value.clone());
    }
    assert_eq!(held(&send), 0, "they are the store's memory");
    for number in 1..=3 {
        send.put_lent(value.clone());
        assert_eq!(held(&send), number * value.len(), "copies are the buffer's");
    }
    send.consume((LENT_MOST + 3) * value.len());
    assert_eq!((held(&send), send.waiting()), (0, 0));
}

#[test]
fn a_message_takes_memory_of_its_size_until_more_than_a_few_wait() {
    let mut pool = Pool::new(16 << 10, 64 << 10, 4);
    let mut peers: Vec<SendBuf> = (0..100).map(|_| SendBuf::new()).collect();
    for peer in &mut peers {
        peer.put_message(&[b'm'; 100], &mut pool);
    }
    assert!(pool.bytes() < 100 * 256, "{} bytes", pool.bytes());
    // More for one peer takes no more than twice its size, and leaves in order.
    let (peer, mut expected) = (&mut peers[0], vec![b'm'; 100]);
    peer.consume(10);
    expected.drain(..10);
    for number in 0..2_000_u32 {
        let message = number.to_string();
        peer.put_message(message.as_bytes(), &mut pool);
        expected.extend_from_slice(message.as_bytes());
    }
    assert!(peer.waiting() > 6 << 10 && peer.capacity() <= 2 * peer.waiting() + 512);
    assert!(sent(peer, 1_000) == expected);
    for peer in &mut peers {
        peer.consume(peer.waiting());
        peer.release(&mut pool);
    }
    assert_eq!(pool.bytes(), 0, "no block was made");
}

#[test]
fn messages_take_blocks_that_are_unused_and_make_none() {
    const BLOCK: usize = 64 << 10;
    let mut pool = Pool::new(16 << 10, BLOCK, 4);
    let mut reply = SendBuf::new();
    reply.lend(&mut pool);
    reply.release(&mut pool);
    assert_eq!(pool.bytes(), BLOCK);
    let mut peers: Vec<SendBuf> = (0..3).map(|_| SendBuf::new()).collect();
    let expected = vec![b'm'; 400 * 500];
    for _ in 0..20 {
        peers.iter_mut().for_each(|peer| peer.put_message(&[b'm'; 400], &mut pool));
    }
    let held: Vec<_> = peers.iter().map(SendBuf::capacity).collect();
    assert!(held[0] == BLOCK && held[1] <= 16_000 && held[2] == held[1], "{held:?}");
    assert_eq!((pool.bytes(), pool.idle_bytes()), (held.iter().sum(), 0));
    // However many wait, the memory is in proportion to them.
    for _ in 20..500 {
        peers.iter_mut().for_each(|peer| peer.put_message(&[b'm'; 400], &mut pool));
    }
    for peer in &mut peers {
        assert!(peer.capacity() < 2 * expected.len(), "{} bytes", peer.capacity());
        assert!(sent(peer, 1_000) == expected);
        peer.release(&mut pool);
    }
    assert!(pool.bytes() <= BLOCK, "{} bytes", pool.bytes());
}

#[test]
fn the_queue_of_messages_by_reference_counts_while_they_wait() {
    let mut pool = Pool::new(16 << 10, 64 << 10, 4);
    let (mut send, message) = (SendBuf::new(), Bytes::from(vec![b'm'; 600]));
    for waiting in 1..=20_000 {
        send.put_shared_message(message.clone(), &mut pool);
        let few = waiting <= 4;
        assert!(few || pool.bytes() >= waiting * size_of::<Piece>(), "{waiting} wait");
        assert_eq!(pool.bytes(), send.capacity());
    }
    assert!(pool.bytes() <= 3 * 20_000 * size_of::<Piece>(), "{} bytes", pool.bytes());
    send.consume(19_999 * 600);
    send.release(&mut pool);
    assert_eq!((send.waiting(), pool.bytes()), (600, send.capacity()));
    // It goes although there is no block to give back.
    send.consume(600);
    send.release(&mut pool);
    assert_eq!((send.capacity(), pool.bytes()), (0, 0));
}
