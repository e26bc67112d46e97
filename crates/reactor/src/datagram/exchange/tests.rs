// SPDX-License-Identifier: Apache-2.0
//! Bytes of datagrams in, bytes of datagrams out.

use super::*;
use clock::Clock;
use protocol::{ConnectionId, Control, Directory, Ending, ErrorReply, Malformed, Outbox, Parsed};

/// A request is a line.
struct Lines;

impl Protocol for Lines {
    const NAME: &'static str = "lines";
    const TOO_MANY_CONNECTIONS: &'static [u8] = b"";
    type Request<'a> = &'a [u8];
    type Cursor = ();

    fn parse<'a>(&self, _: &mut (), input: &'a [u8]) -> Result<Parsed<&'a [u8]>, Malformed> {
        match input.iter().position(|&byte| byte == b'\n') {
            Some(0) => Err(Malformed::close(ErrorReply::fixed(b"empty\n"))),
            Some(end) => Ok(Parsed::Request { request: &input[..end], consumed: end + 1 }),
            None => Ok(Parsed::NeedMore { at_least: 1 }),
        }
    }

    fn too_large(&self) -> ErrorReply {
        ErrorReply::fixed(b"too large\n")
    }
}

/// Answers `12x` with 12 letters and `=12x` with as many by reference; notes what it was asked.
#[derive(Default)]
struct Repeat {
    asked: Vec<String>,
    closed: usize,
}

impl Execute<Lines> for Repeat {
    fn execute(
        &mut self,
        _: &mut Lines,
        request: &[u8],
        out: &mut SendBuf,
        _: &mut Context<'_>,
    ) -> Control {
        let text = std::str::from_utf8(request).unwrap();
        self.asked.push(text.to_owned());
        let number: String = text.chars().filter(char::is_ascii_digit).collect();
        let letters = vec![text.as_bytes()[text.len() - 1]; number.parse().unwrap_or(0)];
        if text.starts_with('=') {
            out.put_pinned(letters.into());
        } else {
            out.put(&letters);
        }
        match text {
            "block" => Control::Block,
            "defer" => Control::Defer,
            "close" => Control::Close,
            _ => Control::Continue,
        }
    }

    fn closed(&mut self, _: &mut Lines, _: Ending, _: &mut Context<'_>) {
        self.closed += 1;
    }
}

/// What comes of one datagram after another.
#[derive(Default)]
struct Rig {
    service: Repeat,
    recv: RecvBuf,
    send: SendBuf,
}

const REQUEST: [u8; 8] = [0x12, 0x34, 0, 0, 0, 1, 0, 0];

impl Rig {
    /// The datagrams that answer `payload`, at most `most` of them.
    fn ask(&mut self, payload: &[u8], most: usize) -> (Cut, Vec<Vec<u8>>) {
        self.send(&[&REQUEST, payload].concat(), most).unwrap()
    }

    fn send(&mut self, datagram: &[u8], most: usize) -> Result<(Cut, Vec<Vec<u8>>), Refused> {
        let mut pool = Pool::new(512, 4096, 4);
        let (directory, mut outbox) = (Directory::new(), Outbox::new());
        let now = Clock::manual(0).now();
        let mut context = Context::new(now, ConnectionId::new(0, 0), &mut outbox, &directory);
        let limits = Limits::default();
        let buffers = (&mut self.recv, &mut self.send);
        let service = &mut self.service;
        let cut =
            exchange(datagram, Lines, service, buffers, &mut pool, &limits, most, &mut context)?;
        let (mut rest, mut all) = (cut, Vec::new());
        let mut datagram = [0xee; DATAGRAM_BYTES];
        while let Some(len) = rest.next(&mut self.send, &mut datagram) {
            all.push(datagram[..len].to_vec());
        }
        assert_eq!(all.len(), cut.total());
        assert!(self.recv.is_empty() && self.send.is_empty(), "nothing is left for the next");
        self.recv.release(&mut pool);
        self.send.release(&mut pool);
        assert_eq!(pool.lent_bytes(), 0);
        Ok((cut, all))
    }
}

/// The payloads of datagrams, joined, if the headers are right.
fn joined(datagrams: &[Vec<u8>]) -> Vec<u8> {
    let total = datagrams.len() as u8;
    let mut all = Vec::new();
    for (number, datagram) in datagrams.iter().enumerate() {
        assert_eq!(datagram[..8], [0x12, 0x34, 0, number as u8, 0, total, 0, 0]);
        let is_last = number + 1 == datagrams.len();
        assert!(is_last || datagram.len() == DATAGRAM_BYTES, "all but the last are full");
        all.extend_from_slice(&datagram[8..]);
    }
    all
}

