// SPDX-License-Identifier: Apache-2.0
//! What the ping service counts. The doc comment of a metric is its help text.

metrics::counters! {
    /// Pings received.
    pub(crate) static PING: "ping";
    /// Lines received that were no ping.
    pub(crate) static PING_EX: "ping_ex";
    /// Pongs sent.
    pub(crate) static PONG: "pong";
}
