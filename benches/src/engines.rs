// SPDX-License-Identifier: Apache-2.0
//! What programs that check servers share: where the servers are, and which engines the kernel has.

use std::fs;
use std::path::{Path, PathBuf};

/// Where the servers are: at `given`, or beside this program.
///
/// # Errors
///
/// They are not there.
pub fn binaries(given: Option<&Path>) -> Result<PathBuf, String> {
    let folder = match given {
        Some(folder) => folder.to_owned(),
        None => {
            let this = std::env::current_exe().map_err(|error| error.to_string())?;
            this.parent().expect("a program is in a folder").to_owned()
        }
    };
    for name in ["segcache", "rds"] {
        if !folder.join(name).exists() {
            let folder = folder.display();
            return Err(format!("{folder}/{name} is missing: cargo build --release --bin {name}"));
        }
    }
    Ok(folder)
}

/// Leaves out what needs io_uring where the kernel refuses it, which is said. Fails instead where
/// `SHOEBILL_REQUIRE_IO_URING` is set.
///
/// # Errors
///
/// See above.
pub fn retain<T>(cases: &mut Vec<T>, engine: impl Fn(&T) -> &str) -> Result<(), String> {
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
