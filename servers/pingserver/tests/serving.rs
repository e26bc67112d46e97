// SPDX-License-Identifier: Apache-2.0
//! The server as it is started: addresses, pings, the admin plane, the service manager.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::net::TcpListener;
use std::process::Command;
use test_support::client::Client;
use test_support::daemon::{Config, Daemon, run, text};
use test_support::http::{get, metric};
use test_support::manager::Manager;
use test_support::wait_until;

const PINGSERVER: &str = env!("CARGO_BIN_EXE_pingserver");

#[test]
fn pings_are_answered_and_counted() {
    let config = Config::new("[server]\nport = 0\n[admin]\nport = 0\n[worker]\nthreads = 2\n");
    let mut server = Daemon::start(PINGSERVER, &config);
    let (address, admin) = (server.address(), server.admin());
    assert_eq!(metric(admin, "shoebill_request_duration_seconds_count"), 0.0);

    let mut clients = [Client::tcp(address), Client::tcp(address)];
    for client in &mut clients {
        client.ask(b"PING\r\n", b"PONG\r\n");
        client.ask(&b"PING\r\n".repeat(99), &b"PONG\r\n".repeat(99));
    }
    clients[0].ask(b"nonsense\r\n", b"ERROR\r\n");

    wait_until("they are counted", || metric(admin, "shoebill_ping_requests_total") == 200.0);
    assert_eq!(
        (
            metric(admin, "shoebill_ping_replies_total"),
            metric(admin, "shoebill_ping_malformed_total")
        ),
        (200.0, 1.0)
    );
    assert_eq!(metric(admin, "shoebill_connections"), 2.0);
    assert_eq!(metric(admin, "shoebill_connections_accepted_total"), 2.0);
    assert_eq!(metric(admin, "shoebill_received_bytes_total"), 200.0 * 6.0 + 10.0);
    // A record for each time bytes came: three pieces at least, more if a pipeline was cut.
    wait_until("latency is recorded", || {
        metric(admin, "shoebill_request_duration_seconds_count") >= 5.0
    });
    assert!(metric(admin, "shoebill_request_duration_seconds_sum") > 0.0);
    let (_, page) = get(admin, "/metrics");
    assert!(page.contains("# TYPE shoebill_request_duration_seconds histogram\n"));
    let after = |part| page.lines().find_map(|line| line.strip_prefix(part));
    let all = after("shoebill_request_duration_seconds_bucket{le=\"+Inf\"} ");
    assert!(all.is_some() && all == after("shoebill_request_duration_seconds_count "), "{all:?}");

    let [client, gone] = clients;
    drop(gone);
    wait_until("it is gone", || metric(admin, "shoebill_connections") == 1.0);
    drop(client);
}

#[test]
fn the_admin_plane_tells_about_the_server() {
    let config = Config::new("[server]\nport = 0\nmax_connections = 77\n[admin]\nport = 0\n");
    let mut server = Daemon::start(PINGSERVER, &config);
    let admin = server.admin();
    assert_eq!(get(admin, "/health"), (200, "ok\n".to_owned()));
    assert_eq!(get(admin, "/ready"), (200, "ready\n".to_owned()));
    let version = format!("pingserver {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(get(admin, "/version"), (200, version));
    let (status, effective) = get(admin, "/config");
    assert_eq!(status, 200);
    let printed = run(PINGSERVER, &["--print-config", config.file.to_str().unwrap()]);
    assert_eq!(effective, text(&printed.stdout));
    assert!(effective.contains("max_connections = 77\n"), "{effective}");
}

#[test]
fn it_listens_where_its_configuration_says() {
    let config = Config::empty();
    let socket = config.folder().join("ping.sock");
    config.write(&format!(
        "[server]\nlisten = [\"127.0.0.1:0\", \"[::1]:0\", \"unix:{}\"]\n\
         [admin]\nenabled = false\n",
        socket.display()
    ));
    let mut server = Daemon::start(PINGSERVER, &config);
    let v4 = server.address();
    let v6 = server.line("listening on tcp6:").parse().unwrap();
    assert_eq!(server.line("listening on unix:"), socket.to_str().unwrap());
    for mut client in [Client::tcp(v4), Client::tcp(v6), Client::unix(&socket)] {
        client.ask(b"PING\r\n", b"PONG\r\n");
    }
    server.signal("TERM");
    assert_eq!(server.end().0.code(), Some(0));
    assert!(!socket.exists());
}

#[test]
fn an_address_in_use_is_named() {
    let used = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = used.local_addr().unwrap();
    let port = address.port();
    let config = Config::new(&format!("[server]\nport = {port}\n[admin]\nport = 0\n"));
    let output = run(PINGSERVER, &[config.file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let expected = format!("error: cannot listen on tcp:{address}: Address already in use");
    let complaint = text(&output.stderr);
    assert!(complaint.starts_with(&expected), "{complaint}");

    let config = Config::new(&format!("[server]\nport = 0\n[admin]\nport = {port}\n"));
    let output = run(PINGSERVER, &[config.file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let complaint = text(&output.stderr);
    assert!(complaint.starts_with("error: [admin] "), "{complaint}");
    assert!(complaint.contains(&address.to_string()), "{complaint}");
}

#[test]
fn a_client_too_many_is_told_so() {
    let config = Config::new("[server]\nport = 0\nmax_connections = 1\n[admin]\nenabled = false\n");
    let mut server = Daemon::start(PINGSERVER, &config);
    let address = server.address();
    let mut client = Client::tcp(address);
    client.ask(b"PING\r\n", b"PONG\r\n");
    assert_eq!(Client::tcp(address).rest(), b"ERROR too many connections\r\n");
    client.ask(b"PING\r\n", b"PONG\r\n");
}

#[test]
fn the_service_manager_hears_when_it_is_ready_and_when_it_stops() {
    let config = Config::new("[server]\nport = 0\n[admin]\nenabled = false\n");
    let manager = Manager::new(config.folder());
    let mut command = Command::new(PINGSERVER);
    let mut server = Daemon::spawn(manager.manage(command.arg(&config.file)));
    assert_eq!(manager.told(), "READY=1");
    // It does not say so before it is.
    Client::tcp(server.address()).ask(b"PING\r\n", b"PONG\r\n");
    server.signal("TERM");
    assert_eq!(manager.told(), "STOPPING=1");
    assert_eq!(server.end().0.code(), Some(0));
}
