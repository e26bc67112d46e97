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

    /// When it was given to the consumer, in unix milliseconds. Ends in the year 10889.
    pub(crate) fn time_ms(&self) -> u64 {
        unpack(self.time)
    }

    /// How often it was given to a consumer, up to 2^48 - 1.
    pub(crate) fn deliveries(&self) -> u64 {
        unpack(self.deliveries)
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
        for (number, expected) in
            [(0, 0), (1_700_000_000_123, 1_700_000_000_123), (u64::MAX, MAX_48)]
        {
            let pending = Pending::new(StreamId::MAX, 7, number, number);
            assert_eq!((pending.time_ms(), pending.deliveries()), (expected, expected));
        }
    }
}
