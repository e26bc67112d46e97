// SPDX-License-Identifier: Apache-2.0
//! Integers of 1 to 64 bits: [`Width`], and what happens to those that do not fit: [`Overflow`].

use super::bytes;
use crate::wire::fault::Fault;

/// The type of an integer in a string: `i5`, `u63`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Width {
    is_signed: bool,
    /// 1 to 64.
    pub(super) bits: u8,
}

/// What becomes of a number that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overflow {
    /// Its lowest bits.
    Wrap,
    /// The number next to it that fits.
    Saturate,
    /// Nothing is stored.
    Fail,
}

impl Overflow {
    /// The one of this name.
    pub(super) fn parse(name: &[u8]) -> Result<Self, Fault> {
        let known: [(&[u8], _); 3] =
            [(b"wrap", Overflow::Wrap), (b"sat", Overflow::Saturate), (b"fail", Overflow::Fail)];
        let found = known.iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
        found
            .map(|(_, overflow)| *overflow)
            .ok_or(Fault::new("ERR Invalid OVERFLOW type specified"))
    }
}

impl Width {
    /// The type of this name. Replies are signed integers, so an unsigned one has 63 bits at most.
    pub(super) fn parse(name: &[u8]) -> Result<Self, Fault> {
        let parsed = name.split_first().and_then(|(sign, bits)| {
            let (is_signed, most) = match sign {
                b'i' => (true, 64),
                b'u' => (false, 63),
                _ => return None,
            };
            let bits = u8::try_from(values::parse_i64(bits)?).ok()?;
            (1..=most).contains(&bits).then_some(Width { is_signed, bits })
        });
        let text = "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported \
                    but i64 is.";
        parsed.ok_or(Fault::new(text))
    }

    /// The last bit of an integer that begins at bit `at`.
    pub(super) fn last(self, at: u64) -> u64 {
        at.saturating_add(self.bits.into()).saturating_sub(1)
    }

    /// The integer at bit `at` of a text; bits behind its end are 0.
    pub(super) fn read(self, text: &[u8], at: u64) -> i64 {
        let window = number(&bytes::window(text, bytes::of_bit(at)));
        self.wrap((window >> self.shift(at)) as i128)
    }

    /// The bytes from that of bit `at` to that of the last bit, with the integer in them.
    #[expect(clippy::arithmetic_side_effects, reason = "shifts by less than the bits of the type")]
    pub(super) fn written(self, text: &[u8], at: u64, value: i64) -> ([u8; 9], usize) {
        let mask = self.mask() << self.shift(at);
        let window = number(&bytes::window(text, bytes::of_bit(at)));
        let with = (window & !mask) | (((value as u128) << self.shift(at)) & mask);
        let mut written = [0; 9];
        written.copy_from_slice(&with.to_be_bytes()[7..]);
        let len = bytes::of_bit(self.last(at)) - bytes::of_bit(at) + 1;
        (written, len)
    }

    /// What is stored in place of a number; nothing if it does not fit and must.
    pub(super) fn fit(self, value: i128, overflow: Overflow) -> Option<i64> {
        let most = i128::from(self.most());
        let least = if self.is_signed { !most } else { 0 };
        match overflow {
            _ if (least..=most).contains(&value) => Some(value as i64),
            Overflow::Wrap => Some(self.wrap(value)),
            Overflow::Saturate => Some(value.clamp(least, most) as i64),
            Overflow::Fail => None,
        }
    }

    /// A number that a client gives, as one of this type: -1 is the largest of all that have no sign. As in Redis and
    /// Valkey, one whose distance from the largest of the type takes more than 63 bits is far above it and not below.
    pub(super) fn given(self, value: i64) -> i128 {
        let is_near = self.bits == 64 || self.most().checked_sub(value).is_some();
        if self.is_signed && is_near { value.into() } else { (value as u64).into() }
    }

    /// The largest number of this type.
    fn most(self) -> i64 {
        (self.mask() >> u8::from(self.is_signed)) as i64
    }

