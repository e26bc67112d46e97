// SPDX-License-Identifier: Apache-2.0
//! Where jemalloc's arenas get memory from: extent hooks that give a worker's arena huge pages which are ready
//! ([`pages::Pool`]), and whatever else it asks for as jemalloc itself does.
//!
//! jemalloc's own `thp:always` asks for huge pages wherever an arena has memory. The system then takes one whenever a
//! byte of it is touched, in the middle of a request, and fills the gaps of what jemalloc had given back, so that
//! `maxmemory` no longer holds. So all memory of an arena is kept in small pages here, except for pages that were
//! taken ahead.
//!
//! # How the pool knows what is in use
//!
//! jemalloc cuts what it needs from a page, and keeps the rest as address space (`stats.retained`), for it does not know
//! that there is memory behind it. The pool gives rests back that stay unused:
//!
//! 1. For jemalloc, memory has to be committed before it is used. Memory of its own is from the beginning, as the
//!    system overcommits (`vm.overcommit_memory` is 0 or 1; otherwise there is no pool).
//! 2. `alloc` says of a page of the pool that it is not committed. So jemalloc calls `commit` for each piece that it cuts
//!    from one, from the beginning to the end, and for no other memory.
//! 3. `decommit` fails, as jemalloc's own does where the system overcommits. So a piece is committed once: what it gives back
//!    later and takes again does not concern the pool.
//!
//! # Invariants
//!
//! * INV-OWNED: the memory that a hook gives to jemalloc is zeroed, mapped for ever, and given once: pages of the
//!   pool, or what jemalloc's own hook gives.
//! * INV-COMMIT: memory that a hook says is not committed is not touched before `commit` has returned for it. jemalloc
//!   keeps to it, except where it asks `alloc` for committed memory.
//! * INV-QUIET: a hook neither allocates nor unwinds. jemalloc calls it with locks held.
//! * INV-HOOKS: an arena's hooks stay as long as the process. All but `alloc`, `commit` and `merge` are jemalloc's own, which may be
//!   called for any memory that is mapped.

use pages::{HUGE_PAGE, Pool};
use std::ffi::{c_uint, c_void};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;
use tikv_jemalloc_ctl::{Error, raw};
use tikv_jemalloc_sys::extent_hooks_t;

/// The hooks of workers' arenas.
struct Hooks {
    /// jemalloc's own, with another `alloc` and, if there is a pool, another `commit`.
    table: extent_hooks_t,
    own: extent_hooks_t,
    pool: Option<&'static Pool>,
    /// Whether other memory is kept in small pages.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only Linux is asked for them")
    )]
    keeps_small: bool,
}

static HOOKS: OnceLock<Hooks> = OnceLock::new();

/// Whether jemalloc tells what it uses of a page: if the system overcommits, as said above.
pub(super) fn can_tell_use() -> bool {
    let mode = std::fs::read("/proc/sys/vm/overcommit_memory");
    mode.is_ok_and(|mode| matches!(mode.first(), Some(b'0' | b'1')))
}

/// Has the arena of this thread take its memory as said above, from now on: from this pool, if there is one, and
/// otherwise in small pages, if it `keeps_small`.
///
/// # Errors
///
/// Those of jemalloc.
pub(super) fn adopt(pool: Option<&'static Pool>, keeps_small: bool) -> Result<(), Error> {
    // SAFETY: it is a number of this type.
    let arena: c_uint = unsafe { raw::read(b"thread.arena\0") }?;
    let name = format!("arena.{arena}.extent_hooks\0");
    // SAFETY: it is a pointer to hooks.
    let before: *mut extent_hooks_t = unsafe { raw::read(name.as_bytes()) }?;
    let hooks = HOOKS.get_or_init(|| {
        // SAFETY: an arena's hooks are there as long as it is, and are not changed.
        let own = unsafe { *before };
        // Without a pool jemalloc's memory may have to be committed in earnest.
        let commit = if pool.is_some() { Some(commit as _) } else { own.commit };
        // The mappings of other systems cannot be merged at will.
        let merge = if cfg!(target_os = "linux") { Some(merge as _) } else { own.merge };
        let table = extent_hooks_t { alloc: Some(alloc), commit, merge, ..own };
        Hooks { table, own, pool, keeps_small }
    });
    if pool.is_some() {
        // So that an arena grows by huge pages, except for blocks that are larger.
        let limit = format!("arena.{arena}.retain_grow_limit\0");
        // SAFETY: it is a number of this type.
        unsafe { raw::write(limit.as_bytes(), HUGE_PAGE) }?;
    }
    let table = ptr::from_ref(&hooks.table).cast_mut();
    // SAFETY: it is a pointer to hooks; INV-HOOKS. jemalloc does not write to them.
    unsafe { raw::write(name.as_bytes(), table) }
}

