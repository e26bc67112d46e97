// SPDX-License-Identifier: Apache-2.0
//! The section `[seg]` of a server's configuration, which sets the options of a [`Builder`]. With the feature
//! `settings`.
//!
//! ```
//! use storage_seg::SegStore;
//! use storage_seg::settings::Seg;
//!
//! #[derive(serde::Deserialize)]
//! struct File {
//!     seg: Seg,
//! }
//!
//! let file: File = config::parse("[seg]\neviction = \"fifo\"", "cache.toml")?;
//! let store = file.seg.apply(SegStore::builder().memory(64 << 20)).build()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod goal;
mod refusal;

pub use goal::Goal;
pub use refusal::refusal;

use crate::{Builder, Eviction, SEGMENT_BYTES};
use config::ByteSize;

/// The fewest segments that the memory must hold for segments of a given size to be of use.
const SEGMENTS_MIN: u64 = 8;

/// How many segments may be looked at to merge some of them.
const MERGE_MAX: std::ops::RangeInclusive<u32> = 2..=256;

config::section! {
    /// Segments, with `storage = "seg"`. Names follow Pelikan's where the meaning is the same.
    pub struct Seg in "seg" {
        /// `[cache] memory` in Pelikan's words. Refused: a file must not say two sizes.
        heap_size: Option<ByteSize> = None, hidden (), rule Seg::heap_size_problem;
        /// The size of a segment. Larger values take several.
        pub segment_size: Option<ByteSize> = None,
            takes "a power of two from `\"16KB\"` to `\"8MB\"`, at most an eighth of `memory`",
            absent "a 512th of `memory`, rounded up to what is allowed",
            example ByteSize(1 << 20), rule Seg::segment_problem;
        /// What goes when the memory is used up.
        pub eviction: Policy = Policy::Scored;
        /// For `scored`: what is to be missed as little as possible, requests or their bytes.
        pub goal: Option<Goal> = None, absent "`\"objects\"`", example Goal::Objects;
        /// For `scored`, in place of `goal`: how much an item's size counts against it; 1 is `"objects"`, 0 is
        /// `"bytes"`. Another one than that of a `goal` that is given is refused.
        pub size_exponent: Option<f64> = None, takes "0 to 1",
            absent "1.0, or 0 with `goal = \"bytes\"`", example 1.0, rule Seg::exponent_problem;
        /// For `merge`: how many segments become one.
        pub merge_target: u32 = 4, takes "2 to `merge_max`", rule Seg::merge_target_problem;
        /// For `merge`: how many segments are looked at for that.
        pub merge_max: u32 = 8, within MERGE_MAX;
        /// For `s3fifo`: the share of the memory in which new items prove themselves.
        pub admission_ratio: f64 = 0.10, within 0.01..=0.9;
        /// Whether each item carries a checksum that is verified when it is read.
        pub integrity: bool = false;
        /// Whether memory is taken in huge pages where the system has them (`/sys/kernel/mm/transparent_hugepage/enabled` is
        /// not `never`), and ahead of the writes that need it, by a thread of its own: up to 16 MB ahead.
        pub huge_pages: Option<bool> = None, absent "`true`", example false;
        /// Whether to touch all memory at the start rather than as it is needed.
        pub prefault: bool = false;
    }
    without_effect {
        hash_power: "the index is sized from [cache] memory and grows by itself";
        overflow_factor: "the index is sized from [cache] memory and grows by itself";
        compact_target: "merging compacts too, see merge_target";
        datapool_path: "the cache is in memory only";
    }
}

config::choices! {
    /// Which items go when the memory is used up. Pelikan's spellings are good too.
    pub enum Policy {
        /// None: a full cache refuses writes.
        None = "none" | "None",
        /// Those of a random segment.
        Random = "random" | "Random",
        /// Those of the oldest segment of a random time to live.
        RandomFifo = "random-fifo" | "RandomFifo",
        /// Those of the oldest segment.
        Fifo = "fifo" | "Fifo",
        /// Those of the segment that expires next.
        Cte = "cte" | "Cte",
        /// Those of the segment with the fewest live bytes.
        Util = "util" | "Util",
        /// The least used of several segments, merged into one: Segcache's.
        Merge = "merge" | "Merge",
        /// New items that are not used soon, then old ones that are not used again.
        S3Fifo = "s3fifo" | "S3Fifo",
        /// Of several segments the items of least use for their size, where use fades with time.
        Scored = "scored" | "Scored",
    }
}

