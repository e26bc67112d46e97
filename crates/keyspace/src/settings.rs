// SPDX-License-Identifier: Apache-2.0
//! [`Settings`]: the settings that can change while a keyspace is in use, and the eviction
//! [`Policy`].

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Which entries are evicted when memory is full: the values of `maxmemory-policy`.
///
/// The `Volatile` policies evict only entries that have an expiry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// None: writes that need memory are refused.
    #[default]
    NoEviction,
    /// The least recently used, of all entries.
    AllkeysLru,
    /// The least recently changed, of all entries.
    AllkeysLrm,
    /// The least often used, of all entries.
    AllkeysLfu,
    /// A random one, of all entries.
    AllkeysRandom,
    /// The least recently used, of entries with an expiry.
    VolatileLru,
    /// The least recently changed, of entries with an expiry.
    VolatileLrm,
    /// The least often used, of entries with an expiry.
    VolatileLfu,
    /// A random one, of entries with an expiry.
    VolatileRandom,
    /// Those that expire soonest.
    VolatileTtl,
}

impl Policy {
    /// All policies, in the order of their numbers.
    pub const ALL: [Policy; 10] = [
        Policy::NoEviction,
        Policy::AllkeysLru,
        Policy::AllkeysLrm,
        Policy::AllkeysLfu,
        Policy::AllkeysRandom,
        Policy::VolatileLru,
        Policy::VolatileLrm,
        Policy::VolatileLfu,
        Policy::VolatileRandom,
        Policy::VolatileTtl,
    ];

    /// All policies by their numbers, and then some more: the length is a power of two, so every view of a
    /// keyspace finds the policy without a division.
    const NUMBERED: [Policy; 16] = {
        let mut numbered = [Policy::NoEviction; 16];
        let mut at = 0;
        while at < Self::ALL.len() {
            numbered[at] = Self::ALL[at];
            at += 1;
        }
        numbered
    };

    /// Its name in a configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Policy::NoEviction => "noeviction",
            Policy::AllkeysLru => "allkeys-lru",
            Policy::AllkeysLrm => "allkeys-lrm",
            Policy::AllkeysLfu => "allkeys-lfu",
            Policy::AllkeysRandom => "allkeys-random",
            Policy::VolatileLru => "volatile-lru",
            Policy::VolatileLrm => "volatile-lrm",
            Policy::VolatileLfu => "volatile-lfu",
            Policy::VolatileRandom => "volatile-random",
            Policy::VolatileTtl => "volatile-ttl",
        }
    }

    /// The policy of this name, in upper or lower case.
    pub fn from_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.name().as_bytes().eq_ignore_ascii_case(name))
    }

    /// Whether only entries with an expiry are evicted.
    pub const fn is_volatile(self) -> bool {
        matches!(
            self,
            Policy::VolatileLru
                | Policy::VolatileLrm
                | Policy::VolatileLfu
                | Policy::VolatileRandom
                | Policy::VolatileTtl
        )
    }

    /// Whether only changes of an entry are uses of it.
    pub const fn ignores_reads(self) -> bool {
        matches!(self, Policy::AllkeysLrm | Policy::VolatileLrm)
    }

    /// Whether entries count how often they are used, rather than when they were used last.
    pub const fn counts_uses(self) -> bool {
        matches!(self, Policy::AllkeysLfu | Policy::VolatileLfu)
    }
}

/// The settings that all handles of a keyspace share. Any handle may change a setting at any time;
/// the others see it at their next operation or soon after.
#[derive(Debug)]
pub struct Settings {
    maxmemory: AtomicU64,
    overhead: AtomicU64,
    leaving: AtomicU64,
    policy: AtomicU8,
    samples: AtomicU32,
    lfu_log_factor: AtomicU32,
    lfu_decay_time: AtomicU32,
    active_expiry: AtomicBool,
    keeps_entries: AtomicBool,
    listeners: AtomicU32,
}

impl Default for Settings {
    /// No limit, `noeviction`, and otherwise Redis's defaults.
    fn default() -> Self {
        Settings {
            maxmemory: AtomicU64::new(0),
            overhead: AtomicU64::new(0),
            leaving: AtomicU64::new(0),
            policy: AtomicU8::new(Policy::NoEviction as u8),
            samples: AtomicU32::new(5),
            lfu_log_factor: AtomicU32::new(10),
            lfu_decay_time: AtomicU32::new(1),
            active_expiry: AtomicBool::new(true),
            keeps_entries: AtomicBool::new(false),
            listeners: AtomicU32::new(0),
        }
    }
}

impl Settings {
    /// The most bytes to use; 0 for no limit.
    pub fn maxmemory(&self) -> u64 {
        self.maxmemory.load(Relaxed)
    }

    /// Sets the most bytes to use; 0 for no limit.
    pub fn set_maxmemory(&self, bytes: u64) {
        self.maxmemory.store(bytes, Relaxed);
    }

    /// Bytes that the process takes outside of the keyspace. They count as used.
    pub fn overhead(&self) -> u64 {
        self.overhead.load(Relaxed)
    }

    /// Sets how many bytes the process takes outside of the keyspace.
    pub fn set_overhead(&self, bytes: u64) {
        self.overhead.store(bytes, Relaxed);
    }

    /// The bytes used in all, if the keyspace uses `bytes`.
    pub fn with_overhead(&self, bytes: u64) -> u64 {
        bytes.saturating_add(self.overhead())
    }

