// SPDX-License-Identifier: Apache-2.0
//! [`StreamId`]: the name and the place of an item of a stream.

use std::fmt;

/// The id of an item: a time in milliseconds, and a number among the items of that millisecond.
///
/// ```
/// use values::StreamId;
///
/// let id = StreamId::new(1526919030474, 55);
/// assert!(id < id.next().expect("there are larger ones"));
/// assert_eq!(id.to_string(), "1526919030474-55");
/// assert_eq!(StreamId::MAX.next(), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    /// Milliseconds since 1970, usually.
    pub ms: u64,
    /// The number among items with the same milliseconds.
    pub seq: u64,
}

impl StreamId {
    /// The least id, which no item has.
    pub const MIN: StreamId = StreamId { ms: 0, seq: 0 };
    /// The greatest id.
    pub const MAX: StreamId = StreamId { ms: u64::MAX, seq: u64::MAX };

    /// The id of these parts.
    pub const fn new(ms: u64, seq: u64) -> Self {
        StreamId { ms, seq }
    }

    /// The id behind this one; none behind the greatest.
    pub const fn next(self) -> Option<Self> {
        match (self.seq.checked_add(1), self.ms.checked_add(1)) {
            (Some(seq), _) => Some(StreamId { ms: self.ms, seq }),
            (None, Some(ms)) => Some(StreamId { ms, seq: 0 }),
            (None, None) => None,
        }
    }

    /// The id before this one; none before the least.
    pub const fn previous(self) -> Option<Self> {
        match (self.seq.checked_sub(1), self.ms.checked_sub(1)) {
            (Some(seq), _) => Some(StreamId { ms: self.ms, seq }),
            (None, Some(ms)) => Some(StreamId { ms, seq: u64::MAX }),
            (None, None) => None,
        }
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ms, self.seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_lead_back_and_end_at_the_edges() {
        let ids = [
            StreamId::MIN,
            StreamId::new(0, u64::MAX),
            StreamId::new(1, 0),
            StreamId::new(7, 7),
            StreamId::MAX,
        ];
        for id in ids {
            if let Some(next) = id.next() {
                assert!(next > id && next.previous() == Some(id), "{id}");
            }
            if let Some(previous) = id.previous() {
                assert!(previous < id && previous.next() == Some(id), "{id}");
            }
        }
        assert_eq!(StreamId::MIN.previous(), None);
        assert_eq!(StreamId::new(0, u64::MAX).next(), Some(StreamId::new(1, 0)));
    }
}