#[test]
fn an_answer_is_cut_into_datagrams() {
    let mut rig = Rig::default();
    for (bytes, datagrams) in
        [(0, 0), (1, 1), (1391, 1), (1392, 1), (1393, 2), (2784, 2), (2785, 3), (100_000, 72)]
    {
        for request in [format!("{bytes}a\n"), format!("={bytes}a\n")] {
            let (cut, all) = rig.ask(request.as_bytes(), 100);
            assert_eq!((cut.total(), all.len()), (datagrams, datagrams), "{request}");
            assert_eq!(joined(&all), vec![b'a'; bytes], "{request}");
            assert!(!cut.is_too_large() && !cut.is_unfinished());
        }
    }
}

#[test]
fn requests_of_a_datagram_have_one_answer_in_their_order() {
    let mut rig = Rig::default();
    let (_, all) = rig.ask(b"1000a\n=1000b\n500c\n0\n=3d\n", 9);
    let expected = [&[b'a'; 1000][..], &[b'b'; 1000], &[b'c'; 500], b"ddd"].concat();
    assert_eq!((all.len(), joined(&all)), (2, expected));
    assert_eq!(rig.service.closed, 1);
    let many = b"1x\n".repeat(10_000);
    assert_eq!(joined(&rig.ask(&many, 9).1), vec![b'x'; 10_000]);
}

#[test]
fn an_answer_of_too_many_datagrams_is_refused() {
    let mut rig = Rig::default();
    let (cut, all) = rig.ask(b"2784a\n", 2);
    assert!(!cut.is_too_large() && all.len() == 2);
    for request in [&b"2785a\n"[..], b"=2785a\n", b"2784a\n1b\n", b"1000000a\n", b"=1000000a\n"] {
        let (cut, all) = rig.ask(request, 2);
        assert!(cut.is_too_large(), "{}", request.escape_ascii());
        assert_eq!(joined(&all), b"too large\n");
    }
    rig.service.asked.clear();
    let (cut, all) = rig.ask(b"1000a\n1000b\n1000c\n1d\n1e\n", 2);
    assert!(cut.is_too_large() && all.len() == 1);
    assert_eq!(rig.service.asked, ["1000a", "1000b", "1000c"], "those that follow are not served");
}

#[test]
fn an_answer_has_no_more_datagrams_than_can_be_numbered() {
    let mut rig = Rig::default();
    let most = 65_535 * PAYLOAD_BYTES;
    assert_eq!(rig.ask(format!("={most}a\n").as_bytes(), usize::MAX).1.len(), 65_535);
    assert!(rig.ask(format!("={}a\n", most + 1).as_bytes(), usize::MAX).0.is_too_large());
}

#[test]
fn a_datagram_stands_alone() {
    let mut rig = Rig::default();
    for unfinished in [&b"1a"[..], b"1a\n1", b"block\n1b\n", b"defer\n1b\n"] {
        let (cut, _) = rig.ask(unfinished, 9);
        assert!(cut.is_unfinished(), "{}", unfinished.escape_ascii());
        let (cut, all) = rig.ask(b"2c\n", 9);
        assert!(!cut.is_unfinished() && joined(&all) == b"cc", "the next is not its rest");
    }
    for closing in [&b"1a\nclose\n1b\n"[..], b"1a\n\n1b\n"] {
        let (cut, all) = rig.ask(closing, 9);
        assert!(!cut.is_unfinished() && joined(&all).starts_with(b"a"));
        assert_eq!(joined(&rig.ask(b"2c\n", 9).1), b"cc", "nothing is closed for the next");
    }
    assert_eq!(rig.service.closed, 12, "each is over when it is answered");
}

#[test]
fn what_is_no_request_changes_nothing() {
    let mut rig = Rig::default();
    for (datagram, refused) in [
        (&b""[..], Refused::Short),
        (b"\0", Refused::Short),
        (b"\0\x01\0\0\0\x01\0\0", Refused::Short),
        (b"\0\x01\0\0\0\x02\0\x001a\n", Refused::Part),
        (b"\0\x01\0\x01\0\0\0\x001a\n", Refused::Part),
        (b"\0\x01\0\x01\xff\xff\0\x001a\n", Refused::Part),
        (b"1a\n1a\n1a\n1a\n", Refused::Part),
    ] {
        assert_eq!(rig.send(datagram, 9), Err(refused), "{}", datagram.escape_ascii());
    }
    assert_eq!((rig.service.asked.len(), rig.service.closed), (0, 0));
}
