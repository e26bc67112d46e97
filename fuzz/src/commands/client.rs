// SPDX-License-Identifier: Apache-2.0
//! [`Client`]: one connection, the commands it has sent and the replies it must get.

use super::catalogue::Words;
use buffer::{Pool, RecvBuf, SendBuf};
use protocol::ConnectionId;
use protocol_resp::client::{self, Value};
use protocol_resp::service::Resp;
use reactor::Pipeline;
use std::collections::{BTreeSet, VecDeque};
use std::io::IoSlice;

/// A connection without a socket, and what is known of it from its replies.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) id: ConnectionId,
    pub(crate) pipeline: Pipeline<Resp>,
    pub(crate) recv: RecvBuf,
    pub(crate) send: SendBuf,
    /// Bytes that were sent to it and not looked at yet.
    pub(crate) output: Vec<u8>,
    pub(crate) closed: bool,
    /// Commands that have not had their replies.
    pub(crate) sent: VecDeque<Sent>,
    /// Raw bytes were sent, or replies switched off, so that replies cannot be predicted any more.
    pub(crate) is_lenient: bool,
    /// Commands since then.
    pub(crate) strange: usize,
    pub(crate) known: Known,
}

/// What follows from a client's commands and their replies.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The selected database.
    pub(crate) db: usize,
    /// Between MULTI and EXEC: what has been queued.
    pub(crate) queue: Option<Vec<Words>>,
    /// The keys that it watches, and whether one has changed since.
    pub(crate) watched: BTreeSet<(usize, Vec<u8>)>,
    pub(crate) is_spoilt: bool,
    /// What it listens to, each with the word that began it.
    pub(crate) listens: BTreeSet<(Vec<u8>, Vec<u8>)>,
    /// It sees all commands.
    pub(crate) is_monitor: bool,
}

/// A command that waits for its reply.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) words: Words,
    /// Confirmations that are to come in place of a reply, if it is about channels.
    pub(crate) confirmations: usize,
    /// Since when it blocks, if it does.
    pub(crate) blocks_since_ms: Option<u64>,
}

/// What came to a client in one step.
#[derive(Debug, Default)]
pub(crate) struct Received {
    /// Commands with their replies.
    pub(crate) replies: Vec<(Words, Value)>,
    /// Published messages.
    pub(crate) messages: usize,
}

impl Client {
    pub(crate) fn new(id: ConnectionId, resp: Resp) -> Self {
        Client {
            id,
            pipeline: Pipeline::new(resp),
            recv: RecvBuf::new(),
            send: SendBuf::new(),
            output: Vec::new(),
            closed: false,
            sent: VecDeque::new(),
            is_lenient: false,
            strange: 0,
            known: Known::default(),
        }
    }

    /// Lets bytes arrive.
    pub(crate) fn arrive(&mut self, mut bytes: &[u8], pool: &mut Pool) {
        while !bytes.is_empty() {
            self.recv.reserve(1, pool);
            let n = self.recv.put(bytes);
            bytes = &bytes[n..];
        }
    }

    /// Takes what is to be sent.
    pub(crate) fn flush(&mut self, pool: &mut Pool) {
        while !self.send.is_empty() {
            let mut slices = [IoSlice::new(&[]); 4];
            let filled = self.send.slices(&mut slices);
            let mut n = 0;
            for slice in &slices[..filled] {
                self.output.extend_from_slice(slice);
                n += slice.len();
            }
            self.send.consume(n);
        }
        self.send.release(pool);
    }

    /// Whether a command of this name waits for something.
    pub(crate) fn waits_in(&self) -> Option<&Sent> {
        self.sent.front().filter(|_| self.pipeline.is_blocked())
    }

    /// Checks all bytes received: they are replies, as many as are due, in the order of the commands.
    pub(crate) fn receive(&mut self, now_ms: u64) -> Received {
        let mut received = Received::default();
        let output = std::mem::take(&mut self.output);
        let mut rest = &output[..];
        while !rest.is_empty() {
            let parsed = client::parse(rest).unwrap_or_else(|_| panic!("no reply: {}", show(rest)));
            let Some((reply, len)) = parsed else { panic!("half a reply: {}", show(rest)) };
            rest = &rest[len..];
            let value = Value::from(reply);
            check_errors(&value);
            self.take_in(value, &mut received);
        }
        if self.is_lenient {
            self.sent.clear();
        } else if let (true, Some(sent)) = (self.pipeline.is_blocked(), self.sent.front_mut()) {
            sent.blocks_since_ms.get_or_insert(now_ms);
        } else if !self.closed {
            assert!(self.sent.is_empty(), "no reply to {}", show_words(&self.sent[0].words));
        }
        received
    }

