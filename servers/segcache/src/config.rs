// SPDX-License-Identifier: Apache-2.0
//! The configuration of `segcache`: the sections that all servers share, `[memcache]`, `[cache]`, `[resp]`, and what
//! belongs to one storage.

use config::{ByteSize, Section};
use protocol_memcache::ServiceOptions;
use protocol_memcache::settings::Memcache;
use protocol_resp::strings::StringsOptions;
use server::Error;
use server::settings::{Listen, Resp, Udp};
use server_memcache::{MemcacheConfiguration, udp_problem};
use storage_seg::Eviction;
use storage_seg::settings::{Policy, Seg};

/// The port that is listened on by default.
pub(crate) const PORT: u16 = 11211;

/// Smallest and largest value limit, as memcached's `-I` has them.
const VALUE_MAX: std::ops::RangeInclusive<u64> = 1 << 10..=1 << 30;

/// The default of the largest value.
const VALUE_MAX_DEFAULT: u64 = 1 << 20;

/// Smallest memory limit.
const MEMORY_MIN: u64 = 1 << 20;

server::configuration! {
    /// The whole file.
    pub(crate) struct Config {
        memcache: Memcache,
        udp: Udp,
        resp: Resp,
        cache: Cache,
        seg: Seg,
    }
}

impl MemcacheConfiguration for Config {
    const PORT: u16 = PORT;

    fn memcache(&self) -> (&Memcache, &Udp) {
        (&self.memcache, &self.udp)
    }

    fn memcache_mut(&mut self) -> (&mut Memcache, &mut Udp) {
        (&mut self.memcache, &mut self.udp)
    }
}

config::section! {
    /// What is kept.
    pub(crate) struct Cache in "cache" {
        /// What keeps the items: segments of items that expire together, or a hash table.
        pub(crate) storage: Storage = Storage::Seg;
        /// Memory for items, their index and the buffers of connections, over all workers. Buffers take no
        /// more than three quarters of it, with `hashmap` no more than half; what they need beyond that comes
        /// on top.
        pub(crate) memory: ByteSize = ByteSize(64 << 20),
            takes "size, at least `\"1MB\"`", rule Cache::memory_problem;
        /// The largest item as memcached counts it: key, value and about 60 bytes; in RESP the largest value alone. It
        /// passes through a buffer that counts against `memory` too.
        value_max: Option<ByteSize> = None,
            takes "`\"1KB\"` to `\"1GB\"`, at most a quarter of `memory` (half with `hashmap`)",
            absent "`\"1MB\"`, or that share of a smaller `memory`",
            example ByteSize(VALUE_MAX_DEFAULT), rule Cache::value_max_problem;
        /// Whether live items are evicted to make room; otherwise a full cache refuses writes, whatever the
        /// policy of its storage.
        pub(crate) evict: bool = true;
    }
}

config::choices! {
    /// A storage engine.
    pub(crate) enum Storage {
        /// Segments of items that expire together.
        Seg = "seg",
        /// A hash table of items.
        HashMap = "hashmap",
    }
}

impl Cache {
    /// The largest value: 1 MB unless the configuration sets another size, and less if the memory is
    /// too small for that.
    pub(crate) fn value_max(&self) -> ByteSize {
        let most = self.memory.0 / self.parts();
        self.value_max.unwrap_or(ByteSize(VALUE_MAX_DEFAULT.min(most)))
    }

    /// Sets the largest value.
    pub(crate) fn set_value_max(&mut self, size: ByteSize) {
        self.value_max = Some(size);
    }

    /// How many of the largest values the memory must hold.
    fn parts(&self) -> u64 {
        match self.storage {
            Storage::Seg => 4,
            Storage::HashMap => 2,
        }
    }

    fn memory_problem(&self) -> Option<String> {
        (self.memory.0 < MEMORY_MIN).then(|| format!("{} is less than 1MB", self.memory))
    }

    fn value_max_problem(&self) -> Option<String> {
        let (memory, value_max) = (self.memory, self.value_max());
        let share = match self.storage {
            Storage::Seg => "a quarter",
            Storage::HashMap => "half",
        };
        if !VALUE_MAX.contains(&value_max.0) {
            Some(format!("{value_max} is not from 1KB to 1GB"))
        } else if memory.0 / self.parts() < value_max.0 {
            Some(format!("{value_max} is more than {share} of memory = {memory}"))
        } else {
            None
        }
    }
}

