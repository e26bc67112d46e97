// SPDX-License-Identifier: Apache-2.0
//! [`Hint`]: memory that will be read soon, recorded now and prefetched later.

use crate::line;

/// Memory that will be read soon: a few cache lines, which are yet to be [fetched](Hint::fetch).
///
/// A prefetch takes time if the address is not in the CPU's translation cache (TLB), and taking or
/// releasing a lock waits for that. So a hint is made under a lock, and fetched without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Hint {
    address: usize,
    lines: u16,
    leads_on: bool,
}

impl Hint {
    /// Nothing will be read.
    pub const NONE: Hint = Hint { address: 0, lines: 0, leads_on: false };

    /// The most lines of one hint: by then the CPU has seen by itself that memory is read in order.
    const LINES_MAX: usize = 16;

    /// The two lines from `address` on: how long an element is cannot be known before the first of them
    /// is there, and most end in the second.
    #[inline]
    pub fn at<T>(address: *const T) -> Self {
        Hint { address: address.addr(), lines: 2, leads_on: false }
    }

    /// As [`Hint::at`], and what is there leads to what will be read behind it.
    #[inline]
    pub fn leading_on<T>(address: *const T) -> Self {
        Hint { leads_on: true, ..Hint::at(address) }
    }

    /// What `bytes` at `address` have behind the lines of [`Hint::at`].
    #[inline]
    pub fn behind<T>(address: *const T, bytes: usize) -> Self {
        let lines = bytes.div_ceil(LINE).saturating_sub(2).min(Self::LINES_MAX);
        if lines == 0 {
            return Hint::NONE;
        }
        Hint { address: address.addr() + 2 * LINE, lines: lines as u16, leads_on: false }
    }

    /// Whether it does not lead to the element itself but to where that is found.
    #[inline]
    #[must_use]
    pub fn leads_on(self) -> bool {
        self.leads_on
    }

    /// Asks the CPU for it. What was there may be gone by now: then it is asked for in vain.
    #[inline]
    pub fn fetch(self) {
        for nth in 0..usize::from(self.lines) {
            line::address(std::ptr::without_provenance(self.address.wrapping_add(nth * LINE)));
        }
    }
}

/// Bytes of a cache line.
const LINE: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_address_will_do() {
        Hint::NONE.fetch();
        Hint::at(std::ptr::without_provenance::<u8>(1)).fetch();
        Hint::at(&7_u64).fetch();
        Hint::behind(&7_u64, usize::MAX).fetch();
    }

    #[test]
    fn what_is_behind_the_first_lines_has_an_end() {
        let lines = |bytes| Hint::behind(&7_u64, bytes).lines;
        assert_eq!([0, 128, 129, 192, 193].map(lines), [0, 0, 1, 1, 2]);
        assert_eq!(usize::from(lines(1 << 20)), Hint::LINES_MAX);
        assert_eq!(Hint::behind(&7_u64, 128), Hint::NONE);
    }
}
