// SPDX-License-Identifier: Apache-2.0
//! [`Eviction`]: the policies by name, with their options.

use std::fmt;
use std::str::FromStr;

/// How room is made when memory is full.
///
/// All but the last three drop every item of the segment they choose; those keep the items that are
/// used, by copying them to another segment.
///
/// ```
/// use storage_seg::Eviction;
///
/// assert_eq!("random-fifo".parse(), Ok(Eviction::RandomFifo));
/// assert_eq!(Eviction::default().to_string(), "scored");
/// assert!("lru".parse::<Eviction>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Eviction {
    /// Nothing is dropped: a write that finds no room is refused.
    None,
    /// A segment chosen at random.
    Random,
    /// The oldest segment of a TTL class chosen at random, weighted by the classes' segments.
    RandomFifo,
    /// The oldest segment.
    Fifo,
    /// The segment closest to its expiry.
    Cte,
    /// The segment with the fewest live bytes.
    Util,
    /// Segcache's merge (Yang, Yue and Rashmi, NSDI '21): consecutive segments of a TTL class are
    /// merged into one, which keeps the items used most for their size.
    Merge {
        /// How many segments are merged into one, on average.
        target: usize,
        /// The most segments that are merged at a time.
        max: usize,
    },
    /// S3-FIFO (Yang et al., SOSP '23) on segments: items begin in a small queue, and those that are
    /// used there move to the main one.
    S3Fifo {
        /// The share of segments for the small queue.
        admission_ratio: f64,
    },
    /// The items with the best score are kept, over all segments: decayed frequency divided by size,
    /// as greedy-dual-size-frequency has it (Cherkasova, 1998).
    Scored {
        /// How much the size counts: 1 is for the most hits, 0 for the most bytes hit.
        size_exponent: f64,
    },
}

impl Eviction {
    /// Whether some items stay when their segment is emptied.
    pub(crate) fn keeps(&self) -> bool {
        matches!(self, Eviction::Merge { .. } | Eviction::S3Fifo { .. } | Eviction::Scored { .. })
    }

    /// The worth of a hit on an item of `len` bytes: the same for all items if hits count, its length if
    /// bytes hit count.
    pub(crate) fn worth_of_hit(&self, len: u32) -> f64 {
        match *self {
            Eviction::Scored { size_exponent } if size_exponent < 1.0 => {
                f64::from(len).powf(1.0 - size_exponent)
            }
            _ => 1.0,
        }
    }
}

impl Default for Eviction {
    /// [`Eviction::Scored`] for the most hits: it has the lowest miss ratio.
    fn default() -> Self {
        Eviction::Scored { size_exponent: 1.0 }
    }
}

impl fmt::Display for Eviction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Eviction::None => "none",
            Eviction::Random => "random",
            Eviction::RandomFifo => "random-fifo",
            Eviction::Fifo => "fifo",
            Eviction::Cte => "cte",
            Eviction::Util => "util",
            Eviction::Merge { .. } => "merge",
            Eviction::S3Fifo { .. } => "s3fifo",
            Eviction::Scored { .. } => "scored",
        })
    }
}

/// A name that no policy has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no eviction policy {0:?}; there are none, random, random-fifo, fifo, cte, util, merge, s3fifo and scored"
)]
pub struct UnknownEviction(String);

impl FromStr for Eviction {
    type Err = UnknownEviction;

    /// The policy of this name with its defaults.
    fn from_str(name: &str) -> Result<Self, UnknownEviction> {
        Ok(match name {
            "none" => Eviction::None,
            "random" => Eviction::Random,
            "random-fifo" => Eviction::RandomFifo,
            "fifo" => Eviction::Fifo,
            "cte" => Eviction::Cte,
            "util" => Eviction::Util,
            "merge" => Eviction::Merge { target: 4, max: 8 },
            "s3fifo" => Eviction::S3Fifo { admission_ratio: 0.1 },
            "scored" => Eviction::default(),
            _ => return Err(UnknownEviction(name.to_owned())),
        })
    }
}
