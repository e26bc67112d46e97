// SPDX-License-Identifier: Apache-2.0
//! [`identify`]: asks a server for its version; and what it speaks, if that is not what was expected.

use crate::{Error, Protocol, Target};
use buffer::Pool;
use protocol_memcache::client as memcache;
use protocol_resp::client as resp;
use session::{Fill, TlsConnector, Trust};
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a server may take to say its version. One that does not say it is measured all the same.
const REPLY_MAX: Duration = Duration::from_secs(5);
/// How often the socket is looked at meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// The most bytes of a reply.
const REPLY_BYTES: usize = 64 << 10;

/// What every server answers, each in its own way.
const PING: &[u8] = b"PING\r\n";

/// Fields of `INFO server` with a version, the most telling first: those that are compatible with Redis
/// have its version as well.
const VERSIONS: [&str; 5] =
    ["shoebill_version", "valkey_version", "dragonfly_version", "kvrocks_version", "redis_version"];

/// What a server speaks, as far as its reply to [`PING`] tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speech {
    Memcache,
    Resp,
    Ping,
    Http,
}

impl Speech {
    fn of(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Memcache | Protocol::Meta => Speech::Memcache,
            Protocol::Resp2 | Protocol::Resp3 => Speech::Resp,
            Protocol::Ping => Speech::Ping,
        }
    }

    /// By a reply to [`PING`].
    fn heard(reply: &[u8]) -> Option<Self> {
        match reply {
            [b'+' | b'-', ..] => Some(Speech::Resp),
            _ if reply.starts_with(b"PONG") => Some(Speech::Ping),
            _ if reply.starts_with(b"ERROR") || reply.starts_with(b"CLIENT_ERROR") => {
                Some(Speech::Memcache)
            }
            _ if reply.starts_with(b"HTTP/") => Some(Speech::Http),
            _ => None,
        }
    }

    /// What to write instead.
    fn advice(self) -> &'static str {
        match self {
            Speech::Memcache => "it speaks memcache: write -p memcache",
            Speech::Resp => "it speaks RESP, as Redis does: write -p resp2 or -p resp3",
            Speech::Ping => "it speaks ping: write -p ping",
            Speech::Http => "it speaks HTTP: is this the admin port of a server?",
        }
    }
}

/// What a server has said.
#[derive(Debug, Default)]
struct Heard {
    bytes: Vec<u8>,
    /// TLS was agreed on.
    is_encrypted: bool,
}

/// The version of a server, in its own words; `None` if it does not tell.
///
/// # Errors
///
/// When it cannot be reached, or speaks another protocol than the target says: the error says which.
pub fn identify(target: &Target) -> Result<Option<String>, Error> {
    let question: &[u8] = match Speech::of(target.protocol) {
        Speech::Memcache => b"version\r\n",
        Speech::Resp => b"*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n",
        Speech::Ping | Speech::Http => PING,
    };
    let heard = ask(target, question, |bytes| is_whole(target.protocol, bytes))?;
    match version(target.protocol, &heard.bytes) {
        Some(version) => Ok(version),
        None => match mistake(target) {
            Some(reason) => Err(Error::Greeting { address: target.address.to_string(), reason }),
            None => Ok(None),
        },
    }
}

/// Whether a reply is over, or is none in this protocol.
fn is_whole(protocol: Protocol, bytes: &[u8]) -> bool {
    match Speech::of(protocol) {
        Speech::Resp => !matches!(resp::parse(bytes), Ok(None)),
        Speech::Memcache | Speech::Ping | Speech::Http => bytes.contains(&b'\n'),
    }
}

/// What a whole reply says of the version; `None` for what is no reply to the question.
#[expect(clippy::option_option, reason = "a reply that has none is a reply")]
fn version(protocol: Protocol, bytes: &[u8]) -> Option<Option<String>> {
    match Speech::of(protocol) {
        Speech::Memcache => match memcache::parse(bytes).ok()?? {
            (memcache::Reply::Version(version), _) => Some(Some(show(version))),
            _ => None,
        },
        Speech::Resp => match resp::parse(bytes).ok()?? {
            (resp::Reply::Bulk(text) | resp::Reply::Verbatim { text, .. }, _) => {
                Some(version_of_info(&String::from_utf8_lossy(text)))
            }
            _ => None,
        },
        Speech::Ping | Speech::Http => bytes.starts_with(b"PONG\r\n").then_some(None),
    }
}

/// `valkey 9.1.0`, by the lines of `INFO server`.
fn version_of_info(info: &str) -> Option<String> {
    let field = |name: &str| {
        let fields = info.lines().filter_map(|line| line.split_once(':'));
        fields.filter(|(key, _)| *key == name).map(|(_, value)| value.trim().to_owned()).next()
    };
    let found = VERSIONS.iter().find_map(|name| Some((*name, field(name)?)));
    found.map(|(name, version)| format!("{} {version}", name.trim_end_matches("_version")))
}

