// SPDX-License-Identifier: Apache-2.0
//! One admin connection, from its accept to its close.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::body::Body;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use tokio::task::yield_now;
use tokio::time::{Sleep, sleep_until, timeout};

use crate::accept::Accepted;
use crate::pace::{Pace, Timeouts};
use crate::page_data::PageData;
use crate::routes::{self, answer};
use crate::stats;
use crate::wire::Wire;

/// Most bytes of a request line with its headers, and of hyper's read buffer.
const HEADER_BYTES_MAX: usize = 8 * 1024;

/// Most header fields of a request.
const HEADERS_MAX: usize = 64;

/// What a peer may still send, and for how long, after our side of the connection is closed.
const LINGER_BYTES_MAX: usize = 64 * 1024;
const LINGER_TIME_MAX: Duration = Duration::from_secs(1);

/// Counts a connection as open for as long as it lives.
struct Open;

impl Open {
    fn new() -> Self {
        stats::ADMIN_SESSION_ACCEPT.increment();
        stats::ADMIN_SESSION_CURR.increment();
        Self
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        stats::ADMIN_SESSION_CURR.decrement();
        stats::ADMIN_SESSION_CLOSE.increment();
    }
}

/// Serves requests on `stream` until the peer leaves, misbehaves or takes too long.
pub(crate) async fn serve(mut accepted: Accepted, data: Rc<PageData>, timeouts: Timeouts) {
    let _open = Open::new();
    // Without it a response in two segments may wait for a delayed acknowledgement. A failure only
    // costs that delay.
    let _ = accepted.stream().set_nodelay(true);

    let pace = Rc::new(Pace::new(timeouts, Instant::now()));
    let is_last = accepted.is_last();
    let wire = Wire::new(accepted, Rc::clone(&pace));
    let service = service_fn(move |request| Box::pin(respond(Rc::clone(&data), request)));
    let mut http = protocol(!is_last).serve_connection(wire, service);
    let mut alarm = Box::pin(sleep_until(pace.deadline().into()));

    let ending = poll_fn(|cx| match http.poll_without_shutdown(cx) {
        Poll::Ready(result) => Poll::Ready(Some(result)),
        Poll::Pending => poll_alarm(alarm.as_mut(), &pace, cx).map(|()| None),
    });
    match ending.await {
        Some(result) => {
            if result.is_err_and(|error| error.is_parse()) {
                stats::ADMIN_RESPONSE_ERROR.increment();
            }
            let wire = http.into_parts().io;
            // After the time limit the socket is closed as it is.
            let _ = timeout(LINGER_TIME_MAX, wire.linger(LINGER_BYTES_MAX)).await;
        }
        None => stats::ADMIN_SESSION_TIMEOUT.increment(),
    }
}

/// HTTP/1 as served here. The time limits are the [`Pace`]'s, so hyper gets no timer.
///
/// hyper reads the next request of a pipeline only after it has flushed the response before, so a
/// connection holds at most one response in memory, however little its peer reads.
fn protocol(keep_alive: bool) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .half_close(true)
        .keep_alive(keep_alive)
        .header_read_timeout(None)
        .max_buf_size(HEADER_BYTES_MAX)
        .max_header_size(HEADER_BYTES_MAX)
        .max_headers(HEADERS_MAX);
    builder
}

/// Answers one request. The yield before it gives every other connection, and the periodic tasks,
/// their turn: a pipeline costs the thread one page at a time.
async fn respond<B: Body>(
    data: Rc<PageData>,
    request: Request<B>,
) -> Result<Response<routes::Body>, Infallible> {
    yield_now().await;
    Ok(answer(&data, &request))
}

/// Ready once the pace's current deadline has passed.
fn poll_alarm(mut alarm: Pin<&mut Sleep>, pace: &Pace, cx: &mut Context<'_>) -> Poll<()> {
    let deadline = pace.deadline().into();
    if alarm.deadline() != deadline {
        alarm.as_mut().reset(deadline);
    }
    alarm.poll(cx)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::pin::pin;
    use std::task::Waker;

    use crate::ConfigText;
    use bytes::Bytes;
    use http_body_util::Full;

    #[test]
    fn a_request_gives_the_others_their_turn_before_its_page_is_written() {
        let data = Rc::new(PageData {
            version: Bytes::new(),
            config: ConfigText::default(),
            readiness: crate::Readiness::new(),
            window: RefCell::default(),
        });
        let request = Request::new(Full::new(Bytes::new()));
        let mut response = pin!(respond(data, request));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(response.as_mut().poll(&mut cx).is_pending());
        assert!(response.as_mut().poll(&mut cx).is_ready());
    }
}
