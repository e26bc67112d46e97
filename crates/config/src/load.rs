// SPDX-License-Identifier: Apache-2.0
//! From bytes to settings and back.

use std::fs::File;
use std::io::{self, Read};
use std::marker::PhantomData;
use std::path::Path as FilePath;
use std::str;

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::de::{Fault, Node, Notes, UnknownKey};
use crate::depth::{MAX_DEPTH, too_deep};
use crate::error::{Error, Problem, ProblemKind};
use crate::size::ByteSize;
use crate::source::{Source, quoted, shorten};
use crate::span::Span;
use crate::suggest::{advice, closest};

/// The most bytes a configuration may have: 1 MiB.
pub const MAX_BYTES: usize = 1 << 20;

/// How many problems of one text are shown.
pub const MAX_PROBLEMS: usize = 20;

/// The path that stands for the standard input.
pub const STANDARD_INPUT: &str = "-";

/// Loads the settings from the file at `path`; from the standard input for [`STANDARD_INPUT`].
///
/// # Errors
///
/// [`Error::Read`] if the file cannot be read, and everything [`parse`] gives.
pub fn load<T: DeserializeOwned>(path: impl AsRef<FilePath>) -> Result<T, Error> {
    let path = path.as_ref();
    let bytes = read(path)?;
    parse(bytes, &name(path))
}

/// What a file is called in messages.
#[must_use]
pub fn name(path: &FilePath) -> String {
    match path.to_str() {
        Some(STANDARD_INPUT) => "the standard input".to_owned(),
        _ => path.display().to_string(),
    }
}

/// Reads a file of any format of at most [`MAX_BYTES`]; the standard input for
/// [`STANDARD_INPUT`]. Of a longer file, a device or a pipe, at most one byte more than that is read.
///
/// # Errors
///
/// [`Error::Read`] if it cannot be read, [`Error::TooLarge`] if it is larger.
pub fn read(path: impl AsRef<FilePath>) -> Result<Vec<u8>, Error> {
    let path = path.as_ref();
    let mut bytes = Vec::new();
    let most = MAX_BYTES as u64 + 1;
    let outcome = match path.to_str() {
        Some(STANDARD_INPUT) => io::stdin().lock().take(most).read_to_end(&mut bytes),
        _ => File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)),
    };
    outcome.map_err(|source| Error::Read { path: path.to_owned(), source })?;
    if bytes.len() > MAX_BYTES { Err(too_large(&name(path))) } else { Ok(bytes) }
}

fn too_large(name: &str) -> Error {
    Error::TooLarge { name: name.to_owned(), limit: ByteSize(MAX_BYTES as u64) }
}

/// Reads the settings from `text`; errors call the text `name`.
///
/// All unknown keys are reported together, except those that come after a wrong value: the first
/// wrong value ends the reading.
///
/// ```
/// #[derive(Debug, serde::Deserialize)]
/// struct Settings {
///     threads: u8,
/// }
///
/// let settings: Settings = config::parse("threads = 4", "inline")?;
/// assert_eq!(settings.threads, 4);
/// assert!(config::parse::<Settings>(b"threads = \xff", "inline").is_err());
/// # Ok::<(), config::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::TooLarge`] above [`MAX_BYTES`]; [`Error::Invalid`] if the text is not UTF-8, not TOML,
/// or does not fit the settings.
pub fn parse<T: DeserializeOwned>(text: impl AsRef<[u8]>, name: &str) -> Result<T, Error> {
    let bytes = text.as_ref();
    if bytes.len() > MAX_BYTES {
        return Err(too_large(name));
    }
    let text = str::from_utf8(bytes).map_err(|error| not_utf8(bytes, error, name))?;
    let source = Source::new(name, text);
    let document = document(&source, text)?;
    let notes = Notes::default();
    let result = Node::document(&document, &notes).read(PhantomData::<T>);
    let mut unknown = notes.unknown.into_inner();
    match result {
        Ok(settings) if unknown.is_empty() => Ok(settings),
        result => {
            unknown.sort_by_key(|key| key.span.start);
            Err(report(&source, &unknown, &notes.tables.into_inner(), result.err()))
        }
    }
}

