// SPDX-License-Identifier: Apache-2.0
//! What a script returns as a reply.

use crate::guard::Guard;
use crate::native::{FieldName, Kind, Part, Stack};
use crate::number;
use crate::server::{ReplyVersion, Sink};

/// How deep tables in a reply are nested at most.
const DEPTH_MAX: usize = 1000;

/// The most bytes of a reply, about: a table that is in many places is written as often. What is beyond becomes an
/// error, as does what comes after the script was ended.
const BYTES_MAX: usize = 512 << 20;

/// What a table counts in this.
const TABLE_BYTES: usize = 256;

/// What other values count, besides their text.
const VALUE_BYTES: usize = 8;

/// How many tables are written between two looks at whether the script may go on.
const TABLES: u32 = 1024;

/// The reply in place of a table that is nested too deeply, as Redis has it.
const TOO_DEEP: &[u8] = b"ERR reached lua stack limit";

/// Room for what a table has on the stack: a field, a key, a value, and a copy of the key.
const ROOM: i32 = 4;

/// Writes the result of a script, which has got replies in this version.
pub(crate) fn write(mut stack: Stack<'_>, resp: ReplyVersion, guard: &Guard, sink: &mut dyn Sink) {
    Answer { resp, guard, sink, left: BYTES_MAX, tables: 0 }.value(&mut stack, 0);
}

struct Answer<'a> {
    resp: ReplyVersion,
    guard: &'a Guard,
    sink: &'a mut dyn Sink,
    /// Bytes that may still be written.
    left: usize,
    tables: u32,
}

/// The fields that say what kind of reply a table is if it is no error, in Redis's order.
const KINDS: [FieldName; 6] = [
    FieldName::Ok,
    FieldName::Double,
    FieldName::Map,
    FieldName::Set,
    FieldName::BigNumber,
    FieldName::VerbatimString,
];

impl Answer<'_> {
    /// Writes the value on top of the stack, where it stays.
    fn value(&mut self, stack: &mut Stack<'_>, depth: usize) {
        let value = stack.top();
        self.left = self.left.saturating_sub(match value {
            Kind::Text(text) => VALUE_BYTES + text.len(),
            Kind::Table => TABLE_BYTES,
            _ => VALUE_BYTES,
        });
        if self.left == 0 {
            return self.sink.error(TOO_DEEP, true);
        }
        match value {
            Kind::Text(text) => self.sink.bulk(text),
            Kind::Number(number) => self.sink.integer(number::truncated(number)),
            Kind::Boolean(value) => match (self.resp, value) {
                (ReplyVersion::Three, value) => self.sink.boolean(value),
                (ReplyVersion::Two, true) => self.sink.integer(1),
                (ReplyVersion::Two, false) => self.sink.null(),
            },
            Kind::Table => self.table(stack, depth),
            Kind::Nil | Kind::Other => self.sink.null(),
        }
    }

    fn table(&mut self, stack: &mut Stack<'_>, depth: usize) {
        if depth >= DEPTH_MAX || !stack.has_room(ROOM) {
            return self.sink.error(TOO_DEEP, true);
        }
        self.tables += 1;
        if self.tables.is_multiple_of(TABLES) && !self.guard.may_go_on() {
            self.left = 0;
            return self.sink.error(TOO_DEEP, true);
        }
        stack.push_field(FieldName::Err);
        let error = if let Kind::Text(text) = stack.top() { Some(text.to_vec()) } else { None };
        stack.pop();
        if let Some(text) = error {
            stack.push_field(FieldName::IgnoreErrorStatsUpdate);
            self.sink.error(&text, stack.top() != Kind::Boolean(true));
            return stack.pop();
        }
        for name in KINDS {
            stack.push_field(name);
            let is_written = self.field(stack, name, depth);
            stack.pop();
            if is_written {
                return;
            }
        }
        self.array(stack, depth);
    }

    /// Writes a table whose field with this name is on top, past its metatable as Redis reads it, if it is a reply
    /// of this kind.
    fn field(&mut self, stack: &mut Stack<'_>, name: FieldName, depth: usize) -> bool {
        match (name, stack.top()) {
            (FieldName::Ok, Kind::Text(text)) => self.sink.status(text),
            (FieldName::Double, Kind::Number(number)) => self.sink.double(number),
            (FieldName::Map, Kind::Table) => {
                self.sink.map(count(stack));
                self.pairs(stack, true, depth);
            }
            (FieldName::Set, Kind::Table) => {
                self.sink.set(count(stack));
                self.pairs(stack, false, depth);
            }
            (FieldName::BigNumber, Kind::Text(digits)) => self.sink.big_number(digits),
            (FieldName::VerbatimString, Kind::Table) => {
                let (text, format) =
                    (text_of(stack, FieldName::String), text_of(stack, FieldName::Format));
                let (Some(text), Some(format)) = (text, format) else { return false };
                self.sink.verbatim(&format, &text);
            }
            _ => return false,
        }
        true
    }

    /// An array, which ends at its first hole.
    fn array(&mut self, stack: &mut Stack<'_>, depth: usize) {
        let end = (1..).find(|at| {
            stack.push_element(*at);
            let is_end = stack.top() == Kind::Nil;
            stack.pop();
            is_end
        });
        let end = end.unwrap_or(1);
        self.sink.array(end - 1);
        for at in 1..end {
            stack.push_element(at);
            self.value(stack, depth + 1);
            stack.pop();
        }
    }

    /// The keys of the table on top, and its values behind them.
    fn pairs(&mut self, stack: &mut Stack<'_>, with_values: bool, depth: usize) {
        stack.each_pair(|stack, part| {
            if part == Part::Key || with_values {
                self.value(stack, depth + 1);
            }
        });
    }
}

/// How many pairs the table on top has.
fn count(stack: &mut Stack<'_>) -> usize {
    let mut count = 0;
    stack.each_pair(|_, part| count += usize::from(part == Part::Key));
    count
}

/// A field of the table on top as text, if it is text or a number.
fn text_of(stack: &mut Stack<'_>, name: FieldName) -> Option<Vec<u8>> {
    stack.push_field(name);
    let text = match stack.top() {
        Kind::Text(text) => Some(text.to_vec()),
        Kind::Number(number) => Some(number::general(number, number::LUA_DIGITS).into()),
        _ => None,
    };
    stack.pop();
    text
}
