// SPDX-License-Identifier: Apache-2.0
//! What the listener and the workers count.

use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::Relaxed;

/// The most that `connection_buffer_bytes` has been since it was last asked for.
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

metrics::counters! {
    /// Requests executed, of any kind.
    pub(crate) static PROCESS_REQ: "process_req";

    /// Turns of the workers' event loops.
    pub(crate) static WORKER_EVENT_LOOP: "worker_event_loop";
    /// Events that workers took from the operating system.
    pub(crate) static WORKER_EVENT_TOTAL: "worker_event_total";
    /// Events that told a worker of bytes to read.
    pub(crate) static WORKER_EVENT_READ: "worker_event_read";
    /// Events that told a worker of a socket with room to write.
    pub(crate) static WORKER_EVENT_WRITE: "worker_event_write";
    /// Events that told a worker of a socket error.
    pub(crate) static WORKER_EVENT_ERROR: "worker_event_error";
    /// Polls that returned as many events as a worker takes at once.
    pub(crate) static WORKER_EVENT_MAX_REACHED: "worker_event_max_reached";
    /// Times a connection had to wait for others because it had its share of requests.
    pub(crate) static CONNECTION_YIELD: "connection_yield";
    /// Times a connection was held until it read its replies, for want of memory for more of them.
    pub(crate) static CONNECTION_BACKPRESSURE: "connection_backpressure";

    /// Connections accepted and served.
    pub(crate) static CONNECTIONS_ACCEPTED: "connections_accepted";
    /// Connections refused because there were too many.
    pub(crate) static CONNECTIONS_REJECTED: "connections_rejected";
    /// Connections closed, for whatever reason.
    pub(crate) static CONNECTIONS_CLOSED: "connections_closed";
    /// Connections closed because they sent nothing for the idle timeout.
    pub(crate) static CONNECTIONS_IDLE_CLOSED: "connections_idle_closed";
    /// Connections closed in the middle of a TLS handshake that took too long.
    pub(crate) static CONNECTIONS_HANDSHAKE_TIMEOUT: "connections_handshake_timeout";
    /// Connections closed because they stopped in the middle of a request.
    pub(crate) static CONNECTIONS_READ_TIMEOUT: "connections_read_timeout";
    /// Connections closed because they did not read their replies.
    pub(crate) static CONNECTIONS_WRITE_TIMEOUT: "connections_write_timeout";
    /// Connections closed because more waited for them unread than their output limit allows.
    pub(crate) static CONNECTIONS_OUTPUT_LIMIT: "connections_output_limit";
    /// Connections closed because messages from others piled up that their worker did not come to.
    pub(crate) static CONNECTIONS_PUSH_OVERFLOW: "connections_push_overflow";
    /// Connections closed by an error of their socket or their TLS session.
    pub(crate) static CONNECTIONS_ERROR: "connections_error";

    /// Datagrams received, of any kind.
    pub(crate) static DATAGRAMS_RECEIVED: "datagrams_received";
    /// Bytes received in datagrams, with their headers.
    pub(crate) static DATAGRAM_RECV_BYTE: "datagram_recv_byte";
    /// Datagrams dropped because they are not a request in one piece, or do not come from a client.
    pub(crate) static DATAGRAMS_REFUSED: "datagrams_refused";
    /// Datagrams that ended inside a request, which was dropped.
    pub(crate) static DATAGRAMS_UNFINISHED: "datagrams_unfinished";
    /// Requests and answers dropped because their source had got its datagrams of the second.
    pub(crate) static DATAGRAMS_LIMITED: "datagrams_limited";
    /// Answers replaced by an error because they took too many datagrams.
    pub(crate) static DATAGRAMS_TOO_LARGE: "datagrams_too_large";
    /// Datagrams sent.
    pub(crate) static DATAGRAMS_SENT: "datagrams_sent";
    /// Bytes sent in datagrams, with their headers.
    pub(crate) static DATAGRAM_SEND_BYTE: "datagram_send_byte";
    /// Datagrams that the operating system refused to send.
    pub(crate) static DATAGRAMS_LOST: "datagrams_lost";

    /// Failed attempts to accept, mostly for want of file descriptors.
    pub(crate) static ACCEPT_ERROR: "accept_error";
    /// Milliseconds in which nothing was accepted for want of resources.
    pub(crate) static ACCEPT_PAUSED_MS: "accept_paused_ms";
    /// Times accepting paused for want of resources.
    pub(crate) static ACCEPT_PAUSED: "accept_paused";
}

metrics::gauges! {
    /// Bytes that connections take for buffers and TLS sessions, to within 64 KiB for each worker.
    pub(crate) static CONNECTION_BUFFER_BYTES: "connection_buffer_bytes";
    /// 1 while accepting pauses for want of resources, else 0.
    pub(crate) static ACCEPT_PAUSING: "accept_pausing";
    /// Connections that are being served.
    pub(crate) static CONNECTIONS_CURRENT: "connections_current";
}

metrics::histograms! {
    /// Nanoseconds from the moment a worker learns that a connection has bytes to read until the
    /// replies to all requests in them have been handed to the operating system, but for a request
    /// that waits for others. One record per readiness event that brought bytes: a pipeline counts once.
    pub(crate) static REQUEST_LATENCY: "request_latency";
    /// Nanoseconds of CPU time that a worker takes for a turn of its event loop: its requests, reads and
    /// writes, background work, and the wait for events but for the sleep. Empty unless `[worker]
    /// turn_cpu_time` asks for it.
    pub(crate) static TURN_CPU_TIME: "turn_cpu_time";
    /// Events taken from the operating system at once.
    pub(crate) static WORKER_EVENT_DEPTH: "worker_event_depth";
}
