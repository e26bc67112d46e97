// SPDX-License-Identifier: Apache-2.0
//! Messages from one connection to others, on its worker and on another.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod lines;

use lines::{Speaker, counted};
use server::{Options, Output, OutputLimit};
use test_support::client::Client;
use test_support::table::{on_every_row, options};

#[test]
fn a_message_reaches_everybody_in_order() {
    on_every_row(|row| {
        let process = Speaker::default().spawn(row.builder());
        let mut clients: Vec<Client> = (0..5).map(|_| row.connect(&process)).collect();
        for client in &mut clients {
            client.ask(b"echo here\n", b"here\n");
        }
        clients[0].ask(b"who\n", b"5\n");
        clients[1].send(b"tell first\ntell second\necho after\n");
        for (n, client) in clients.iter_mut().enumerate() {
            match n {
                // Behind the replies that it is owed.
                1 => client.expect(b"told\ntold\nafter\nfirst\nsecond\n"),
                _ => client.expect(b"first\nsecond\n"),
            }
            client.ask(b"echo nothing else\n", b"nothing else\n");
        }
        let gone = clients.pop();
        drop(gone);
        test_support::wait_until("it is gone", || process.connections() == 4);
        clients[0].ask(b"tell third\n", b"told\nthird\n");
        for client in &mut clients[1..] {
            client.expect(b"third\n");
        }
        process.stop().unwrap();
    });
}

#[test]
fn a_client_that_lets_messages_pile_up_is_closed() {
    const MESSAGE: usize = 100_000;
    on_every_row(|row| {
        let replies = OutputLimit { hard: 1 << 20, ..OutputLimit::NONE };
        let output = Output { replies, ..Output::default() };
        let options = Options { output, ..options() };
        let process = Speaker::default().spawn(row.builder().options(options));
        let mut clients: Vec<Client> = (0..4).map(|_| row.connect(&process)).collect();
        for client in &mut clients {
            client.ask(b"echo here\n", b"here\n");
        }
        let [sender, _deaf, listeners @ ..] = &mut clients[..] else { panic!("four clients") };
        let overflows = counted("shoebill_connections_broken_total{reason=\"output_limit\"}");
        let mut sent = 0;
        while process.connections() == 4 {
            sender.send(format!("fill {MESSAGE}\n").as_bytes());
            for listener in &mut *listeners {
                listener.expect(&vec![b'f'; MESSAGE]);
            }
            sent += MESSAGE;
            assert!(sent < 100 << 20, "its socket cannot hold so much");
        }
        assert!(sent > 1 << 20, "it is not closed before the limit");
        sender.ask(b"who\n", b"3\n");
        assert_eq!(
            counted("shoebill_connections_broken_total{reason=\"output_limit\"}"),
            overflows + 1
        );
        sender.ask(b"tell all is well\n", b"told\nall is well\n");
        for listener in listeners {
            listener.expect(b"all is well\n");
        }
        process.stop().unwrap();
    });
}
