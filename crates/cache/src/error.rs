// SPDX-License-Identifier: Apache-2.0
//! [`Error`]: why a cache is not built, or does not take an item or a limit.

use storage::{ResizeError, StoreError};

/// Why a cache is not built, or does not take an item or a limit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The key is longer than 65,535 bytes, or the value longer than [`value_max`](crate::Builder::value_max). It
    /// can never be stored: do without, or raise the limit.
    #[error("the item is larger than the cache takes")]
    TooLarge,
    /// No room was found, for one of two reasons: nothing may be evicted
    /// ([`Eviction::None`](crate::Eviction::None)), or other threads that had been in the middle of their operations
    /// had no CPU for a second. The cache works as before; the item may fit later.
    #[error("no room for the item")]
    NoRoom,
    /// The limit is too low for this cache.
    #[error("the cache needs at least {least} bytes")]
    LimitTooLow {
        /// The lowest possible limit in bytes.
        least: u64,
    },
    /// The limit is higher than the cache was built for.
    #[error("the cache takes at most {most} bytes")]
    LimitTooHigh {
        /// The highest possible limit in bytes.
        most: u64,
    },
    /// An option is not possible, or the system does not give the memory.
    #[error(transparent)]
    Build(#[from] storage_seg::Error),
    /// The system does not start the thread for the work in the background.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::TooLarge => Error::TooLarge,
            StoreError::OutOfMemory => Error::NoRoom,
            StoreError::Exists | StoreError::NotFound => {
                unreachable!("writes of a cache have no condition")
            }
        }
    }
}

impl From<ResizeError> for Error {
    fn from(error: ResizeError) -> Self {
        match error {
            ResizeError::TooSmall { least } => Error::LimitTooLow { least },
            ResizeError::TooLarge { most } => Error::LimitTooHigh { most },
        }
    }
}
