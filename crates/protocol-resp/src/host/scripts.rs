// SPDX-License-Identifier: Apache-2.0
//! [`Scripts`]: the cache of scripts that all workers share, and the scripts that take long.
//!
//! A script that takes long enters a list, so that others can end it. One that takes too long makes the server
//! busy: commands that need what it has locked are refused. See [ADR 28](../../../../docs/adr/0028-scripts.md).

// Without Lua nothing enters the cache.
#![cfg_attr(not(feature = "scripts"), allow(dead_code))]

use crate::host::vm_memory::VmMemory;
use crate::wire::fault::Fault;
use clock::Timer;
use keyspace::Scope;
use parking_lot::{Mutex, RwLock};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64};
use std::time::Duration;

/// The SHA-1 digest of a script in hexadecimal digits, lower case.
pub(crate) type Sha = [u8; 40];

/// The most scripts that only EVAL has put into the cache, as in Redis.
const EVALUATED_MAX: usize = 500;

/// The most bytes of text of all scripts in the cache. More are not loaded.
const TEXT_MAX: u64 = 64 << 20;

/// What a script that was removed from the cache takes beside its text, about.
const GONE_BYTES: u64 = 1 << 10;

/// Runs after which a script that has used its declared keys only locks no others when it writes.
const PROBATION: u8 = 16;

/// A script in the cache.
#[derive(Debug)]
pub(crate) struct CachedScript {
    pub(crate) text: Box<[u8]>,
    /// SCRIPT LOAD has put it there, so it stays.
    is_loaded: AtomicBool,
    pub(crate) probation: Probation,
    /// Scripts that the cache had got when it was looked for last.
    used: AtomicU64,
    /// It is not in the cache any more.
    is_gone: AtomicBool,
}

impl CachedScript {
    /// Whether it was removed from the cache.
    #[inline]
    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone.load(Acquire)
    }
}

/// Whether a script or function keeps to the keys that it declares.
#[derive(Debug, Default)]
pub(crate) struct Probation {
    /// Runs that have used declared keys only, up to [`PROBATION`].
    runs: AtomicU8,
    /// It has used a key that it had not declared.
    wanders: AtomicBool,
}

impl Probation {
    /// Whether it has used a key that it had not declared, so that it begins with all locks.
    pub(crate) fn wanders(&self) -> bool {
        self.wanders.load(Relaxed)
    }

    /// Whether a run locks the shards of its declared keys only, also when it writes.
    pub(crate) fn is_contained(&self) -> bool {
        self.runs.load(Relaxed) >= PROBATION && !self.wanders.load(Relaxed)
    }

    /// Notes a run, and whether it has used other keys than it had declared.
    pub(crate) fn note_run(&self, has_wandered: bool) {
        if has_wandered {
            self.wanders.store(true, Relaxed);
        } else if self.runs.load(Relaxed) < PROBATION {
            // A lost count makes the probation longer.
            self.runs.store(self.runs.load(Relaxed) + 1, Relaxed);
        }
    }
}

/// A script that takes long.
#[derive(Debug)]
pub(crate) struct Running {
    /// It is to be ended.
    pub(crate) is_killed: AtomicBool,
    /// It has run a command that writes.
    pub(crate) has_written: AtomicBool,
    /// It takes too long, and has locked these shards.
    busy: Mutex<Scope>,
    /// The function that it is, if it is one.
    pub(crate) function: Option<RunningFunction>,
}

/// A call of a function that takes long.
#[derive(Clone, Debug)]
pub(crate) struct RunningFunction {
    pub(crate) name: Box<[u8]>,
    /// The words of the command, as far as they are kept.
    pub(crate) command: Vec<Box<[u8]>>,
    pub(crate) timer: Timer,
}

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A script.
    Script,
    /// A function of a library.
    Function,
}

impl Kind {
    /// The error for what it keeps from running.
    pub(crate) fn busy(self) -> Fault {
        match self {
            Kind::Script => Fault::BUSY,
            Kind::Function => Fault::BUSY_FUNCTION,
        }
    }
}

impl Running {
    /// What it is.
    pub(crate) fn kind(&self) -> Kind {
        if self.function.is_some() { Kind::Function } else { Kind::Script }
    }
}

/// Why SCRIPT KILL or FUNCTION KILL ends nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotKilled {
    /// There is none.
    None,
    /// What runs is of the other kind.
    Other,
    /// All have written.
    Written,
}

