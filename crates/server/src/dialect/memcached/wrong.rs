// SPDX-License-Identifier: Apache-2.0
//! [`Wrong`]: a command line that is not accepted, in one sentence that names the flag and its value.

use super::{Flag, codes};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error as _;
use std::fmt;
use std::num::{ParseFloatError, ParseIntError};

/// Why a command line is not carried out.
#[derive(Debug)]
#[non_exhaustive]
pub enum Wrong {
    /// It asks for text alone: the help or the version.
    Shown(clap::Error),
    /// It is not accepted.
    Refused {
        /// The flag, its value and what is wrong with it.
        message: String,
        /// The exit code, which is memcached's.
        code: u8,
    },
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Shown(text) => text.fmt(f),
            Wrong::Refused { message, .. } => f.write_str(message),
        }
    }
}

impl Wrong {
    pub(super) fn new<C>(error: clap::Error, flags: &[Flag<C>]) -> Self {
        if !error.use_stderr() {
            return Wrong::Shown(error);
        }
        let argument = context(&error, ContextKind::InvalidArg);
        // In the form of the help, such as `--port <NUM>`.
        let argument = argument.split(' ').next().unwrap_or_default();
        let flag = flags.iter().find(|flag| match argument.strip_prefix("--") {
            Some(long) => flag.id() == long,
            None => flag.short() == argument,
        });
        let name = flag.map_or(argument, |flag| flag.short());
        let value = context(&error, ContextKind::InvalidValue);
        let message = match error.kind() {
            ErrorKind::UnknownArgument if name.starts_with('-') => {
                format!("{name}: there is no such flag, see --help")
            }
            ErrorKind::UnknownArgument => format!("{name}: there is a configuration file already"),
            ErrorKind::InvalidValue if value.is_empty() => format!("{name}: needs a value"),
            ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
                format!("{name} {value}: {}", reason(&error))
            }
            ErrorKind::TooManyValues => format!("{name} {value}: takes no value"),
            kind => format!("{name}: {kind}"),
        };
        let code = if value.is_empty() { codes::FAILURE } else { codes::of_value(name) };
        Wrong::Refused { message, code }
    }
}

fn context(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        _ => String::new(),
    }
}

/// What is wrong with a value.
fn reason(error: &clap::Error) -> String {
    let Some(source) = error.source() else {
        return format!("expected one of {}", context(error, ContextKind::ValidValue));
    };
    if source.is::<ParseIntError>() {
        return "expected a whole number".to_owned();
    }
    if source.is::<ParseFloatError>() {
        return "expected a number".to_owned();
    }
    let text = source.to_string();
    // clap's words about a range: "70000 is not in 0..=65535".
    match text.split_once(" is not in ").and_then(|(_, range)| range.split_once("..=")) {
        Some((least, most)) => format!("expected a number from {least} to {most}"),
        None => text,
    }
}
