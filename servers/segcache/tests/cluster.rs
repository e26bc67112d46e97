// SPDX-License-Identifier: Apache-2.0
//! Auto discovery: a file names the servers of a cluster, and clients follow it.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "support/python.rs"]
mod python;

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use test_support::client::Client;
use test_support::daemon::{Config, Daemon, run, text};

const SEGCACHE: &str = env!("CARGO_BIN_EXE_segcache");

/// A server's folder, with the file of nodes in it.
struct Place {
    config: Config,
    nodes: PathBuf,
}

impl Place {
    fn new(nodes: &str) -> Self {
        let config = Config::empty();
        let file = config.folder().join("nodes");
        fs::write(&file, nodes).unwrap();
        let memcache = format!("[memcache]\ncluster_file = \"{}\"\n", file.display());
        config.write(&format!("[server]\nport = 0\n[admin]\nenabled = false\n{memcache}"));
        Place { config, nodes: file }
    }

    /// Replaces the file of nodes as a whole: nobody reads a part of it.
    fn write(&self, nodes: &str) {
        let new = self.config.folder().join("new");
        fs::write(&new, nodes).unwrap();
        fs::rename(&new, &self.nodes).unwrap();
    }

    fn start(&self) -> (Daemon, SocketAddr) {
        self.start_at("127.0.0.1")
    }

    fn start_at(&self, host: &str) -> (Daemon, SocketAddr) {
        let mut server =
            Daemon::spawn(Command::new(SEGCACHE).args(["-l", host]).arg(&self.config.file));
        let address = server.address();
        (server, address)
    }
}

fn answer(nodes: &str) -> String {
    format!("CONFIG cluster 0 {}\r\n{nodes}\r\nEND\r\n", nodes.len())
}

#[test]
fn clients_are_told_the_nodes_in_each_form() {
    let place = Place::new("1\na.example.com|10.0.0.1|11211\nb.example.com||11212\n");
    let (_server, address) = place.start();
    let nodes = "1\na.example.com|10.0.0.1|11211 b.example.com||11212\n";
    let mut client = Client::tcp(address);
    client.ask(b"config get cluster\r\n", answer(nodes).as_bytes());
    client.ask(b"config get other\r\n", b"END\r\n");
    client.ask(b"config get\r\n", b"ERROR\r\n");
    // Those that ask so parse the version, too.
    client.ask(b"version\r\n", b"VERSION 1.6.45\r\n");
    let key = "AmazonElastiCache:cluster";
    let value = format!("VALUE {key} 0 {}\r\n{nodes}\r\nEND\r\n", nodes.len());
    client.ask(format!("get {key}\r\n").as_bytes(), value.as_bytes());
    client.ask(b"get AmazonElastiCache:cluster0 AmazonElastiCache:clustes\r\n", b"END\r\n");
    let request = [&b"\x80\x00\0\x19\0\0\0\0\0\0\0\x19"[..], &[0; 12], key.as_bytes()].concat();
    client = Client::tcp(address);
    client.send(&request);
    let reply = client.take(24 + 4 + nodes.len());
    assert_eq!((&reply[6..8], &reply[28..]), (&[0, 0][..], nodes.as_bytes()));
}

#[test]
fn what_would_change_them_is_refused_with_its_body() {
    let place = Place::new("1 a||1");
    let (_server, address) = place.start();
    let mut client = Client::tcp(address);
    let refusal = "CLIENT_ERROR the configuration is a file of the server's\r\n";
    for line in [
        "config set cluster 0 13\r\nset k 0 0 1\r\n\r\n",
        "config add cluster 0 0\r\n\r\n",
        "config set cluster 0 x\r\n",
        "config delete cluster\r\n",
    ] {
        client.ask(format!("{line}mn\r\n").as_bytes(), format!("{refusal}MN\r\n").as_bytes());
    }
    client.ask(b"get k\r\n", b"END\r\n");
    client.ask(b"config get cluster\r\n", answer("1\na||1\n").as_bytes());
}

#[test]
fn the_file_is_read_again_when_it_changes() {
    let place = Place::new("1 a||1");
    let (mut server, address) = place.start();
    let mut client = Client::tcp(address);
    place.write("2 a||1 b||2");
    server.line("nodes are read anew");
    client.ask(b"config get cluster\r\n", answer("2\na||1 b||2\n").as_bytes());
    place.write("2 c||3");
    let problem = server.line("nodes stay as they are: ");
    assert!(problem.contains("their version, 2, is not higher"), "{problem}");
    client.ask(b"config get cluster\r\n", answer("2\na||1 b||2\n").as_bytes());
    fs::remove_file(&place.nodes).unwrap();
    server.line("No such file");
    client.ask(b"config get cluster\r\n", answer("2\na||1 b||2\n").as_bytes());
    place.write("3 c||3");
    server.signal("HUP");
    server.line("nodes are read anew");
    client.ask(b"config get cluster\r\n", answer("3\nc||3\n").as_bytes());
}

#[test]
fn a_server_whose_file_names_no_nodes_does_not_start() {
    let place = Place::new("1 a|b|c");
    let output = run(SEGCACHE, &[place.config.file.to_str().unwrap()]);
    let message = text(&output.stderr);
    assert!(!output.status.success());
    assert!(message.contains("[memcache] cluster_file: "), "{message}");
    assert!(message.contains("\"a|b|c\" is no node"), "{message}");
}

#[test]
fn without_a_file_there_is_no_cluster() {
    let config = Config::new("[server]\nport = 0\n[admin]\nenabled = false\n");
    let mut server = Daemon::start(SEGCACHE, &config);
    let mut client = Client::tcp(server.address());
    client.ask(b"config get cluster\r\n", b"ERROR\r\n");
    client.ask(b"get AmazonElastiCache:cluster\r\n", b"END\r\n");
}

/// An unmodified client spreads keys over the servers that the first names, and follows when there is one more.
#[test]
fn a_client_follows_the_file() {
    let modules = "elasticache_pyclient";
    let Some(python) = python::python(modules, "elasticache-pyclient, older than 3.12") else {
        return;
    };
    let place = Place::new("1 localhost|127.0.0.1|1");
    // This client tells servers apart by their hosts.
    let hosts = ["127.0.0.1", "127.0.0.2", "127.0.0.3"];
    let servers = hosts.map(|host| place.start_at(host));
    let node = |at: usize| format!("{0}|{0}|{1}", hosts[at], servers[at].1.port());
    let addresses = servers.each_ref().map(|(_, address)| address.to_string());
    let nodes = place.nodes.to_str().unwrap();
    let two = format!("2\n{} {}\n", node(0), node(1));
    let three = format!("3\n{} {} {}\n", node(0), node(1), node(2));
    let arguments = [&addresses[..], &[nodes.to_owned(), two, three]].concat();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let told = python::transcript(&python, "with_elasticache.py", &arguments);
    let expected = "2 servers, all keys come back: True\nitems: True True False\n\
                    3 servers, all keys come back: True\nitems: True True True\n";
    python::same("with_elasticache.py", &told, expected);
}
