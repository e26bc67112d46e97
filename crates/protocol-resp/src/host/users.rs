// SPDX-License-Identifier: Apache-2.0
//! Users from files: that of `aclfile`, and the lines of a configuration file.

use super::Host;
use crate::acl::{Account, file};
use std::sync::Arc;

impl Host {
    /// Names the file of users and reads it, when the server starts. What is wrong with it has been told before.
    pub(super) fn set_acl_file(&self, name: &[u8]) {
        if name.is_empty() {
            return;
        }
        self.acl_file.get_or_init(|| name.to_vec());
        if let Err(problem) = self.load_acl_file() {
            log::error!("{problem}");
        }
    }

    /// Adds users, a line each.
    pub(super) fn add_users(&self, text: &[u8]) {
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match file::user(line, self.acl.new_user()) {
                Ok(user) => self.acl.put(user),
                Err(problem) => log::error!("a user is left out: {problem}"),
            }
        }
    }

    /// Reads the file of users again: all of it, or nothing if there is a mistake; returns users that are gone.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(crate) fn load_acl_file(&self) -> Result<Vec<Arc<Account>>, String> {
        const UNCHANGED: &str = "WARNING: ACL errors detected, no change to the previously active ACL rules was performed";
        let name = String::from_utf8_lossy(self.acl_file());
        let text = std::fs::read(&*name)
            .map_err(|error| format!("Error loading ACLs, opening file '{name}': {error}"))?;
        let users = file::read(&name, &text, self.acl.new_user())
            .map_err(|problems| format!("{problems}{UNCHANGED}"))?;
        Ok(self.acl.replace(users))
    }
}
