// SPDX-License-Identifier: Apache-2.0
//! Size classes: which sizes blocks have.
//!
//! General allocators have four classes to each doubling of the size, so that a request for a little more than a class
//! wastes a fifth of its block, and one of any size a ninth, on average. Here a fortieth is wasted:
//!
//! 1. Up to 128 bytes classes are the multiples of eight.
//! 2. A larger one is larger than the one before by at least a thirty-second, and as large as it can be with that many
//!    blocks in a slab: what a slab of smaller blocks would leave unused at its end is theirs.
//! 3. A slab has 15 blocks at least, or it would be kept for few blocks that are left.

use crate::slab;

/// The alignment of every block, and what every size is a multiple of.
pub(crate) const QUANTUM: usize = 8;

/// The largest block that is taken from a slab.
pub const SMALL_MAX: usize = CLASSES[COUNT - 1].block as usize;

/// Classes up to this one are a quantum apart.
const LINEAR_MAX: usize = 128;

/// The smallest slab.
const SLAB_MIN: usize = 16 << 10;

/// The largest slab.
const SLAB_MAX: usize = 128 << 10;

/// A size class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizeClass {
    /// Bytes of a block.
    pub(crate) block: u32,
    /// Bytes of a slab, a power of two.
    pub(crate) slab: u32,
    /// Blocks in a slab.
    pub(crate) blocks: u32,
    /// Blocks that a thread keeps for itself at most.
    pub(crate) kept: u32,
}

impl SizeClass {
    const fn of(block: usize) -> Self {
        let slab = if block * 16 <= SLAB_MIN { SLAB_MIN } else { (block * 16).next_power_of_two() };
        let room = slab - slab::HEADER;
        let blocks = room / block;
        let block = if block <= LINEAR_MAX { block } else { room / blocks / QUANTUM * QUANTUM };
        let kept = KEPT_BYTES / block;
        let kept = if kept > KEPT_MAX { KEPT_MAX } else { kept };
        SizeClass {
            block: block as u32,
            slab: slab as u32,
            blocks: blocks as u32,
            kept: kept as u32,
        }
    }

    const fn next(self) -> Self {
        let block = self.block as usize;
        SizeClass::of(block + (block / 32 + 1).next_multiple_of(QUANTUM))
    }
}

/// What a thread keeps of a class: so many bytes, or blocks.
const KEPT_BYTES: usize = 16 << 10;
const KEPT_MAX: usize = 64;

/// The number of classes.
pub(crate) const COUNT: usize = {
    let (mut class, mut count) = (SizeClass::of(QUANTUM), 0);
    while class.slab as usize <= SLAB_MAX {
        class = class.next();
        count += 1;
    }
    count
};

pub(crate) static CLASSES: [SizeClass; COUNT] = {
    let mut classes = [SizeClass::of(QUANTUM); COUNT];
    let mut number = 1;
    while number < COUNT {
        classes[number] = classes[number - 1].next();
        number += 1;
    }
    classes
};

/// The number of the class of each multiple of the quantum.
static NUMBERS: [u8; SMALL_MAX / QUANTUM + 1] = {
    let mut numbers = [0; SMALL_MAX / QUANTUM + 1];
    let (mut size, mut number) = (1, 0);
    while size < numbers.len() {
        if size * QUANTUM > CLASSES[number].block as usize {
            number += 1;
        }
        numbers[size] = number as u8;
        size += 1;
    }
    numbers
};

const _: () = assert!(COUNT <= 128, "the numbers of classes are bits of two words");
const _: () = assert!(SMALL_MAX <= 8 << 10, "a sixteenth of the largest slab");

/// Of the allocator below: the largest class that is a quarter of a power of two from the next, and what larger ones are
/// multiples of.
const QUARTERED_MAX: usize = 4 * PAGE;
const PAGE: usize = 4 << 10;

