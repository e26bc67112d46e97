// SPDX-License-Identifier: Apache-2.0
//! Operations to bytes and bytes to answers, in memcache's protocol and in Redis's.

use super::model::{Action, Answer, End, Form, Op, Value};
use super::text::{self, Piece};
use protocol_memcache::client as memcache;
use protocol_memcache::{Direction, Exptime, Mode, Set};
use protocol_resp::client as resp;

/// Seconds of an expiry that does not come while a check runs.
const FAR_S: i64 = 100_000;
/// Seconds that `BLPOP` waits.
const WAIT_S: &str = "0.003";

/// A protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// memcache's.
    Memcache,
    /// Redis's.
    Resp,
}

/// The first reply in some bytes and how many they are, or why it is none.
type Found = Result<Option<(Answer, usize)>, String>;

impl Wire {
    /// Appends the request for an operation on some keys.
    ///
    /// # Panics
    ///
    /// When the protocol has no such operation.
    pub fn write(self, op: &Op, keys: &[Vec<u8>], out: &mut Vec<u8>) {
        match self {
            Wire::Memcache => write_memcache(op, keys, out),
            Wire::Resp => write_resp(op, keys, out),
        }
    }

    /// Reads the answer to an operation. What is no answer to it is [`Answer::Odd`].
    ///
    /// # Errors
    ///
    /// The connection cannot be used any more.
    pub fn read(self, op: &Op, input: &[u8]) -> Found {
        match self {
            Wire::Memcache => read_memcache(op, input),
            Wire::Resp => read_resp(op, input),
        }
    }
}

fn rendered(pieces: &[Piece]) -> Vec<u8> {
    let mut out = Vec::new();
    text::write(pieces, &mut out);
    out
}

/// What a text says, or that it is torn.
fn text_answer(bytes: &[u8]) -> Answer {
    text::read(bytes).map_or_else(Answer::Odd, |pieces| Answer::Value(Value::Text(pieces)))
}

fn write_memcache(op: &Op, keys: &[Vec<u8>], out: &mut Vec<u8>) {
    let Op::On(slot, action) = op else { panic!("memcache has no {op:?}") };
    let key = &keys[*slot][..];
    let mut encoder = memcache::Encoder::new(out);
    let mut write = |mode, pieces: &[Piece], cas| {
        let value = &rendered(pieces)[..];
        let exptime = Exptime(if value.len().is_multiple_of(2) { 0 } else { FAR_S });
        encoder.store(&Set { key, value, cas, flags: 0, exptime, mode }, false);
    };
    match action {
        Action::Read => encoder.get(&[key]),
        Action::ReadTouch => encoder.gat(Exptime(FAR_S), &[key]),
        Action::ReadMark => encoder.gets(&[key]),
        Action::Write(text) => write(Mode::Set, text, 0),
        Action::Add(text) => write(Mode::Add, text, 0),
        Action::Replace(text) => write(Mode::Replace, text, 0),
        Action::Compare(text, cas) => write(Mode::Cas, text, *cas),
        Action::Append(piece) => write(Mode::Append, &[*piece], 0),
        Action::Prepend(piece) => write(Mode::Prepend, &[*piece], 0),
        Action::Increase(by) => encoder.arith(Direction::Up, key, *by, false),
        Action::Remove => encoder.delete(key, false),
        Action::Touch => encoder.touch(key, Exptime(FAR_S), false),
        Action::Lapse => encoder.touch(key, Exptime(-1), false),
        Action::Swap(_)
        | Action::Extend(_)
        | Action::Count(_)
        | Action::Take
        | Action::Expire
        | Action::Watch(_)
        | Action::Push(..)
        | Action::Pop(_)
        | Action::Await(_)
        | Action::Range => panic!("memcache has no {action:?}"),
    }
}

fn read_memcache(op: &Op, input: &[u8]) -> Found {
    let fault = |error: memcache::Unreadable| format!("{error} to {op:?}");
    let Some((reply, len)) = memcache::parse(input).map_err(fault)? else { return Ok(None) };
    let is_read = matches!(op, Op::On(_, Action::Read | Action::ReadTouch | Action::ReadMark));
    let answer = match reply {
        memcache::Reply::Value { value, cas, .. } => {
            let Some((end, more)) = memcache::parse(&input[len..]).map_err(fault)? else {
                return Ok(None);
            };
            let answer = match (text_answer(value), cas) {
                _ if end != memcache::Reply::End => Answer::Odd(format!("{end:?} for END")),
                (Answer::Value(value), Some(cas)) => Answer::Marked(value, cas),
                (answer, _) => answer,
            };
            return Ok(Some((answer, len + more)));
        }
        memcache::Reply::End if is_read => Answer::Missing,
        memcache::Reply::Stored | memcache::Reply::Deleted | memcache::Reply::Touched => {
            Answer::Done
        }
        memcache::Reply::NotStored => Answer::NotDone,
        memcache::Reply::Exists => Answer::Changed,
        memcache::Reply::NotFound => Answer::Missing,
        memcache::Reply::Number(number) => Answer::Number(number),
        memcache::Reply::Error(line) if line.starts_with(b"SERVER_ERROR out of memory") => {
            Answer::Refused
        }
        memcache::Reply::Error(line)
            if line.starts_with(b"CLIENT_ERROR cannot increment or decrement non-numeric") =>
        {
            Answer::NotNumber
        }
        reply => Answer::Odd(format!("{reply:?}")),
    };
    Ok(Some((answer, len)))
}

