// SPDX-License-Identifier: Apache-2.0
//! [`Zeroed`]: values in memory mapped from the operating system, of which only touched pages take memory.
//!
//! * INV-MAP: the mapping is private to its `Zeroed`, starts at a page and has the length of `len`
//!   values; it stays until the `Zeroed` is dropped.
//! * INV-ZERO: all bytes of a value may be zero, at the start and again whenever they like. So fresh pages
//!   are values, and pages given back become values again.

use std::fmt;
use std::io;
use std::ops::Deref;

/// A value that all zeros are, too.
///
/// # Safety
///
/// All zeros are a value of the type, it is made of nothing but atomics and padding, it need not be dropped, and
/// its alignment is no more than that of a page.
pub(crate) unsafe trait Zero: Sync {
    /// The value of all zeros.
    #[cfg(loom)]
    fn zero() -> Self;

    /// Makes it zero.
    #[cfg(loom)]
    fn clear(&self);
}

macro_rules! zeros {
    ($($atomic:ty),*) => { $(
        // SAFETY: it is an atomic number, and need not be dropped.
        unsafe impl Zero for $atomic {
            #[cfg(loom)]
            fn zero() -> Self {
                <$atomic>::new(0)
            }

            #[cfg(loom)]
            fn clear(&self) {
                self.store(0, std::sync::atomic::Ordering::Relaxed);
            }
        }
    )* };
}

zeros!(std::sync::atomic::AtomicU32, std::sync::atomic::AtomicU64);

/// Values in mapped pages. Untouched pages take no memory.
#[cfg(not(loom))]
pub(crate) struct Zeroed<T> {
    map: memmap2::MmapMut,
    len: usize,
    values: std::marker::PhantomData<T>,
}

#[cfg(not(loom))]
impl<T: Zero> Zeroed<T> {
    /// Maps `len` values.
    pub(crate) fn new(len: usize) -> io::Result<Zeroed<T>> {
        let length = len.checked_mul(size_of::<T>());
        let map = memmap2::MmapMut::map_anon(length.ok_or(io::ErrorKind::OutOfMemory)?)?;
        Ok(Zeroed { map, len, values: std::marker::PhantomData })
    }

    /// The first whole huge page at or behind this byte, if there is one.
    pub(crate) fn huge_page_from(&self, byte: usize) -> Option<std::ops::Range<usize>> {
        let page = pages::huge_page_from(self.map.as_ptr(), byte);
        (page.end <= self.map.len()).then_some(page)
    }

    /// Takes the memory of these bytes from the system, in huge pages, as [`pages::take`].
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn take(&self, bytes: std::ops::Range<usize>) -> io::Result<()> {
        let advise = |advice| self.map.advise_range(advice, bytes.start, bytes.len());
        pages::take(true, advise)
    }

    /// Gives the pages of these bytes back. Both ends are at page boundaries, or the end is the end
    /// of the memory.
    ///
    /// The values in it read as zero from then on, or unchanged where that failed. The caller guarantees that
    /// both are correct.
    #[cfg(unix)]
    pub(crate) fn release(&self, bytes: std::ops::Range<usize>) {
        let advice = memmap2::UncheckedAdvice::DontNeed;
        // SAFETY: the pages become zeroes, which are values by INV-ZERO, and all access to them
        // is by atomics.
        let result = unsafe { self.map.unchecked_advise_range(advice, bytes.start, bytes.len()) };
        if let Err(error) = result {
            log::warn!("cannot give {} bytes of a table back: {error}", bytes.len());
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn release(&self, _bytes: std::ops::Range<usize>) {}
}

#[cfg(not(loom))]
impl<T: Zero> Deref for Zeroed<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: INV-MAP gives length, alignment and lifetime; INV-ZERO makes all bytes valid. The
        // values are atomics, and nobody makes a `&mut` to the mapping, so sharing is no data race.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast::<T>(), self.len) }
    }
}

/// Values of loom's atomics.
#[cfg(loom)]
pub(crate) struct Zeroed<T> {
    values: Box<[T]>,
}

#[cfg(loom)]
impl<T: Zero> Zeroed<T> {
    #[expect(clippy::unnecessary_wraps, reason = "as with memory of the operating system's")]
    pub(crate) fn new(len: usize) -> io::Result<Zeroed<T>> {
        Ok(Zeroed { values: (0..len).map(|_| T::zero()).collect() })
    }

    pub(crate) fn release(&self, bytes: std::ops::Range<usize>) {
        let values = bytes.start / size_of::<T>()..bytes.end / size_of::<T>();
        self.values[values].iter().for_each(T::clear);
    }
}

#[cfg(loom)]
impl<T> Deref for Zeroed<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values
    }
}

impl<T: Zero> fmt::Debug for Zeroed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Zeroed").field("len", &self.len()).finish_non_exhaustive()
    }
}
