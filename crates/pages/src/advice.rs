// SPDX-License-Identifier: Apache-2.0
//! What the system is told about memory.

use memmap2::Advice;
use std::io;
use std::ops::Range;

/// Bytes of a huge page.
pub const HUGE_PAGE: usize = 2 << 20;

/// Bytes of a page of the system: memory is given back in whole ones.
pub fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// The first whole huge page at or behind byte `from` of a mapping that begins at `base`. It may reach beyond the end
/// of the mapping.
pub fn huge_page_from(base: *const u8, from: usize) -> Range<usize> {
    let start = (base.addr() + from).next_multiple_of(HUGE_PAGE) - base.addr();
    start..start + HUGE_PAGE
}

/// Takes memory as if somebody had written to it; its bytes do not change. `advise` gives the system advice about it.
///
/// # Errors
///
/// Those of the system: it has no memory or, before Linux 5.14, cannot do it.
#[cfg(target_os = "linux")]
pub fn take(in_huge_pages: bool, advise: impl Fn(Advice) -> io::Result<()>) -> io::Result<()> {
    if in_huge_pages {
        // Fails where the system has none; then small ones are taken.
        let _ = advise(Advice::HugePage);
    }
    let taken = advise(Advice::PopulateWrite);
    if in_huge_pages {
        let _ = keep_small(advise);
    }
    taken
}

/// Takes memory as if somebody had written to it.
///
/// # Errors
///
/// Always: only Linux can do it.
#[cfg(not(target_os = "linux"))]
pub fn take(_in_huge_pages: bool, _advise: impl Fn(Advice) -> io::Result<()>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Keeps the system from making huge pages of small ones, which would take what was given back of one, and from
/// taking a whole one when a byte of it is touched.
///
/// # Errors
///
/// Those of the system: it has no huge pages.
#[cfg(target_os = "linux")]
pub fn keep_small(advise: impl Fn(Advice) -> io::Result<()>) -> io::Result<()> {
    advise(Advice::NoHugePage)
}

/// Keeps the system from making huge pages.
///
/// # Errors
///
/// Always: only Linux has them.
#[cfg(not(target_os = "linux"))]
pub fn keep_small(_advise: impl Fn(Advice) -> io::Result<()>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn a_huge_page_begins_at_a_boundary_of_the_address() {
        let base = std::ptr::without_provenance(3 * MIB);
        for (from, page) in [(0, 1..3), (1, 1..3), (MIB, 1..3), (MIB + 1, 3..5)] {
            assert_eq!(huge_page_from(base, from), page.start * MIB..page.end * MIB);
        }
    }
}
