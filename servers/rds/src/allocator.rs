// SPDX-License-Identifier: Apache-2.0
//! The allocator: small blocks are in slabs of dense size classes ([`SlabHeap`]), by which the memory of values is counted;
//! slabs and large blocks come from jemalloc, with a few options (`allocator/options.rs`).
//!
//! Unused pages are returned to the system within some ten seconds. jemalloc's own background threads
//! do this, so memory is returned even while no request arrives.
//!
//! Workers' memory is in huge pages that are taken ahead, unless they are not wanted (`huge-pages no`), and otherwise in small
//! pages whatever the system's default (`allocator/extents.rs`).
//!
//! [`Bins`] tell the keyspace how full slabs are, and let it move entries from one to another.

#[allow(unsafe_code)]
mod extents;
#[allow(unsafe_code)]
mod options;

use allocator::{SMALL_MAX, SlabAllocator, SlabHeap, SlabUse};
use pages::Pool;
use protocol_resp::service::Allocator;
use std::sync::OnceLock;
use std::sync::mpsc::{self, SyncSender};
use std::thread;
use storage_typed::Slabs;
use tikv_jemalloc_ctl::{
    Access, AsName, Mib, Result, arenas, background_thread, epoch, stats, version,
};
use tikv_jemallocator::Jemalloc;

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: SlabAllocator<Jemalloc> = SlabAllocator::new(&HEAP);
// The locks of other systems may allocate.
#[cfg(not(target_os = "linux"))]
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;
static HEAP: SlabHeap<Jemalloc> = SlabHeap::new(Jemalloc);

/// Starts jemalloc's background threads, which return unused pages.
pub(crate) fn start() {
    if let Err(error) = background_thread::write(true) {
        eprintln!("warning: unused memory goes back later than it could: {error}");
    }
}

/// Huge pages that a thread takes ahead of their use, from now on.
pub(crate) fn huge_pages() -> Option<&'static Pool> {
    if !extents::can_tell_use() {
        // Nobody expects them of another system.
        if cfg!(target_os = "linux") {
            eprintln!(
                "warning: memory is not taken in huge pages: that needs a system that overcommits \
                (vm.overcommit_memory 0 or 1), and /proc, where it says so"
            );
        }
        return None;
    }
    let pool = Pool::start();
    if let Err(error) = &pool {
        eprintln!("warning: memory is not taken in huge pages: {error}");
    }
    pool.ok()
}

/// Has this thread's memory come from these huge pages and, where none is ready, in small ones, or whichever the system
/// chooses.
pub(crate) fn adopt(pool: Option<&'static Pool>, keeps_small: bool) {
    if let Err(error) = extents::adopt(pool, keeps_small) {
        log::warn!("the memory of a worker is not taken in huge pages: {error}");
    }
}

/// The allocator's numbers, as of now.
pub(crate) fn numbers() -> Option<Allocator> {
    epoch::advance().ok()?;
    Some(Allocator {
        name: name(),
        allocated: (stats::allocated::read().ok()? as u64).saturating_sub(HEAP.unused()),
        active: stats::active::read().ok()? as u64,
        resident: stats::resident::read().ok()? as u64,
        mapped: stats::mapped::read().ok()? as u64,
        retained: stats::retained::read().ok()? as u64,
    })
}

/// Where jemalloc has the numbers of all its arenas together.
const ALL_ARENAS: usize = 4096;

/// Slabs of all sizes of blocks: those of small ones, and jemalloc's of the next larger ones. Those of one size are a bin.
#[derive(Debug)]
pub(crate) struct Bins {
    /// jemalloc's.
    bins: Vec<Bin>,
    /// Where the number of pages is that are in memory and free, and known to jemalloc.
    idle: Mib<[usize; 4]>,
    page: usize,
    pool: Option<&'static Pool>,
    /// To the thread that returns those, for it takes a while: one request may wait.
    purges: SyncSender<()>,
}

#[derive(Debug)]
struct Bin {
    size: usize,
    /// Blocks in a slab.
    blocks: u64,
    /// Where the number of blocks that are in use is.
    used: Mib<[usize; 6]>,
    /// Where the number of slabs is.
    slabs: Mib<[usize; 6]>,
}

