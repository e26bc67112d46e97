// SPDX-License-Identifier: Apache-2.0
//! memcached, with which servers and clients of its protocol are compared.

use crate::child::{self, Child};
use std::fmt;
use std::io::Write;
use std::net::SocketAddr;
use std::process::Command;

/// Names the program; without it, memcached is searched for on the `PATH`.
const PROGRAM: &str = "SHOEBILL_MEMCACHED";

/// A version of memcached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

/// The version whose replies are to be reproduced. Its parser is another than that of 1.6.38 and before.
pub const REFERENCE: Version = Version(1, 6, 45);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl Version {
    /// The version in what `memcached -V` prints: `memcached 1.6.45`.
    fn read(printed: &str) -> Option<Self> {
        let mut numbers = printed.split_whitespace().nth(1)?.split('.').map(str::parse);
        let mut number = || numbers.next()?.ok();
        Some(Version(number()?, number()?, number()?))
    }
}

/// An installed memcached.
#[derive(Clone, Debug)]
pub struct Memcached {
    program: String,
    /// Its version.
    pub version: Version,
}

impl Memcached {
    /// The memcached that `SHOEBILL_MEMCACHED` names, or the one on the `PATH`; `None` when that is missing, which
    /// is reported ([`child::missing`]).
    ///
    /// # Panics
    ///
    /// When the one that is named does not run.
    pub fn find() -> Option<Self> {
        let named = std::env::var(PROGRAM).ok();
        let program = named.clone().unwrap_or_else(|| "memcached".to_owned());
        let Ok(output) = Command::new(&program).arg("-V").output() else {
            assert!(named.is_none(), "{PROGRAM}={program} does not run");
            child::missing("memcached (apt-get install memcached)");
            return None;
        };
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = Version::read(&printed)
            .unwrap_or_else(|| panic!("{program} -V prints no version: {printed:?}"));
        Some(Memcached { program, version })
    }

    /// Whether it is the [`REFERENCE`] or newer.
    pub fn is_reference(&self) -> bool {
        self.version >= REFERENCE
    }

    /// Prints, so that nobody overlooks it, what is not compared because this version is older than the [`REFERENCE`].
    pub fn not_compared(&self, what: &str) {
        let message = format!(
            "\n*** NOT COMPARED: {what}; {} is memcached {}, the reference is {REFERENCE}. {PROGRAM} names another one \
             (.ci/oracles.sh) ***\n\n",
            self.program, self.version
        );
        // Not with `eprintln!`, whose output is shown only when a test fails.
        std::io::stderr().write_all(message.as_bytes()).expect("standard error takes it");
    }

    /// What it tells of its flags.
    pub fn help(&self) -> String {
        let output = Command::new(&self.program).arg("-h").output().expect("memcached runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The command that starts it at a port of this machine.
    pub fn command(&self, port: u16) -> Command {
        let mut command = Command::new(&self.program);
        // As root it wants to be told whom to run as; to others the flag means nothing.
        command.args(["-u", "root", "-l", "127.0.0.1", "-U", "0", "-p"]).arg(port.to_string());
        command
    }

    /// Starts it on a free port with `flags`.
    pub fn start(&self, flags: &[&str]) -> (Child, SocketAddr) {
        let command = |port: u16| {
            let mut command = self.command(port);
            command.args(flags);
            command
        };
        child::at_free_port(command).expect("memcached starts")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared() {
        assert_eq!(Version::read("memcached 1.6.45\n"), Some(REFERENCE));
        assert_eq!(Version::read("memcached 1.6\n"), None);
        assert_eq!(Version::read(""), None);
        assert!(Version(1, 6, 9) < REFERENCE);
        assert!(Version(1, 10, 0) > REFERENCE);
        assert_eq!(REFERENCE.to_string(), "1.6.45");
    }
}
