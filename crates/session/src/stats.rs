// SPDX-License-Identifier: Apache-2.0
//! The metrics of all sessions.

/// The metrics of sessions.
pub const METRICS: metrics::MetricSet = metrics::metric_set!();

metrics::counters! {
    /// Reads from a connection's socket that returned bytes.
    pub(crate) static SESSION_RECV: "shoebill_socket_reads_total";
    /// Bytes read from connections' sockets, TLS framing included.
    pub(crate) static SESSION_RECV_BYTE: "shoebill_received_bytes_total";
    /// Connections whose receiving failed: reset, bad TLS, or cut without a TLS close.
    pub(crate) static SESSION_RECV_EX: "shoebill_socket_read_errors_total";
    /// Writes to a connection's socket that took bytes.
    pub(crate) static SESSION_SEND: "shoebill_socket_writes_total";
    /// Bytes written to connections' sockets, TLS framing included.
    pub(crate) static SESSION_SEND_BYTE: "shoebill_sent_bytes_total";
    /// Connections whose sending failed.
    pub(crate) static SESSION_SEND_EX: "shoebill_socket_write_errors_total";
}
