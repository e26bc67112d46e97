// SPDX-License-Identifier: Apache-2.0
//! [`AnswerLimits`]: how much is answered to datagrams. [`Quota`]: how much of that goes to one source.

use clock::Ticks;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Limits of the answers to datagrams. Clones share the quota.
#[derive(Clone, Debug)]
pub struct AnswerLimits {
    /// An answer of more datagrams is refused.
    pub datagrams: usize,
    /// What a source gets in a second; `None` for no limit.
    pub quota: Option<Arc<Quota>>,
}

/// Cells of the table: 64 KiB of them.
const CELLS: usize = 8192;

/// The number of datagrams that a source may be sent in a second.
///
/// A table of fixed size, chosen by a keyed hash of the source, counts them: a number for each cell, shared by
/// all sources that fall into it. So no source ever gets more than its number, whatever addresses are forged
/// and however many, but those that share a cell share the number too.
///
/// All workers of a process use one table, for the kernel spreads the ports of a source over them.
#[derive(Debug)]
pub struct Quota {
    per_second: u32,
    spares_loopback: bool,
    hash: RandomState,
    /// The second in the upper half, what was taken in it in the lower.
    cells: Box<[AtomicU64]>,
}

impl Quota {
    /// `per_second` datagrams for each source.
    pub fn new(per_second: u32) -> Self {
        let cells = std::iter::repeat_with(AtomicU64::default).take(CELLS).collect();
        Quota { per_second, spares_loopback: false, hash: RandomState::new(), cells }
    }

    /// With no limit for loopback addresses, which nobody can forge from elsewhere.
    #[must_use]
    pub fn sparing_loopback(mut self) -> Self {
        self.spares_loopback = true;
        self
    }

    /// Takes `n` datagrams from what `source` may have in the second of `now`; returns whether so many were
    /// left, and takes nothing otherwise.
    pub fn take(&self, source: IpAddr, now: Ticks, n: usize) -> bool {
        if self.spares_loopback && source.is_loopback() {
            return true;
        }
        let cell = &self.cells[self.hash.hash_one(prefix(source)) as usize % CELLS];
        let second = (now.as_millis() / 1000) << 32;
        let mut held = cell.load(Relaxed);
        loop {
            // A worker whose clock is a moment behind takes from the second that has begun.
            let begun = second.max(held & !u64::from(u32::MAX));
            let taken = if begun == held & !u64::from(u32::MAX) { held as u32 } else { 0 };
            let Some(more) = u32::try_from(n).ok().and_then(|n| taken.checked_add(n)) else {
                return false;
            };
            if more > self.per_second {
                return false;
            }
            match cell.compare_exchange_weak(held, begun | u64::from(more), Relaxed, Relaxed) {
                Ok(_) => return true,
                Err(other) => held = other,
            }
        }
    }
}

/// What counts as one source: an IPv4 address, or the network of an IPv6 address, within which a host may
/// choose.
fn prefix(source: IpAddr) -> u64 {
    match source.to_canonical() {
        IpAddr::V4(address) => u64::from(address.to_bits()),
        IpAddr::V6(address) => (address.to_bits() >> 64) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    fn at(ms: u64) -> Ticks {
        Ticks::from_millis(ms)
    }

    #[test]
    fn a_source_gets_its_number_in_each_second() {
        let quota = Quota::new(10);
        assert!(quota.take(A, at(5_000), 7));
        assert!(!quota.take(A, at(5_999), 4), "not so many");
        assert!(quota.take(A, at(5_999), 3), "those that are left");
        assert!(!quota.take(A, at(5_999), 1));
        assert!(quota.take(A, at(6_000), 10), "another second");
        assert!(!quota.take(A, at(5_999), 1), "a clock behind takes from the same second");
        assert!(!quota.take(A, at(9_000), 11), "more than a second has");
        assert!(!quota.take(A, at(9_000), usize::MAX));
        assert!(quota.take(A, at(9_000), 10), "refused ones have taken nothing");
    }

    #[test]
    fn others_have_numbers_of_their_own_and_forged_ones_take_no_memory() {
        let quota = Quota::new(1);
        let others = (0..100_000_u32).map(|i| IpAddr::V4((0x0a00_0000 + i).into()));
        let taken = others.filter(|&source| quota.take(source, at(0), 1)).count();
        assert!((CELLS / 2..=CELLS).contains(&taken), "{taken} of {CELLS} cells");
    }

    #[test]
    fn a_network_of_ipv6_is_one_source() {
        let quota = Quota::new(1);
        let source = |text: &str| text.parse::<IpAddr>().unwrap();
        assert!(quota.take(source("2001:db8::1"), at(0), 1));
        assert!(!quota.take(source("2001:db8::2"), at(0), 1));
        assert!(quota.take(source("::ffff:192.0.2.1"), at(1_000), 1));
        assert!(!quota.take(A, at(1_000), 1), "the same address, written otherwise");
    }

    #[test]
    fn the_same_host_may_be_spared() {
        let quota = Quota::new(1).sparing_loopback();
        for source in ["127.0.0.1", "127.9.9.9", "::1"] {
            assert!(quota.take(source.parse().unwrap(), at(0), 1_000_000));
        }
        assert!(!quota.take(A, at(0), 2));
    }

    #[test]
    fn threads_take_no_more_than_there_is() {
        let quota = Quota::new(1_000);
        let take = || (0..1_000).filter(|_| quota.take(A, at(0), 1)).count();
        let taken: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(taken, 1_000);
    }
}