/// The tree of values.
fn document<'t>(source: &Source<'_>, text: &'t str) -> Result<Spanned<DeValue<'t>>, Error> {
    if let Some(span) = too_deep(text) {
        let message = format!("more than {MAX_DEPTH} levels of tables and arrays");
        let problem = source.problem(ProblemKind::Syntax, Some(span), &message);
        return Err(invalid(vec![problem], 0));
    }
    let document =
        DeTable::parse(text).map_err(|error| invalid(vec![syntax(source, &error)], 0))?;
    let span = document.span();
    Ok(Spanned::new(span, DeValue::Table(document.into_inner())))
}

/// All that is wrong, in the order of the file: `unknown` keys, which are in that order, and the
/// `fault` that ended the reading.
fn report(
    source: &Source<'_>,
    unknown: &[UnknownKey],
    tables: &[(String, &'static [&'static str])],
    fault: Option<Fault>,
) -> Error {
    let found = unknown.len() + usize::from(fault.is_some());
    let mut problems: Vec<Problem> = Vec::new();
    for key in unknown.iter().take(MAX_PROBLEMS - usize::from(fault.is_some())) {
        let message = explain(key, tables);
        problems.push(source.problem(ProblemKind::UnknownKey, Some(key.span.clone()), &message));
    }
    if let Some(fault) = fault {
        problems.push(source.problem(ProblemKind::Value, fault.span(), &fault.to_string()));
        problems.sort_by_key(Problem::position);
    }
    let more = found - problems.len();
    invalid(problems, more)
}

/// The settings as TOML that loads back to the same value.
///
/// # Errors
///
/// [`Error::Print`] if the settings have no form in TOML: an array with a `None` in it, an integer
/// beyond 64 bits, or a `T` that is not a struct or map.
pub fn print<T: Serialize>(settings: &T) -> Result<String, Error> {
    toml::to_string_pretty(settings).map_err(|error| Error::Print { reason: error.to_string() })
}

fn invalid(problems: Vec<Problem>, more: usize) -> Error {
    Error::Invalid { problems, more }
}

fn not_utf8(bytes: &[u8], error: str::Utf8Error, name: &str) -> Error {
    let valid = error.valid_up_to();
    // The line with the bad byte, as far as it can be shown.
    let end = bytes[valid..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| valid + n);
    let text = String::from_utf8_lossy(&bytes[..end]);
    let message = format!("the byte 0x{:02x} is not UTF-8; save the file as UTF-8", bytes[valid]);
    let span = valid..valid + char::REPLACEMENT_CHARACTER.len_utf8();
    let problem = Source::new(name, &text).problem(ProblemKind::Encoding, Some(span), &message);
    invalid(vec![problem], 0)
}

fn syntax(source: &Source<'_>, error: &toml::de::Error) -> Problem {
    let mut message = shorten(error.message(), 240);
    if let Some(span) = error.span()
        && let Some(quantity) = unquoted_quantity(source.word_at(span.start))
    {
        message = format!("a size or duration is written in quotes: {}", quoted(quantity, 40));
    }
    source.problem(ProblemKind::Syntax, error.span(), &message)
}

/// The word, if it is a size or a duration that lacks its quotes.
fn unquoted_quantity(word: &str) -> Option<&str> {
    (word.parse::<ByteSize>().is_ok() || word.parse::<Span>().is_ok()).then_some(word)
}

/// What is wrong with the key, and which one was probably meant.
fn explain(unknown: &UnknownKey, tables: &[(String, &'static [&'static str])]) -> String {
    let UnknownKey { key, table, known, .. } = unknown;
    let start = format!("unknown key {} {table}", quoted(key, 40));
    let elsewhere = tables.iter().find(|(_, fields)| fields.contains(&key.as_str()));
    match elsewhere {
        Some((other, _)) if closest(key, known).is_none() => {
            format!("{start}; it belongs {other}")
        }
        _ => format!("{start}{}", advice(key, known)),
    }
}
