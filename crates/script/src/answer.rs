// SPDX-License-Identifier: Apache-2.0
//! What a script returns as a reply.

use crate::arguments::{numeric, text_of};
use crate::guard::Guard;
use crate::number;
use crate::server::{ReplyVersion, Sink};
use mlua::{Table, Value};

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

/// Writes a value of a script, which has got replies in this version.
pub(crate) fn write(value: &Value, resp: ReplyVersion, guard: &Guard, sink: &mut dyn Sink) {
    Answer { resp, guard, sink, left: BYTES_MAX, tables: 0 }.value(value, 0);
}

struct Answer<'a> {
    resp: ReplyVersion,
    guard: &'a Guard,
    sink: &'a mut dyn Sink,
    /// Bytes that may still be written.
    left: usize,
    tables: u32,
}

/// A field of a table, past its metatable as Redis reads it.
fn field(table: &Table, name: &str) -> Value {
    table.raw_get(name).unwrap_or(Value::Nil)
}

/// How many pairs a table has.
fn count(table: &Table) -> usize {
    table.pairs::<Value, Value>().map_while(Result::ok).count()
}

impl Answer<'_> {
    fn value(&mut self, value: &Value, depth: usize) {
        self.left = self.left.saturating_sub(match value {
            Value::String(text) => VALUE_BYTES + text.as_bytes().len(),
            Value::Table(_) => TABLE_BYTES,
            _ => VALUE_BYTES,
        });
        if self.left == 0 {
            return self.sink.error(TOO_DEEP, true);
        }
        match value {
            Value::String(text) => self.sink.bulk(&text.as_bytes()),
            Value::Integer(number) => self.sink.integer(*number),
            Value::Number(number) => self.sink.integer(number::truncated(*number)),
            Value::Boolean(value) => match (self.resp, value) {
                (ReplyVersion::Three, value) => self.sink.boolean(*value),
                (ReplyVersion::Two, true) => self.sink.integer(1),
                (ReplyVersion::Two, false) => self.sink.null(),
            },
            Value::Table(_) if depth >= DEPTH_MAX => self.sink.error(TOO_DEEP, true),
            Value::Table(table) => self.table(table, depth),
            _ => self.sink.null(),
        }
    }

    fn table(&mut self, table: &Table, depth: usize) {
        self.tables += 1;
        if self.tables.is_multiple_of(TABLES) && !self.guard.may_go_on() {
            self.left = 0;
            return self.sink.error(TOO_DEEP, true);
        }
        if let Value::String(text) = field(table, "err") {
            let counted = field(table, "ignore_error_stats_update");
            return self.sink.error(&text.as_bytes(), counted != Value::Boolean(true));
        }
        if let Value::String(text) = field(table, "ok") {
            return self.sink.status(&text.as_bytes());
        }
        if let Some(number) = numeric(&field(table, "double")) {
            return self.sink.double(number);
        }
        if let Value::Table(pairs) = field(table, "map") {
            self.sink.map(count(&pairs));
            return self.pairs(&pairs, true, depth);
        }
        if let Value::Table(set) = field(table, "set") {
            self.sink.set(count(&set));
            return self.pairs(&set, false, depth);
        }
        if let Value::String(digits) = field(table, "big_number") {
            return self.sink.big_number(&digits.as_bytes());
        }
        if let Value::Table(verbatim) = field(table, "verbatim_string")
            && let Some(text) = text_of(&field(&verbatim, "string"))
            && let Some(format) = text_of(&field(&verbatim, "format"))
        {
            return self.sink.verbatim(&format, &text);
        }
        // An array ends at its first hole.
        let element = |at: usize| table.raw_get(at).unwrap_or(Value::Nil);
        let end = (1..).find(|at| element(*at).is_nil()).unwrap_or(1);
        self.sink.array(end - 1);
        for at in 1..end {
            self.value(&element(at), depth + 1);
        }
    }

    /// The keys of a table, and its values behind them.
    fn pairs(&mut self, table: &Table, with_values: bool, depth: usize) {
        for (key, value) in table.pairs::<Value, Value>().map_while(Result::ok) {
            self.value(&key, depth + 1);
            if with_values {
                self.value(&value, depth + 1);
            }
        }
    }
}
