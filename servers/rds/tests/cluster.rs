// SPDX-License-Identifier: Apache-2.0
//! Three servers as nodes of a cluster: clients find them, and slots move when the file changes.
//!
//! `SHOEBILL_PYTHON` names a Python that has redis-py; its `RedisCluster` uses the nodes, too.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "support/process.rs"]
#[allow(dead_code, reason = "a module of several test binaries")]
mod process;

use process::Server;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use test_support::client::Client;
use test_support::daemon::Daemon;
use test_support::{PATIENCE, wait_until};

/// The slots of each node at first.
const SLOTS: [&str; 3] = ["0-5460", "5461-10922", "10923-16383"];

/// A cluster of three nodes.
struct Cluster {
    nodes: Vec<Server>,
    folder: tempfile::TempDir,
}

impl Cluster {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let nodes = (0..3).map(|number| {
            // Their ports are not known before they listen.
            let file = file_of(folder.path(), number);
            fs::write(&file, "# No nodes yet.\n").unwrap();
            let file = file.to_str().unwrap().to_owned();
            process::rds(&["--cluster-enabled", "yes", "--cluster-config-file", &file])
        });
        let nodes = nodes.collect();
        let cluster = Cluster { nodes, folder };
        cluster.write(SLOTS);
        cluster
    }

    fn id(number: usize) -> String {
        ["a", "b", "c"][number].repeat(40)
    }

    fn port(&self, number: usize) -> u16 {
        self.nodes[number].address.port()
    }

    fn client(&self, number: usize) -> Client {
        Client::tcp(self.nodes[number].address)
    }

    /// Gives each node these slots, and waits until all nodes go by that.
    fn write(&self, slots: [&str; 3]) {
        self.write_moves(slots, ["", "", ""]);
    }

    /// The same with the slots that move, as each node is told in its own line.
    fn write_moves(&self, slots: [&str; 3], moves: [&str; 3]) {
        let all_of = |number: usize, myself: usize| {
            let moves = if number == myself { moves[number] } else { "" };
            format!("{}{moves}", slots[number])
        };
        for myself in 0..3 {
            let line = |number: usize| {
                let flags = if number == myself { "myself,master" } else { "master" };
                let (id, port) = (Self::id(number), self.port(number));
                let slots = all_of(number, myself);
                format!("{id} 127.0.0.1:{port}@0 {flags} - 0 0 1 connected {slots}\n")
            };
            let text: String = (0..3).map(line).collect();
            replace(&file_of(self.folder.path(), myself), &text);
        }
        for number in 0..3 {
            let told = |at: usize| format!(" {}\n", all_of(at, number));
            self.until(number, "CLUSTER NODES", |nodes| (0..3).all(|at| nodes.contains(&told(at))));
        }
    }

    /// Asks a node until the answer is as wanted.
    fn until(&self, number: usize, request: &str, is_right: impl Fn(&str) -> bool) {
        let started = Instant::now();
        loop {
            let answer = ask(&mut self.client(number), request);
            if is_right(&answer) {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "{request} of node {number}: {answer}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Puts a text in the place of a file, as a whole: a server may look at any moment.
fn replace(file: &Path, text: &str) {
    let new = file.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(&new, file).unwrap();
}

fn file_of(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("nodes-{number}.conf"))
}

/// The whole answer to a request: a line, and for a bulk string its text.
fn ask(client: &mut Client, request: &str) -> String {
    client.send(format!("{request}\r\n").as_bytes());
    let line = client.line();
    match line.strip_prefix('$').and_then(|len| len.parse::<usize>().ok()) {
        Some(len) => {
            let text = client.take(len + 2);
            String::from_utf8_lossy(&text[..len]).into_owned()
        }
        None => line,
    }
}

#[test]
fn slots_move_when_the_file_changes() {
    let cluster = Cluster::start();
    let mut clients: Vec<Client> = (0..3).map(|number| cluster.client(number)).collect();
    // Each key goes where the first node says.
    let mut owned = [0; 3];
    for number in 0..600 {
        let request = format!("SET key:{number} {number}");
        let answer = ask(&mut clients[0], &request);
        let at = match answer.rsplit_once(':') {
            Some((moved, port)) => {
                assert!(moved.starts_with("-MOVED "), "{answer}");
                let port: u16 = port.parse().unwrap();
                let at = (1..3).find(|at| cluster.port(*at) == port).unwrap();
                assert_eq!(ask(&mut clients[at], &request), "+OK");
                at
            }
            None => 0,
        };
        owned[at] += 1;
    }
    assert!(owned.iter().all(|owned| *owned > 100), "{owned:?}");
    // Slot 12182, that of foo, leaves the third node, and with it all others of it from 12000 on.
    assert_eq!(ask(&mut clients[2], "SET foo bar"), "+OK");
    cluster.write(["0-5460", "5461-10922 12000-16383", "10923-11999"]);
    let moved = format!("-MOVED 12182 127.0.0.1:{}", cluster.port(1));
    assert_eq!(ask(&mut clients[2], "GET foo"), moved, "a connection that was there before");
    assert_eq!(ask(&mut clients[1], "GET foo"), "$-1", "data does not move");
    let left = |keys: &str| keys.strip_prefix(':').unwrap().parse::<i32>().unwrap() < owned[2];
    cluster.until(2, "DBSIZE", left);
    assert_eq!(ask(&mut clients[1], "DBSIZE"), format!(":{}", owned[1]), "it keeps its keys");
    // The slot goes back, and is empty.
    cluster.until(2, "CLUSTER COUNTKEYSINSLOT 12182", |keys| keys == ":0");
    cluster.write(SLOTS);
    assert_eq!(ask(&mut clients[2], "GET foo"), "$-1");
    assert_eq!(ask(&mut clients[2], "SET foo again"), "+OK");
    assert_eq!(ask(&mut clients[2], "GET foo"), "again");
}

#[test]
fn keys_of_a_slot_that_moves_are_taken_along() {
    let cluster = Cluster::start();
    let mut clients: Vec<Client> = (0..3).map(|number| cluster.client(number)).collect();
    assert_eq!(ask(&mut clients[2], "MSET foo 1 {foo}2 2"), "+OK");
    // Slot 12182, that of foo, goes from the third node to the second.
    let to = format!(" [12182->-{}]", Cluster::id(1));
    let from = format!(" [12182-<-{}]", Cluster::id(2));
    cluster.write_moves(SLOTS, ["", &from, &to]);
    let ports = [0, 1, 2].map(|number| cluster.port(number));
    let request = format!("MIGRATE 127.0.0.1 {} \"\" 0 50000 KEYS foo {{foo}}2 {{foo}}3", ports[1]);
    assert_eq!(ask(&mut clients[2], &request), "+OK");
    assert_eq!(ask(&mut clients[2], &request), "+NOKEY", "it is asked here, not sent elsewhere");
    let elsewhere = format!("-ASK 12182 127.0.0.1:{}", ports[1]);
    assert_eq!(ask(&mut clients[2], "GET foo"), elsewhere);
    assert_eq!(ask(&mut clients[1], "GET foo"), format!("-MOVED 12182 127.0.0.1:{}", ports[2]));
    assert_eq!(ask(&mut clients[1], "ASKING"), "+OK");
    assert_eq!(ask(&mut clients[1], "GET foo"), "1");
    cluster.write(["0-5460", "5461-10922 12182", "10923-12181 12183-16383"]);
    assert_eq!(ask(&mut clients[1], "GET {foo}2"), "2");
    assert_eq!(ask(&mut clients[2], "DBSIZE"), ":0");
}

/// The command that starts a server with a file of nodes.
fn with_file(file: &Path) -> Command {
    let mut command = Command::new(process::rds_path());
    command.args(["--port", "0", "--admin-port", "0", "--cluster-enabled", "yes"]);
    command.arg("--cluster-config-file").arg(file);
    command
}

#[test]
fn a_wrong_file_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("nodes.conf");
    let right =
        format!("{} 127.0.0.1:1@1 myself,master - 0 0 1 connected 0-16383\n", Cluster::id(0));
    fs::write(&file, &right).unwrap();
    let mut server = Daemon::spawn(&mut with_file(&file));
    let mut client = Client::tcp(server.address());
    replace(&file, "what is this\n");
    server.signal("HUP");
    let told = server.line("nodes of the cluster stay as they are: ");
    let problem = "nodes.conf: line 1: the name of a node has 40 letters and digits";
    assert!(told.ends_with(problem), "{told}");
    assert_eq!(ask(&mut client, "SET foo bar"), "+OK");
    replace(&file, &right.replace("myself,", ""));
    server.signal("HUP");
    server.line(" is this server: it has no slots");
    server.line("nodes of the cluster are read anew");
    assert_eq!(ask(&mut client, "GET foo"), "-MOVED 12182 127.0.0.1:1");
}

#[test]
fn a_server_does_not_start_without_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("nodes.conf");
    let refusal = || {
        let output = with_file(&file).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refusal().contains("error: cannot read "));
    fs::write(&file, "what is this\n").unwrap();
    assert!(refusal().contains("line 1: the name of a node has 40 letters and digits"));
}

