// SPDX-License-Identifier: Apache-2.0
//! INV-BODY: no byte of a value is ever parsed as a command, whatever is wrong with the line that
//! announces it, however the bytes arrive.

mod support;

use support::server::{Connection, ITEM_MAX, Server};

const COMMANDS: [&str; 7] = ["set", "add", "replace", "append", "prepend", "cas", "ms"];

/// What stands in the place of a key, a number or a word that nobody asked for.
const WORDS: [&str; 22] = [
    "k",
    "0",
    "1",
    "23",
    "-1",
    "+7",
    "4294967296",
    "18446744073709551616",
    "99999999999999999999999",
    "-9223372036854775809",
    "1.5",
    "0x10",
    "1e3",
    "a",
    "-",
    "noreply",
    "NOREPLY",
    "1\t2",
    "k\0k",
    "\r",
    "HTTP/1.1",
    "LONG",
];

/// A reproducible sequence of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % end
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

/// A storage line of arbitrary words, but for its length: `len`.
fn line(random: &mut Random, len: usize) -> Vec<u8> {
    let command = random.pick(&COMMANDS);
    let before = if command == "ms" { 1 } else { 3 };
    let after = [0, 0, 1, 1, 2, 3, 30][random.below(7)];
    let mut line = command.as_bytes().to_vec();
    for at in 0..before + 1 + after {
        line.resize(line.len() + 1 + random.below(40) / 39, b' ');
        let length = len.to_string();
        let word = if at == before { &length } else { random.pick(&WORDS) };
        match word {
            // Behind a NUL a line does not count: nothing is announced there.
            "k\0k" if at < before => line.push(b'k'),
            "LONG" => line.resize(line.len() + 251 + random.below(100), b'L'),
            word => line.extend_from_slice(word.as_bytes()),
        }
    }
    if random.below(3) == 0 {
        line.extend_from_slice(b" noreply");
    }
    line.extend_from_slice(if random.below(5) == 0 { b"\n" } else { b"\r\n" });
    line
}

/// A body of `len` bytes that would store something, or end the connection, if it were parsed.
fn body(random: &mut Random, len: usize) -> Vec<u8> {
    let commands: [&[u8]; 4] = [
        b"set injected 0 0 3\r\npwn\r\n",
        b"\r\nset injected 0 0 0\r\n\r\n",
        b"\nadd injected 0 0 1 noreply\r\nx\r\n",
        b"quit\r\n",
    ];
    let first = random.below(commands.len());
    let mut body = commands[first..].concat();
    while body.len() < len {
        body.extend_from_slice(commands[random.below(commands.len())]);
    }
    body.truncate(len);
    body
}

#[test]
fn a_body_is_never_parsed() {
    let mut random = Random(7);
    let mut refused = 0;
    for round in 0..10_000 {
        let len = match random.below(40) {
            0 => ITEM_MAX + 1 + random.below(100),
            1..4 => random.below(3),
            _ => random.below(300),
        };
        let line = line(&mut random, len);
        if line.len() > protocol_memcache::LINE_MAX {
            continue;
        }
        let body = body(&mut random, len);
        let input = [&line[..], &body, b"\r\nset after 0 0 2\r\nhi\r\nget after\r\n"].concat();
        let piece = [usize::MAX, 1, 7, 4096][random.below(if len > 1000 { 1 } else { 4 })];
        let mut server = Server::new();
        let mut connection = Connection::default();
        let answered = connection.send(&mut server, &input, piece);
        let context = || {
            let shown = String::from_utf8_lossy(&answered[..answered.len().min(300)]).into_owned();
            format!("round {round}: {} answered {shown}", line.escape_ascii())
        };
        assert!(!connection.closed, "{}", context());
        let rest = answered.strip_suffix(b"STORED\r\nVALUE after 0 2\r\nhi\r\nEND\r\n");
        let rest = rest.unwrap_or_else(|| panic!("{}", context()));
        let lines = rest.iter().filter(|&&byte| byte == b'\n').count();
        assert!(lines <= 1, "{}", context());
        let injected = server.text("get injected\r\n");
        assert_eq!(injected, "END\r\n", "{}", context());
        refused += usize::from(rest.starts_with(b"CLIENT_ERROR"));
    }
    assert!(refused > 1500, "{refused} lines were refused aloud: the words are too good");
}
