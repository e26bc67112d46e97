// SPDX-License-Identifier: Apache-2.0
//! The command line that all servers share.

use crate::Error;
use crate::settings::{Configuration, Engine, SectionsMut};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of every server, to flatten into its own.
///
/// ```
/// use clap::Parser;
///
/// #[derive(Parser)]
/// struct Args {
///     #[command(flatten)]
///     common: server::cli::CommonArgs,
/// }
///
/// let args = Args::parse_from(["demo", "--list-metrics", "demo.toml"]);
/// assert_eq!(args.common.config.unwrap().to_str(), Some("demo.toml"));
/// ```
#[derive(clap::Args, Debug)]
pub struct CommonArgs {
    /// Configuration file (TOML); defaults apply without one
    pub config: Option<PathBuf>,

    /// TCP port of the admin plane [default: 9999]
    #[arg(long, value_name = "NUM")]
    pub admin_port: Option<u16>,

    /// How workers learn what their sockets do [default: auto]
    #[arg(long, value_enum, value_name = "NAME")]
    pub engine: Option<Engine>,

    /// Record the CPU time of each turn of the event loops: metric shoebill_turn_cpu_seconds
    #[arg(long)]
    pub turn_cpu_time: bool,

    /// Check the configuration and exit
    #[arg(long)]
    pub check_config: bool,

    /// Print the effective configuration as TOML and exit
    #[arg(long)]
    pub print_config: bool,

    /// Print name, labels, type and meaning of every metric that this configuration has and exit
    #[arg(long)]
    pub list_metrics: bool,
}

impl CommonArgs {
    /// Overrides the file's settings with those of the command line.
    pub fn apply(&self, config: &mut impl Configuration) {
        let SectionsMut { admin, worker, .. } = config.sections_mut();
        if let Some(port) = self.admin_port {
            admin.enabled = true;
            admin.port = port;
        }
        if let Some(engine) = self.engine {
            worker.engine = engine;
        }
        worker.turn_cpu_time |= self.turn_cpu_time;
    }

    /// The configuration of the file, or the defaults without a file, changed by these arguments.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or is wrong.
    pub fn load<T: Configuration + DeserializeOwned + Default>(&self) -> Result<T, Error> {
        let mut config = match &self.config {
            Some(path) => config::load(path)?,
            None => T::default(),
        };
        self.apply(&mut config);
        Ok(config)
    }

    /// The text to print instead of starting, if the command line asks for one. Call it once the
    /// configuration has been checked.
    ///
    /// # Errors
    ///
    /// When the configuration cannot be written as TOML.
    pub fn answer<T: Serialize>(&self, config: &T) -> Result<Option<String>, Error> {
        if self.list_metrics {
            return Ok(Some(metrics_table()));
        }
        if self.print_config {
            return Ok(Some(config::print(config)?));
        }
        let file = self.config.as_deref().unwrap_or("the default configuration".as_ref());
        Ok(self.check_config.then(|| format!("{}: ok\n", file.display())))
    }
}

fn metrics_table() -> String {
    let rows: Vec<_> = metrics::list();
    let name = |row: &metrics::Description| match &row.labels[..] {
        [] => row.name.to_owned(),
        labels => format!("{}{{{}}}", row.name, labels.join(",")),
    };
    let width = rows.iter().map(|row| name(row).len()).max().unwrap_or(0);
    let line = |row: &metrics::Description| {
        format!("{:width$}  {:9}  {}\n", name(row), row.kind.to_string(), row.help)
    };
    rows.iter().map(line).collect()
}

/// The arguments of the program. Ends the program if they are wrong, or if they ask only for help or the
/// version.
#[must_use]
pub fn parse<T: clap::Parser>() -> T {
    T::try_parse().unwrap_or_else(|error| refuse(error))
}

/// Ends the program with clap's message about its arguments.
pub fn refuse(mut error: clap::Error) -> ! {
    // clap suggests how to pass the flag as a file name, which nobody wants.
    error.remove(clap::error::ContextKind::Suggested);
    error.exit()
}

/// Whether the process may have `bytes` of address space (`ulimit -v`). It allocates nothing.
#[must_use]
pub fn has_address_space(bytes: u64) -> bool {
    // If the system does not tell the limit, there is none.
    rlimit::Resource::AS.get().map_or(true, |(soft, _)| soft >= bytes)
}

/// The exit code of a server's `main`. Prints the error, if there is one.
pub fn exit_code(result: Result<(), Error>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::FAILURE
        }
    }
}

/// Prints the error with which a server ends.
pub(crate) fn report(error: &Error) {
    eprintln!("error: {error}");
}

/// Prints to standard output; a reader that has gone away is no error.
pub fn print(text: &str) {
    use std::io::Write;
    let _ = std::io::stdout().write_all(text.as_bytes());
}
