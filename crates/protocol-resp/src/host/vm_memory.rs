// SPDX-License-Identifier: Apache-2.0
//! [`VmMemory`]: the memory of the Lua VMs of all workers.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// A worker tells of its VM when its memory has changed by so many bytes, so that most runs share nothing.
#[cfg(feature = "scripts")]
const STEP: u64 = 4096;

/// Bytes of memory, as far as the workers have told.
#[derive(Debug, Default)]
pub(crate) struct VmMemory(AtomicU64);

impl VmMemory {
    pub(crate) fn bytes(&self) -> u64 {
        // A thread may tell one server what another one's scripts have freed.
        u64::try_from(self.0.load(Relaxed).cast_signed()).unwrap_or(0)
    }

    /// Notes that a VM has `now` bytes, of which `told` were told before.
    #[cfg(feature = "scripts")]
    pub(crate) fn note(&self, told: &mut u64, now: u64) {
        if now.abs_diff(*told) >= STEP {
            self.0.fetch_add(now.wrapping_sub(*told), Relaxed);
            *told = now;
        }
    }
}

#[cfg(all(test, feature = "scripts"))]
mod tests {
    use super::*;

    #[test]
    fn changes_of_vms_add_up() {
        let (memory, mut one, mut two) = (VmMemory::default(), 0, 0);
        memory.note(&mut one, 3 * STEP);
        memory.note(&mut two, STEP);
        assert_eq!(memory.bytes(), 4 * STEP);
        memory.note(&mut one, 3 * STEP - 1);
        assert_eq!((memory.bytes(), one), (4 * STEP, 3 * STEP), "too little to be told");
        memory.note(&mut one, STEP);
        assert_eq!(memory.bytes(), 2 * STEP);
        let other = VmMemory::default();
        other.note(&mut two, 0);
        assert_eq!(other.bytes(), 0);
    }
}
