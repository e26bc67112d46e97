// SPDX-License-Identifier: Apache-2.0
//! [`Hint`]: the hint to the CPU that memory will be read soon.
//!
//! INV-HINT: a prefetch never changes what a program does. The instruction faults on no address at
//! all, valid or not.

/// Memory that will be read soon: two cache lines, which the CPU is yet to be [asked](Hint::fetch) for.
///
/// Asking takes time where the address is not in the CPU's translation cache, and a lock that is let go
/// or taken waits for that. So a hint is made under a lock, and followed without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Hint(*const u8);

impl Hint {
    /// Nothing will be read.
    pub const NONE: Hint = Hint(std::ptr::null());

    /// The two lines from `address` on.
    #[inline]
    pub(crate) fn at<T>(address: *const T) -> Self {
        Hint(address.cast())
    }

    /// Asks the CPU for it. What was there may be gone by now: then it is asked for in vain.
    #[inline]
    pub fn fetch(self) {
        if self != Hint::NONE {
            address(self.0);
            address(self.0.wrapping_add(LINE));
        }
    }
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// Asks the CPU to bring the cache line at the start of `target` into all cache levels.
///
/// Does nothing on an architecture without such an instruction that stable Rust can reach.
#[inline(always)]
pub(crate) fn read<T: ?Sized>(target: &T) {
    address(std::ptr::from_ref(target).cast());
}

/// Asks the CPU for the cache line of `address`.
#[inline(always)]
pub(crate) fn address(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: INV-HINT.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    #[test]
    fn any_reference_will_do() {
        super::read(&1_u8);
        super::read::<[u64]>(&[]);
        super::read("text");
    }

    #[test]
    fn any_address_will_do() {
        super::address(std::ptr::null());
        super::Hint::NONE.fetch();
        super::Hint::at(std::ptr::without_provenance::<u8>(1)).fetch();
        super::Hint::at(&7_u64).fetch();
    }
}
