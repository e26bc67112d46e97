// SPDX-License-Identifier: Apache-2.0
//! `refresh_certs`: when it is answered, certificates have been read again, or what is wrong with them is told.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use rustls::version::TLS13;
use std::fs::{self, File};
use std::io::Write;
use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, Instant};
use test_support::certificates::Certificates;
use test_support::client::Client;
use test_support::daemon::{Config, Daemon};

const SEGCACHE: &str = env!("CARGO_BIN_EXE_segcache");

/// A server with TLS and users.
struct Place {
    config: Config,
    certificates: Certificates,
    address: SocketAddr,
    _server: Daemon,
}

impl Place {
    fn start(engine: &str) -> Self {
        let config = Config::empty();
        let certificates = Certificates::new(config.folder());
        fs::write(config.folder().join("users"), "old:one\n").unwrap();
        let file = |name: &str| certificates.path(name).display().to_string();
        config.write(&format!(
            "[server]\nport = 0\n[admin]\nenabled = false\n[worker]\nthreads = 2\nengine = \"{engine}\"\n\
             [memcache]\nauth_file = \"{}\"\n[tls]\ncertificate_chain = \"{}\"\nprivate_key = \"{}\"\n",
            file("users"),
            file("server.pem"),
            file("server.key")
        ));
        let mut server = Daemon::start(SEGCACHE, &config);
        Place { config, certificates, address: server.address(), _server: server }
    }

    fn client(&self) -> Client {
        Client::tls(self.address, self.certificates.client(&TLS13, false))
    }
}

fn login(client: &mut Client, credentials: &str, reply: &str) {
    let line = format!("set k 0 0 {}\r\n{credentials}\r\n", credentials.len());
    client.ask(line.as_bytes(), reply.as_bytes());
}

#[test]
fn the_answer_comes_when_files_have_been_read() {
    for engine in ["epoll", "io_uring"] {
        let place = Place::start(engine);
        let mut operator = place.client();
        login(&mut operator, "old one", "STORED\r\n");
        for _ in 0..20 {
            let renewed = place.certificates.renew();
            operator.ask(b"refresh_certs\r\nmn\r\n", b"OK\r\nMN\r\n");
            let mut client = place.client();
            login(&mut client, "old one", "STORED\r\n");
            assert_eq!(client.server_certificate(), renewed, "{engine}");
        }
        fs::write(place.config.folder().join("users"), "new:two\n").unwrap();
        operator.ask(b"refresh_certs\r\n", b"OK\r\n");
        let mut client = place.client();
        login(&mut client, "old one", "CLIENT_ERROR authentication failure\r\n");
        login(&mut client, "new two", "STORED\r\n");

        fs::write(place.certificates.path("server.pem"), "no certificate at all").unwrap();
        operator.send(b"refresh_certs\r\n");
        let problem = operator.line();
        assert!(problem.starts_with("Error certificates: "), "{problem}");
        assert!(problem.contains("server.pem"), "{problem}");
        login(&mut place.client(), "new two", "STORED\r\n");
    }
}

/// The seconds since the certificates were read, as `stats` tells them.
fn age(client: &mut Client) -> u64 {
    client.send(b"stats\r\n");
    let mut seconds = None;
    loop {
        let line = client.line();
        match line.strip_prefix("STAT time_since_server_cert_refresh ") {
            Some(number) => seconds = Some(number.parse().unwrap()),
            None if line == "END" => return seconds.unwrap(),
            None => {}
        }
    }
}

#[test]
fn the_age_of_certificates_is_told() {
    let place = Place::start("epoll");
    let mut operator = place.client();
    login(&mut operator, "old one", "STORED\r\n");
    while age(&mut operator) == 0 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let (chain, good) = (place.certificates.path("server.pem"), "server.pem.good");
    let good = chain.with_file_name(good);
    fs::rename(&chain, &good).unwrap();
    operator.send(b"refresh_certs\r\n");
    assert!(operator.line().starts_with("Error certificates: "));
    assert!(age(&mut operator) >= 1, "the old ones are in use");
    fs::rename(&good, &chain).unwrap();
    let asked_at = Instant::now();
    operator.ask(b"refresh_certs\r\n", b"OK\r\n");
    assert!(age(&mut operator) <= asked_at.elapsed().as_secs());
}

/// Nobody writes to the pipe that has taken the place of the file: reading it does not end.
#[test]
fn a_file_that_does_not_end_holds_up_only_those_that_ask_for_it() {
    let place = Place::start("epoll");
    let chain = place.certificates.path("server.pem");
    let mut clients: Vec<Client> = (0..3)
        .map(|_| {
            let mut client = place.client();
            login(&mut client, "old one", "STORED\r\n");
            client
        })
        .collect();
    fs::remove_file(&chain).unwrap();
    assert!(Command::new("mkfifo").arg(&chain).status().unwrap().success());
    clients[0].send(b"refresh_certs\r\nmn\r\n");
    clients[1].send(b"refresh_certs\r\n");
    clients[2].ask(b"set a 0 0 1\r\nx\r\n", b"STORED\r\n");
    clients.remove(1).cut();
    // Whatever comes out of the pipe is no certificate. The file is read once more for whoever asked while it was being
    // read, which may be either of them, and then is one that ends.
    let mut pipe = File::options().write(true).open(&chain).unwrap();
    let file = place.config.folder().join("ends");
    fs::write(&file, "no certificate at all").unwrap();
    fs::rename(&file, &chain).unwrap();
    pipe.write_all(b"no certificate at all").unwrap();
    drop(pipe);
    let problem = clients[0].line();
    assert!(problem.starts_with("Error certificates: "), "{problem}");
    assert_eq!(clients[0].line(), "MN");
    clients[1].ask(b"get a\r\n", b"VALUE a 0 1\r\nx\r\nEND\r\n");
}

#[test]
fn without_certificates_nothing_is_read() {
    let config = Config::empty();
    let users = config.folder().join("users");
    fs::write(&users, "old:one\n").unwrap();
    config.write(&format!(
        "[server]\nport = 0\n[admin]\nenabled = false\n[memcache]\nauth_file = \"{}\"\n",
        users.display()
    ));
    let mut server = Daemon::start(SEGCACHE, &config);
    let address = server.address();
    let mut operator = Client::tcp(address);
    login(&mut operator, "old one", "STORED\r\n");
    fs::write(&users, "new:two\n").unwrap();
    operator.ask(b"refresh_certs\r\n", b"Error TLS not enabled\r\n");
    login(&mut Client::tcp(address), "old one", "STORED\r\n");
}
