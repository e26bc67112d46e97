// SPDX-License-Identifier: Apache-2.0
//! Logs clients that speak another protocol than that of their port.
//!
//! Such clients may come in thousands, from a deployment with a wrong setting or from somebody who wants to
//! fill the disk. So each kind is logged once a minute at most, with the number of those in between.

use crate::pause::Pause;
use log::warn;
use protocol::{Context, Foreign, Peer};

/// The pauses of all workers, by kind.
static PAUSES: [Pause; Foreign::COUNT] = [const { Pause::new() }; Foreign::COUNT];

/// Logs the connection that the request came from.
#[cold]
pub(crate) fn report(foreign: Foreign, context: &Context<'_>) {
    if let Some(peer) = context.directory.get(context.connection) {
        report_peer(foreign, &peer, context.now.ticks.as_millis());
    }
}

/// Logs a connection at `now_ms`.
#[cold]
pub(crate) fn report_peer(foreign: Foreign, peer: &Peer, now_ms: u64) {
    let Some(others) = PAUSES[foreign as usize].begin(now_ms) else { return };
    let (remote, local, what) = (&peer.remote, &peer.local, foreign.name());
    warn!("{remote} speaks {what} ({local}); closed{others}");
}
