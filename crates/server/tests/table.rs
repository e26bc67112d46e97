// SPDX-License-Identifier: Apache-2.0
//! The same tests with one worker and two, over every transport.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod lines;

use lines::{Speaker, much};
use protocol_ping::{PingProtocol, PingService};
use test_support::table::on_every_row;

#[test]
fn requests_are_answered_in_order() {
    on_every_row(|row| {
        let process = Speaker::default().spawn(row.builder());
        let mut clients: Vec<_> = (0..4).map(|_| row.connect(&process)).collect();
        for n in 0..3 {
            for client in &mut clients {
                client.ask(format!("echo {n}\n").as_bytes(), format!("{n}\n").as_bytes());
            }
        }
        let mut workers: Vec<_> = clients
            .iter_mut()
            .map(|client| {
                client.send(b"worker\n");
                client.take(2)
            })
            .collect();
        workers.dedup();
        let expected: &[&[u8]] = match row.workers {
            1 => &[b"0\n"],
            _ => &[b"0\n", b"1\n", b"0\n", b"1\n"],
        };
        assert_eq!(workers, expected, "connections are spread over the workers");
        process.stop().unwrap();
    });
}

#[test]
fn a_deep_pipeline_is_answered_in_order() {
    on_every_row(|row| {
        let process = Speaker::default().spawn(row.builder());
        let mut client = row.connect(&process);
        let (mut requests, mut replies) = (Vec::new(), Vec::new());
        for n in 0..5_000 {
            requests.extend(format!("echo {n}\n").into_bytes());
            replies.extend(format!("{n}\n").into_bytes());
        }
        client.ask(&requests, &replies);
        client.ask(b"who\n", b"1\n");
        process.stop().unwrap();
    });
}

#[test]
fn bytes_may_come_one_by_one() {
    on_every_row(|row| {
        let process = Speaker::default().spawn(row.builder());
        let mut client = row.connect(&process);
        for byte in b"echo one by one\n?wrong\nmuch 100\n" {
            client.send(&[*byte]);
        }
        client.expect(&[b"one by one\nwhat?\n", &much(100)[..]].concat());
        process.stop().unwrap();
    });
}

/// Of a client that sends much whenever it sends, and then leaves.
#[test]
fn much_may_come_again_and_again() {
    on_every_row(|row| {
        let process = Speaker::default().spawn(row.builder());
        let mut client = row.connect(&process);
        for n in 0..8 {
            let long = n.to_string().repeat(9_000);
            client.ask(
                format!("echo {long}\necho {n}\n").as_bytes(),
                format!("{long}\n{n}\n").as_bytes(),
            );
            client.ask(b"echo little\n", b"little\n");
        }
        let long = "x".repeat(20_000);
        for _ in 0..8 {
            client.ask(format!("echo {long}\n").as_bytes(), format!("{long}\n").as_bytes());
        }
        client.send(format!("echo {long}\nquit\n").as_bytes());
        assert_eq!(client.rest(), format!("{long}\nbye\n").as_bytes());
        process.stop().unwrap();
    });
}

#[test]
fn large_requests_and_replies_are_carried_whole() {
    on_every_row(|row| {
        let process = Speaker::default().spawn(row.builder());
        let mut client = row.connect(&process);
        let long = "x".repeat(300_000);
        client.ask(format!("echo {long}\n").as_bytes(), format!("{long}\n").as_bytes());
        client.ask(b"much 3000000\necho next\n", &[&much(3_000_000)[..], b"next\n"].concat());
        process.stop().unwrap();
    });
}

#[test]
fn a_half_closed_client_gets_all_replies() {
    on_every_row(|row| {
        let process = Speaker::default().spawn(row.builder());
        let mut client = row.connect(&process);
        client.send(b"echo first\nmuch 1000000\nmuch 1000000\necho last\necho unfini");
        client.finish();
        let expected = [b"first\n", &much(1_000_000)[..], &much(1_000_000), b"last\n"].concat();
        assert!(client.rest() == expected);
        test_support::wait_until("its place is free", || process.connections() == 0);
        process.stop().unwrap();
    });
}

#[test]
fn a_client_that_cuts_the_socket_gets_its_replies() {
    on_every_row(|row| {
        if !row.transport.is_tls() {
            return;
        }
        let process = Speaker::default().spawn(row.builder());
        let mut client = row.connect(&process);
        client.ask(b"echo hello\n", b"hello\n");
        client.send(b"echo first\nmuch 1000\necho last\n");
        client.cut();
        assert_eq!(client.rest(), [b"first\n", &much(1000)[..], b"last\n"].concat());
        process.stop().unwrap();
    });
}

#[test]
fn quit_closes_behind_its_reply() {
    on_every_row(|row| {
        let process = Speaker::default().spawn(row.builder());
        let (mut client, mut other) = (row.connect(&process), row.connect(&process));
        other.ask(b"echo here\n", b"here\n");
        client.send(b"much 500000\nquit\necho never\n");
        assert!(client.rest() == [&much(500_000)[..], b"bye\n"].concat());
        other.ask(b"echo still\n", b"still\n");
        drop(client);
        process.stop().unwrap();
    });
}

#[test]
fn malformed_input_is_answered_in_its_place() {
    on_every_row(|row| {
        let process = Speaker::default().spawn(row.builder());
        let mut client = row.connect(&process);
        client.ask(b"echo 1\n?\n\xff\xfe\necho 2\n", b"1\nwhat?\nwhat?\n2\n");
        client.send(b"echo 3\n!\necho never\n");
        assert_eq!(client.rest(), b"3\nlost\n");
        drop(client);
        process.stop().unwrap();
    });
}

#[test]
fn the_last_reply_survives_all_that_is_sent_behind_it() {
    on_every_row(|row| {
        let process = Speaker::default().spawn(row.builder());
        let mut client = row.connect(&process);
        // More than sockets hold: it can only be sent if the server takes it and drops it.
        client.send(&[b"echo first\n!\n", &vec![b'x'; 20_000_000][..]].concat());
        assert_eq!(client.rest(), b"first\nlost\n", "and then an end, not a reset");
        drop(client);
        test_support::wait_until("it is gone", || process.connections() == 0);
        process.stop().unwrap();
    });
}

#[test]
fn pings_are_answered() {
    on_every_row(|row| {
        let process = row.builder().spawn(|_tag| PingProtocol, |_worker| PingService).unwrap();
        let mut client = row.connect(&process);
        client.ask(b"PING\r\n", b"PONG\r\n");
        client.ask(&b"PING\r\n".repeat(10_000), &b"PONG\r\n".repeat(10_000));
        for byte in b"ping\nPIN\r\nPING\r\n" {
            client.send(&[*byte]);
        }
        client.expect(b"PONG\r\nERROR\r\nPONG\r\n");
        let mut half_closed = row.connect(&process);
        half_closed.send(b"PING\r\nPING\r\nPI");
        half_closed.finish();
        assert_eq!(half_closed.rest(), b"PONG\r\nPONG\r\n");
        client.send(&[b"PING\r\n", &[b'x'; 100][..]].concat());
        assert_eq!(client.rest(), b"PONG\r\nERROR line too long\r\n");
        drop(client);
        process.stop().unwrap();
    });
}