impl Seg {
    fn heap_size_problem(&self) -> Option<String> {
        let size = self.heap_size?;
        Some(format!("is memory in [cache]; write memory = \"{size}\" there instead"))
    }

    fn segment_problem(&self) -> Option<String> {
        let size = self.segment_size?;
        let (least, most) = (ByteSize(*SEGMENT_BYTES.start()), ByteSize(*SEGMENT_BYTES.end()));
        let holds = SEGMENT_BYTES.contains(&size.0) && size.0.is_power_of_two();
        (!holds).then(|| format!("{size} is not a power of two from {least} to {most}"))
    }

    /// The problem beside a good `merge_max`.
    fn merge_target_problem(&self) -> Option<String> {
        let Seg { merge_target, merge_max, .. } = self;
        let holds = !MERGE_MAX.contains(merge_max) || (2..=*merge_max).contains(merge_target);
        (!holds).then(|| format!("{merge_target} is not between 2 and merge_max = {merge_max}"))
    }

    /// The key and the problem of segments that are too large for `memory`, if they are. Besides the section's own
    /// rules, for the memory is set elsewhere.
    #[must_use]
    pub fn size_problem(&self, memory: ByteSize) -> Option<(&'static str, String)> {
        let size = self.segment_size.filter(|size| memory.0 / SEGMENTS_MIN < size.0)?;
        let problem = format!("{size} is more than an eighth of [cache] memory = {memory}");
        Some(("[seg] segment_size", problem))
    }

    /// Sets the options of a store as this section has them.
    pub fn apply(&self, builder: Builder) -> Builder {
        let builder = builder
            .eviction(self.eviction())
            .integrity(self.integrity)
            .huge_pages(self.huge_pages.unwrap_or(true))
            .prefault(self.prefault);
        match self.segment_size {
            Some(size) => builder.segment_bytes(size.0),
            None => builder,
        }
    }