    /// Sets how many of the reserved bytes are about to be free: nothing has to be evicted for them.
    pub fn set_leaving(&self, bytes: u64) {
        self.leaving.store(bytes, Relaxed);
    }

    /// The most bytes that the keyspace may use: `maxmemory` less the
    /// [overhead](Settings::overhead), plus the bytes that are about to be free; `None` for no
    /// limit.
    ///
    /// ```
    /// use keyspace::Settings;
    ///
    /// let settings = Settings::default();
    /// settings.set_overhead(50);
    /// assert_eq!(settings.limit(), None);
    /// settings.set_maxmemory(1000);
    /// assert_eq!(settings.limit(), Some(950));
    /// settings.set_leaving(7);
    /// assert_eq!(settings.limit(), Some(957));
    /// settings.set_maxmemory(40);
    /// assert_eq!(settings.limit(), Some(0));
    /// ```
    #[inline]
    pub fn limit(&self) -> Option<u64> {
        let maxmemory = self.maxmemory();
        let leaving = self.leaving.load(Relaxed);
        (maxmemory != 0).then(|| maxmemory.saturating_add(leaving).saturating_sub(self.overhead()))
    }

    /// Which entries are evicted when memory is full.
    pub fn policy(&self) -> Policy {
        Policy::NUMBERED[usize::from(self.policy.load(Relaxed)) % Policy::NUMBERED.len()]
    }

    /// Sets which entries are evicted when memory is full.
    pub fn set_policy(&self, policy: Policy) {
        self.policy.store(policy as u8, Relaxed);
    }

    /// How many entries are compared for each that is evicted; at least 1.
    pub fn samples(&self) -> u32 {
        self.samples.load(Relaxed)
    }

    /// Sets how many entries are compared for each that is evicted; 0 is taken as 1.
    pub fn set_samples(&self, samples: u32) {
        self.samples.store(samples.max(1), Relaxed);
    }

    /// How slowly an entry's use count grows: the higher, the more uses it can distinguish.
    pub fn lfu_log_factor(&self) -> u32 {
        self.lfu_log_factor.load(Relaxed)
    }

    /// Sets how slowly an entry's use count grows.
    pub fn set_lfu_log_factor(&self, factor: u32) {
        self.lfu_log_factor.store(factor, Relaxed);
    }

    /// After how many minutes without a use an entry's count goes down by one; 0 for never.
    pub fn lfu_decay_time(&self) -> u32 {
        self.lfu_decay_time.load(Relaxed)
    }

    /// Sets after how many minutes without a use an entry's count goes down by one; 0 for never.
    pub fn set_lfu_decay_time(&self, minutes: u32) {
        self.lfu_decay_time.store(minutes, Relaxed);
    }

    /// Whether [`maintain`](super::Keyspace::maintain) looks for expired entries.
    pub fn active_expiry(&self) -> bool {
        self.active_expiry.load(Relaxed)
    }

    /// Sets whether [`maintain`](super::Keyspace::maintain) looks for expired entries.
    pub fn set_active_expiry(&self, on: bool) {
        self.active_expiry.store(on, Relaxed);
    }

    /// Whether no entry goes but by a command: what has expired is not seen, but stays, and nothing is evicted.
    pub fn keeps_entries(&self) -> bool {
        self.keeps_entries.load(Relaxed)
    }

    /// Sets whether no entry goes but by a command.
    pub fn set_keeps_entries(&self, on: bool) {
        self.keeps_entries.store(on, Relaxed);
    }

    /// Whether there is a listener for entries that a view finds expired.
    pub fn has_listeners(&self) -> bool {
        self.listeners.load(Relaxed) > 0
    }

    /// Adds a listener for entries that a view finds expired, until [`Settings::remove_listener`].
    pub fn add_listener(&self) {
        self.listeners.fetch_add(1, Relaxed);
    }

    /// Undoes one [`Settings::add_listener`].
    pub fn remove_listener(&self) {
        let less = |listeners: u32| listeners.checked_sub(1);
        let before = self.listeners.fetch_update(Relaxed, Relaxed, less);
        debug_assert!(before.is_ok(), "a listener was removed that was not added");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_found_by_its_name_and_kept_by_its_number() {
        let settings = Settings::default();
        for policy in Policy::ALL {
            assert_eq!(Policy::from_name(policy.name().as_bytes()), Some(policy));
            settings.set_policy(policy);
            assert_eq!(settings.policy(), policy);
            assert_eq!(policy.is_volatile(), policy.name().starts_with("volatile"));
            assert_eq!(policy.counts_uses(), policy.name().ends_with("lfu"));
        }
        assert_eq!(Policy::from_name(b"AllKeys-LRU"), Some(Policy::AllkeysLru));
        assert_eq!(Policy::from_name(b"lru"), None);
    }

    #[test]
    fn settings_begin_as_in_redis() {
        let settings = Settings::default();
        assert_eq!((settings.maxmemory(), settings.policy()), (0, Policy::NoEviction));
        assert_eq!((settings.samples(), settings.lfu_log_factor()), (5, 10));
        assert_eq!((settings.lfu_decay_time(), settings.active_expiry()), (1, true));
        settings.set_samples(0);
        assert_eq!(settings.samples(), 1);
    }

    #[test]
    fn listeners_are_counted() {
        let settings = Settings::default();
        settings.add_listener();
        settings.add_listener();
        settings.remove_listener();
        assert!(settings.has_listeners());
        settings.remove_listener();
        assert!(!settings.has_listeners());
    }
}
