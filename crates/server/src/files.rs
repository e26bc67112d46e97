// SPDX-License-Identifier: Apache-2.0
//! Descriptors: raising the limit of open files, and how many connections fit into it.

use crate::Error;

/// Descriptors requested in addition to one for each connection.
const SPARE: u64 = 128;

/// Descriptors that connections never get: standard streams, logs, signals, the admin plane and eight
/// of its clients, the reserves of the accepting threads, files that are read now and then.
const OWN: u64 = 28;

/// Descriptors of a worker: its event queue, what wakes it, and one to spare.
const PER_WORKER: u64 = 3;

/// Admin clients at once, where descriptors are few.
const ADMIN_FEW: usize = 8;

/// The number of descriptors that the process itself needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    own: u64,
}

/// The outcome of a request for descriptors.
#[derive(Debug)]
pub(crate) struct Fit {
    /// Connections that can be served at once.
    pub(crate) connections: usize,
    /// Why they are fewer than wanted.
    pub(crate) shortage: Option<String>,
}

impl Needs {
    pub(crate) fn new(listeners: usize, workers: usize) -> Self {
        Needs { own: OWN + listeners as u64 + PER_WORKER * workers as u64 }
    }

    /// The number.
    pub(crate) fn own(self) -> u64 {
        self.own
    }

    /// Raises the limit of open files as far as `connections` need and the system allows.
    pub(crate) fn fit(self, connections: usize) -> Fit {
        let wanted = connections as u64 + self.own.max(SPARE);
        let (got, problem) = match rlimit::increase_nofile_limit(wanted) {
            Ok(got) => (got, String::new()),
            Err(error) => {
                let now = rlimit::getrlimit(rlimit::Resource::NOFILE).map_or(0, |(soft, _)| soft);
                (now, format!("; it cannot be raised: {error}"))
            }
        };
        self.within(got, connections, &problem)
    }

    fn within(self, got: u64, connections: usize, problem: &str) -> Fit {
        let room = usize::try_from(got.saturating_sub(self.own)).unwrap_or(usize::MAX);
        let shortage = (room < connections).then(|| {
            format!(
                "{room} connections are served at once instead of {connections}: {got} open files \
                 are allowed and the server keeps {} for itself{problem}; raise the hard limit \
                 (ulimit -Hn, LimitNOFILE)",
                self.own
            )
        });
        Fit { connections: room.min(connections), shortage }
    }
}

impl Fit {
    /// The number of admin clients that there are descriptors for besides the connections; `None` if there
    /// are enough.
    pub(crate) fn admin_clients(&self) -> Option<usize> {
        self.shortage.as_ref().map(|_| ADMIN_FEW)
    }

    /// # Errors
    ///
    /// When there is no descriptor for a single connection.
    pub(crate) fn check(self) -> Result<Self, Error> {
        match &self.shortage {
            Some(problem) if self.connections == 0 => {
                Err(Error::Setting { key: "[server] max_connections", problem: problem.clone() })
            }
            _ => Ok(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_get_what_the_server_does_not_need() {
        let needs = Needs::new(1, 1);
        let fit = needs.within(64, 10_000, "").check().expect("some are left");
        assert_eq!((fit.connections, fit.admin_clients()), (32, Some(8)));
        let told = fit.shortage.expect("fewer than wanted");
        assert!(told.starts_with("32 connections are served at once instead of 10000: 64 open"));
        let fit = needs.within(10_128, 10_000, "");
        assert_eq!((fit.connections, fit.admin_clients()), (10_000, None));
        assert!(needs.within(32, 1, "").check().is_err());
        assert_eq!(needs.within(u64::MAX, 1_000_000, "").connections, 1_000_000);
    }
}
