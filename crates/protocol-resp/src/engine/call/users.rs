// SPDX-License-Identifier: Apache-2.0
//! Who the client is, and which users there are.

use super::Call;
use crate::acl::{Account, Acl, DEFAULT};
use crate::engine::rights;
use crate::host::acl_log::{AclLog, Denial, DenialKind};
use keyspace::View;
use std::path::PathBuf;
use std::sync::Arc;

impl<'c, V: View> Call<'c, V> {
    /// The users.
    pub(crate) fn acl(&self) -> &'c Acl {
        self.host.acl()
    }

    /// What users were denied.
    pub(crate) fn acl_log(&self) -> &'c AclLog {
        self.host.acl_log()
    }

    /// The file of users, if there is one.
    pub(crate) fn acl_file(&self) -> Option<PathBuf> {
        let name = String::from_utf8_lossy(self.host.acl_file());
        Some(name.into_owned().into()).filter(|path: &PathBuf| !path.as_os_str().is_empty())
    }

    /// Reads the file of users again; returns users that are gone.
    pub(crate) fn load_acl_file(&self) -> Result<Vec<Arc<Account>>, String> {
        self.host.load_acl_file()
    }

    /// The account of the client's user.
    pub(crate) fn account(&self) -> Arc<Account> {
        let account = self.conn.user.account();
        Arc::clone(account.unwrap_or_else(|| self.host.acl().default_account()))
    }

    /// Makes the client this user from now on.
    pub(super) fn become_user(&mut self, account: Arc<Account>) {
        let account = Some(account).filter(|account| account.name() != DEFAULT);
        if let Some(client) = &self.conn.client {
            client.rename(|names| names.user.clone_from(&account));
        }
        self.conn.user.log_in(account);
    }

    /// Records that somebody failed to log in as this user.
    #[cold]
    pub(super) fn note_failed_login(&self, name: &[u8]) {
        let context = rights::place(self.in_transaction);
        let (object, user) = (self.args.arg(0).into(), name.into());
        let denial = Denial { reason: DenialKind::Auth, context, object, user };
        rights::note(self.host, self.conn, denial, self.now);
    }
}
