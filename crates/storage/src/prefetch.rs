// SPDX-License-Identifier: Apache-2.0
//! The hint an engine gives to the CPU for memory that will be read soon.
//!
//! INV-HINT: a prefetch never changes what a program does. It takes a reference, so the address is
//! valid, and the instruction faults on no address at all.

/// Asks the CPU to bring the cache line at the start of `target` into all cache levels.
///
/// Does nothing on an architecture without such an instruction that stable Rust can reach.
#[inline(always)]
pub fn read<T: ?Sized>(target: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: INV-HINT. `target` is a live reference and prefetching has no effect but on time.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(target).cast::<i8>()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = target;
}

/// As [`read`], for memory that will be written: other CPUs give it up.
#[inline(always)]
pub fn write<T: ?Sized>(target: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: INV-HINT. As above; it is a hint, and nothing is written.
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
}
