// SPDX-License-Identifier: Apache-2.0
//! What the listener and the workers count.

use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::Relaxed;

/// The most that `shoebill_connection_buffer_bytes` has been since it was last asked for.
static BUFFERS_PEAK: AtomicI64 = AtomicI64::new(0);

/// Notes that buffers take so many bytes more, or fewer.
pub(crate) fn note_buffers(more: i64) {
    CONNECTION_BUFFER_BYTES.add(more);
    if more > 0 {
        BUFFERS_PEAK.fetch_max(CONNECTION_BUFFER_BYTES.value(), Relaxed);
    }
}

/// The most bytes that connections of this process have taken for buffers since this was last asked.
pub fn buffers_peak() -> i64 {
    BUFFERS_PEAK.swap(CONNECTION_BUFFER_BYTES.value(), Relaxed)
}

/// The metrics of listeners and workers.
pub const METRICS: metrics::MetricSet = metrics::metric_set!();

metrics::counters! {
    /// Requests executed, of any kind.
    pub(crate) static REQUESTS: "shoebill_requests_total";

    /// Turns of the workers' event loops.
    pub(crate) static WORKER_TURNS: "shoebill_worker_turns_total";
    /// Events that workers took from the operating system.
    pub(crate) static WORKER_EVENTS: "shoebill_worker_events_total";
    /// What events told a worker, of which one may tell several: there are bytes to read, there is room to write, the
    /// socket has failed.
    "shoebill_worker_event_kinds_total" {
        pub(crate) static WORKER_EVENT_READ: kind = "read";
        pub(crate) static WORKER_EVENT_WRITE: kind = "write";
        pub(crate) static WORKER_EVENT_ERROR: kind = "error";
    }
    /// Polls that returned as many events as a worker takes at once.
    pub(crate) static WORKER_FULL_POLLS: "shoebill_worker_full_polls_total";
    /// Times a connection had to wait for others because it had its share of requests.
    pub(crate) static CONNECTION_YIELD: "shoebill_connection_yields_total";
    /// Times a connection was held until it read its replies, for want of memory for more of them.
    pub(crate) static CONNECTION_BACKPRESSURE: "shoebill_connection_backpressure_total";

    /// Connections accepted and served.
    pub(crate) static CONNECTIONS_ACCEPTED: "shoebill_connections_accepted_total";
    /// Connections refused because there were too many.
    pub(crate) static CONNECTIONS_REJECTED: "shoebill_connections_rejected_total";
    /// Connections closed, for whatever reason.
    pub(crate) static CONNECTIONS_CLOSED: "shoebill_connections_closed_total";
    /// Of the connections closed, those that their client did not end: it sent nothing for the idle timeout; its TLS
    /// handshake took too long; it stopped in the middle of a request; it began one that is larger than the limit; it did
    /// not read its replies; more waited for it unread than its output limit allows; messages from others piled up that
    /// its worker did not come to; its socket or its TLS session failed.
    "shoebill_connections_broken_total" {
        pub(crate) static CONNECTIONS_IDLE_CLOSED: reason = "idle";
        pub(crate) static CONNECTIONS_HANDSHAKE_TIMEOUT: reason = "handshake_timeout";
        pub(crate) static CONNECTIONS_READ_TIMEOUT: reason = "read_timeout";
        pub(crate) static CONNECTIONS_REQUEST_LIMIT: reason = "request_limit";
        pub(crate) static CONNECTIONS_WRITE_TIMEOUT: reason = "write_timeout";
        pub(crate) static CONNECTIONS_OUTPUT_LIMIT: reason = "output_limit";
        pub(crate) static CONNECTIONS_PUSH_OVERFLOW: reason = "push_overflow";
        pub(crate) static CONNECTIONS_ERROR: reason = "error";
    }

    /// Failed attempts to accept, mostly for want of file descriptors, and accepted connections that could not be served,
    /// mostly for want of memory.
    pub(crate) static ACCEPT_ERROR: "shoebill_accept_errors_total";
    /// Time in which nothing was accepted for want of resources.
    pub(crate) static ACCEPT_PAUSED_MS: "shoebill_accept_paused_seconds_total" in milliseconds;
    /// Times accepting paused for want of resources.
    pub(crate) static ACCEPT_PAUSED: "shoebill_accept_pauses_total";
}

metrics::gauges! {
    /// Bytes that connections take for buffers and TLS sessions, to within 64 KiB for each worker.
    pub(crate) static CONNECTION_BUFFER_BYTES: "shoebill_connection_buffer_bytes";
    /// 1 while accepting pauses for want of resources, else 0.
    pub(crate) static ACCEPT_PAUSING: "shoebill_accept_pausing";
    /// Connections that are being served.
    pub(crate) static CONNECTIONS: "shoebill_connections";
}

metrics::levels! {
    /// Connections that are served at once, at most.
    pub(crate) static CONNECTIONS_MAX: "shoebill_max_connections";
}

metrics::histograms! {
    /// Time from the turn in which a worker learns that a connection has bytes to read, also if it comes to it in a later
    /// one, until the replies to all requests in them have been handed to the operating system, or on io_uring until
    /// they are ready to be; but for a request that waits for others. One record per readiness event that brought
    /// bytes: a pipeline counts once.
    pub(crate) static REQUEST_DURATION: "shoebill_request_duration_seconds" in nanoseconds;
    /// Events taken from the operating system at once.
    pub(crate) static WORKER_EVENTS_PER_POLL: "shoebill_worker_events_per_poll";
}
