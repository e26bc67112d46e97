// SPDX-License-Identifier: Apache-2.0
//! [`Token`]: the id of an operation, in the 64 bits that come back with its completion.

/// The kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Waits for the mailbox's bell.
    Bell,
    /// Receives from a link, or waits for its input (multishot).
    Receive,
    /// Sends a link's parcel.
    Send,
    /// Waits until a link's peer hangs up.
    Watch,
    /// Cancels another operation of a link.
    Cancel,
    /// Waits for datagrams (multishot).
    Datagrams,
}

const KINDS: [Kind; 6] =
    [Kind::Bell, Kind::Receive, Kind::Send, Kind::Watch, Kind::Cancel, Kind::Datagrams];

/// Bits of a generation. It wraps around, but only after more links in one place than can have late
/// completions.
const GENERATION_BITS: u32 = 29;

/// Identifies an operation of a link: its kind, the link's place, and the link's generation in that
/// place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) generation: u32,
    pub(super) link: u32,
}

impl Token {
    /// The operation for the bell, which belongs to no link.
    pub(super) const BELL: Token = Token { kind: Kind::Bell, generation: 0, link: 0 };

    /// The operation for the socket for datagrams with this number, which belongs to no link: no link has so
    /// high a place.
    pub(super) fn datagrams(number: usize) -> Self {
        Token { kind: Kind::Datagrams, generation: 0, link: u32::MAX - number as u32 }
    }

    /// The number of the socket for datagrams that the operation is for.
    pub(super) fn number(self) -> usize {
        (u32::MAX - self.link) as usize
    }

    /// A token; `generation` is truncated to [`GENERATION_BITS`].
    pub(super) fn new(kind: Kind, generation: u32, link: u32) -> Self {
        Token { kind, generation: generation & ((1 << GENERATION_BITS) - 1), link }
    }

    pub(super) fn to_bits(self) -> u64 {
        let kind = self.kind as u64;
        kind << 61 | u64::from(self.generation) << 32 | u64::from(self.link)
    }

    /// The token that these bits were made from.
    ///
    /// # Panics
    ///
    /// When the bits were not made from a token.
    pub(super) fn from_bits(bits: u64) -> Self {
        let kind = KINDS[(bits >> 61) as usize];
        Token::new(kind, (bits >> 32) as u32, bits as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_survives_its_way_through_the_kernel() {
        for kind in KINDS {
            for generation in [0, 1, (1 << GENERATION_BITS) - 1] {
                for link in [0, 1, u32::MAX] {
                    let token = Token::new(kind, generation, link);
                    assert_eq!(Token::from_bits(token.to_bits()), token);
                    assert_eq!((token.generation, token.link), (generation, link));
                }
            }
        }
    }

    #[test]
    fn a_generation_wraps_around() {
        assert_eq!(Token::new(Kind::Send, 1 << GENERATION_BITS, 7).generation, 0);
    }
}