/// The cache, and what runs.
#[derive(Debug)]
pub(crate) struct Scripts {
    cache: RwLock<Cache>,
    /// Changes with each flush of the cache, so that workers forget what they have compiled.
    generation: AtomicU64,
    /// Bytes of the texts of all scripts that were removed, and [`GONE_BYTES`] for each, so that workers drop them, too.
    gone_bytes: AtomicU64,
    /// Scripts that had to make room for others.
    evicted: AtomicU64,
    /// Scripts that take long.
    long: Mutex<Vec<Arc<Running>>>,
    is_busy: AtomicBool,
    /// `busy-reply-threshold`
    threshold_ms: AtomicU64,
    /// Runs that have locked everything for a key that they had not declared.
    wanderings: AtomicU64,
    /// Runs that have begun again with all locks.
    restarts: AtomicU64,
    /// Runs in which others have come in between.
    interruptions: AtomicU64,
    /// Scripts that the cache has got.
    added: AtomicU64,
    vm_memory: VmMemory,
}

#[derive(Debug, Default)]
struct Cache {
    sources: HashMap<Sha, Arc<CachedScript>>,
    /// Those that only EVAL has put there, with their `used` when they got this place; the first goes first unless it
    /// was used since. Some may have been loaded since.
    evaluated: VecDeque<(Sha, u64)>,
    text_bytes: u64,
}

impl Default for Scripts {
    fn default() -> Self {
        Scripts {
            cache: RwLock::default(),
            generation: AtomicU64::new(0),
            gone_bytes: AtomicU64::new(0),
            evicted: AtomicU64::new(0),
            long: Mutex::default(),
            is_busy: AtomicBool::new(false),
            threshold_ms: AtomicU64::new(5000),
            wanderings: AtomicU64::new(0),
            restarts: AtomicU64::new(0),
            interruptions: AtomicU64::new(0),
            added: AtomicU64::new(0),
            vm_memory: VmMemory::default(),
        }
    }
}

/// So that workers know it of scripts that they have run.
impl Drop for Cache {
    fn drop(&mut self) {
        for source in self.sources.values() {
            source.is_gone.store(true, Release);
        }
    }
}

impl Cache {
    /// Removes a script; returns the bytes of its text.
    fn remove(&mut self, sha: &Sha) -> u64 {
        let Some(source) = self.sources.remove(sha) else { return 0 };
        source.is_gone.store(true, Release);
        let bytes = source.text.len() as u64;
        self.text_bytes -= bytes;
        bytes
    }

    /// Removes a script that was not loaded and not used for long, if there is one; returns the bytes of its text.
    fn remove_oldest(&mut self) -> Option<u64> {
        while let Some((oldest, since)) = self.evaluated.pop_front() {
            let Some(source) = self.sources.get(&oldest) else { continue };
            let used = source.used.load(Relaxed);
            if source.is_loaded.load(Relaxed) {
                continue;
            }
            if used > since {
                self.evaluated.push_back((oldest, used));
                continue;
            }
            return Some(self.remove(&oldest));
        }
        None
    }
}

impl Scripts {
    /// The script with this digest.
    pub(crate) fn find(&self, sha: &Sha) -> Option<Arc<CachedScript>> {
        let source = self.cache.read().sources.get(sha).cloned()?;
        self.note_use(&source);
        Some(source)
    }

    /// Notes that a script was looked for, so that it stays in the cache.
    #[inline]
    pub(crate) fn note_use(&self, source: &CachedScript) {
        let now = self.added.load(Relaxed);
        if source.used.load(Relaxed) != now {
            source.used.store(now, Relaxed);
        }
    }

    /// Puts a script into the cache; `is_loaded`: for good. `None` if there is no room.
    pub(crate) fn add(&self, sha: &Sha, text: &[u8], is_loaded: bool) -> Option<Arc<CachedScript>> {
        let mut cache = self.cache.write();
        if let Some(known) = cache.sources.get(sha) {
            known.is_loaded.fetch_or(is_loaded, Relaxed);
            return Some(Arc::clone(known));
        }
        let bytes = text.len() as u64;
        while cache.text_bytes + bytes > TEXT_MAX {
            self.note_evicted(cache.remove_oldest()?);
        }
        let used = self.added.fetch_add(1, Relaxed) + 1;
        let source = Arc::new(CachedScript {
            text: text.into(),
            is_loaded: AtomicBool::new(is_loaded),
            used: AtomicU64::new(used),
            is_gone: AtomicBool::new(false),
            probation: Probation::default(),
        });
        cache.text_bytes += bytes;
        cache.sources.insert(*sha, Arc::clone(&source));
        if !is_loaded {
            if cache.evaluated.len() >= EVALUATED_MAX
                && let Some(gone) = cache.remove_oldest()
            {
                self.note_evicted(gone);
            }
            cache.evaluated.push_back((*sha, used));
        }
        Some(source)
    }

    /// Counts a script that has made room for another.
    fn note_evicted(&self, bytes: u64) {
        self.evicted.fetch_add(1, Relaxed);
        self.gone_bytes.fetch_add(bytes + GONE_BYTES, Relaxed);
    }

