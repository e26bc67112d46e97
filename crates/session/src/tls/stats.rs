// SPDX-License-Identifier: Apache-2.0
//! The metrics of TLS handshakes.

/// The metrics of TLS.
pub const METRICS: metrics::MetricSet = metrics::metric_set!();

metrics::counters! {
    /// TLS handshakes by what they came to: completed, or failed or broken off by the peer.
    "shoebill_tls_handshakes_total" {
        pub(super) static STREAM_HANDSHAKE: result = "completed";
        pub(super) static STREAM_HANDSHAKE_EX: result = "failed";
    }
}
