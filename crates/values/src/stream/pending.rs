// SPDX-License-Identifier: Apache-2.0
//! [`Pending`]: an item that was given to a consumer, who has not acknowledged it yet.

use super::StreamId;

/// The most that 48 bits hold.
const MAX_48: u64 = (1 << 48) - 1;

/// An item that was given to a consumer. 32 bytes: there may be as many as items.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub(crate) id: StreamId,
    /// The number of its consumer; [`Pending::NOBODY`] if it was given back.
    pub(crate) consumer: u32,
    time: [u16; 3],
    deliveries: [u16; 3],
}

const _: () = assert!(size_of::<Pending>() == 32);

impl Pending {
    /// The consumer of an item that nobody has.
    pub(crate) const NOBODY: u32 = u32::MAX;

    pub(crate) fn new(id: StreamId, consumer: u32, time_ms: u64, deliveries: u64) -> Self {
        Pending { id, consumer, time: pack(time_ms), deliveries: pack(deliveries) }
    }

    /// An item that was given back, as the `turn`th.
    pub(crate) fn given_back(id: StreamId, turn: u64, deliveries: u64) -> Self {
        Pending::new(id, Pending::NOBODY, turn, deliveries)
    }

    /// When it was given to the consumer, in unix milliseconds; 0 of an item that nobody has. Ends in the year
    /// 10889.
    pub(crate) fn time_ms(&self) -> u64 {
        if self.consumer == Pending::NOBODY { 0 } else { self.since() }
    }

    /// [`Pending::time_ms`], or the turn of an item that nobody has.
    pub(crate) fn since(&self) -> u64 {
        unpack(self.time)
    }

    /// How often it was given to a consumer: below 2^48 - 1, or the greatest number that clients know.
    pub(crate) fn deliveries(&self) -> u64 {
        match unpack(self.deliveries) {
            MAX_48 => i64::MAX as u64,
            deliveries => deliveries,
        }
    }
}

fn pack(number: u64) -> [u16; 3] {
    let number = number.min(MAX_48);
    [number as u16, (number >> 16) as u16, (number >> 32) as u16]
}

fn unpack([low, middle, high]: [u16; 3]) -> u64 {
    u64::from(low) | u64::from(middle) << 16 | u64::from(high) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_up_to_the_greatest() {
        let most = i64::MAX as u64;
        for (number, time, deliveries) in [
            (0, 0, 0),
            (1_700_000_000_123, 1_700_000_000_123, 1_700_000_000_123),
            (most, MAX_48, most),
            (u64::MAX, MAX_48, most),
        ] {
            let pending = Pending::new(StreamId::MAX, 7, number, number);
            assert_eq!((pending.time_ms(), pending.deliveries()), (time, deliveries));
            let pending = Pending::given_back(StreamId::MAX, number, number);
            assert_eq!((pending.time_ms(), pending.since()), (0, time));
        }
    }
}
