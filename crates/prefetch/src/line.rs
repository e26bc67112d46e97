// SPDX-License-Identifier: Apache-2.0
//! The instruction that asks the CPU for one cache line.
//!
//! INV-HINT: a prefetch never changes what a program does. The instruction faults on no address,
//! valid or not. On architectures for which stable Rust has no such instruction, these functions do
//! nothing.

/// Asks the CPU to bring the cache line at the start of `target` into all cache levels.
#[inline(always)]
pub fn read<T: ?Sized>(target: &T) {
    address(std::ptr::from_ref(target).cast());
}

/// As [`read`], for an address whose memory may have been freed.
#[inline(always)]
pub fn address(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: INV-HINT.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// As [`read`], for memory that will be written: takes the line from other CPUs' caches.
#[inline(always)]
pub fn write<T: ?Sized>(target: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: INV-HINT.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(std::ptr::from_ref(target).cast::<i8>()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = target;
}

#[cfg(test)]
mod tests {
    #[test]
    fn any_reference_will_do() {
        super::read(&1_u8);
        super::read::<[u64]>(&[]);
        super::read("text");
        super::write(&1_u8);
        super::write::<[u64]>(&[]);
    }

    #[test]
    fn any_address_will_do() {
        super::address(std::ptr::null());
    }
}
