// SPDX-License-Identifier: Apache-2.0
//! [`Footprint`]: how much memory a worker's connections take, and when its service is told.

use buffer::Pool;
use protocol::Buffers;

/// Approximate bytes of a TLS session besides its blocks: the state and the buffers of rustls.
/// Records that wait for the socket, up to 64 KiB, are not included.
const TLS_SESSION_BYTES: usize = 7 << 10;

/// The smallest change that is reported: small compared with any cache, large compared with one connection's
/// blocks, so that a worker in its steady state reports nothing.
const STEP_BYTES: usize = 64 << 10;

/// The last reported numbers, and the TLS sessions, which the pool does not count.
#[derive(Debug, Default)]
pub(super) struct Footprint {
    told: usize,
    tls_sessions: usize,
}

impl Footprint {
    /// Counts a connection in.
    pub(super) fn enter(&mut self, is_tls: bool) {
        self.tls_sessions += usize::from(is_tls);
    }

    /// Counts a connection out.
    pub(super) fn leave(&mut self, is_tls: bool) {
        self.tls_sessions -= usize::from(is_tls);
    }

    /// The bytes that were last reported to the service.
    #[inline]
    pub(super) fn told(&self) -> usize {
        self.told
    }

    /// The bytes that connections take, with the `shared` ones of messages from this worker, if they are to be reported now.
    #[inline]
    pub(super) fn news(&mut self, pool: &Pool, shared: usize) -> Option<Buffers> {
        if !self.has_news(pool, shared) {
            return None;
        }
        self.told = self.bytes(pool, shared);
        let unsent = pool.lent_send_bytes() + shared;
        Some(Buffers { bytes: self.told as u64, unsent: unsent as u64 })
    }

    /// Whether they are to be reported now.
    #[inline]
    pub(super) fn has_news(&self, pool: &Pool, shared: usize) -> bool {
        self.bytes(pool, shared).abs_diff(self.told) >= STEP_BYTES
    }

    #[inline]
    fn bytes(&self, pool: &Pool, shared: usize) -> usize {
        pool.bytes() + shared + self.tls_sessions * TLS_SESSION_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_sessions_are_told_of_by_the_step() {
        let pool = Pool::new(1, 1, 0);
        let mut footprint = Footprint::default();
        (0..9).for_each(|_| footprint.enter(true));
        (0..99).for_each(|_| footprint.enter(false));
        assert_eq!(footprint.news(&pool, 0), None, "63 KiB");
        footprint.enter(true);
        assert_eq!(footprint.news(&pool, 0), Some(Buffers { bytes: 70 << 10, unsent: 0 }));
        assert_eq!(footprint.news(&pool, 0), None, "it is no news any more");
        (0..9).for_each(|_| footprint.leave(true));
        footprint.leave(false);
        assert_eq!(footprint.news(&pool, 0), None);
        footprint.leave(true);
        assert_eq!(footprint.news(&pool, 0), Some(Buffers::default()));
    }

    #[test]
    fn messages_for_others_are_unsent_bytes() {
        let pool = Pool::new(1, 1, 0);
        let mut footprint = Footprint::default();
        assert_eq!(footprint.news(&pool, STEP_BYTES - 1), None);
        let all = Buffers { bytes: 1 << 20, unsent: 1 << 20 };
        assert_eq!(footprint.news(&pool, 1 << 20), Some(all));
        assert_eq!(footprint.news(&pool, 0), Some(Buffers::default()));
    }
}
