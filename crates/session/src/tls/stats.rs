// SPDX-License-Identifier: Apache-2.0
//! The metrics of TLS handshakes.

metrics::counters! {
    /// TLS handshakes that were completed.
    pub(super) static STREAM_HANDSHAKE: "stream_handshake";
    /// TLS handshakes that failed or were broken off by the peer.
    pub(super) static STREAM_HANDSHAKE_EX: "stream_handshake_ex";
}
