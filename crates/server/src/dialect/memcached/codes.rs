// SPDX-License-Identifier: Apache-2.0
//! The exit codes with which memcached refuses to start: those of `sysexits.h` for some reasons, else 1.

use crate::{Error, user};

/// What has no code of its own.
pub(super) const FAILURE: u8 = 1;

/// `EX_USAGE`: a value of some flags, or certificates that cannot be used.
const USAGE: u8 = 64;

/// `EX_NOUSER`: there is no such user.
const NO_USER: u8 = 67;

/// `EX_OSERR`: the system refused an address, or a change of user.
const SYSTEM: u8 = 71;

/// The flags of whose values it says [`USAGE`].
const USAGE_OF: [&str; 6] = ["-p", "-U", "-B", "-I", "-m", "-Z"];

/// The code for a wrong value of the flag with this short name.
pub(super) fn of_value(flag: &str) -> u8 {
    if USAGE_OF.contains(&flag) { USAGE } else { FAILURE }
}

/// The code for an error whose settings are named by their flags.
pub(super) fn of(error: &Error) -> u8 {
    match error {
        Error::Tls(_) => USAGE,
        Error::NoUser(_) => NO_USER,
        Error::Listen { .. } | Error::Setting { key: user::KEY, .. } => SYSTEM,
        Error::Setting { key, .. } => of_value(key),
        _ => FAILURE,
    }
}
