// SPDX-License-Identifier: Apache-2.0
//! [`OpenPages`]: pages that were given out and are in use up to some byte.

use super::Page;
use crate::advice::HUGE_PAGE;
use arrayvec::ArrayVec;
use memmap2::UncheckedAdvice;
use std::io;
use std::ops::Range;

/// The most pages that are open at once: while there are so many, none is given out.
pub(super) const MOST_OPEN: usize = 128;

/// From how many open pages on the rests of the eldest are given back however long they have been in use.
pub(super) const MANY: usize = 16;

/// A rest that is no more stays, and counts as used: to give it back would cost the huge page, for what remains of one
/// is in small ones.
pub(super) const SMALL_REST: usize = HUGE_PAGE / 64;

/// At so many looks in a row a page has to be unused for its rest to be given back: the first comes at any time.
const IDLE_LOOKS: u8 = 2;

/// Pages that are in use from their beginning up to some byte, the eldest first. What lies behind is their rest: in
/// memory, and of no use to anybody yet.
#[derive(Debug, Default)]
pub(super) struct OpenPages(ArrayVec<OpenPage, MOST_OPEN>);

#[derive(Debug)]
struct OpenPage {
    page: Page,
    /// Bytes in use.
    used: usize,
    owner: u32,
    /// Whether it is the last that its owner got: whose rest is kept.
    is_newest: bool,
    /// How often it was looked at since its use last grew.
    looks: u8,
}

impl OpenPages {
    pub(super) fn is_full(&self) -> bool {
        self.0.is_full()
    }

    /// Adds a page that was given to this owner.
    ///
    /// # Panics
    ///
    /// When there are as many as there may be.
    pub(super) fn add(&mut self, page: Page, owner: u32) {
        for elder in self.0.iter_mut().filter(|page| page.owner == owner) {
            elder.is_newest = false;
        }
        self.0.push(OpenPage { page, used: 0, owner, is_newest: true, looks: 0 });
    }

    /// Notes that the bytes at these addresses are in use, and those of each page before them.
    pub(super) fn uses(&mut self, addresses: Range<usize>) {
        self.0.retain(|open| {
            let start = open.page.address();
            if addresses.start < start + HUGE_PAGE && start < addresses.end {
                let end = (addresses.end - start).min(HUGE_PAGE);
                open.used = open.used.max(end);
                open.looks = 0;
            }
            HUGE_PAGE - open.used > SMALL_REST
        });
    }

    /// Bytes of all rests.
    pub(super) fn rests(&self) -> usize {
        self.0.iter().map(|open| HUGE_PAGE - open.used).sum()
    }

    /// Whether there is a page whose rest is not to be kept for ever.
    pub(super) fn has_elders(&self) -> bool {
        self.0.iter().any(|open| !open.is_newest)
    }

    /// Looks at all pages: those that are unused at two looks in a row are idle.
    pub(super) fn look(&mut self) {
        for open in &mut self.0 {
            open.looks = open.looks.saturating_add(1);
        }
    }

    /// Gives back the rest of a page that its owner has left for a newer one: of an idle one, or of the eldest if there
    /// are many. The page is no longer open then: from the rest on it is memory like any other. Says whether there was one.
    ///
    /// # Errors
    ///
    /// Those of the system. The page is no longer open.
    pub(super) fn give_back_one(&mut self) -> io::Result<bool> {
        let are_many = self.0.len() > MANY;
        let is_left = |open: &OpenPage| !open.is_newest && (are_many || open.looks >= IDLE_LOOKS);
        let Some(index) = self.0.iter().position(is_left) else { return Ok(false) };
        let OpenPage { page: Page(map, start), used, .. } = self.0.remove(index);
        let advice = UncheckedAdvice::DontNeed;
        // SAFETY: INV-REST: nobody has touched what lies behind `used`, nor does before it is noted here.
        unsafe { map.unchecked_advise_range(advice, start + used, HUGE_PAGE - used) }?;
        Ok(true)
    }
}
