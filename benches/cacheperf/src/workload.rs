// SPDX-License-Identifier: Apache-2.0
//! The requests of a load: keys, values, sizes, kinds of requests.
//!
//! A [`Source`] is one connection's supply of requests. [`Synthetic`] draws them at random,
//! [`Filling`] writes every key once; the replay of a trace has a source of its own.

mod key;
mod mix;
mod popularity;
mod spread;
pub(crate) mod value;

pub use key::{KEY_MAX, Key, KeySpace};
pub use mix::{MULTI_MAX, Mix};
pub use popularity::Popularity;
pub use spread::Spread;

pub(crate) use mix::scatter;

use crate::dialect::Op;
use mix::Chooser;
use popularity::Sampler;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::collections::VecDeque;
use std::sync::Arc;

/// The next thing to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A request with the last `keys` of the keys.
    Ask {
        /// Its kind.
        op: Op,
        /// How many keys it has.
        keys: u16,
        /// Seconds that what it writes lives; 0 for ever.
        ttl_s: u32,
    },
    /// Nothing until all requests in flight are answered.
    Wait,
    /// Nothing any more.
    Over,
}

/// When a source is to be asked for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Due {
    /// As soon as possible: to write what was missed, or to hear that it is over.
    Now,
    /// At its time, in nanoseconds since the start.
    At(u64),
}

/// One connection's supply of requests.
pub(crate) trait Source {
    /// Digits in the text of every key.
    fn digits(&self) -> usize;

    /// Bytes of keys and values in the largest request or reply.
    fn bytes_max(&self) -> usize;

    /// Nothing is under way: all is answered, or will not be.
    fn begin(&mut self) {}

    /// Decides what is sent next, and appends its keys to `keys`.
    fn next(&mut self, keys: &mut VecDeque<Key>) -> Next;

    /// A get, the oldest request under way, has found nothing under `key`.
    fn missed(&mut self, key: Key) {
        let _ = key;
    }

    /// The oldest request under way is answered.
    fn answered(&mut self) {}

    /// When [`Source::next`] is to be called, for sources that have times; `None` is not before something
    /// is answered.
    fn due(&self) -> Option<Due> {
        Some(Due::Now)
    }

    /// Leaves out the next request that has a time, and says which time.
    fn skip(&mut self) -> Option<u64> {
        None
    }

    /// Whether what was asked last is behind the warm-up of a trace.
    fn is_warm(&self) -> bool {
        false
    }
}

/// What a synthetic load is made of; shared by all connections.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The keys and the sizes of their values.
    pub keys: KeySpace,
    /// How requests spread over the keys.
    pub popularity: Popularity,
    /// The kinds of requests.
    pub mix: Mix,
    /// Keys of one multi-get, at most [`MULTI_MAX`].
    pub multiget_keys: u16,
    /// Seconds that what is written lives; 0 for ever.
    pub ttl_s: Spread,
}

impl Workload {
    /// Bytes of keys and values in the largest request or reply.
    fn bytes_max(&self) -> usize {
        let keys = if self.mix.has_multigets() { usize::from(self.multiget_keys) } else { 1 };
        keys * self.keys.bytes_max()
    }
}

/// Requests drawn at random.
#[derive(Clone, Debug)]
pub(crate) struct Synthetic {
    shared: Arc<Shared>,
    rng: SmallRng,
}

#[derive(Debug)]
struct Shared {
    workload: Workload,
    sampler: Sampler,
    chooser: Chooser,
    /// The protocol has no keys.
    pings: bool,
}

impl Synthetic {
    /// A source for requests, or for pings alone. Its clones draw the same; see
    /// [`Synthetic::reseeded`].
    pub(crate) fn new(workload: Workload, pings: bool) -> Self {
        let sampler = workload.popularity.sampler(workload.keys.count());
        let chooser = workload.mix.chooser();
        let shared = Arc::new(Shared { workload, sampler, chooser, pings });
        Synthetic { shared, rng: SmallRng::seed_from_u64(0) }
    }

