// SPDX-License-Identifier: Apache-2.0
//! The flags that say where results go.

use crate::report::{html, text, write, write_json};
use crate::{Error, Outcome};
use serde::Serialize;
use std::io::{Write, stdout};
use std::path::PathBuf;

/// Prints to standard output. Who has closed it does not want to know.
pub(crate) fn print(text: &str) {
    let _ = stdout().write_all(text.as_bytes());
}

/// Where results go, besides standard output.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Results")]
pub(crate) struct OutputArgs {
    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the results as a page with plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl OutputArgs {
    /// Prints one run, and writes its files.
    pub(crate) fn tell(&self, outcome: &Outcome) -> Result<(), Error> {
        print(&text::summary(outcome));
        self.write(outcome, || html::run_page(outcome))
    }

    /// Writes the files that were asked for.
    pub(crate) fn write(
        &self,
        content: &impl Serialize,
        page: impl FnOnce() -> String,
    ) -> Result<(), Error> {
        if let Some(path) = &self.json {
            write_json(path, content)?;
        }
        match &self.html {
            Some(path) => write(path, &page()),
            None => Ok(()),
        }
    }
}
