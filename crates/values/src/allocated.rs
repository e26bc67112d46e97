// SPDX-License-Identifier: Apache-2.0
//! [`allocated`]: the memory that the allocator uses for a request.

/// The size of the smallest class, and the distance of the first few.
const QUANTUM: usize = 8;

/// The memory that an allocation of `bytes` occupies.
///
/// The size classes are those of jemalloc with `--with-lg-quantum=3`, which Redis has, too: multiples of eight up to
/// 64, then four to each doubling. Allocations of this crate request whole classes, so with such an allocator the
/// counted memory is the resident memory. [`Padded`](crate::Padded) says how to have it.
///
/// ```
/// assert_eq!(values::allocated(93), 96);
/// assert_eq!(values::allocated(129), 160);
/// assert_eq!(values::allocated(0), 0);
/// ```
#[inline]
pub const fn allocated(bytes: usize) -> usize {
    if bytes <= 8 * QUANTUM {
        return bytes.next_multiple_of(QUANTUM);
    }
    // The classes between 2^n and 2^(n+1) are 2^(n-2) apart.
    let quarter = 1 << ((bytes - 1).ilog2() - 2);
    bytes.next_multiple_of(quarter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_jemalloc() {
        let mut classes: Vec<usize> = (1..=1024).map(allocated).collect();
        classes.dedup();
        assert_eq!(
            classes,
            [
                8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448,
                512, 640, 768, 896, 1024
            ]
        );
    }

    #[test]
    fn a_class_is_its_own_class_and_wastes_at_most_a_quarter() {
        for bytes in (1..100_000).chain([1 << 30, (1 << 30) + 1, (5 << 30) - 1]) {
            let class = allocated(bytes);
            assert!(class >= bytes);
            assert_eq!(allocated(class), class);
            assert!(class - bytes <= (bytes / 4).max(QUANTUM), "{bytes} in {class}");
        }
    }
}
