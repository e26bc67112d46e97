// SPDX-License-Identifier: Apache-2.0
//! Very many clients that wait, of several workers.

use super::support::Ours;
use protocol_resp::Version;
use std::time::Duration;
use test_support::story::Server;

const CLIENTS: usize = 300;

fn name(number: usize) -> String {
    format!("client {number}")
}

fn receive(server: &mut Ours, client: &str) -> Option<String> {
    server.receive(client, false).map(|reply| String::from_utf8(reply).expect("a text"))
}

#[test]
fn who_came_first_is_served_first_whichever_worker_serves() {
    let mut server = Ours::with_workers(Version::Resp2, 3);
    for number in 0..CLIENTS {
        server.send(&name(number), "BLPOP list other 0");
    }
    // From clients of all workers, one by one and many at once.
    let mut next = 0;
    for (turn, count) in [1, 1, 1, 1, 100, 1, 50, 45, 100].into_iter().enumerate() {
        let elements: Vec<_> = (next..next + count).map(|number| number.to_string()).collect();
        server.send(&format!("pusher {turn}"), &format!("RPUSH list {}", elements.join(" ")));
        next += count;
    }
    for number in 0..CLIENTS {
        let text = number.to_string();
        let expected = format!("*2\r\n$4\r\nlist\r\n${}\r\n{text}\r\n", text.len());
        assert_eq!(receive(&mut server, &name(number)), Some(expected));
    }
    assert_eq!(format!("{:?}", server.ask(&["DBSIZE"])), "0");
}

#[test]
fn waits_end_in_time_and_nothing_is_left_of_them() {
    let mut server = Ours::with_workers(Version::Resp2, 3);
    for number in 0..CLIENTS {
        server.send(&name(number), &format!("BZPOPMIN set 0.{:03}", number + 1));
    }
    // The clock may have been up to a millisecond behind when they began to wait.
    server.pass(Duration::from_millis(1));
    for number in 0..CLIENTS {
        server.pass(Duration::from_millis(1));
        for other in [number, number + 1] {
            let is_over = (other == number).then(|| "*-1\r\n".to_owned());
            assert_eq!(receive(&mut server, &name(other)), is_over, "{other} after {number} ms");
        }
    }
    assert_eq!(format!("{:?}", server.ask(&["ZADD", "set", "1", "member"])), "1");
    assert_eq!(format!("{:?}", server.ask(&["ZCARD", "set"])), "1");
}

#[test]
fn a_chain_of_moves_through_many_shards_is_gone_through_at_once() {
    let mut server = Ours::with_workers(Version::Resp2, 3);
    for number in (0..CLIENTS).rev() {
        let line = format!("BLMOVE list:{number} list:{} RIGHT LEFT 0", number + 1);
        server.send(&name(number), &line);
    }
    server.send("pusher", "RPUSH list:0 a b");
    for number in 0..CLIENTS {
        assert_eq!(receive(&mut server, &name(number)).as_deref(), Some("$1\r\nb\r\n"));
    }
    assert_eq!(format!("{:?}", server.ask(&["DBSIZE"])), "2");
    let last = format!("list:{CLIENTS}");
    assert_eq!(format!("{:?}", server.ask(&["LRANGE", &last, "0", "-1"])), r#"["b"]"#);
}
