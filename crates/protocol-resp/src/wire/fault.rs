// SPDX-License-Identifier: Apache-2.0
//! [`Fault`]: an error reply to a command.

use std::borrow::Cow;

/// An error reply: its code, a space, and a message, without the leading `-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(Cow<'static, [u8]>);

/// The result of a command function: `Ok` if it has written its reply, or the error that is its
/// reply.
///
/// A function must not fail once it has begun to write.
pub type Done = Result<(), Fault>;

impl Fault {
    /// The key holds a value of another type.
    pub const WRONG_TYPE: Fault =
        Fault::new("WRONGTYPE Operation against a key holding the wrong kind of value");
    /// The arguments do not follow the command's syntax.
    pub const SYNTAX: Fault = Fault::new("ERR syntax error");
    /// An argument, or the value to be changed, is no integer of 64 bits.
    pub const NOT_INTEGER: Fault = Fault::new("ERR value is not an integer or out of range");
    /// An argument, or the value to be changed, is no number.
    pub const NOT_FLOAT: Fault = Fault::new("ERR value is not a valid float");
    /// There is no such key, where there must be one.
    pub const NO_SUCH_KEY: Fault = Fault::new("ERR no such key");
    /// An index lies outside of the value.
    pub const INDEX_OUT_OF_RANGE: Fault = Fault::new("ERR index out of range");
    /// An integer that must not be negative is, or is too large.
    pub const OUT_OF_RANGE: Fault = Fault::new("ERR value is out of range");
    /// An integer that must be positive is not.
    pub const NOT_POSITIVE: Fault = Fault::new("ERR value is out of range, must be positive");
    /// An integer whose sign means something has no counterpart of the other sign.
    pub const NOT_NEGATABLE: Fault = Fault::new(
        "ERR value is out of range, value must between -9223372036854775807 and \
         9223372036854775807",
    );
    /// There is no room, and nothing may be evicted.
    pub const OUT_OF_MEMORY: Fault =
        Fault::new("OOM command not allowed when used memory > 'maxmemory'.");

    /// Clients hold as much memory as they may without a `maxmemory`.
    pub(crate) const TOO_MUCH_HELD: Fault =
        Fault::new("OOM command not allowed when clients hold a quarter of the machine's memory.");
    /// An integer would not fit 64 bits any more.
    pub const OVERFLOW: Fault = Fault::new("ERR increment or decrement would overflow");
    /// The negative of an argument does not fit 64 bits.
    pub const DECREMENT_OVERFLOW: Fault = Fault::new("ERR decrement would overflow");
    /// A floating-point number would not be finite any more.
    pub const NOT_FINITE: Fault = Fault::new("ERR increment would produce NaN or Infinity");
    /// A place in a string that must not be negative is.
    pub const BAD_OFFSET: Fault = Fault::new("ERR offset is out of range");
    /// A string would get longer than strings may be.
    pub const TOO_LONG: Fault =
        Fault::new("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
    /// There is no such database.
    pub const NO_SUCH_DATABASE: Fault = Fault::new("ERR DB index is out of range");
    /// A time to wait is less than none.
    pub const TIMEOUT_NEGATIVE: Fault = Fault::new("ERR timeout is negative");
    /// A script that takes too long has locked what the command needs.
    pub(crate) const BUSY: Fault = Fault::new(
        "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
    );
    /// A function that takes too long has locked what the command needs.
    pub(crate) const BUSY_FUNCTION: Fault = Fault::new(
        "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.",
    );
    /// The connection has not authenticated itself.
    pub const NO_AUTH: Fault = Fault::new("NOAUTH Authentication required.");

    /// An error with a fixed text.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Fault(Cow::Borrowed(text.as_bytes()))
    }

    /// An error with a text built at run time. Line ends in it become spaces when it is written.
    #[must_use]
    pub fn made(text: impl Into<Vec<u8>>) -> Self {
        Fault(Cow::Owned(text.into()))
    }

    /// The wrong number of arguments for the command of this name; that of a sub-command is
    /// `container|sub`.
    #[must_use]
    pub fn arity(name: &str) -> Self {
        Fault::made(format!("ERR wrong number of arguments for '{name}' command"))
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.0
    }

    /// The first word, by which errors are counted: `ERR`, `WRONGTYPE`, ...
    #[must_use]
    pub fn code(&self) -> &[u8] {
        code_of(&self.0)
    }
}

/// The most bytes of an error in which the end of its code is searched.
const CODE_END: usize = 31;

/// The code of an error without its leading `-`. As in Redis an error that does not begin with a
/// short word counts as `ERR`, so every error has a name.
pub(crate) fn code_of(text: &[u8]) -> &[u8] {
    let space = text.iter().take(CODE_END).position(|&byte| byte == b' ');
    space.filter(|&space| space > 0).map_or(b"ERR", |space| &text[..space])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_the_first_word() {
        assert_eq!(Fault::WRONG_TYPE.code(), b"WRONGTYPE");
        assert_eq!(Fault::arity("client|kill").code(), b"ERR");
        assert_eq!(Fault::arity("get").text(), b"ERR wrong number of arguments for 'get' command");
    }

    #[test]
    fn an_error_without_a_code_counts_as_err() {
        let long = format!("{} x", "a".repeat(31));
        for text in ["", " x", "x", &long] {
            assert_eq!(code_of(text.as_bytes()), b"ERR", "{text:?}");
        }
        assert_eq!(code_of(&long.as_bytes()[1..]).len(), 30);
    }
}