/// The number of the class for so many bytes. None has more than [`SMALL_MAX`].
#[inline]
pub(crate) const fn number(bytes: usize) -> Option<usize> {
    if bytes > SMALL_MAX {
        return None;
    }
    Some(NUMBERS[bytes.div_ceil(QUANTUM)] as usize)
}

/// The memory that a block of `bytes` takes: the size of its class.
///
/// What is larger than [`SMALL_MAX`] comes from the allocator below. Its classes are taken for those of jemalloc since 5.3.1:
/// four to each doubling up to 16 KiB, and whole pages of 4 KiB above.
///
/// ```
/// assert_eq!(allocator::size_class(93), 96);
/// assert_eq!(allocator::size_class(1053), 1088);
/// assert_eq!(allocator::size_class(9000), 10240);
/// assert_eq!(allocator::size_class(100_000), 102_400);
/// assert_eq!(allocator::size_class(0), 0);
/// ```
#[inline]
pub const fn size_class(bytes: usize) -> usize {
    if bytes == 0 {
        return 0;
    }
    if let Some(number) = number(bytes) {
        return CLASSES[number].block as usize;
    }
    if bytes > QUARTERED_MAX {
        return bytes.next_multiple_of(PAGE);
    }
    // The classes between 2^n and 2^(n+1) are 2^(n-2) apart.
    let quarter = 1 << ((bytes - 1).ilog2() - 2);
    bytes.next_multiple_of(quarter)
}

/// The number of the class of `bytes` among all classes. The smallest one has 0.
///
/// ```
/// assert_eq!(allocator::class_number(1), 0);
/// assert_eq!(allocator::class_number(93), 11);
/// assert!(allocator::class_number(20_000) < 128);
/// ```
#[inline]
pub const fn class_number(bytes: usize) -> usize {
    if let Some(number) = number(bytes) {
        return number;
    }
    if bytes > QUARTERED_MAX {
        return class_number(QUARTERED_MAX) + (bytes - QUARTERED_MAX).div_ceil(PAGE);
    }
    let group = (bytes - 1).ilog2();
    COUNT + 4 * (group as usize - SMALL_MAX.ilog2() as usize) + ((bytes - 1) >> (group - 2) & 3) - 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_its_own_class_and_wastes_little() {
        for bytes in 1..=SMALL_MAX {
            let class = size_class(bytes);
            assert!(class >= bytes && class.is_multiple_of(QUANTUM));
            assert_eq!(size_class(class), class);
            let waste = class - bytes;
            assert!(waste < QUANTUM || waste <= bytes / 13, "{bytes} in {class}");
        }
    }

    #[test]
    fn slabs_are_full_of_blocks() {
        for class in CLASSES.iter() {
            let room = class.slab as usize - slab::HEADER;
            let left = room - (class.blocks * class.block) as usize;
            assert!(class.blocks >= 15, "{class:?}");
            assert!(left < room / 70, "{left} bytes are left by {class:?}");
            assert!(class.kept >= 2);
        }
    }

    #[test]
    fn large_classes_are_those_of_jemalloc() {
        assert_eq!(
            [9000, 10_240, 10_241, 32_769, 1 << 20, (1 << 30) + 1].map(size_class),
            [10_240, 10_240, 12_288, 36_864, 1 << 20, (1 << 30) + 4096]
        );
    }

    #[test]
    fn each_class_has_a_number_of_its_own() {
        let mut classes: Vec<usize> = (1..=64 << 10).map(size_class).collect();
        classes.dedup();
        assert!(classes.iter().map(|&class| class_number(class)).eq(0..classes.len()));
    }

    /// Of blocks of all sizes alike.
    #[test]
    fn little_is_wasted_on_average() {
        let waste = |from: usize, to: usize| {
            let wasted: usize = (from..=to).map(|bytes| size_class(bytes) - bytes).sum();
            wasted as f64 / (from..=to).sum::<usize>() as f64
        };
        assert!(waste(64, 128) < 0.04);
        assert!(waste(128, SMALL_MAX) < 0.025);
    }
}
