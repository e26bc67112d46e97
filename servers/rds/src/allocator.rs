// SPDX-License-Identifier: Apache-2.0
//! The allocator: jemalloc. The memory accounting of values uses its size classes.
//!
//! Unused pages are returned to the system within some ten seconds. jemalloc's own background threads
//! do this, so memory is returned even while no request arrives.
//!
//! jemalloc is built with a special option (`.cargo/config.toml`), because of replies that pile up: small
//! blocks must be able to reuse the space of freed large ones. Without the option, clients that were closed
//! one after the other, with a hundred megabytes of replies each, made rds take a gigabyte under a limit of
//! 256 MB.

use protocol_resp::service::Allocator;
use std::sync::OnceLock;
use tikv_jemalloc_ctl::{Access, AsName, arenas, background_thread, epoch, stats, version};
use tikv_jemallocator::Jemalloc;

#[global_allocator]
static JEMALLOC: Jemalloc = Jemalloc;

/// Starts jemalloc's background threads, which return unused pages.
pub(crate) fn start() {
    if let Err(error) = background_thread::write(true) {
        eprintln!("warning: unused memory goes back later than it could: {error}");
    }
}

/// The allocator's numbers, as of now.
pub(crate) fn numbers() -> Option<Allocator> {
    epoch::advance().ok()?;
    Some(Allocator {
        name: name(),
        allocated: stats::allocated::read().ok()? as u64,
        active: stats::active::read().ok()? as u64,
        resident: stats::resident::read().ok()? as u64,
        mapped: stats::mapped::read().ok()? as u64,
        retained: stats::retained::read().ok()? as u64,
    })
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
        let before: Result<isize, _> = key.read();
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

    #[test]
    fn small_blocks_go_where_large_ones_were() {
        let largest: usize = b"opt.lg_extent_max_active_fit\0".name().read().unwrap();
        assert_eq!(largest, 20, "as .cargo/config.toml has it");
    }

    #[test]
    fn what_is_freed_goes_back_when_asked_for() {
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
