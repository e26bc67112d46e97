// SPDX-License-Identifier: Apache-2.0
//! A [`Sink`] and a [`Server`] for tests and fuzzers of this crate and of those above it.

use crate::server::{Go, Level, ReplyVersion, Server, Sink};
use crate::texts::Texts;
use std::fmt::Write;

/// A reply as text: `"bulk"`, `+status`, `-error`, `[2]` before the elements of an array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextReply(pub String);

impl TextReply {
    fn put(&mut self, what: impl std::fmt::Display) {
        if !self.0.is_empty() {
            self.0.push(' ');
        }
        let _ = write!(self.0, "{what}");
    }
}

impl Sink for TextReply {
    fn null(&mut self) {
        self.put("null");
    }

    fn boolean(&mut self, value: bool) {
        self.put(value);
    }

    fn integer(&mut self, value: i64) {
        self.put(value);
    }

    fn double(&mut self, value: f64) {
        self.put(format_args!(",{value}"));
    }

    fn bulk(&mut self, text: &[u8]) {
        self.put(format_args!("\"{}\"", text.escape_ascii()));
    }

    fn status(&mut self, text: &[u8]) {
        self.put(format_args!("+{}", text.escape_ascii()));
    }

    fn error(&mut self, text: &[u8], _: bool) {
        self.put(format_args!("-{}", text.escape_ascii()));
    }

    fn array(&mut self, len: usize) {
        self.put(format_args!("[{len}]"));
    }

    fn map(&mut self, len: usize) {
        self.put(format_args!("%{len}"));
    }

    fn set(&mut self, len: usize) {
        self.put(format_args!("~{len}"));
    }

    fn big_number(&mut self, digits: &[u8]) {
        self.put(format_args!("({}", digits.escape_ascii()));
    }

    fn verbatim(&mut self, format: &[u8], text: &[u8]) {
        self.put(format_args!("={}:{}", format.escape_ascii(), text.escape_ascii()));
    }
}

/// A server whose commands all have the same reply.
#[derive(Clone, Debug)]
pub struct Canned {
    /// The reply to each command, as bytes on the wire.
    pub reply: Vec<u8>,
    /// The arguments of the commands that it was given.
    pub seen: Vec<Vec<Vec<u8>>>,
    /// The lines it has logged.
    pub lines: Vec<Vec<u8>>,
    /// How often a script may go on.
    pub patience: u64,
}

impl Default for Canned {
    fn default() -> Self {
        Canned { reply: b"+OK\r\n".to_vec(), seen: vec![], lines: vec![], patience: u64::MAX }
    }
}

impl Server for Canned {
    fn call(
        &mut self,
        command: Texts<'_>,
        _: ReplyVersion,
        reply: &mut dyn FnMut(&[u8]),
    ) -> Result<(), String> {
        self.seen.push(command.iter().map(<[u8]>::to_vec).collect());
        reply(&self.reply);
        Ok(())
    }

    fn may_run(&mut self, _: Texts<'_>) -> Result<bool, String> {
        Ok(true)
    }

    fn log(&mut self, _: Level, text: &[u8]) {
        self.lines.push(text.to_vec());
    }

    fn go_on(&mut self) -> Go {
        match self.patience.checked_sub(1) {
            Some(left) => {
                self.patience = left;
                Go::On
            }
            None => Go::Stop("ERR Script killed by user with SCRIPT KILL."),
        }
    }
}
