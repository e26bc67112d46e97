// SPDX-License-Identifier: Apache-2.0
//! jemalloc's options. It reads them when it starts, which is before `main`; those of the environment variable
//! `_RJEM_MALLOC_CONF` come after them.
//!
//! * `cache_oblivious:false`: a slab takes its own length. Otherwise jemalloc adds a page to each block that is not small,
//!   so that not all of them begin at the same place of a CPU's cache, and a slab of 16 KiB, which begins at a multiple of
//!   that, would take 32.
//! * `dss:disabled`: no memory comes from `sbrk`, so that any neighbours can be merged (`extents.rs`).
//! * `lg_extent_max_active_fit:20`: slabs and small blocks reuse the space of freed large ones. As it comes, jemalloc leaves
//!   alone what is 64 times as large as a block, and takes new memory beside it. So clients that were closed one after
//!   the other, with a hundred megabytes of replies each, made rds take a gigabyte under a limit of 256 MB.

/// A pointer to a C string, by the name under which jemalloc looks for one.
// SAFETY: nothing else has this name. jemalloc declares it as a pointer to characters that it only reads, up to a zero
// byte, and as weak, so this one is linked in its place.
#[unsafe(export_name = "_rjem_malloc_conf")]
pub(super) static OPTIONS: &[u8; 63] =
    b"cache_oblivious:false,dss:disabled,lg_extent_max_active_fit:20\0";
