// SPDX-License-Identifier: Apache-2.0
//! Dropping root privileges.

use crate::Error;
use nix::sys::prctl::set_dumpable;
use nix::unistd::{User, geteuid, initgroups, setgid, setuid};
use std::ffi::CString;

/// What the user is called in errors.
pub(crate) const KEY: &str = "the user to run as";

/// Switches to the user with this name, groups included, if the process runs as root.
pub(crate) fn become_user(name: &str) -> Result<(), Error> {
    if !geteuid().is_root() {
        return Ok(());
    }
    let refused = |problem: String| Error::Setting { key: KEY, problem };
    let user = User::from_name(name).map_err(|problem| refused(format!("{name}: {problem}")))?;
    let user = user.ok_or_else(|| Error::NoUser(name.to_owned()))?;
    if user.uid.is_root() {
        return Ok(());
    }
    let c_name = CString::new(name).map_err(|problem| refused(problem.to_string()))?;
    let change = || {
        initgroups(&c_name, user.gid)?;
        setgid(user.gid)?;
        setuid(user.uid)?;
        // After a change of user the system hides /proc/self from the process, which counts its open
        // files there.
        set_dumpable(true)
    };
    change().map_err(|problem| refused(format!("cannot become {name}: {problem}")))
}
