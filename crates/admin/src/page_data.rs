// SPDX-License-Identifier: Apache-2.0
//! What the pages are written from.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use metrics::Window;

use crate::readiness::Readiness;

/// The text that `/config` shows. Clones share it, so it can change while the server runs.
///
/// ```
/// use admin::ConfigText;
///
/// let text = ConfigText::from("memory = \"64MB\"\n");
/// let shown = text.clone();
/// text.set("memory = \"128MB\"\n");
/// assert_eq!(shown.get(), "memory = \"128MB\"\n");
/// ```
#[derive(Clone, Debug, Default)]
pub struct ConfigText(Arc<Mutex<Bytes>>);

impl ConfigText {
    /// Sets another text.
    pub fn set(&self, text: impl Into<String>) {
        let text = Bytes::from(text.into());
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    /// The text as it is.
    #[must_use]
    pub fn get(&self) -> Bytes {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<T: Into<String>> From<T> for ConfigText {
    fn from(text: T) -> Self {
        ConfigText(Arc::new(Mutex::new(Bytes::from(text.into()))))
    }
}

/// Everything a page shows, shared by the connections of the admin thread.
#[derive(Debug)]
pub(crate) struct PageData {
    /// The server's name and version, as `/version` shows them.
    pub(crate) version: Bytes,
    /// The effective configuration, as TOML.
    pub(crate) config: ConfigText,
    pub(crate) readiness: Readiness,
    /// The histograms of the last seconds, from which percentiles come.
    pub(crate) window: RefCell<Window>,
}
