// SPDX-License-Identifier: Apache-2.0
//! The flags that say where results go.

use crate::report::{html, paint, text, write, write_json};
use crate::{Error, Outcome, Plan, Provenance, ServerFacts, Target, identify};
use serde::Serialize;
use std::io::{Write, stdout};
use std::path::PathBuf;

/// Prints to standard output, with colours on a terminal. Who has closed it does not want to know.
pub(crate) fn print(text: &str) {
    let mut stdout = stdout();
    let _ = if paint::is_wanted(&stdout) {
        stdout.write_all(paint::paint(text).as_bytes())
    } else {
        stdout.write_all(text.as_bytes())
    };
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

    /// Write the plot that stands for the others as SVG: of a run latency over time, of a sweep and a comparison
    /// p999 against throughput, of a fan-out latency by width
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// A file: what was found, and how.
#[derive(Debug, Serialize)]
struct Document<'a, T> {
    provenance: &'a Provenance,
    #[serde(flatten)]
    content: &'a T,
}

/// What this machine and the servers are.
///
/// # Errors
///
/// When a server cannot be reached, or speaks another protocol.
pub(crate) fn provenance(plan: &Plan) -> Result<Provenance, Error> {
    let facts = |target: Target| {
        let version = identify(&target)?;
        Ok(ServerFacts { name: target.to_string(), version })
    };
    let servers = plan.targets().into_iter().map(facts).collect::<Result<_, Error>>()?;
    Ok(Provenance::gather().with_servers(servers))
}

impl OutputArgs {
    /// Prints one run, and writes its files.
    pub(crate) fn tell(&self, outcome: &Outcome, provenance: &Provenance) -> Result<(), Error> {
        print(&text::provenance(provenance));
        print(&text::summary(outcome));
        let page = || html::run_page(outcome, provenance);
        self.write(outcome, provenance, page, || html::run_svg(outcome, provenance))
    }

    /// Writes the files that were asked for.
    pub(crate) fn write(
        &self,
        content: &impl Serialize,
        provenance: &Provenance,
        page: impl FnOnce() -> String,
        svg: impl FnOnce() -> String,
    ) -> Result<(), Error> {
        if let Some(path) = &self.json {
            write_json(path, &Document { provenance, content })?;
        }
        if let Some(path) = &self.html {
            write(path, &page())?;
        }
        match &self.svg {
            Some(path) => write(path, &svg()),
            None => Ok(()),
        }
    }
}
