// SPDX-License-Identifier: Apache-2.0
//! What well-behaved clients get.

mod common;

use admin::{Readiness, State};
use common::{Client, get, server, until};

metrics::histograms! {
    /// Nanoseconds that something took in this test.
    static TEST_LATENCY: "test_latency";
}

const CONFIG: &str = "[server]\nport = 11211\n";

#[test]
fn every_route_answers_with_its_content_type() {
    let admin = server().config_text(CONFIG).spawn().unwrap();
    let plain = "text/plain; charset=utf-8";
    let table = [
        ("/", 200, plain, "/metrics.json"),
        ("/config", 200, plain, CONFIG),
        ("/health", 200, plain, "ok\n"),
        (
            "/metrics",
            200,
            "text/plain; version=0.0.4; charset=utf-8",
            "# TYPE shoebill_admin_requests_total counter",
        ),
        ("/metrics.json", 200, "application/json", "shoebill_admin_requests_total"),
        ("/ready", 503, plain, "starting\n"),
        ("/vars", 200, plain, "shoebill_admin_requests_total: "),
        ("/version", 200, plain, "testserver 1.2.3\n"),
        ("/version?verbose=1", 200, plain, "testserver 1.2.3\n"),
    ];
    let mut client = Client::connect(&admin);
    for (path, status, content_type, text) in table {
        let response = client.request("GET", path);
        assert_eq!(response.status, status, "{path}");
        assert_eq!(response.header("content-type"), Some(content_type), "{path}");
        assert!(response.body.contains(text), "{path} answers {:?}", response.body);
        assert_eq!(response.header("cache-control"), Some("no-store"), "{path}");
    }
}

#[test]
fn head_is_get_without_the_body() {
    let admin = server().config_text(CONFIG).spawn().unwrap();
    let mut client = Client::connect(&admin);
    let get = client.request("GET", "/config");
    let head = client.request("HEAD", "/config");
    assert_eq!(head.status, 200);
    assert_eq!(head.header("content-length"), get.header("content-length"));
    assert_eq!(head.header("content-type"), get.header("content-type"));
    // The next response follows at once: had a body been sent, it would be taken for the head.
    assert_eq!(client.request("GET", "/health").body, "ok\n");
}

#[test]
fn other_methods_are_refused_with_what_is_allowed() {
    let admin = server().spawn().unwrap();
    let mut client = Client::connect(&admin);
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"] {
        let response = client.request(method, "/health");
        assert_eq!(response.status, 405, "{method}");
        assert_eq!(response.header("allow"), Some("GET, HEAD"), "{method}");
    }
}

#[test]
fn unknown_paths_are_answered_with_the_routes() {
    let admin = server().spawn().unwrap();
    let mut client = Client::connect(&admin);
    for path in ["/nope", "/metrics/", "//", "/../config", "/%6detrics"] {
        let response = client.request("GET", path);
        assert_eq!(response.status, 404, "{path}");
        for route in ["/health", "/metrics.json", "/version"] {
            assert!(response.body.contains(route), "{path} answers {:?}", response.body);
        }
    }
    assert_eq!(client.request("POST", "/nope").status, 404);
}

#[test]
fn ready_follows_the_shared_flag() {
    let readiness = Readiness::new();
    let admin = server().ready(readiness.clone()).spawn().unwrap();
    let mut client = Client::connect(&admin);
    let mut ask = || {
        let response = client.request("GET", "/ready");
        (response.status, response.body)
    };

    assert_eq!(ask(), (503, "starting\n".to_owned()));
    readiness.set(State::Ready);
    assert_eq!(ask(), (200, "ready\n".to_owned()));
    readiness.set(State::Draining);
    assert_eq!(ask(), (503, "draining\n".to_owned()));
    assert_eq!(get(&admin, "/health").unwrap().status, 200, "draining is not dying");
}

#[test]
fn vars_are_sorted_lines() {
    let admin = server().spawn().unwrap();
    let vars = get(&admin, "/vars").unwrap().body;
    let names: Vec<_> = vars.lines().map(|line| line.split_once(": ").unwrap().0).collect();
    assert!(names.len() > 1);
    assert!(names.is_sorted(), "{names:?}");
}

#[test]
fn the_metrics_count_the_requests_that_read_them() {
    let admin = server().spawn().unwrap();
    let count = || {
        let vars = get(&admin, "/vars").unwrap().body;
        let line =
            vars.lines().find_map(|line| line.strip_prefix("shoebill_admin_requests_total: "));
        line.unwrap().parse::<u64>().unwrap()
    };
    let before = count();
    assert!(count() > before);
}

#[test]
fn recent_percentiles_move_by_themselves() {
    let admin = server().spawn().unwrap();
    TEST_LATENCY.record(50);
    until("the window has ticked", || {
        get(&admin, "/vars")
            .unwrap()
            .body
            .contains("\ntest_latency_recent{quantile=\"0.99\"}: 50\n")
    });
    let prometheus = get(&admin, "/metrics").unwrap().body;
    assert!(prometheus.contains("quantile=\"0.99\"} 50\n"), "{prometheus}");
}

#[test]
fn a_pipeline_is_answered_in_order() {
    let admin = server().spawn().unwrap();
    let mut client = Client::connect(&admin);
    let request = |path| format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n");
    let paths = ["/health", "/version", "/nope", "/health"];
    client.send(paths.map(request).concat());
    let bodies = paths.map(|_| client.response(true).unwrap().body);
    assert_eq!((bodies[0].as_str(), bodies[1].as_str()), ("ok\n", "testserver 1.2.3\n"));
    assert!(bodies[2].starts_with("not found"));
    assert_eq!(bodies[3], "ok\n");
}

#[test]
fn http_1_0_and_half_closing_clients_are_served() {
    let admin = server().config_text("x".repeat(1 << 20)).spawn().unwrap();
    let mut old = Client::connect(&admin);
    old.send("GET /health HTTP/1.0\r\n\r\n");
    assert_eq!(old.response(true).unwrap().body, "ok\n");
    assert_eq!(old.drain_to_end(), 0, "HTTP/1.0 closes after the response");

    let mut netcat = Client::connect(&admin);
    netcat.send("GET /config HTTP/1.1\r\nHost: x\r\n\r\n");
    netcat.finish_sending();
    assert_eq!(netcat.response(true).unwrap().body.len(), 1 << 20);
    assert_eq!(netcat.drain_to_end(), 0);
}