    fn take_in(&mut self, value: Value, received: &mut Received) {
        let head = head(&value);
        if is_message(head) {
            received.messages += usize::from(!is_invalidation(&value));
            return;
        }
        if self.known.is_monitor && is_monitored(&value) || self.is_lenient {
            return;
        }
        let Some(sent) = self.sent.front_mut() else { panic!("a reply to nothing: {value:?}") };
        if sent.confirmations > 0 && is_confirmation(head) {
            sent.confirmations -= 1;
            let is_whole = sent.confirmations == 0;
            self.known.confirm(&value);
            if is_whole {
                self.sent.pop_front();
            }
            return;
        }
        assert!(!is_confirmation(head), "{} is answered by {value:?}", show_words(&sent.words));
        let words = self.sent.pop_front().map(|sent| sent.words).unwrap_or_default();
        received.replies.push((words, value));
    }
}

impl Known {
    /// Ends its transaction and its watches.
    pub(crate) fn forget_transaction(&mut self) {
        self.queue = None;
        self.watched.clear();
        self.is_spoilt = false;
    }

    /// Takes note of what it listens to, and checks the count.
    fn confirm(&mut self, value: &Value) {
        let items = value.as_items().unwrap_or_default();
        let [word, name, Value::Integer(count)] = items else {
            panic!("no confirmation: {value:?}")
        };
        let word = word.as_bytes().unwrap_or_default().to_vec();
        let kind = |word: &[u8]| word.strip_suffix(b"subscribe").unwrap_or_default().to_vec();
        match (word.strip_suffix(b"unsubscribe"), name.as_bytes()) {
            (None, Some(name)) => {
                self.listens.insert((kind(&word), name.to_vec()));
            }
            (Some(kind), Some(name)) => {
                self.listens.remove(&(kind.to_vec(), name.to_vec()));
            }
            (Some(_), None) => {}
            (None, None) => panic!("{value:?} names nothing"),
        }
        let is_shard = word.first() == Some(&b's') && !word.starts_with(b"subscribe");
        let counted = self.listens.iter().filter(|(kind, _)| (kind == b"s") == is_shard).count();
        assert_eq!(*count, counted as i64, "{value:?}, but it listens to {:?}", self.listens);
    }
}

/// The first word of an array or a push.
fn head(value: &Value) -> &[u8] {
    let first = match value {
        Value::Array(items) | Value::Push(items) => items.first(),
        _ => None,
    };
    first.and_then(Value::as_bytes).unwrap_or_default()
}

fn is_message(head: &[u8]) -> bool {
    matches!(
        head,
        b"message" | b"pmessage" | b"smessage" | b"invalidate" | b"tracking-redir-broken"
    )
}

/// Whether a message is one of those to clients that cache keys.
fn is_invalidation(message: &Value) -> bool {
    let words = message.as_items().unwrap_or_default();
    let is = |at: usize, word: &[u8]| words.get(at).and_then(Value::as_bytes) == Some(word);
    is(0, b"invalidate") || is(0, b"tracking-redir-broken") || is(1, b"__redis__:invalidate")
}

fn is_confirmation(head: &[u8]) -> bool {
    matches!(
        head,
        b"subscribe"
            | b"unsubscribe"
            | b"psubscribe"
            | b"punsubscribe"
            | b"ssubscribe"
            | b"sunsubscribe"
    )
}

/// Whether it is a line of MONITOR: a time, a database, a command.
fn is_monitored(value: &Value) -> bool {
    let Value::Simple(line) = value else { return false };
    line.first().is_some_and(u8::is_ascii_digit) && line.contains(&b'[')
}

/// Each error has a code in capitals, wherever in a reply it is.
fn check_errors(value: &Value) {
    match value {
        Value::Error(text) => {
            let code = text.split(|&byte| byte == b' ').next().unwrap_or_default();
            let is_code = !code.is_empty() && code.iter().all(u8::is_ascii_uppercase);
            assert!(is_code, "an error without a code: {}", show(text));
            assert!(text.len() > code.len() + 1, "an error without a text: {}", show(text));
        }
        Value::Map(pairs) => pairs.iter().for_each(|(key, value)| {
            check_errors(key);
            check_errors(value);
        }),
        other => other.as_items().unwrap_or_default().iter().for_each(check_errors),
    }
}

/// Bytes for people, not too many.
pub(crate) fn show(bytes: &[u8]) -> String {
    bytes[..bytes.len().min(300)].escape_ascii().to_string()
}

/// A command for people.
pub(crate) fn show_words(words: &Words) -> String {
    let words = words.iter().map(|word| show(&word[..word.len().min(60)]));
    words.take(20).map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ")
}