/// RULE-OWNER of `engine/cluster.rs`, with two workers: slots leave and come back while clients write.
#[test]
fn nothing_is_lost_that_is_written_after_a_slot_has_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("nodes.conf");
    let write = |slots: &str| {
        let node =
            format!("{} 127.0.0.1:1@1 myself,master - 0 0 1 connected {slots}\n", Cluster::id(0));
        replace(&file, &node);
    };
    write("0-16383");
    let mut command = with_file(&file);
    command.args(["--io-threads", "2", "--cluster-require-full-coverage", "no"]);
    let mut server = Daemon::spawn(&mut command);
    let address = server.address();
    let mut clients = [Client::tcp(address), Client::tcp(address)];
    let mut asker = Client::tcp(address);
    // What the log says of it may be of the time before, as the server also looks by itself, and is then told again.
    let mut change = |server: &Daemon, slots: &str| {
        write(slots);
        server.signal("HUP");
        let told = format!(" {slots}\n");
        wait_until("it goes by the file", || ask(&mut asker, "CLUSTER NODES").ends_with(&told));
    };
    for round in 0..20 {
        // Slot 12182, that of foo, goes with all from 8000 on.
        change(&server, "0-7999");
        let refused = "-CLUSTERDOWN Hash slot not served";
        assert_eq!(ask(&mut clients[0], "GET foo"), refused, "at once, on every connection");
        change(&server, "0-16383");
        assert_eq!(ask(&mut clients[1], "GET foo"), "$-1", "what was old is gone");
        let mut requests = String::new();
        for number in 0..500 {
            requests.push_str(&format!("SET {{foo}}{number} {round}\r\n"));
        }
        requests.push_str(&format!("SET foo {round}\r\n"));
        for client in &mut clients {
            client.send(requests.as_bytes());
        }
        for client in &mut clients {
            (0..501).for_each(|_| client.expect(b"+OK\r\n"));
        }
        assert_eq!(ask(&mut clients[0], "DBSIZE"), ":501");
    }
}

#[test]
fn redis_py_uses_all_nodes() {
    let python = std::env::var("SHOEBILL_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let found = Command::new(&python).args(["-c", "import redis"]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        return test_support::child::missing("a Python with redis-py (SHOEBILL_PYTHON)");
    }
    let cluster = Cluster::start();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cluster.py");
    let port = cluster.port(0).to_string();
    let output = Command::new(python).arg("-B").arg(script).arg(port).output().unwrap();
    let (told, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && told.ends_with("done\n"), "{told}\n{errors}");
}
