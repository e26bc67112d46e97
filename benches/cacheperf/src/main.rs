// SPDX-License-Identifier: Apache-2.0
//! The program `cacheperf`. All of its code is in the library.
#![forbid(unsafe_code)]

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    cacheperf::cli::Args::parse().execute()
}