fn write_resp(op: &Op, keys: &[Vec<u8>], out: &mut Vec<u8>) {
    let mut send = |words: &[&[u8]]| resp::Encoder::new(out).request(words);
    match op {
        Op::On(slot, action) => write_action(action, &keys[*slot], out),
        Op::Move { from, to } => send(&[
            b"LMOVE",
            &keys[from.0],
            &keys[to.0],
            side(from.1, b"LEFT", b"RIGHT"),
            side(to.1, b"LEFT", b"RIGHT"),
        ]),
        Op::All { form: Form::Exec, ops, .. } => {
            send(&[b"MULTI"]);
            for op in ops {
                write_resp(op, keys, out);
            }
            resp::Encoder::new(out).request([b"EXEC"]);
        }
        Op::All { form, ops, .. } => {
            let mut words =
                vec![if *form == Form::Mget { b"MGET".to_vec() } else { b"MSET".to_vec() }];
            for op in ops {
                let Op::On(slot, action) = op else { panic!("{form:?} has no {op:?}") };
                words.push(keys[*slot].clone());
                if let Action::Write(text) = action {
                    words.push(rendered(text));
                }
            }
            resp::Encoder::new(out).request(&words);
        }
    }
}

fn side<'a>(end: End, left: &'a [u8], right: &'a [u8]) -> &'a [u8] {
    if end == End::Left { left } else { right }
}

/// Chooses between two ways to say the same, so that both are tried.
fn other_way(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| matches!(piece, Piece::Token(token) if token >> 20 & 1 == 1))
}

fn write_action(action: &Action, key: &[u8], out: &mut Vec<u8>) {
    let mut send = |words: &[&[u8]]| resp::Encoder::new(out).request(words);
    let far = FAR_S.to_string();
    match action {
        Action::Read => send(&[b"GET", key]),
        Action::ReadTouch => send(&[b"GETEX", key, b"EX", far.as_bytes()]),
        Action::Write(text) if other_way(text) => {
            send(&[b"SET", key, &rendered(text), b"EX", far.as_bytes()]);
        }
        Action::Write(text) => send(&[b"SET", key, &rendered(text)]),
        Action::Add(text) if other_way(text) => send(&[b"SETNX", key, &rendered(text)]),
        Action::Add(text) => send(&[b"SET", key, &rendered(text), b"NX"]),
        Action::Replace(text) => send(&[b"SET", key, &rendered(text), b"XX"]),
        Action::Swap(text) if other_way(text) => send(&[b"GETSET", key, &rendered(text)]),
        Action::Swap(text) => send(&[b"SET", key, &rendered(text), b"GET"]),
        Action::Extend(piece) => send(&[b"APPEND", key, &rendered(&[*piece])]),
        Action::Count(1) => send(&[b"INCR", key]),
        Action::Count(by) => send(&[b"INCRBY", key, by.to_string().as_bytes()]),
        Action::Remove => send(&[b"DEL", key]),
        Action::Take => send(&[b"GETDEL", key]),
        Action::Touch | Action::Expire => send(&[b"EXPIRE", key, far.as_bytes()]),
        Action::Lapse => send(&[b"EXPIRE", key, b"-1"]),
        Action::Watch(_) => send(&[b"WATCH", key]),
        Action::Push(end, tokens) => {
            let mut words = vec![side(*end, b"LPUSH", b"RPUSH").to_vec(), key.to_vec()];
            words.extend(tokens.iter().map(|token| rendered(&[Piece::Token(*token)])));
            resp::Encoder::new(out).request(&words);
        }
        Action::Pop(end) => send(&[side(*end, b"LPOP", b"RPOP"), key]),
        Action::Await(end) => send(&[side(*end, b"BLPOP", b"BRPOP"), key, WAIT_S.as_bytes()]),
        Action::Range => send(&[b"LRANGE", key, b"0", b"-1"]),
        Action::ReadMark
        | Action::Compare(..)
        | Action::Append(_)
        | Action::Prepend(_)
        | Action::Increase(_) => panic!("RESP has no {action:?}"),
    }
}

