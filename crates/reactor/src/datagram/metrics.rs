// SPDX-License-Identifier: Apache-2.0
//! What is counted where requests come in datagrams.

/// The metrics of requests in datagrams.
pub const METRICS: metrics::MetricSet = metrics::metric_set!();

metrics::counters! {
    /// Datagrams received, of any kind.
    pub(super) static DATAGRAMS_RECEIVED: "shoebill_datagrams_received_total";
    /// Bytes received in datagrams, with their headers.
    pub(super) static DATAGRAM_RECV_BYTE: "shoebill_datagrams_received_bytes_total";
    /// Datagrams, requests and answers that came to nothing: they are not a request in one piece, or do not come from
    /// a client; they ended inside a request, which was dropped; their source had got its datagrams of the second;
    /// the answer took too many datagrams, so an error took its place; the operating system refused to send them.
    "shoebill_datagrams_failed_total" {
        pub(super) static DATAGRAMS_REFUSED: reason = "refused";
        pub(super) static DATAGRAMS_UNFINISHED: reason = "unfinished";
        pub(super) static DATAGRAMS_LIMITED: reason = "limited";
        pub(super) static DATAGRAMS_TOO_LARGE: reason = "too_large";
        pub(super) static DATAGRAMS_LOST: reason = "lost";
    }
    /// Datagrams sent.
    pub(super) static DATAGRAMS_SENT: "shoebill_datagrams_sent_total";
    /// Bytes sent in datagrams, with their headers.
    pub(super) static DATAGRAM_SEND_BYTE: "shoebill_datagrams_sent_bytes_total";
}
