// SPDX-License-Identifier: Apache-2.0
//! Starting, periodic tasks, stopping.

mod common;

use std::net::TcpListener;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use admin::{Admin, Error};
use common::{Client, NEVER, PATIENCE, get, server, until};

#[test]
fn stop_is_prompt_whatever_the_clients_do() {
    let admin = server().config_text("x".repeat(64 << 20)).spawn().unwrap();
    let mut silent = Client::connect(&admin);
    let mut idle = Client::connect(&admin);
    assert_eq!(idle.request("GET", "/health").status, 200);
    let mut halfway = Client::connect(&admin);
    halfway.send("GET /health HT");
    let mut stuck = Client::connect(&admin);
    stuck.send("GET /config HTTP/1.1\r\nHost: x\r\n\r\n");
    // Served after the others, so they are all accepted.
    assert_eq!(get(&admin, "/health").unwrap().status, 200);

    let start = Instant::now();
    admin.stop().unwrap();
    assert!(start.elapsed() < PATIENCE, "no client delays it: their time limits are an hour");
    for client in [&mut silent, &mut idle, &mut halfway, &mut stuck] {
        client.drain_to_end();
    }
}

#[test]
fn tasks_run_on_the_admin_thread_again_and_again_and_a_last_time() {
    let (often, beats) = mpsc::channel();
    let (last, farewell) = mpsc::channel();
    let admin = server()
        .task(Duration::from_millis(1), move || {
            let _ = often.send(thread::current().name().map(str::to_owned));
        })
        .task(NEVER, move || last.send(()).unwrap())
        .spawn()
        .unwrap();
    for _ in 0..3 {
        assert_eq!(beats.recv_timeout(PATIENCE).unwrap().as_deref(), Some("admin"));
    }
    assert!(farewell.try_recv().is_err(), "not due for an hour");
    admin.stop().unwrap();
    assert!(farewell.try_recv().is_ok(), "the stop runs it");
    assert!(farewell.try_recv().is_err(), "once");
}

#[test]
fn without_an_address_only_the_tasks_run() {
    let (beat, beats) = mpsc::channel();
    let admin = Admin::builder("testserver", "1.2.3")
        .task(Duration::from_millis(1), move || {
            let _ = beat.send(());
        })
        .spawn()
        .unwrap();
    assert_eq!(admin.address(), None);
    assert!(beats.recv_timeout(PATIENCE).is_ok());
    admin.stop().unwrap();
}

#[test]
fn dropping_the_handle_stops_the_thread() {
    let (last, farewell) = mpsc::channel();
    let admin = server().task(NEVER, move || last.send(()).unwrap()).spawn().unwrap();
    let address = admin.address().unwrap();
    drop(admin);
    assert!(farewell.try_recv().is_ok());
    assert!(TcpListener::bind(address).is_ok(), "the port is free again");
}

#[test]
fn a_panic_in_a_task_ends_the_thread_and_is_told() {
    let (kept, end) = mpsc::channel::<()>();
    let admin = server().task(Duration::from_millis(1), || panic!("disk on fire"));
    let admin = admin.keep(kept).spawn().unwrap();
    until("the thread has ended", || admin.is_finished());
    assert!(
        matches!(end.try_recv(), Err(mpsc::TryRecvError::Disconnected)),
        "what it kept is dropped"
    );
    let error = admin.stop().unwrap_err();
    assert!(matches!(&error, Error::Panicked(text) if text == "disk on fire"), "{error}");
}

#[test]
fn a_taken_address_is_an_error_that_names_it() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let error = Admin::builder("testserver", "1.2.3").listen(address).spawn().unwrap_err();
    assert!(matches!(error, Error::Bind { .. }));
    assert!(error.to_string().contains(&address.to_string()), "{error}");
}

#[test]
fn ipv6_is_served_where_the_machine_has_it() {
    match Admin::builder("testserver", "1.2.3").listen("[::1]:0".parse().unwrap()).spawn() {
        Ok(admin) => assert_eq!(get(&admin, "/health").unwrap().body, "ok\n"),
        Err(error) => assert!(matches!(error, Error::Bind { .. }), "{error}"),
    }
}