fn read_resp(op: &Op, input: &[u8]) -> Found {
    let mut replies = Vec::new();
    let mut at = 0;
    for _ in 0..replies_to(op) {
        match resp::parse(&input[at..]).map_err(|error| format!("{error} to {op:?}"))? {
            None => return Ok(None),
            Some((reply, len)) => {
                replies.push(reply);
                at += len;
            }
        }
    }
    let last = *replies.last().expect("there is one");
    if let Some(refused) = replies.iter().find(|reply| is_refusal(**reply)) {
        // A transaction with a refused request in it must not be carried out.
        let aborted = is_refusal(last)
            || matches!(last, resp::Reply::Error(text) if text.starts_with(b"EXECABORT"));
        let answer = if aborted {
            Answer::Refused
        } else {
            Answer::Odd(format!("{last:?} after {refused:?}"))
        };
        return Ok(Some((answer, at)));
    }
    Ok(Some((answer_of(op, last), at)))
}

/// How many replies a request is answered by.
fn replies_to(op: &Op) -> usize {
    match op {
        Op::All { form: Form::Exec, ops, .. } => 2 + ops.len(),
        Op::All { form: Form::Mget | Form::Mset, .. } | Op::On(..) | Op::Move { .. } => 1,
    }
}

/// Whether there was no room: for a request, or for the transaction that EXEC is to carry out.
fn is_refusal(reply: resp::Reply<'_>) -> bool {
    let texts: [&[u8]; 2] = [b"OOM ", b"EXECABORT Transaction discarded because of: OOM "];
    matches!(reply, resp::Reply::Error(text) if texts.iter().any(|start| text.starts_with(start)))
}

fn answer_of(op: &Op, reply: resp::Reply<'_>) -> Answer {
    match (op, reply) {
        (Op::All { ops, .. }, resp::Reply::Array(items)) if items.len() == ops.len() => {
            Answer::All(ops.iter().zip(items).map(|(op, item)| answer_of(op, item)).collect())
        }
        (Op::All { .. }, resp::Reply::Null) => Answer::Changed,
        (Op::All { form: Form::Mset, ops, .. }, resp::Reply::Simple(b"OK")) => {
            Answer::All(vec![Answer::Done; ops.len()])
        }
        (Op::On(_, action), reply) => answer_to(action, reply),
        (Op::Move { from, .. }, reply) => answer_to(&Action::Pop(from.1), reply),
        (Op::All { .. }, reply) => Answer::Odd(format!("{reply:?}")),
    }
}

fn answer_to(action: &Action, reply: resp::Reply<'_>) -> Answer {
    use resp::Reply;
    let conditional = matches!(action, Action::Add(_) | Action::Replace(_));
    let counts = matches!(action, Action::Extend(_) | Action::Count(_) | Action::Push(..));
    let lists = matches!(action, Action::Pop(_) | Action::Await(_) | Action::Range);
    match reply {
        Reply::Error(text) if text.starts_with(b"WRONGTYPE ") => Answer::WrongType,
        Reply::Error(text) if text.starts_with(b"ERR value is not an integer") => Answer::NotNumber,
        Reply::Error(text) if text.starts_with(b"OOM ") => Answer::Refused,
        Reply::Simple(b"OK") => Answer::Done,
        Reply::Null if conditional => Answer::NotDone,
        Reply::Integer(0) if conditional => Answer::NotDone,
        Reply::Null => Answer::Missing,
        Reply::Integer(number) if counts => {
            u64::try_from(number).map_or_else(|_| Answer::Odd(number.to_string()), Answer::Number)
        }
        Reply::Integer(1) => Answer::Done,
        Reply::Integer(0) => Answer::Missing,
        Reply::Bulk(bytes) if lists => tokens([bytes]),
        Reply::Bulk(bytes) => text_answer(bytes),
        Reply::Array(items) if lists => {
            // BLPOP names the key first.
            let skip = usize::from(matches!(action, Action::Await(_)));
            tokens(items.skip(skip).map(|item| match item {
                Reply::Bulk(bytes) => bytes,
                _ => b"no element",
            }))
        }
        reply => Answer::Odd(format!("{reply:?}")),
    }
}

/// The elements of a list, each of which is one token.
fn tokens<'a>(elements: impl IntoIterator<Item = &'a [u8]>) -> Answer {
    let mut tokens = Vec::new();
    for element in elements {
        match text::read(element).as_deref() {
            Ok([Piece::Token(token)]) => tokens.push(*token),
            Ok(_) => return Answer::Odd(format!("element \"{}\"", element.escape_ascii())),
            Err(torn) => return Answer::Odd(torn.clone()),
        }
    }
    Answer::Value(Value::List(tokens))
}
