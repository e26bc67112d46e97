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
    /// No memory.
    pub const NONE: Hint = Hint { address: 0, lines: 0, leads_on: false };

    /// The most lines of one hint: after these the CPU's own prefetcher has recognised sequential
    /// reading. More would only wait for each other.
    const LINES_MAX: usize = 12;

    /// Bytes of [`Hint::at`], after which [`Hint::behind`] begins.
    pub const FIRST_BYTES: usize = 2 * LINE;

    /// The two lines from `address` on. The length of an element is not known before the first line is
    /// there, and most elements end in the second.
    #[inline]
    pub fn at<T>(address: *const T) -> Self {
        Hint { address: address.addr(), lines: 2, leads_on: false }
    }

    /// As [`Hint::at`], for memory that points to more memory to be read.
    #[inline]
    pub fn leading_on<T>(address: *const T) -> Self {
        Hint { leads_on: true, ..Hint::at(address) }
    }

    /// The rest of `bytes` bytes at `address`, after the lines of [`Hint::at`].
    #[inline]
    pub fn behind<T>(address: *const T, bytes: usize) -> Self {
        let lines = bytes.div_ceil(LINE).saturating_sub(2).min(Self::LINES_MAX);
        if lines == 0 {
            return Hint::NONE;
        }
        Hint { address: address.addr() + 2 * LINE, lines: lines as u16, leads_on: false }
    }

    /// `bytes` bytes at `address`, from the first line on.
    #[inline]
    pub fn over<T>(address: *const T, bytes: usize) -> Self {
        let lines = bytes.div_ceil(LINE).min(Self::LINES_MAX);
        Hint { address: address.addr(), lines: lines as u16, leads_on: false }
    }

    /// All lines of a value, however it lies in them.
    #[inline]
    pub fn of<T>(target: &T) -> Self {
        let address = std::ptr::from_ref(target).addr();
        let lines = (address % LINE + size_of::<T>()).div_ceil(LINE).min(Self::LINES_MAX);
        Hint { address, lines: lines as u16, leads_on: false }
    }

    /// Whether the memory is not the element itself but points to it.
    #[inline]
    #[must_use]
    pub fn leads_on(self) -> bool {
        self.leads_on
    }

    /// Prefetches the first line only, for who reads no more of an element than its head.
    #[inline]
    pub fn fetch_first(self) {
        if self.lines > 0 {
            line::address(std::ptr::without_provenance(self.address));
        }
    }

    /// Prefetches the memory. The data may be gone by now: then the prefetch is useless but
    /// harmless.
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
        Hint::at(std::ptr::without_provenance::<u8>(1)).fetch_first();
        Hint::NONE.fetch_first();
        Hint::behind(&7_u64, usize::MAX).fetch();
    }

    #[test]
    fn a_value_may_lie_in_one_line_more_than_it_would_fill() {
        #[repr(align(64))]
        struct Lines([u64; 16]);
        let lines = Lines([0; 16]);
        let of = |at: usize| {
            let three: &[u64; 3] = lines.0[at..].first_chunk().unwrap();
            Hint::of(three).lines
        };
        assert_eq!([0, 5, 6, 7, 8].map(of), [1, 1, 2, 2, 1]);
        assert_eq!(Hint::of(&lines).lines, 2);
    }

    #[test]
    fn what_is_behind_the_first_lines_has_an_end() {
        let lines = |bytes| Hint::behind(&7_u64, bytes).lines;
        assert_eq!([0, 128, 129, 192, 193].map(lines), [0, 0, 1, 1, 2]);
        assert_eq!(usize::from(lines(1 << 20)), Hint::LINES_MAX);
        assert_eq!(Hint::behind(&7_u64, 128), Hint::NONE);
    }
}