impl Bins {
    /// The bins of this process, which takes huge pages from `pool`, and a thread that returns unused pages when it is
    /// asked.
    pub(crate) fn find(pool: Option<&'static Pool>) -> Result<Self> {
        let number: u32 = b"arenas.nbins\0".name().read()?;
        let idle = format!("stats.arenas.{ALL_ARENAS}.pdirty\0").as_bytes().name().mib()?;
        let mut bins = (0..number).map(Bin::find).collect::<Result<Vec<_>>>()?;
        // Of the small ones only what has another alignment is here.
        bins.retain(|bin| bin.size > SMALL_MAX);
        let page: usize = b"arenas.page\0".name().read()?;
        let (purges, asked) = mpsc::sync_channel(1);
        let thread = thread::Builder::new().name("purge".into());
        if let Err(error) = thread.spawn(move || asked.iter().for_each(|()| purge())) {
            eprintln!("warning: unused memory goes back later than it could: {error}");
        }
        Ok(Bins { bins, idle, page, pool, purges })
    }
}

impl Bin {
    fn find(number: u32) -> Result<Self> {
        let fact = |name: &str| format!("arenas.bin.{number}.{name}\0");
        let count = |name: &str| {
            format!("stats.arenas.{ALL_ARENAS}.bins.{number}.{name}\0").as_bytes().name().mib()
        };
        let blocks: u32 = fact("nregs").as_bytes().name().read()?;
        Ok(Bin {
            size: fact("size").as_bytes().name().read()?,
            blocks: u64::from(blocks),
            used: count("curregs")?,
            slabs: count("curslabs")?,
        })
    }

    fn now(&self) -> Result<SlabUse> {
        let (used, slabs): (usize, usize) = (self.used.read()?, self.slabs.read()?);
        let free = (slabs as u64 * self.blocks).saturating_sub(used as u64);
        let size = self.size as u64;
        Ok(SlabUse { size: self.size, used: used as u64 * size, free: free * size })
    }
}

impl Slabs for Bins {
    fn each(&self, see: &mut dyn FnMut(SlabUse)) {
        HEAP.each(&mut *see);
        if epoch::advance().is_ok() {
            self.bins.iter().filter_map(|bin| bin.now().ok()).for_each(see);
        }
    }

    fn directly(&self, work: &mut dyn FnMut()) {
        // What the thread had kept goes back, too.
        let cache = b"thread.tcache.enabled\0".name();
        let before: Result<bool> = cache.update(false);
        HEAP.directly(work);
        if let Ok(before) = before
            && let Err(error) = cache.write(before)
        {
            log::error!("jemalloc keeps no memory for the thread any more: {error}");
        }
    }

    fn idle(&self) -> u64 {
        let pages: usize = self.idle.read().unwrap_or(0);
        let ahead = self.pool.map_or(0, Pool::ahead);
        (pages * self.page + ahead) as u64
    }

    fn purge(&self) {
        // A request that waits is as good as another.
        let _ = self.purges.try_send(());
    }
}

/// `jemalloc-5.3.1`
fn name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let full = version::read().unwrap_or_default();
        format!("jemalloc-{}", full.split('-').next().unwrap_or_default())
    })
}

