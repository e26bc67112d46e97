// SPDX-License-Identifier: Apache-2.0
//! What each route writes.

use bytes::Bytes;
use hyper::{HeaderMap, StatusCode};

use crate::negotiate;
use crate::page_data::PageData;
use crate::readiness::State;
use crate::routes::ROUTES;

const PLAIN: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";

/// A response before it becomes HTTP.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) status: StatusCode,
    pub(crate) content_type: &'static str,
    pub(crate) body: Bytes,
}

impl Page {
    fn ok(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self { status: StatusCode::OK, content_type, body: body.into() }
    }

    fn failed(status: StatusCode, body: impl Into<Bytes>) -> Self {
        Self { status, content_type: PLAIN, body: body.into() }
    }
}

pub(crate) fn index(data: &PageData, _: &HeaderMap) -> Page {
    let mut text = String::from_utf8_lossy(&data.version).into_owned();
    text.push('\n');
    text.push_str(&route_list());
    Page::ok(PLAIN, text)
}

pub(crate) fn config(data: &PageData, _: &HeaderMap) -> Page {
    Page::ok(PLAIN, data.config.get())
}

pub(crate) fn health(_: &PageData, _: &HeaderMap) -> Page {
    Page::ok(PLAIN, "ok\n")
}

pub(crate) fn ready(data: &PageData, _: &HeaderMap) -> Page {
    let state = data.readiness.get();
    let text = format!("{}\n", state.as_str());
    match state {
        State::Ready => Page::ok(PLAIN, text),
        State::Starting | State::Draining => Page::failed(StatusCode::SERVICE_UNAVAILABLE, text),
    }
}

pub(crate) fn version(data: &PageData, _: &HeaderMap) -> Page {
    Page::ok(PLAIN, data.version.clone())
}

pub(crate) fn prometheus(data: &PageData, headers: &HeaderMap) -> Page {
    metrics::process::refresh();
    let window = &data.window.borrow();
    if negotiate::wants_openmetrics(headers) {
        Page::ok(metrics::OPENMETRICS_TYPE, metrics::openmetrics(window))
    } else {
        Page::ok(metrics::PROMETHEUS_TYPE, metrics::prometheus(window))
    }
}

pub(crate) fn json(data: &PageData, _: &HeaderMap) -> Page {
    metrics::process::refresh();
    Page::ok(JSON, metrics::json(&data.window.borrow()))
}

pub(crate) fn vars(data: &PageData, _: &HeaderMap) -> Page {
    metrics::process::refresh();
    let mut pairs = metrics::vars(&data.window.borrow());
    pairs.sort();
    let lines = pairs.iter().map(|(name, value)| format!("{name}: {value}\n"));
    Page::ok(PLAIN, lines.collect::<String>())
}

pub(crate) fn not_found() -> Page {
    Page::failed(StatusCode::NOT_FOUND, format!("not found; the routes are:\n\n{}", route_list()))
}

pub(crate) fn method_not_allowed() -> Page {
    Page::failed(StatusCode::METHOD_NOT_ALLOWED, "method not allowed; use GET or HEAD\n")
}

/// One line per route: the path and what it shows.
fn route_list() -> String {
    ROUTES.iter().map(|route| format!("{:<14}{}\n", route.path, route.summary)).collect()
}
