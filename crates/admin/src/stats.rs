// SPDX-License-Identifier: Apache-2.0
//! What the control plane counts about itself.

metrics::counters! {
    /// Admin HTTP requests answered.
    pub(crate) static ADMIN_REQUEST: "admin_request";

    /// Admin HTTP responses with a 4xx or 5xx status.
    pub(crate) static ADMIN_RESPONSE_ERROR: "admin_response_error";

    /// Admin connections accepted and served.
    pub(crate) static ADMIN_SESSION_ACCEPT: "admin_session_accept";

    /// Admin connections closed, by either side and for whatever reason.
    pub(crate) static ADMIN_SESSION_CLOSE: "admin_session_close";

    /// Admin connections closed at once because too many were open.
    pub(crate) static ADMIN_SESSION_REJECTED: "admin_session_rejected";

    /// Admin connections given up because the peer took too long.
    pub(crate) static ADMIN_SESSION_TIMEOUT: "admin_session_timeout";

    /// Failed attempts to accept an admin connection.
    pub(crate) static ADMIN_ACCEPT_ERROR: "admin_accept_error";
}

metrics::gauges! {
    /// Admin connections open at the moment.
    pub(crate) static ADMIN_SESSION_CURR: "admin_session_curr";
}
