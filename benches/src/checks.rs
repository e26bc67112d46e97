// SPDX-License-Identifier: Apache-2.0
//! Shared by the programs that check servers: their arguments, the paths of the servers, and the engines that
//! the kernel supports.

use std::fmt::Display;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// What a program that checks servers for some time is told.
#[derive(Debug, clap::Args)]
// Without a group of its own: that would have the name of the program's arguments, of which these are a part.
#[group(skip)]
pub struct Arguments {
    /// The seed of what clients ask for; another each time unless given. How requests of several clients
    /// mix is not repeated by it.
    #[arg(long)]
    seed: Option<u64>,
    /// Only cases with this in their names, such as "rds, io_uring".
    #[arg(long, default_value = "")]
    only: String,
    /// Where segcache and rds are; beside this program unless given.
    #[arg(long)]
    binaries: Option<PathBuf>,
}

/// What is checked, and how.
#[derive(Debug)]
pub struct Plan<T> {
    /// What clients ask for follows from it.
    pub seed: u64,
    /// The folder of the servers.
    pub binaries: PathBuf,
    /// What is checked: one at least.
    pub cases: Vec<T>,
    /// How long each of them lasts.
    pub span: Duration,
}

impl Arguments {
    /// The plan for all of the seed's `cases` that were asked for and need no engine that the kernel refuses, for so
    /// many seconds together. Prints the seed.
    ///
    /// # Errors
    ///
    /// No case is left, servers are missing, or io_uring is refused and may not be.
    pub fn plan<T: Display>(
        &self,
        cases: impl FnOnce(u64) -> Vec<T>,
        engine: impl Fn(&T) -> &str,
        seconds: u64,
    ) -> Result<Plan<T>, String> {
        let seed = self.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
        let binaries = self.binaries()?;
        let mut cases = cases(seed);
        cases.retain(|case| case.to_string().contains(&self.only));
        retain_usable(&mut cases, engine)?;
        if cases.is_empty() {
            return Err(format!("no case has {:?} in its name", self.only));
        }
        println!("seed {seed}, {} cases", cases.len());
        let span = Duration::from_secs(seconds) / cases.len() as u32;
        Ok(Plan { seed, binaries, cases, span })
    }

    /// Where the servers are.
    fn binaries(&self) -> Result<PathBuf, String> {
        let folder = match &self.binaries {
            Some(folder) => folder.clone(),
            None => {
                let this = std::env::current_exe().map_err(|error| error.to_string())?;
                this.parent().expect("a program is in a folder").to_owned()
            }
        };
        for name in ["segcache", "rds"] {
            if !folder.join(name).exists() {
                let folder = folder.display();
                return Err(format!(
                    "{folder}/{name} is missing: cargo build --release --bin {name}"
                ));
            }
        }
        Ok(folder)
    }
}

/// Leaves out what needs io_uring where the kernel refuses it, which is said. Fails instead where
/// `SHOEBILL_REQUIRE_IO_URING` is set.
fn retain_usable<T>(cases: &mut Vec<T>, engine: impl Fn(&T) -> &str) -> Result<(), String> {
    let disabled = fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
    if disabled.is_ok_and(|text| text.trim() != "0") {
        if std::env::var_os("SHOEBILL_REQUIRE_IO_URING").is_some() {
            return Err("io_uring is refused, and SHOEBILL_REQUIRE_IO_URING is set".to_owned());
        }
        println!("*** SKIPPED: the kernel refuses io_uring; NOTHING of it is checked ***");
        cases.retain(|case| engine(case) != "io_uring");
    }
    Ok(())
}

/// How such a program ends: with what went wrong, if something did.
pub fn end(checked: Result<(), String>) -> ExitCode {
    match checked {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("FAIL: {what}");
            ExitCode::FAILURE
        }
    }
}
