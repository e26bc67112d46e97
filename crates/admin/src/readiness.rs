// SPDX-License-Identifier: Apache-2.0
//! The flag behind `/ready`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Where a server is in its life, as load balancers want to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// Not serving yet: `/ready` answers 503 `starting`.
    Starting = 0,
    /// Serving: `/ready` answers 200 `ready`.
    Ready = 1,
    /// Finishing what has arrived, taking nothing more: `/ready` answers 503 `draining`.
    Draining = 2,
}

impl State {
    /// The word that `/ready` answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Draining => "draining",
        }
    }
}

/// A [`State`] that many threads share: the server sets it, the admin thread shows it.
///
/// A clone is another handle to the same flag. It begins as [`State::Starting`].
///
/// ```
/// use admin::{Readiness, State};
///
/// let readiness = Readiness::new();
/// let shared = readiness.clone();
/// readiness.set(State::Ready);
/// assert_eq!(shared.get(), State::Ready);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Readiness(Arc<AtomicU8>);

impl Readiness {
    /// A flag that says [`State::Starting`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Changes what `/ready` answers, from the next request on.
    pub fn set(&self, state: State) {
        self.0.store(state as u8, Ordering::Release);
    }

    /// The state last set.
    #[must_use]
    pub fn get(&self) -> State {
        match self.0.load(Ordering::Acquire) {
            0 => State::Starting,
            1 => State::Ready,
            _ => State::Draining,
        }
    }
}