impl Config {
    /// The configuration with defaults that depend on other settings filled in.
    pub(crate) fn settled(mut self) -> Self {
        self.cache.value_max = Some(self.cache.value_max());
        // As in memcached.
        self.server.read_timeout.get_or_insert_default();
        self.seg.settle_goal();
        self
    }

    /// Bytes of buffers that connections may have before those that do not read their replies are held:
    /// a quarter of the memory, which is taken from the items.
    pub(crate) fn output_memory(&self) -> usize {
        let quarter = ByteSize(self.cache.memory.0 / 4);
        usize::try_from(self.worker.output_memory.unwrap_or(quarter).0).unwrap_or(usize::MAX)
    }

    /// Checks the sections that are not shared.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let in_sections = self.cache.problem().or_else(|| self.seg.problem());
        let in_sections = in_sections.or_else(|| udp_problem(self));
        let problem = in_sections.or_else(|| match self.cache.storage {
            Storage::Seg => self.seg.size_problem(self.cache.memory),
            Storage::HashMap => None,
        });
        let problem = problem.or_else(|| self.memcache.problem()).or_else(|| self.resp_problem());
        problem.map_or(Ok(()), |problem| Err(Error::setting(problem)))
    }

    /// Warnings about settings that are accepted and have no effect, a line each.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = self.seg.warnings();
        if self.seg.huge_pages == Some(true) && self.cache.storage != Storage::Seg {
            let line = "[seg] huge_pages (-L) has no effect: [cache] storage is not \"seg\"";
            warnings.push(line.to_owned());
        }
        warnings
    }

    /// Makes a full cache refuse writes, by the setting of its storage.
    pub(crate) fn disable_evictions(&mut self) {
        match self.cache.storage {
            Storage::Seg => self.seg.eviction = Policy::None,
            Storage::HashMap => self.cache.evict = false,
        }
    }

    /// Whether a full cache evicts.
    pub(crate) fn evicts(&self) -> bool {
        let policy_evicts = match self.cache.storage {
            Storage::Seg => self.seg.eviction != Policy::None,
            Storage::HashMap => true,
        };
        self.cache.evict && policy_evicts
    }

    /// The eviction of a store of segments.
    pub(crate) fn eviction(&self) -> Eviction {
        if self.evicts() { self.seg.eviction() } else { Eviction::None }
    }

    /// The eviction policy, by the name that the storage or Redis has for it.
    pub(crate) fn memory_policy(&self) -> String {
        match (self.evicts(), self.cache.storage) {
            (false, _) => "noeviction".to_owned(),
            (true, Storage::Seg) => self.eviction().to_string(),
            // It evicts approximately the least recently used of all items.
            (true, Storage::HashMap) => "allkeys-lru".to_owned(),
        }
    }

    /// The options of the memcache service, which it shows in `stats settings`.
    pub(crate) fn service_options(&self, name: &str, version: &str) -> ServiceOptions {
        server_memcache::options(self, name, version)
            .item_max(self.cache.value_max().0 as usize)
            .evictions(self.evicts())
    }

    /// Where RESP is spoken: nowhere unless the configuration says so.
    pub(crate) fn resp_listen(&self) -> Vec<Listen> {
        self.resp.places(&self.server)
    }

    /// The items must not be open by one protocol while the other asks for a password.
    fn resp_problem(&self) -> Option<(&'static str, String)> {
        let is_open = self.memcache.auth_file.is_some() && !self.resp_listen().is_empty();
        let why = "there are no users in RESP: leave out it or [memcache] auth_file";
        is_open.then(|| ("[resp]", why.to_owned()))
    }

    /// What the service of RESP shows in `INFO` and `CONFIG GET`.
    pub(crate) fn resp_options(&self, software: String) -> StringsOptions {
        let port = self.resp_listen().iter().find_map(|listen| match listen {
            Listen::Tcp { address, .. } => Some(address.port()),
            Listen::Unix(_) => None,
        });
        StringsOptions::new()
            .value_max(self.cache.value_max().0 as usize)
            .software(software)
            .threads(self.worker.threads)
            .memory_policy(self.memory_policy())
            .connections_max(self.server.max_connections)
            .port(port.unwrap_or(0))
            .idle_timeout(self.server.idle_timeout.0)
    }

    /// The configuration as text, with a memory limit of so many bytes.
    pub(crate) fn text_with_memory(&self, bytes: u64) -> Result<String, config::Error> {
        let mut config = self.clone();
        config.cache.memory = ByteSize(bytes);
        config::print(&config)
    }
}

#[cfg(test)]
mod tests;
