// SPDX-License-Identifier: Apache-2.0
//! The metrics of all sessions.

metrics::counters! {
    /// Reads from a session's socket that returned bytes.
    pub(crate) static SESSION_RECV: "session_recv";
    /// Bytes read from sessions' sockets, TLS framing included.
    pub(crate) static SESSION_RECV_BYTE: "session_recv_byte";
    /// Sessions whose receiving failed: reset, bad TLS, or cut without a TLS close.
    pub(crate) static SESSION_RECV_EX: "session_recv_ex";
    /// Writes to a session's socket that took bytes.
    pub(crate) static SESSION_SEND: "session_send";
    /// Bytes written to sessions' sockets, TLS framing included.
    pub(crate) static SESSION_SEND_BYTE: "session_send_byte";
    /// Sessions whose sending failed.
    pub(crate) static SESSION_SEND_EX: "session_send_ex";
}
