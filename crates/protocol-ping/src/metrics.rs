// SPDX-License-Identifier: Apache-2.0
//! What the ping service counts. The doc comment of a metric is its help text.

/// The metrics of this protocol.
pub const METRICS: metrics::MetricSet = metrics::metric_set!();

metrics::counters! {
    /// Pings received.
    pub(crate) static PING: "shoebill_ping_requests_total";
    /// Lines received that were no ping.
    pub(crate) static PING_EX: "shoebill_ping_malformed_total";
    /// Pongs sent.
    pub(crate) static PONG: "shoebill_ping_replies_total";
}
