// SPDX-License-Identifier: Apache-2.0
//! One server, two listeners, two protocols.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod lines;

use buffer::SendBuf;
use clock::{Now, Ticks};
use lines::{Lines, Speaker};
use protocol::{Context, Control, Either, Ending, Execute, Malformed, Outbox, Protocol};
use protocol_ping::{PingProtocol, PingService};
use server::{Builder, Endpoint, Process};
use test_support::client::Client;
use test_support::table::{Row, Transport, on_every_engine};

const PING: u16 = 1;

type Connection = Either<Lines, PingProtocol>;

/// Serves the connections of both protocols, each with its own service.
struct Service {
    lines: Speaker,
    pings: PingService,
}

impl Execute<Connection> for Service {
    fn execute(
        &mut self,
        connection: &mut Connection,
        request: <Connection as Protocol>::Request<'_>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        match (connection, request) {
            (Either::A(lines), Either::A(line)) => self.lines.execute(lines, line, out, context),
            (Either::B(pings), Either::B(ping)) => self.pings.execute(pings, ping, out, context),
            (Either::A(_), Either::B(_)) | (Either::B(_), Either::A(_)) => {
                unreachable!("a codec makes requests of its own protocol")
            }
        }
    }

    fn rejected(&mut self, connection: &Connection, malformed: &Malformed) {
        match connection {
            Either::A(lines) => self.lines.rejected(lines, malformed),
            Either::B(pings) => self.pings.rejected(pings, malformed),
        }
    }

    fn closed(&mut self, connection: &mut Connection, ending: Ending, context: &mut Context<'_>) {
        match connection {
            Either::A(lines) => self.lines.closed(lines, ending, context),
            Either::B(pings) => self.pings.closed(pings, ending, context),
        }
    }

    fn maintain(&mut self, now: Now, budget: usize, outbox: &mut Outbox) -> bool {
        self.lines.maintain(now, budget, outbox)
    }

    fn wake_at(&self) -> Option<Ticks> {
        self.lines.wake_at()
    }
}

/// Listens on the row's endpoint for lines, and for pings on a second one.
fn spawn(row: &Row, builder: Builder) -> (Process, Speaker) {
    let speaker = Speaker::default();
    let make_protocol = |tag| match tag {
        PING => Either::B(PingProtocol),
        _ => Either::A(Lines),
    };
    let process = builder
        .listen_as(PING, Endpoint::Tcp("127.0.0.1:0".parse().unwrap()), false)
        .spawn(make_protocol, |_worker| Service { lines: speaker.clone(), pings: PingService });
    assert_eq!(row.transport, Transport::Tcp);
    (process.unwrap(), speaker)
}

fn clients(process: &Process) -> [Client; 2] {
    let [Endpoint::Tcp(lines), Endpoint::Tcp(pings)] = *process.endpoints() else { panic!("TCP") };
    [Client::tcp(lines), Client::tcp(pings)]
}

#[test]
fn each_listener_speaks_its_protocol() {
    on_every_engine(|engine| {
        for workers in [1, 2] {
            let row = Row::new(engine, Transport::Tcp, workers);
            let (process, speaker) = spawn(&row, row.builder());
            // More connections than workers, so that each worker serves both.
            let mut pairs: Vec<[Client; 2]> = (0..3).map(|_| clients(&process)).collect();
            for [lines, pings] in &mut pairs {
                lines.ask(b"echo PING\n?wrong\n", b"PING\nwhat?\n");
                pings.ask(b"PING\r\n", b"PONG\r\n");
            }
            assert_eq!(speaker.executed(), 3);
            let [lines, pings] = &mut pairs[0];
            lines.send(b"wait\n");
            pings.ask(b"PING\r\nPING\r\n", b"PONG\r\nPONG\r\n");
            let [waker, _] = &mut pairs[1];
            test_support::wait_until("it waits", || speaker.waiting() == 1);
            waker.ask(b"wake up\n", b"1\n");
            pairs[0][0].expect(b"up\n");
            process.stop().unwrap();
        }
    });
}

#[test]
fn a_client_too_many_is_told_so_in_the_words_of_its_protocol() {
    on_every_engine(|engine| {
        let row = Row::new(engine, Transport::Tcp, 1);
        let (process, _) = spawn(&row, row.builder().max_connections(2));
        let [mut lines, mut pings] = clients(&process);
        lines.ask(b"echo here\n", b"here\n");
        pings.ask(b"PING\r\n", b"PONG\r\n");
        let [mut lines, mut pings] = clients(&process);
        assert_eq!(lines.rest(), b"busy, try later\n");
        assert_eq!(pings.rest(), <PingProtocol as protocol::Protocol>::TOO_MANY_CONNECTIONS);
        process.stop().unwrap();
    });
}