/// jemalloc's hook that maps memory.
///
/// # Safety
///
/// Only jemalloc may call it. Its flags are valid to write to.
unsafe extern "C" fn alloc(
    _hooks: *mut extent_hooks_t,
    wanted: *mut c_void,
    size: usize,
    alignment: usize,
    zeroed: *mut bool,
    committed: *mut bool,
    arena: c_uint,
) -> *mut c_void {
    let Some(hooks) = HOOKS.get() else { return ptr::null_mut() };
    let Hooks { own, pool, .. } = hooks;
    // SAFETY: the flags are valid.
    let is_to_be_committed = unsafe { committed.read() };
    // At a multiple of its size it would be for metadata, most of which is never touched.
    let fits =
        wanted.is_null() && size == HUGE_PAGE && alignment < HUGE_PAGE && !is_to_be_committed;
    if fits && let Some(page) = pool.and_then(|pool| pool.next(arena)) {
        // SAFETY: the flags are valid; INV-OWNED.
        unsafe {
            zeroed.write(true);
            committed.write(false);
        }
        return page.as_ptr().cast();
    }
    let Some(alloc) = own.alloc else { return ptr::null_mut() };
    let own = ptr::from_ref(own).cast_mut();
    // SAFETY: jemalloc's own hook, called as jemalloc called this one.
    let memory = unsafe { alloc(own, wanted, size, alignment, zeroed, committed, arena) };
    #[cfg(target_os = "linux")]
    if hooks.keeps_small && !memory.is_null() {
        // Fails where the system has no huge pages.
        // SAFETY: the memory was just mapped, and the advice changes no byte of it.
        unsafe { libc::madvise(memory, size, libc::MADV_NOHUGEPAGE) };
    }
    memory
}

/// jemalloc's hook that makes memory usable. It returns whether that failed.
///
/// # Safety
///
/// Only jemalloc may call it.
unsafe extern "C" fn commit(
    _hooks: *mut extent_hooks_t,
    start: *mut c_void,
    _size: usize,
    offset: usize,
    length: usize,
    _arena: c_uint,
) -> bool {
    let piece = NonNull::new(start.cast::<u8>().wrapping_add(offset));
    if let (Some(piece), Some(Hooks { pool: Some(pool), .. })) = (piece, HOOKS.get()) {
        pool.uses(piece, length);
    }
    false
}

/// jemalloc's hook that makes one piece of memory of two neighbours. It returns whether that failed.
///
/// jemalloc's own allows it as well, except for memory of `sbrk`, which it does not take here (`options.rs`). But it asks for
/// the thread's state, with the lock of the arena held: of a thread that so far only frees there is none, so it would be made,
/// with memory of the arena, and the thread would wait for itself.
///
/// # Safety
///
/// Only jemalloc may call it.
unsafe extern "C" fn merge(
    _hooks: *mut extent_hooks_t,
    _first: *mut c_void,
    _size: usize,
    _second: *mut c_void,
    _second_size: usize,
    _committed: bool,
    _arena: c_uint,
) -> bool {
    false
}
