// SPDX-License-Identifier: Apache-2.0
//! What a caller sees when a configuration cannot be used.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::size::ByteSize;

/// Why a configuration was not loaded or printed.
///
/// The text of each variant is complete: show it to the operator and stop.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read. Correct the path or the permissions.
    #[error("cannot read the configuration file \"{}\": {source}", path.display())]
    Read {
        /// The path as it was given.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The file is larger than any configuration. Another file was probably meant.
    #[error("{name}: larger than {limit}, the most a configuration file may have")]
    TooLarge {
        /// The name of the file or text.
        name: String,
        /// The most it may have.
        limit: ByteSize,
    },
    /// The text is not a valid configuration. Correct each problem.
    #[error("{}", list(problems, *more))]
    Invalid {
        /// The first [`crate::MAX_PROBLEMS`] problems in the order of the file. Never empty.
        problems: Vec<Problem>,
        /// How many further problems there are.
        more: usize,
    },
    /// A size or a duration cannot be read from its text. Write one as `example` shows.
    #[error("{reason}; write {expected}, such as \"{example}\"")]
    Quantity {
        /// What is wrong with the text.
        reason: String,
        /// What is wanted: a size or a duration.
        expected: &'static str,
        /// A valid text.
        example: &'static str,
    },
    /// The settings have no form in TOML, for example an array with a `None` in it.
    #[error("cannot print the configuration: {reason}")]
    Print {
        /// The serializer's reason.
        reason: String,
    },
}

impl Error {
    /// The problems found in the text; empty for errors of another kind.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        match self {
            Error::Invalid { problems, .. } => problems,
            _ => &[],
        }
    }
}

fn list(problems: &[Problem], more: usize) -> String {
    let mut text = problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n");
    if more > 0 {
        text.push_str(&format!("\nand {more} more"));
    }
    text
}

/// What kind of mistake a [`Problem`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The text is not UTF-8.
    Encoding,
    /// The text is not TOML.
    Syntax,
    /// No setting has this name.
    UnknownKey,
    /// The value has the wrong type, is out of range, missing or refused by its setting.
    Value,
}

/// A place in the text. Both numbers start at 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character within the line.
    pub column: usize,
}

/// One mistake in the text of a configuration.
///
/// Its text is `name:line:column: message`, followed by the line and a caret under the mistake.
///
/// ```
/// # #[derive(Debug, serde::Deserialize)] struct Settings { port: u16 }
/// let error = config::parse::<Settings>("port = 70000", "my.toml").unwrap_err();
/// let problem = &error.problems()[0];
/// assert_eq!(problem.kind(), config::ProblemKind::Value);
/// assert_eq!(problem.position().map(|p| (p.line, p.column)), Some((1, 8)));
/// assert_eq!(
///     problem.message(),
///     "port: found the integer 70000, expected an integer from 0 to 65535"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub(crate) kind: ProblemKind,
    pub(crate) name: String,
    pub(crate) position: Option<Position>,
    pub(crate) message: String,
    pub(crate) excerpt: String,
}

impl Problem {
    /// What kind of mistake it is.
    #[must_use]
    pub fn kind(&self) -> ProblemKind {
        self.kind
    }

    /// Where it is; `None` if it concerns the text as a whole.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        self.position
    }

    /// What is wrong and what to do, in one line.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.name)?;
        if let Some(Position { line, column }) = self.position {
            write!(f, "{line}:{column}:")?;
        }
        write!(f, " {}", self.message)?;
        if !self.excerpt.is_empty() {
            write!(f, "\n{}", self.excerpt)?;
        }
        Ok(())
    }
}