    /// The same with random numbers of its own.
    pub(crate) fn reseeded(&self, seed: u64) -> Self {
        Synthetic { shared: self.shared.clone(), rng: SmallRng::seed_from_u64(seed) }
    }
}

impl Source for Synthetic {
    fn digits(&self) -> usize {
        self.shared.workload.keys.digits()
    }

    fn bytes_max(&self) -> usize {
        self.shared.workload.bytes_max()
    }

    #[inline]
    fn next(&mut self, keys: &mut VecDeque<Key>) -> Next {
        let shared = &*self.shared;
        if shared.pings {
            return Next::Ask { op: Op::Ping, keys: 0, ttl_s: 0 };
        }
        let workload = &shared.workload;
        let op = shared.chooser.choose((self.rng.next_u64() >> 32) as u32);
        let count = if op == Op::GetMany { workload.multiget_keys } else { 1 };
        for _ in 0..count {
            keys.push_back(workload.keys.key(shared.sampler.sample(&mut self.rng)));
        }
        let ttl_s = if op == Op::Set { workload.ttl_s.of(self.rng.next_u64()) } else { 0 };
        Next::Ask { op, keys: count, ttl_s }
    }
}

/// Writes its share of the keys, each once.
#[derive(Clone, Debug)]
pub(crate) struct Filling {
    keys: KeySpace,
    ttl_s: Spread,
    next: u64,
    step: u64,
}

impl Filling {
    /// The keys `first`, `first + step`, `first + 2 * step` and so on.
    pub(crate) fn new(workload: &Workload, first: u64, step: u64) -> Self {
        let (keys, ttl_s) = (workload.keys.clone(), workload.ttl_s.clone());
        Filling { keys, ttl_s, next: first, step }
    }
}

impl Source for Filling {
    fn digits(&self) -> usize {
        self.keys.digits()
    }

    fn bytes_max(&self) -> usize {
        self.keys.bytes_max()
    }

    fn next(&mut self, keys: &mut VecDeque<Key>) -> Next {
        if self.next >= self.keys.count() {
            return Next::Over;
        }
        keys.push_back(self.keys.key(self.next));
        let ttl_s = self.ttl_s.of(scatter(self.next));
        self.next += self.step;
        Next::Ask { op: Op::Set, keys: 1, ttl_s }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(mix: &str) -> Workload {
        Workload {
            keys: KeySpace::new(10, Spread::fixed(8), Spread::fixed(4)).unwrap(),
            popularity: Popularity::Uniform,
            mix: mix.parse().unwrap(),
            multiget_keys: 3,
            ttl_s: Spread::fixed(7),
        }
    }

    #[test]
    fn a_fill_covers_each_key_once() {
        let mut ids = Vec::new();
        for lane in 0..3 {
            let mut keys = VecDeque::new();
            let mut filling = Filling::new(&workload("get=1"), lane, 3);
            while filling.next(&mut keys) != Next::Over {}
            ids.extend(keys.iter().map(|key| key.id));
        }
        ids.sort_unstable();
        assert_eq!(ids, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn requests_have_their_keys_and_times_to_live() {
        let mut keys = VecDeque::new();
        let mut draw = |mix: &str| Synthetic::new(workload(mix), false).next(&mut keys);
        assert_eq!(draw("multiget=1"), Next::Ask { op: Op::GetMany, keys: 3, ttl_s: 0 });
        assert_eq!(draw("set=1"), Next::Ask { op: Op::Set, keys: 1, ttl_s: 7 });
        assert_eq!(keys.len(), 4);
    }

    #[test]
    fn seeds_make_differences() {
        let source = Synthetic::new(workload("get=1"), false);
        let draw = |seed| {
            let (mut keys, mut source) = (VecDeque::new(), source.reseeded(seed));
            for _ in 0..20 {
                source.next(&mut keys);
            }
            keys
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