    /// The eviction that the policy and the keys about it set.
    #[must_use]
    pub fn eviction(&self) -> Eviction {
        match self.eviction {
            Policy::None => Eviction::None,
            Policy::Random => Eviction::Random,
            Policy::RandomFifo => Eviction::RandomFifo,
            Policy::Fifo => Eviction::Fifo,
            Policy::Cte => Eviction::Cte,
            Policy::Util => Eviction::Util,
            Policy::Merge => {
                Eviction::Merge { target: self.merge_target as usize, max: self.merge_max as usize }
            }
            Policy::S3Fifo => Eviction::S3Fifo { admission_ratio: self.admission_ratio },
            Policy::Scored => Eviction::Scored { size_exponent: self.exponent() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::Section;

    /// A configuration of nothing but this section.
    #[derive(Debug, serde::Deserialize)]
    pub(super) struct File {
        pub(super) seg: Seg,
    }

    pub(super) fn seg(lines: &str) -> Seg {
        let text = format!("[seg]\n{lines}\n");
        config::parse::<File>(&text, "test.toml").unwrap_or_else(|e| panic!("{e}")).seg
    }

    fn problem(lines: &str) -> String {
        let (key, problem) = seg(lines).problem().expect(lines);
        format!("{key}: {problem}")
    }

    #[test]
    fn policies_have_our_names_and_pelikans() {
        let names = [
            ("none", "None", Policy::None),
            ("random", "Random", Policy::Random),
            ("random-fifo", "RandomFifo", Policy::RandomFifo),
            ("fifo", "Fifo", Policy::Fifo),
            ("cte", "Cte", Policy::Cte),
            ("util", "Util", Policy::Util),
            ("merge", "Merge", Policy::Merge),
            ("s3fifo", "S3Fifo", Policy::S3Fifo),
            ("scored", "Scored", Policy::Scored),
        ];
        for (ours, pelikans, policy) in names {
            assert_eq!(seg(&format!("eviction = \"{ours}\"")).eviction, policy);
            assert_eq!(seg(&format!("eviction = \"{pelikans}\"")).eviction, policy);
            let printed = config::print(&Seg { eviction: policy, ..Seg::default() });
            let line = format!("eviction = \"{ours}\"\n");
            assert!(printed.expect("it is a table").contains(&line), "{line}");
        }
        assert_eq!(Seg::default().eviction, Policy::Scored);
        let error = config::parse::<File>("[seg]\neviction = \"lru\"", "test.toml");
        let error = error.expect_err("there is no such policy").to_string();
        let known = names.map(|(ours, ..)| format!("\"{ours}\""));
        assert!(error.contains("lru") && known.iter().all(|name| error.contains(name)), "{error}");
    }

    #[test]
    fn values_are_checked() {
        assert_eq!(Seg::default().problem(), None);
        let good = "segment_size = \"64KB\"\nsize_exponent = 0.5\nmerge_target = 2\n\
                    merge_max = 256\nadmission_ratio = 0.9";
        assert_eq!(seg(good).problem(), None);
        for (lines, expected) in [
            (
                "segment_size = 8192",
                "[seg] segment_size: 8KB is not a power of two from 16KB to 8MB",
            ),
            ("segment_size = \"96KB\"", "[seg] segment_size: 96KB is not a power of two"),
            ("segment_size = \"16MB\"", "[seg] segment_size: 16MB is not a power of two from"),
            ("size_exponent = 1.5", "[seg] size_exponent: 1.5 is not between 0 and 1"),
            ("size_exponent = nan", "[seg] size_exponent: NaN is not between"),
            ("merge_max = 257", "[seg] merge_max: 257 is not between 2 and 256"),
            ("merge_max = 1", "[seg] merge_max: 1 is not"),
            ("merge_target = 9", "[seg] merge_target: 9 is not between 2 and merge_max = 8"),
            ("merge_target = 1", "[seg] merge_target: 1 is not"),
            ("admission_ratio = 0.0", "[seg] admission_ratio: 0 is not between 0.01 and 0.9"),
            ("admission_ratio = 1.0", "[seg] admission_ratio: 1 is not"),
        ] {
            let problem = problem(lines);
            assert!(problem.starts_with(expected), "{problem}");
        }
    }

    #[test]
    fn segments_are_at_most_an_eighth_of_the_memory() {
        let seg = seg("segment_size = \"2MB\"");
        assert!(seg.size_problem(ByteSize(16 << 20)).is_none());
        let (_, problem) = seg.size_problem(ByteSize(15 << 20)).expect("too large");
        assert_eq!(problem, "2MB is more than an eighth of [cache] memory = 15MB");
    }

    #[test]
    fn a_policy_goes_with_the_keys_that_are_its_own() {
        let keys = "size_exponent = 0.5\nmerge_target = 2\nmerge_max = 3\nadmission_ratio = 0.2";
        for (name, expected) in [
            ("none", Eviction::None),
            ("random", Eviction::Random),
            ("random-fifo", Eviction::RandomFifo),
            ("fifo", Eviction::Fifo),
            ("cte", Eviction::Cte),
            ("util", Eviction::Util),
            ("merge", Eviction::Merge { target: 2, max: 3 }),
            ("s3fifo", Eviction::S3Fifo { admission_ratio: 0.2 }),
            ("scored", Eviction::Scored { size_exponent: 0.5 }),
        ] {
            assert_eq!(seg(&format!("eviction = \"{name}\"\n{keys}")).eviction(), expected);
            let defaults = seg(&format!("eviction = \"{name}\"")).eviction();
            assert_eq!(Ok(defaults), name.parse(), "{name} has the engine's defaults");
        }
        let by_bytes = seg("goal = \"bytes\"").eviction();
        assert_eq!(by_bytes, Eviction::Scored { size_exponent: 0.0 });
    }

    #[test]
    fn keys_of_pelikans_that_change_nothing_are_told_of() {
        let old = seg("hash_power = 16\noverflow_factor = 1.0\ncompact_target = 2\n\
                       datapool_path = \"/dev/pmem\"");
        assert_eq!(old.problem(), None);
        let warnings = old.warnings();
        let keys = ["hash_power", "overflow_factor", "compact_target", "datapool_path"];
        assert_eq!(warnings.len(), keys.len());
        for (warning, key) in warnings.iter().zip(keys) {
            let start = format!("[seg] {key} has no effect: ");
            assert!(warning.starts_with(&start) && warning.len() > start.len(), "{warning}");
        }
        let printed = config::print(&old).expect("it is a table");
        assert!(keys.iter().all(|key| !printed.contains(key)), "{printed}");
        assert!(Seg::default().warnings().is_empty());
    }

    #[test]
    fn the_heap_size_is_refused_with_the_key_that_has_taken_its_place() {
        let expected =
            "[seg] heap_size: is memory in [cache]; write memory = \"4GB\" there instead";
        assert_eq!(problem("heap_size = \"4GB\""), expected);
        assert_eq!(problem("heap_size = 4294967296"), expected);
    }
}
