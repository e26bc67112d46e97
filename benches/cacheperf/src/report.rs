// SPDX-License-Identifier: Apache-2.0
//! The reports of a run: a text for people, a JSON file for programs, a page with plots.

pub mod compare;
pub mod fan_out;
pub mod html;
pub(crate) mod paint;
mod plot;
mod plots;
pub mod replay;
pub mod sweep;
pub mod text;

use crate::Error;
use serde::Serialize;
use std::fs;
use std::path::Path;

/// Writes a file of JSON.
///
/// # Errors
///
/// [`Error::File`], when it cannot be written.
pub fn write_json(path: &Path, content: &impl Serialize) -> Result<(), Error> {
    let mut text =
        serde_json::to_string_pretty(content).map_err(|error| Error::file(path, &error))?;
    text.push('\n');
    write(path, &text)
}

/// Writes a file.
///
/// # Errors
///
/// [`Error::File`], when it cannot be written.
pub fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(|error| Error::file(path, &error))
}
