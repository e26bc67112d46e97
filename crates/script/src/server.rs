// SPDX-License-Identifier: Apache-2.0
//! What a VM asks of the program around it: [`Server`] runs commands, [`Sink`] takes the reply.

use crate::texts::Texts;

/// The version of the protocol in which a script gets replies (`redis.setresp`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplyVersion {
    /// RESP2.
    #[default]
    Two,
    /// RESP3.
    Three,
}

/// How important a line of the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// `redis.LOG_DEBUG`
    Debug,
    /// `redis.LOG_VERBOSE`
    Verbose,
    /// `redis.LOG_NOTICE`
    Notice,
    /// `redis.LOG_WARNING`
    Warning,
}

/// Whether a script may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// It may.
    On,
    /// It is ended, and this is the error.
    Stop(&'static str),
}

/// Runs the commands of a script.
pub trait Server {
    /// Runs a command and hands over its reply as it is sent to clients, errors of the command among them.
    ///
    /// # Errors
    ///
    /// The text of the error if the command may not run at all, beginning with its code. It has been counted, as
    /// errors of commands have.
    fn call(
        &mut self,
        command: Texts<'_>,
        resp: ReplyVersion,
        reply: &mut dyn FnMut(&[u8]),
    ) -> Result<(), String>;

    /// Whether the user who runs the script may run a command.
    ///
    /// # Errors
    ///
    /// The text of the error if there is no such command.
    fn may_run(&mut self, command: Texts<'_>) -> Result<bool, String>;

    /// Writes a line to the log.
    fn log(&mut self, level: Level, text: &[u8]);

    /// Whether the script may go on. Asked often, so it is cheap.
    fn go_on(&mut self) -> Go;
}

/// Takes what a script returns, an element after the other. Of an aggregate its length comes first.
pub trait Sink {
    /// No value.
    fn null(&mut self);
    /// A boolean.
    fn boolean(&mut self, value: bool);
    /// An integer.
    fn integer(&mut self, value: i64);
    /// A floating-point number.
    fn double(&mut self, value: f64);
    /// A string.
    fn bulk(&mut self, text: &[u8]);
    /// A status, which may have line ends.
    fn status(&mut self, text: &[u8]);
    /// An error that the script returns; `is_counted`: it has not come from a command, which has counted it.
    fn error(&mut self, text: &[u8], is_counted: bool);
    /// An array of so many elements.
    fn array(&mut self, len: usize);
    /// A map of so many pairs.
    fn map(&mut self, len: usize);
    /// A set of so many elements.
    fn set(&mut self, len: usize);
    /// A number of any size, which may have line ends.
    fn big_number(&mut self, digits: &[u8]);
    /// A text with its format.
    fn verbatim(&mut self, format: &[u8], text: &[u8]);
}