/// Returns unused pages now, by setting the time for which they are kept to zero.
pub(crate) fn purge() {
    for arena in 0..arenas::narenas::read().unwrap_or(0) {
        let key = format!("arena.{arena}.dirty_decay_ms\0");
        let key = key.as_bytes().name();
        // An arena that was never used has no such key.
        let before: Result<isize> = key.read();
        if let Ok(before) = before
            && key.write(0_isize).is_ok()
            && let Err(error) = key.write(before)
        {
            log::error!("jemalloc does not take {before} back for {key:?}: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError};
    use tikv_jemalloc_ctl::thread::allocatedp;

    /// Tests that measure the memory of the process do so one after the other.
    static ALONE: Mutex<()> = Mutex::new(());

    fn alone() -> MutexGuard<'static, ()> {
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[test]
    fn jemalloc_has_the_options() {
        let largest: usize = b"opt.lg_extent_max_active_fit\0".name().read().unwrap();
        let is_oblivious: bool = b"opt.cache_oblivious\0".name().read().unwrap();
        assert_eq!((largest, is_oblivious), (20, false));
    }

    #[test]
    fn classes_are_those_that_memory_is_counted_by() {
        let bins = Bins::find(None).expect("jemalloc tells");
        let mut classes = Vec::new();
        bins.each(&mut |one| classes.push(one.size));
        let largest = *classes.last().expect("there are some");
        let mut counted: Vec<usize> = (1..=largest).map(allocator::size_class).collect();
        counted.dedup();
        assert_eq!(classes, counted);
    }

    #[test]
    fn large_blocks_take_what_they_are_counted_as() {
        let taken = allocatedp::read().expect("jemalloc tells");
        for bytes in
            [10_241, 16_385, 20_481, 33_000, 66_000, 100_000, 300_000, 1_000_001, 5_000_000]
        {
            let before = taken.get();
            let block: Vec<u8> = Vec::with_capacity(bytes);
            let took = taken.get() - before;
            assert_eq!(took, allocator::size_class(block.capacity()) as u64, "{bytes} bytes");
        }
    }

    #[test]
    fn slabs_are_not_allocated_before_they_are_full() {
        let _alone = alone();
        let before = numbers().expect("jemalloc tells").allocated;
        let mut blocks: Vec<Vec<u8>> = (0..8000).map(|_| vec![1; 2000]).collect();
        let full = numbers().expect("jemalloc tells").allocated;
        let mut number = 0;
        blocks.retain(|_| {
            number += 1;
            number % 4 == 0
        });
        let sparse = numbers().expect("jemalloc tells").allocated;
        assert!(full > before + 15_000_000, "{before} {full}");
        assert!(sparse + 11_000_000 < full, "{full} {sparse}");
    }

    /// The free bytes of the slabs for blocks of this size.
    fn free(bins: &Bins, size: usize) -> u64 {
        let mut free = None;
        bins.each(&mut |one| free = if one.size == size { Some(one.free) } else { free });
        free.expect("there are such blocks")
    }

    #[test]
    fn blocks_that_are_moved_directly_leave_no_gaps() {
        const SIZE: usize = allocator::size_class(3500);
        let _alone = alone();
        let bins = Bins::find(None).expect("jemalloc tells");
        let before = free(&bins, SIZE);
        let mut blocks: Vec<Vec<u8>> = (0..8000).map(|_| vec![1; SIZE]).collect();
        let mut number = 0;
        blocks.retain(|_| {
            number += 1;
            number % 4 == 0
        });
        let gaps = free(&bins, SIZE) - before;
        assert!(gaps > 5000 * SIZE as u64, "{gaps} bytes");
        bins.directly(&mut || blocks.iter_mut().for_each(|block| *block = block.clone()));
        let left = free(&bins, SIZE).saturating_sub(before);
        assert!(left < gaps / 8, "{left} of {gaps} bytes");
    }

    #[test]
    fn a_thread_may_begin_by_freeing_large_blocks_of_another() {
        let _alone = alone();
        // So many that each arena has one, whichever the others choose.
        let all = Arc::new(Barrier::new(64));
        let from = (0..64).map(|_| {
            let all = all.clone();
            thread::spawn(move || {
                adopt(None, false);
                let blocks: Vec<Vec<u8>> = (0..8).map(|_| vec![1; 64 << 10]).collect();
                all.wait();
                blocks
            })
        });
        for thread in from.collect::<Vec<_>>() {
            let blocks = thread.join().expect("it ends");
            thread::spawn(move || drop(blocks)).join().expect("it ends");
        }
    }

    #[test]
    fn what_is_freed_goes_back_when_asked_for() {
        let _alone = alone();
        let blocks: Vec<Vec<u8>> = (0..1000).map(|_| vec![1; 64 << 10]).collect();
        let full = numbers().expect("jemalloc tells");
        assert!(full.name.starts_with("jemalloc-5."), "{}", full.name);
        assert!(full.allocated >= 1000 * (64 << 10));
        drop(blocks);
        purge();
        let empty = numbers().expect("jemalloc tells");
        assert!(empty.resident + 1000 * (32 << 10) < full.resident, "{full:?} {empty:?}");
    }
}
