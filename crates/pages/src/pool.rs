// SPDX-License-Identifier: Apache-2.0
//! [`Pool`]: huge pages that are kept ready by a thread of its own.

use crate::advice::{HUGE_PAGE, huge_page_from, keep_small, take};
use arrayvec::ArrayVec;
use memmap2::{MmapOptions, MmapRaw};
use std::io;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};

/// The part of the pages asked for, as a divisor, that is kept ready.
const SHARE: usize = 128;

/// So many pages are taken elsewhere first: with less memory than that there are hardly any misses of the TLB.
const SMALL: usize = 8;

/// The most pages that are kept ready.
const MOST: usize = 4;

/// Pages of address space that are mapped at once. Where memory is locked (`mlockall`), all of it is taken then.
const REGION: usize = 8;

/// Huge pages that a thread takes from the system while those before them are used. Who needs one never waits: if
/// none is ready, it takes its memory elsewhere.
///
/// None is ready until eight were asked for, so a process with little memory takes none ahead. From then on a 128th of
/// what was asked for is kept ready, at least a page and at most four. Pages are never taken back: who no longer needs the
/// memory of one gives it to the system, by advice, and keeps the address.
///
/// [`Pool::next`] allocates nothing, so that an allocator can call it.
///
/// ```
/// let pool = pages::Pool::start()?;
/// for _ in 0..8 {
///     assert!(pool.next().is_none(), "it takes none ahead for a small process");
/// }
/// # if cfg!(target_os = "linux") {
/// while pool.ready() == 0 {
///     std::thread::yield_now();
/// }
/// let page: std::ptr::NonNull<u8> = pool.next().expect("it is ready");
/// # drop(page);
/// # }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Pool {
    /// The standard library's mutex: one of parking_lot's allocates when a thread waits for the first time.
    state: Mutex<State>,
    thread: OnceLock<Thread>,
}

#[derive(Debug, Default)]
struct State {
    ready: ArrayVec<Page, MOST>,
    /// How many were asked for.
    asked: usize,
}

/// A huge page: a mapping that stays for ever, and where in it the page begins.
#[derive(Debug)]
struct Page(&'static MmapRaw, usize);

/// Address space that pages are taken from, and where the next of them may begin.
#[derive(Debug)]
struct Region(&'static MmapRaw, usize);

impl Pool {
    /// A pool, with its thread. Both stay as long as the process.
    ///
    /// # Errors
    ///
    /// When the system gives no thread.
    pub fn start() -> io::Result<&'static Pool> {
        let pool: &Pool = Box::leak(Box::default());
        let thread = thread::Builder::new().name("pages".into()).spawn(|| pool.run())?;
        pool.thread.get_or_init(|| thread.thread().clone());
        Ok(pool)
    }

    /// A page, which is the caller's from then on: [`HUGE_PAGE`] bytes of zeros at a multiple of that. `None` when none
    /// is ready.
    pub fn next(&self) -> Option<NonNull<u8>> {
        let page = {
            let mut state = self.state();
            state.asked += 1;
            state.ready.pop()
        };
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
        let Page(map, start) = page?;
        NonNull::new(map.as_mut_ptr().wrapping_add(start))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many pages are ready.
    pub fn ready(&self) -> usize {
        self.state().ready.len()
    }

    /// Whether another page is to be made ready.
    fn wants_another(&self) -> bool {
        let state = self.state();
        state.ready.len() < wanted(state.asked)
    }

    fn run(&self) {
        let mut region = None;
        loop {
            if !self.wants_another() {
                thread::park();
                continue;
            }
            match another(&mut region) {
                Ok(page) => self.state().ready.push(page),
                Err(error) => {
                    log::info!("no memory is taken ahead of its use: {error}");
                    return;
                }
            }
        }
    }
}

/// How many pages are to be ready when so many were asked for.
fn wanted(asked: usize) -> usize {
    if asked < SMALL { 0 } else { (asked / SHARE).clamp(1, MOST) }
}

/// Takes the next page of a region, or of a new one when that is at its end.
fn another(region: &mut Option<Region>) -> io::Result<Page> {
    let rest = region.as_ref().map(|Region(map, from)| (*map, *from));
    let next = rest.map(|(map, from)| (map, huge_page_from(map.as_ptr(), from)));
    let (map, page) = match next.filter(|(map, page)| page.end <= map.len()) {
        Some(next) => next,
        None => {
            let map = map()?;
            (map, huge_page_from(map.as_ptr(), 0))
        }
    };
    take(true, |advice| map.advise_range(advice, page.start, page.len()))?;
    *region = Some(Region(map, page.end));
    Ok(Page(map, page.start))
}

/// Maps a region.
fn map() -> io::Result<&'static MmapRaw> {
    // Wherever it begins, it has that many whole pages.
    let bytes = (REGION + 1) * HUGE_PAGE;
    let map = MmapRaw::from(MmapOptions::new().len(bytes).no_reserve_swap().map_anon()?);
    // Fails where the system has no huge pages.
    let _ = keep_small(|advice| map.advise_range(advice, 0, bytes));
    Ok(Box::leak(Box::new(map)))
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
