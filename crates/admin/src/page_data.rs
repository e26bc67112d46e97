// SPDX-License-Identifier: Apache-2.0
//! What the pages are written from.

use std::cell::RefCell;

use bytes::Bytes;
use metrics::Window;

use crate::readiness::Readiness;

/// Everything a page shows, shared by the connections of the admin thread.
#[derive(Debug)]
pub(crate) struct PageData {
    /// The server's name and version, as `/version` shows them.
    pub(crate) version: Bytes,
    /// The effective configuration, as TOML.
    pub(crate) config: Bytes,
    pub(crate) readiness: Readiness,
    /// The histograms of the last seconds, from which percentiles come.
    pub(crate) window: RefCell<Window>,
}
