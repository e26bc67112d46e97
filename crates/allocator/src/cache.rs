// SPDX-License-Identifier: Apache-2.0
//! [`Cache`]: free blocks that a thread keeps for itself, so that it seldom takes the lock of a bin.
//!
//! # Invariants
//!
//! * INV-OWNER: all blocks of a cache are those of one heap. `serves` is its address, or null while the cache must not be
//!   used: before the first block, and while the thread works [`directly`].

use std::cell::Cell;
use std::ptr::{self, NonNull};

use crate::assert_invariant;
use crate::class::{CLASSES, COUNT};
use crate::slab::Chain;

/// A heap, whatever is below it.
pub(crate) trait Heap: Sync {
    /// Blocks of a class, as many as a thread takes at once; none if there is no memory.
    fn take(&self, number: usize, wanted: u32) -> Chain;

    /// Takes blocks back.
    ///
    /// # Safety
    ///
    /// They are of this class and came from this heap.
    unsafe fn give(&self, number: usize, chain: Chain);
}

/// Free blocks of each class. It has no destructor, or each access would ask whether it has run: [`Ending`] has it.
struct Cache {
    serves: Cell<*const ()>,
    heap: Cell<Option<&'static dyn Heap>>,
    is_direct: Cell<bool>,
    chains: [Cell<Chain>; COUNT],
}

thread_local! {
    static CACHE: Cache = const {
        Cache {
            serves: Cell::new(ptr::null()),
            heap: Cell::new(None),
            is_direct: Cell::new(false),
            chains: [const { Cell::new(Chain::EMPTY) }; COUNT],
        }
    };
    static ENDING: Ending = const { Ending };
}

/// Empties the cache when the thread ends.
struct Ending;

impl Drop for Ending {
    fn drop(&mut self) {
        CACHE.with(|cache| {
            cache.give_all();
            // Other destructors may still take and free blocks.
            cache.is_direct.set(true);
        });
    }
}

fn address<H: Heap>(heap: &'static H) -> *const () {
    ptr::from_ref(heap).cast()
}

/// A block of a class, or `None` if there is no memory.
#[inline]
pub(crate) fn take<H: Heap>(heap: &'static H, number: usize) -> Option<NonNull<u8>> {
    CACHE.with(|cache| {
        let is_served = cache.serves.get() == address(heap);
        let kept = is_served.then(|| cache.edit(number, Chain::pop)).flatten();
        kept.or_else(|| cache.take_many(heap, number))
    })
}

/// Takes a block back.
///
/// # Safety
///
/// It is of this class and came from this heap, and nobody will use it any more.
#[inline]
pub(crate) unsafe fn give<H: Heap>(heap: &'static H, number: usize, block: NonNull<u8>) {
    CACHE.with(|cache| {
        if cache.serves.get() != address(heap) && !cache.serve(heap) {
            let mut chain = Chain::EMPTY;
            // SAFETY: by the caller's promise.
            unsafe {
                chain.push(block);
                heap.give(number, chain);
            }
            return;
        }
        let kept = cache.edit(number, |chain| {
            // SAFETY: by the caller's promise; INV-OWNER.
            unsafe { chain.push(block) };
            chain.len
        });
        if kept > CLASSES[number].kept {
            cache.give_some(heap, number);
        }
    });
}

/// Does `work`, whose blocks come from bins one by one, and go back there at once. What the thread has kept goes back
/// first.
pub(crate) fn directly<H: Heap>(heap: &'static H, work: &mut dyn FnMut()) {
    /// Ends it, also if `work` panics.
    struct Ended(bool);
    impl Drop for Ended {
        fn drop(&mut self) {
            CACHE.with(|cache| cache.is_direct.set(self.0));
        }
    }
    let before = CACHE.with(|cache| {
        if cache.serves.get() == address(heap) {
            cache.give_all();
        }
        cache.is_direct.replace(true)
    });
    let _ended = Ended(before);
    work();
}

impl Cache {
    /// Edits a chain. `edit` must not use the cache.
    #[inline]
    fn edit<R>(&self, number: usize, edit: impl FnOnce(&mut Chain) -> R) -> R {
        // SAFETY: a thread's cache is used by this thread alone, and not in `edit`, so there is no other reference.
        edit(unsafe { &mut *self.chains[number].as_ptr() })
    }

    /// A block from a bin, and some more for the next calls.
    #[cold]
    fn take_many<H: Heap>(&self, heap: &'static H, number: usize) -> Option<NonNull<u8>> {
        let is_served = self.serve(heap);
        let wanted = if is_served { CLASSES[number].kept.div_ceil(2) } else { 1 };
        let mut chain = heap.take(number, wanted);
        let block = chain.pop();
        if is_served {
            assert_invariant(self.edit(number, |kept| kept.len) == 0, "INV-OWNER: nothing is lost");
            self.chains[number].set(chain);
        }
        block
    }

    /// Serves this heap from now on if it may serve it. Returns whether it does.
    #[cold]
    fn serve<H: Heap>(&self, heap: &'static H) -> bool {
        if self.is_direct.get() || ENDING.try_with(|_| ()).is_err() {
            return false;
        }
        if self.heap.get().is_none() {
            self.heap.set(Some(heap));
        }
        let serves = self.heap.get().map_or(ptr::null(), |heap| ptr::from_ref(heap).cast());
        self.serves.set(serves);
        serves == address(heap)
    }

    /// Gives the half that has not been used for longer back.
    #[cold]
    fn give_some<H: Heap>(&self, heap: &H, number: usize) {
        let surplus = self.edit(number, |chain| {
            let mut kept = Chain::EMPTY;
            for _ in 0..chain.len / 2 {
                if let Some(block) = chain.pop() {
                    // SAFETY: it was in the other chain.
                    unsafe { kept.push(block) };
                }
            }
            std::mem::replace(chain, kept)
        });
        // SAFETY: INV-OWNER.
        unsafe { heap.give(number, surplus) };
    }

    /// Gives everything back, and serves nobody.
    fn give_all(&self) {
        self.serves.set(ptr::null());
        let Some(heap) = self.heap.get() else { return };
        for (number, chain) in self.chains.iter().enumerate() {
            let chain = chain.replace(Chain::EMPTY);
            if chain.len > 0 {
                // SAFETY: INV-OWNER.
                unsafe { heap.give(number, chain) };
            }
        }
    }
}