    /// The lowest bits of a number.
    #[expect(clippy::arithmetic_side_effects, reason = "shifts by less than the bits of the type")]
    fn wrap(self, value: i128) -> i64 {
        let unused = 128 - u32::from(self.bits);
        if self.is_signed {
            (value << unused >> unused) as i64
        } else {
            (value as u128 & self.mask()) as i64
        }
    }

    /// As many ones as it has bits.
    #[expect(clippy::arithmetic_side_effects, reason = "64 bits at most")]
    fn mask(self) -> u128 {
        (1 << self.bits) - 1
    }

    /// By how much an integer at bit `at` is shifted within a window.
    #[expect(clippy::arithmetic_side_effects, reason = "7 and 64 bits at most, of 72")]
    fn shift(self, at: u64) -> u32 {
        72 - (at % 8) as u32 - u32::from(self.bits)
    }
}

/// Nine bytes as a number.
fn number(window: &[u8; 9]) -> u128 {
    window.iter().fold(0, |number, byte| (number << 8) | u128::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn types_have_a_sign_and_up_to_64_bits() {
        for name in ["i1", "i64", "u1", "u63"] {
            assert!(Width::parse(name.as_bytes()).is_ok(), "{name}");
        }
        for name in
            ["", "i", "i0", "i65", "u64", "u-1", "I8", "x8", "i08", "i8 ", "i9999999999999999999"]
        {
            assert!(Width::parse(name.as_bytes()).is_err(), "{name}");
        }
    }

    #[test]
    fn what_does_not_fit_wraps_or_stops_or_fails() {
        let fit = |name: &[u8], value, overflow| Width::parse(name).unwrap().fit(value, overflow);
        assert_eq!(fit(b"u8", 256, Overflow::Wrap), Some(0));
        assert_eq!(fit(b"i8", 128, Overflow::Wrap), Some(-128));
        assert_eq!(fit(b"i8", -129, Overflow::Wrap), Some(127));
        assert_eq!(fit(b"i8", -129, Overflow::Saturate), Some(-128));
        assert_eq!(fit(b"u8", -1, Overflow::Saturate), Some(0));
        assert_eq!(fit(b"u8", 256, Overflow::Fail), None);
        assert_eq!(fit(b"i64", i128::from(i64::MAX) + 1, Overflow::Wrap), Some(i64::MIN));
        assert_eq!(fit(b"i64", i128::from(i64::MAX) + 1, Overflow::Saturate), Some(i64::MAX));
        assert_eq!(fit(b"u63", u64::MAX.into(), Overflow::Saturate), Some(i64::MAX));
    }

    #[test]
    fn what_is_given_far_below_counts_as_above() {
        let set = |name: &[u8], value| {
            let width = Width::parse(name).unwrap();
            width.fit(width.given(value), Overflow::Saturate)
        };
        let far = 15 - i64::MAX;
        assert_eq!(
            [far, far - 1, i64::MIN].map(|value| set(b"i5", value)),
            [Some(-16), Some(15), Some(15)]
        );
        assert_eq!(
            [-(1 << 62), !(1 << 62)].map(|value| set(b"i63", value)),
            [Some(-(1 << 62)), Some((1 << 62) - 1)]
        );
        assert_eq!(set(b"i64", i64::MIN), Some(i64::MIN));
        let i5 = Width::parse(b"i5").unwrap();
        assert_eq!(i5.fit(i5.given(i64::MIN + 7), Overflow::Wrap), Some(7));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_and_the_rest_stays(
            text in proptest::collection::vec(any::<u8>(), 20),
            at in 0..96_u64,
            bits in 1..=64_u8,
            value in any::<i64>(),
        ) {
            let width = Width { is_signed: true, bits };
            let value = width.fit(value.into(), Overflow::Wrap).unwrap();
            let (window, len) = width.written(&text, at, value);
            let mut changed = text.clone();
            changed[bytes::of_bit(at)..][..len].copy_from_slice(&window[..len]);
            prop_assert_eq!(width.read(&changed, at), value);
            let bit = |text: &[u8], at: u64| text[bytes::of_bit(at)] & (0x80 >> (at % 8));
            let others = (0..160).filter(|bit| *bit < at || *bit > width.last(at));
            for other in others {
                prop_assert_eq!(bit(&changed, other), bit(&text, other));
            }
        }
    }
}