fn show(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

/// What was probably meant, if a server does not speak what the target says.
fn mistake(target: &Target) -> Option<String> {
    let expected = Speech::of(target.protocol);
    let speech = |target: &Target| {
        let heard = ask(target, PING, |bytes| bytes.contains(&b'\n')).unwrap_or_default();
        (Speech::heard(&heard.bytes), heard.is_encrypted)
    };
    let other = |found: Speech| (found != expected).then(|| found.advice().to_owned());
    let (found, _) = speech(target);
    if let Some(found) = found {
        return other(found);
    }
    if target.tls.is_some() {
        let (found, _) = speech(&Target { tls: None, ..target.clone() });
        let found = found?;
        let plain = "it does not speak TLS: leave out --tls-ca and --tls-insecure";
        return Some(other(found).map_or(plain.to_owned(), |other| format!("{plain}; {other}")));
    }
    let tls = TlsConnector::new("localhost", &Trust::Anybody).ok()?;
    let (found, is_encrypted) = speech(&Target { tls: Some(tls), ..target.clone() });
    if !is_encrypted {
        return None;
    }
    let tls = "it expects TLS: write --tls-ca FILE, or --tls-insecure";
    Some(found.and_then(other).map_or(tls.to_owned(), |other| format!("{tls}; {other}")))
}

/// Sends a question on a connection of its own, and hears the reply until it is whole, the server closes
/// the connection, or it takes too long.
fn ask(target: &Target, question: &[u8], is_whole: impl Fn(&[u8]) -> bool) -> Result<Heard, Error> {
    let mut session = target.connect()?;
    let mut pool = Pool::new(REPLY_BYTES, question.len(), 1);
    let (_, send) = session.buffers();
    send.lend(&mut pool);
    send.put_with(|out| out.extend_from_slice(question));
    let begun = Instant::now();
    loop {
        let exchanged = session.flush(&mut pool).and_then(|_| session.fill(&mut pool, 1));
        let heard = session.recv().filled();
        let is_over = match &exchanged {
            Ok(Fill::Some { .. }) => is_whole(heard),
            Ok(Fill::Blocked) => begun.elapsed() > REPLY_MAX,
            Ok(Fill::Closed) => true,
            Err(error) => error.kind() != io::ErrorKind::Interrupted,
        };
        if is_over || heard.len() >= REPLY_BYTES {
            let is_encrypted = target.tls.is_some() && !session.is_handshaking();
            return Ok(Heard { bytes: heard.to_vec(), is_encrypted });
        }
        if matches!(exchanged, Ok(Fill::Blocked)) {
            sleep(LOOK_EVERY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_in_the_servers_own_words() {
        let told = |protocol, bytes: &[u8]| version(protocol, bytes);
        assert_eq!(
            told(Protocol::Memcache, b"VERSION 1.6.45\r\n"),
            Some(Some("1.6.45".to_owned()))
        );
        assert_eq!(told(Protocol::Memcache, b"-ERR unknown command\r\n"), None);
        let info =
            "# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:9.1.0\r\n";
        let reply = format!("${}\r\n{info}\r\n", info.len());
        assert_eq!(told(Protocol::Resp2, reply.as_bytes()), Some(Some("valkey 9.1.0".to_owned())));
        assert_eq!(version_of_info("redis_version:8.0.2\r\n").as_deref(), Some("redis 8.0.2"));
        // It wants a password, or is another server that knows RESP when it sees it.
        assert_eq!(told(Protocol::Resp3, b"-NOAUTH Authentication required.\r\n"), None);
        assert!(is_whole(Protocol::Resp3, b"-NOAUTH Authentication required.\r\n"));
        assert!(is_whole(Protocol::Resp2, b"ERROR\r\n"));
        assert!(!is_whole(Protocol::Resp2, b"$5\r\nab"));
        assert_eq!(told(Protocol::Resp2, b"ERROR\r\n"), None);
        assert_eq!(told(Protocol::Ping, b"PONG\r\n"), Some(None));
        assert_eq!(told(Protocol::Ping, b"+PONG\r\n"), None);
    }

    #[test]
    fn a_reply_to_a_ping_tells_the_protocol() {
        for (reply, speech) in [
            (&b"PONG\r\n"[..], Some(Speech::Ping)),
            (b"+PONG\r\n", Some(Speech::Resp)),
            (b"-NOAUTH Authentication required.\r\n", Some(Speech::Resp)),
            (b"ERROR\r\n", Some(Speech::Memcache)),
            (b"HTTP/1.1 400 Bad Request\r\n", Some(Speech::Http)),
            // An alert of TLS.
            (b"\x15\x03\x01\x00\x02\x02\x46", None),
            (b"", None),
        ] {
            assert_eq!(Speech::heard(reply), speech, "{}", reply.escape_ascii());
        }
    }
}
