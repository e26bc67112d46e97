// SPDX-License-Identifier: Apache-2.0
//! The configuration of `pingserver`: the sections that all servers share and nothing else.

use serde::{Deserialize, Serialize};
use server::settings::{Admin, DebugLog, Klog, Sections, Server, Tls, Worker};

/// The port that is listened on by default.
pub(crate) const PORT: u16 = 12321;

/// The whole file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) server: Server,
    pub(crate) worker: Worker,
    pub(crate) admin: Admin,
    pub(crate) tls: Tls,
    pub(crate) debug: DebugLog,
    pub(crate) klog: Klog,
}

impl Config {
    /// The sections as the `server` crate takes them.
    pub(crate) fn sections(&self) -> Sections<'_> {
        Sections {
            server: &self.server,
            worker: &self.worker,
            admin: &self.admin,
            tls: &self.tls,
            debug: &self.debug,
            klog: &self.klog,
        }
    }
}
