// SPDX-License-Identifier: Apache-2.0
//! The hint to the CPU that memory will be read soon.
//!
//! INV-HINT: a prefetch never changes what a program does. The instruction faults on no address at
//! all, valid or not.

/// Bytes of a cache line.
const LINE: usize = 64;

/// Asks the CPU to bring the cache line at the start of `target` into all cache levels.
///
/// Does nothing on an architecture without such an instruction that stable Rust can reach.
#[inline(always)]
pub(crate) fn read<T: ?Sized>(target: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: INV-HINT.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(target).cast::<i8>()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = target;
}

/// Asks the CPU for the cache line of `address` and the one behind it.
#[inline(always)]
pub(crate) fn two_lines(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: INV-HINT.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(address.cast());
            _mm_prefetch::<_MM_HINT_T0>(address.wrapping_add(LINE).cast());
        }
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
        super::two_lines(std::ptr::null());
        super::two_lines(&1);
    }
}
