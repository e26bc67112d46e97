// SPDX-License-Identifier: Apache-2.0
//! The routes: a table, and the answer to a request from it.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{self, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};

use crate::page_data::PageData;
use crate::pages::{self, Page};
use crate::{negotiate, stats};

/// A response body: always whole, so that its length is known.
pub(crate) type Body = Full<Bytes>;

/// One path, what it shows and the function that writes it.
pub(crate) struct Route {
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    page: fn(&PageData, &HeaderMap) -> Page,
}

/// Every route. All answer GET and HEAD and nothing else.
pub(crate) static ROUTES: [Route; 8] = [
    Route { path: "/", summary: "this list", page: pages::index },
    Route { path: "/config", summary: "effective configuration, TOML", page: pages::config },
    Route { path: "/health", summary: "200 while the process lives", page: pages::health },
    Route {
        path: "/metrics",
        summary: "metrics, Prometheus or OpenMetrics text",
        page: pages::prometheus,
    },
    Route { path: "/metrics.json", summary: "metrics, JSON", page: pages::json },
    Route { path: "/ready", summary: "200 while the server takes requests", page: pages::ready },
    Route { path: "/vars", summary: "metrics, one `name: value` per line", page: pages::vars },
    Route { path: "/version", summary: "name and version", page: pages::version },
];

const ALLOWED: HeaderValue = HeaderValue::from_static("GET, HEAD");

/// Answers one request. Its body, if any, is not read: the connection closes instead.
pub(crate) fn answer<B: hyper::body::Body>(
    data: &PageData,
    request: &Request<B>,
) -> Response<Body> {
    stats::ADMIN_REQUEST.increment();
    let page = find(data, request);
    let status = page.status;
    if status.is_client_error() || status.is_server_error() {
        stats::ADMIN_RESPONSE_ERROR.increment();
    }

    let is_compressed = negotiate::wants_gzip(request.headers(), page.body.len());
    let body = if is_compressed { negotiate::gzip(&page.body) } else { page.body };
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(page.content_type));
    if is_compressed {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    headers.insert(header::VARY, HeaderValue::from_static("accept, accept-encoding"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(header::ALLOW, ALLOWED);
    }
    if !request.body().is_end_stream() {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn find<B>(data: &PageData, request: &Request<B>) -> Page {
    match ROUTES.iter().find(|route| route.path == request.uri().path()) {
        None => pages::not_found(),
        Some(route) if [Method::GET, Method::HEAD].contains(request.method()) => {
            (route.page)(data, request.headers())
        }
        Some(_) => pages::method_not_allowed(),
    }
}
