// SPDX-License-Identifier: Apache-2.0
//! [`Pool`]: huge pages that are kept ready by a thread of its own.

#[allow(unsafe_code)]
mod open;

use self::open::OpenPages;
use crate::advice::{HUGE_PAGE, huge_page_from, keep_small, take};
use arrayvec::ArrayVec;
use memmap2::{MmapOptions, MmapRaw};
use std::io;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// The part of the pages asked for, as a divisor, that is kept ready.
const SHARE: usize = 128;

/// So many pages are taken elsewhere first: with less memory than that there are hardly any misses of the TLB.
const SMALL: usize = 8;

/// The most pages that are kept ready.
const MOST: usize = 4;

/// Pages of address space that are mapped at once. Where memory is locked (`mlockall`), all of it is taken then.
const REGION: usize = 8;

/// The time between two looks for rests that nobody uses.
const LOOK: Duration = Duration::from_secs(1);

/// Huge pages that a thread takes from the system while those before them are used. Who needs one never waits: if
/// none is ready, it takes its memory elsewhere.
///
/// None is ready until eight were asked for, so a process with little memory takes none ahead. From then on a 128th of
/// what was asked for is kept ready, at least a page and at most four.
///
/// Who has got a page uses it from its beginning on, and says so before it does ([`Pool::uses`]). What is behind that is the
/// page's rest. An allocator leaves many: too small for the next block, and perhaps never used. So the thread gives rests
/// back to the system once their owner has got another page and has not used more of this one for a second, or has left
/// more than a few. Rests of up to a 64th stay, because the page is no huge one without. An owner may use what was given
/// back: then it is zeroed memory as before, in small pages. What it has used and no longer needs it gives back itself,
/// by advice. The addresses are its own for ever.
///
/// [`Pool::next`] and [`Pool::uses`] allocate nothing, so that an allocator can call them.
///
/// # Invariants
///
/// INV-REST: of a page that was given out, nobody reads or writes a byte before [`Pool::uses`] has returned for it.
/// Until then the pool may give it back, or ask for it.
///
/// ```
/// use pages::HUGE_PAGE;
///
/// let pool = pages::Pool::start()?;
/// let owner = 1;
/// for _ in 0..8 {
///     assert!(pool.next(owner).is_none(), "it takes none ahead for a small process");
/// }
/// # if cfg!(target_os = "linux") {
/// while pool.ahead() == 0 {
///     std::thread::yield_now();
/// }
/// let page: std::ptr::NonNull<u8> = pool.next(owner).expect("it is ready");
/// pool.uses(page, 4096);
/// // From here on there may be something in the first 4096 bytes.
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
    /// Those that were given out and are not yet used whole.
    open: OpenPages,
    /// How many were asked for.
    asked: usize,
}

/// A huge page: a mapping that stays for ever, and where in it the page begins.
#[derive(Debug)]
struct Page(&'static MmapRaw, usize);

impl Page {
    fn start(&self) -> *mut u8 {
        self.0.as_mut_ptr().wrapping_add(self.1)
    }

    fn address(&self) -> usize {
        self.start().addr()
    }
}

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

    /// A page, which is this owner's from then on: [`HUGE_PAGE`] bytes of zeros at a multiple of that, none of them
    /// in use. `None` when none is ready, or too many are not used whole.
    pub fn next(&self, owner: u32) -> Option<NonNull<u8>> {
        let start = {
            let mut state = self.state();
            state.asked += 1;
            let page = if state.open.is_full() { None } else { state.ready.pop() };
            page.map(|page| {
                let start = page.start();
                state.open.add(page, owner);
                start
            })
        };
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
        NonNull::new(start?)
    }

    /// Notes that so many bytes from here on are about to be used. They may lie in several pages, and outside of pages of
    /// the pool. Of each page those before them count as used, too.
    pub fn uses(&self, start: NonNull<u8>, bytes: usize) {
        let start = start.addr().get();
        self.state().open.uses(start..start + bytes);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that were taken from the system and are not in use yet.
    pub fn ahead(&self) -> usize {
        let state = self.state();
        state.ready.len() * HUGE_PAGE + state.open.rests()
    }

    /// Whether another page is to be made ready.
    fn wants_another(&self) -> bool {
        let state = self.state();
        state.ready.len() < wanted(state.asked)
    }

    fn run(&self) {
        let mut region = None;
        let mut has_memory = true;
        let mut looked = Instant::now();
        loop {
            if has_memory && self.wants_another() {
                match another(&mut region) {
                    Ok(page) => self.state().ready.push(page),
                    Err(error) => {
                        log::info!("no memory is taken ahead of its use any more: {error}");
                        has_memory = false;
                    }
                }
                continue;
            }
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                self.state().open.look();
            }
            self.give_back();
            // Who asks for a page wakes it.
            if self.state().open.has_elders() {
                thread::park_timeout(LOOK);
            } else {
                thread::park();
            }
        }
    }

    /// Gives back the rests that nobody needs.
    fn give_back(&self) {
        loop {
            // In between others get the lock.
            match self.state().open.give_back_one() {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => log::info!("memory ahead of its use stays there: {error}"),
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