    /// Empties the cache.
    pub(crate) fn flush(&self) {
        let mut cache = self.cache.write();
        let gone = cache.text_bytes + GONE_BYTES * cache.sources.len() as u64;
        *cache = Cache::default();
        self.generation.fetch_add(1, Release);
        self.gone_bytes.fetch_add(gone, Relaxed);
    }

    /// How many scripts have had to make room for others.
    pub(crate) fn evicted(&self) -> u64 {
        self.evicted.load(Relaxed)
    }

    /// Counts them from now on.
    pub(crate) fn reset_evicted(&self) {
        self.evicted.store(0, Relaxed);
    }

    /// Bytes that all scripts had which were removed from the cache.
    #[inline]
    pub(crate) fn gone_bytes(&self) -> u64 {
        self.gone_bytes.load(Relaxed)
    }

    /// How often the cache was flushed.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Acquire)
    }

    /// How many scripts there are, and the bytes of their texts.
    pub(crate) fn size(&self) -> (usize, u64) {
        let cache = self.cache.read();
        (cache.sources.len(), cache.text_bytes)
    }

    /// Milliseconds from which on a script takes too long; 0: none does.
    pub(crate) fn threshold_ms(&self) -> u64 {
        self.threshold_ms.load(Relaxed)
    }

    /// Sets `busy-reply-threshold`.
    pub(crate) fn set_threshold_ms(&self, threshold: u64) {
        self.threshold_ms.store(threshold, Relaxed);
    }

    /// The same as a duration, if there is one.
    pub(crate) fn threshold(&self) -> Option<Duration> {
        Some(self.threshold_ms()).filter(|ms| *ms > 0).map(Duration::from_millis)
    }

    /// Enters a script that takes long.
    pub(crate) fn enter_long(
        &self,
        has_written: bool,
        function: Option<RunningFunction>,
    ) -> Arc<Running> {
        let running = Arc::new(Running {
            is_killed: AtomicBool::new(false),
            has_written: AtomicBool::new(has_written),
            busy: Mutex::default(),
            function,
        });
        self.long.lock().push(Arc::clone(&running));
        running
    }

    /// A script takes too long, and has locked this scope.
    pub(crate) fn make_busy(&self, running: &Running, scope: Scope) {
        *running.busy.lock() = scope;
        self.is_busy.store(true, Release);
    }

    /// Removes a script that took long and has ended.
    pub(crate) fn leave_long(&self, running: &Arc<Running>) {
        let mut long = self.long.lock();
        long.retain(|other| !Arc::ptr_eq(other, running));
        let is_busy = long.iter().any(|other| !other.busy.lock().is_empty());
        self.is_busy.store(is_busy, Release);
    }

    /// Whether a script takes too long.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.is_busy.load(Relaxed)
    }

    /// What takes too long and has locked any part of a scope, if there is something.
    #[cold]
    pub(crate) fn holder(&self, scope: Scope) -> Option<Kind> {
        let long = self.long.lock();
        let holds = |running: &&Arc<Running>| running.busy.lock().bits() & scope.bits() != 0;
        long.iter().find(holds).map(|running| running.kind())
    }

    /// The function that has run longest, if one takes long.
    pub(crate) fn running_function(&self) -> Option<RunningFunction> {
        self.long.lock().iter().find_map(|running| running.function.clone())
    }

    /// Ends the scripts, or the functions, that take long and have written nothing.
    pub(crate) fn kill(&self, kind: Kind) -> Result<(), NotKilled> {
        let long = self.long.lock();
        let mut result = Err(if long.is_empty() { NotKilled::None } else { NotKilled::Other });
        for running in long.iter().filter(|running| running.kind() == kind) {
            if running.has_written.load(Relaxed) {
                result = result.or(Err(NotKilled::Written));
            } else {
                running.is_killed.store(true, Relaxed);
                result = Ok(());
            }
        }
        result
    }

    /// Counts a run that has locked everything for a key that it had not declared.
    pub(crate) fn count_wandering(&self) {
        self.wanderings.fetch_add(1, Relaxed);
    }

    /// How many there were.
    pub(crate) fn wanderings(&self) -> u64 {
        self.wanderings.load(Relaxed)
    }

    /// Counts a run that begins again with all locks.
    pub(crate) fn count_restart(&self) {
        self.restarts.fetch_add(1, Relaxed);
    }

    /// How many there were.
    pub(crate) fn restarts(&self) -> u64 {
        self.restarts.load(Relaxed)
    }

    /// Counts a run in which others have come in between.
    pub(crate) fn count_interruption(&self) {
        self.interruptions.fetch_add(1, Relaxed);
    }

    /// How many there were.
    pub(crate) fn interruptions(&self) -> u64 {
        self.interruptions.load(Relaxed)
    }

    /// The memory of the VMs that run them.
    pub(crate) fn vm_memory(&self) -> &VmMemory {
        &self.vm_memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sha(number: usize) -> Sha {
        let mut sha = [b'0'; 40];
        sha[..6].copy_from_slice(format!("{number:06}").as_bytes());
        sha
    }

    #[test]
    fn the_oldest_that_was_not_loaded_makes_room() {
        let scripts = Scripts::default();
        scripts.add(&sha(0), b"loaded", true);
        for number in 1..=EVALUATED_MAX + 2 {
            scripts.add(&sha(number), b"evaluated", false);
        }
        assert_eq!(scripts.size().0, EVALUATED_MAX + 1);
        assert!(scripts.find(&sha(0)).is_some() && scripts.find(&sha(3)).is_some());
        assert!(scripts.find(&sha(1)).is_none() && scripts.find(&sha(2)).is_none());
        let left = scripts.find(&sha(3)).expect("it is there");
        assert!(!left.is_gone());
        scripts.flush();
        assert!(left.is_gone());
        assert_eq!(scripts.size(), (0, 0));
    }

    #[test]
    fn a_script_that_is_used_stays() {
        let scripts = Scripts::default();
        for number in 0..3 * EVALUATED_MAX {
            scripts.add(&sha(number), b"evaluated", false);
            assert!(scripts.find(&sha(7.min(number))).is_some(), "after {number}");
        }
        assert_eq!(scripts.size().0, EVALUATED_MAX);
        assert!(scripts.find(&sha(2 * EVALUATED_MAX - 1)).is_none());
        assert!(scripts.find(&sha(3 * EVALUATED_MAX - 1)).is_some());
    }

    #[test]
    fn loaded_scripts_are_bounded_in_bytes() {
        let scripts = Scripts::default();
        let text = vec![b'x'; TEXT_MAX as usize / 2];
        assert!(scripts.add(&sha(1), &text, true).is_some());
        assert!(scripts.add(&sha(2), &text, false).is_some());
        assert!(scripts.add(&sha(3), b"y", true).is_some(), "the evaluated one goes");
        assert!(scripts.find(&sha(2)).is_none());
        assert!(scripts.add(&sha(4), &text, true).is_none(), "no loaded one does");
        assert!(scripts.add(&sha(1), &text, true).is_some(), "that is there already");
    }

    #[test]
    fn a_script_is_on_probation_until_it_has_kept_to_its_keys() {
        let scripts = Scripts::default();
        let script = scripts.add(&sha(1), b"", false).expect("there is room");
        for _ in 0..PROBATION {
            assert!(!script.probation.is_contained());
            script.probation.note_run(false);
        }
        assert!(script.probation.is_contained());
        script.probation.note_run(true);
        script.probation.note_run(false);
        assert!(!script.probation.is_contained());
    }

    #[test]
    fn scripts_that_have_written_are_not_killed() {
        let scripts = Scripts::default();
        assert_eq!(scripts.kill(Kind::Script), Err(NotKilled::None));
        let writer = scripts.enter_long(true, None);
        assert_eq!(scripts.kill(Kind::Script), Err(NotKilled::Written));
        let reader = scripts.enter_long(false, None);
        assert_eq!(scripts.kill(Kind::Script), Ok(()));
        assert!(reader.is_killed.load(Relaxed) && !writer.is_killed.load(Relaxed));
        scripts.make_busy(&writer, Scope::shard(3));
        assert!(scripts.is_busy());
        assert_eq!(scripts.holder(Scope::ALL), Some(Kind::Script));
        assert_eq!(scripts.holder(Scope::shard(4)), None);
        scripts.leave_long(&writer);
        scripts.leave_long(&reader);
        assert!(!scripts.is_busy());
    }

    #[test]
    fn scripts_and_functions_are_killed_apart() {
        let scripts = Scripts::default();
        let function =
            RunningFunction { name: b"f"[..].into(), command: vec![], timer: Timer::start() };
        let function = scripts.enter_long(false, Some(function));
        assert_eq!(scripts.kill(Kind::Script), Err(NotKilled::Other));
        let script = scripts.enter_long(false, None);
        assert_eq!(scripts.kill(Kind::Script), Ok(()));
        assert!(script.is_killed.load(Relaxed) && !function.is_killed.load(Relaxed));
        assert_eq!(scripts.kill(Kind::Function), Ok(()));
        assert!(function.is_killed.load(Relaxed));
        let running = scripts.running_function().map(|running| running.name);
        assert_eq!(running.as_deref(), Some(&b"f"[..]));
    }
}
