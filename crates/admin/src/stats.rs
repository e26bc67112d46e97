// SPDX-License-Identifier: Apache-2.0
//! What the control plane counts about itself.

/// The metrics of the control plane itself.
pub const METRICS: metrics::MetricSet = metrics::metric_set!();

metrics::counters! {
    /// Admin HTTP requests answered.
    pub(crate) static ADMIN_REQUEST: "shoebill_admin_requests_total";

    /// Admin HTTP responses with a 4xx or 5xx status.
    pub(crate) static ADMIN_RESPONSE_ERROR: "shoebill_admin_error_responses_total";

    /// Admin connections accepted and served.
    pub(crate) static ADMIN_SESSION_ACCEPT: "shoebill_admin_connections_accepted_total";

    /// Admin connections closed, by either side and for whatever reason.
    pub(crate) static ADMIN_SESSION_CLOSE: "shoebill_admin_connections_closed_total";

    /// Admin connections closed at once because too many were open.
    pub(crate) static ADMIN_SESSION_REJECTED: "shoebill_admin_connections_rejected_total";

    /// Admin connections given up because the peer took too long.
    pub(crate) static ADMIN_SESSION_TIMEOUT: "shoebill_admin_connections_timed_out_total";

    /// Failed attempts to accept an admin connection.
    pub(crate) static ADMIN_ACCEPT_ERROR: "shoebill_admin_accept_errors_total";
}

metrics::gauges! {
    /// Admin connections open at the moment.
    pub(crate) static ADMIN_SESSION_CURR: "shoebill_admin_connections";
}
