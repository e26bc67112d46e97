// SPDX-License-Identifier: Apache-2.0
//! Bounded receive and send buffers, and the pool that lends them.
//!
//! A connection owns a [`RecvBuf`] and a [`SendBuf`]. Both are empty shells of a few words while
//! the connection is idle; when bytes arrive the worker lends them a block from its [`Pool`], and
//! takes it back once everything in it has been served. The pool hands out the block that came back
//! last, so however many connections a worker has, the bytes it touches stay in the CPU's cache.
//!
//! ```
//! use buffer::{Pool, RecvBuf, SendBuf};
//!
//! let mut pool = Pool::new(4096, 4096, 16);
//! let mut recv = RecvBuf::new();
//! recv.reserve(1, &mut pool);
//! recv.put(b"ping");
//! assert_eq!(recv.filled(), b"ping");
//! recv.consume(4);
//! recv.release(&mut pool);
//!
//! let mut send = SendBuf::new();
//! send.lend(&mut pool);
//! send.put(b"pong");
//! assert_eq!(send.pending(), 4);
//! ```
//!
//! Files: `pool.rs`, `recv.rs`, `send.rs`, one type each; [`Lent`] is a block of a [`RecvBuf`].
#![forbid(unsafe_code)]

mod pool;
mod recv;
mod send;

pub use pool::Pool;
pub use recv::{Lent, RecvBuf};
pub use send::{Mark, PINNED_WITHIN, SendBuf};
