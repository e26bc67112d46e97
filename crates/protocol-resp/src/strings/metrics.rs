// SPDX-License-Identifier: Apache-2.0
//! The counters of this service, beside what is counted of each command.

use ::metrics::counters;

/// The metrics of this service.
pub const METRICS: ::metrics::MetricSet = ::metrics::metric_set!();

counters! {
    /// Commands of RESP clients, those included that were refused.
    pub static RESP_COMMAND: "shoebill_resp_requests_total";
    /// Writes of RESP clients that failed in the server: too large, or no memory.
    pub static RESP_STORE_EX: "shoebill_resp_writes_refused_total";
    /// Input of RESP clients that was no request.
    pub static RESP_MALFORMED: "shoebill_resp_malformed_total";
}
