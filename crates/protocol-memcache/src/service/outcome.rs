// SPDX-License-Identifier: Apache-2.0
//! [`Outcome`]: what a request came to.

use crate::reply;
use buffer::SendBuf;

/// What a request came to: its reply line, and a word for the command log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Ok,
    Hit,
    Miss,
    Stored,
    NotStored,
    Exists,
    NotFound,
    Deleted,
    Touched,
    Number(u64),
    NotANumber,
    TooLarge,
    OutOfMemory,
    Error,
    Closed,
}

impl Outcome {
    /// Appends the reply line, unless the client wants none. Only for outcomes that have one: what
    /// a hit or a miss looks like, the reading commands know.
    #[inline]
    pub(super) fn tell(self, quiet: bool, out: &mut SendBuf) -> Self {
        if !quiet {
            match self {
                Outcome::Number(number) => reply::number(out, number),
                outcome => out.put(outcome.line()),
            }
        }
        self
    }

    #[inline]
    fn line(self) -> &'static [u8] {
        match self {
            Outcome::Ok => reply::OK,
            Outcome::Stored => reply::STORED,
            Outcome::NotStored => reply::NOT_STORED,
            Outcome::Exists => reply::EXISTS,
            Outcome::NotFound => reply::NOT_FOUND,
            Outcome::Deleted => reply::DELETED,
            Outcome::Touched => reply::TOUCHED,
            Outcome::NotANumber => reply::NOT_A_NUMBER,
            Outcome::TooLarge => reply::TOO_LARGE,
            Outcome::OutOfMemory => reply::OUT_OF_MEMORY,
            Outcome::Error => reply::ERROR,
            Outcome::Hit | Outcome::Miss | Outcome::Number(_) | Outcome::Closed => b"",
        }
    }

    /// The word for the command log.
    pub(super) fn word(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Hit => "hit",
            Outcome::Miss => "miss",
            Outcome::Stored | Outcome::Number(_) => "stored",
            Outcome::NotStored => "not_stored",
            Outcome::Exists => "exists",
            Outcome::NotFound => "not_found",
            Outcome::Deleted => "deleted",
            Outcome::Touched => "touched",
            Outcome::NotANumber => "not_a_number",
            Outcome::TooLarge => "too_large",
            Outcome::OutOfMemory => "out_of_memory",
            Outcome::Error => "error",
            Outcome::Closed => "closed",
        }
    }
}
