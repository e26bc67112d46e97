// SPDX-License-Identifier: Apache-2.0
//! [`Mix`]: which kinds of requests are sent, and in what proportion.

use crate::Protocol;
use crate::dialect::Op;
use std::fmt;
use std::str::FromStr;

/// Most keys of one multi-get.
pub const MULTI_MAX: usize = 100;

/// Mixes the bits of a number, so that neighbours have nothing in common (the last steps of
/// splitmix64).
#[inline]
pub(crate) fn scatter(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Requests by kind, as weights.
///
/// ```
/// use cacheperf::Mix;
///
/// let mix: Mix = "get=90,set=10".parse().unwrap();
/// assert_eq!(mix.to_string(), "get=90,set=10");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mix {
    get: u32,
    set: u32,
    delete: u32,
    multiget: u32,
}

/// The kinds, as the command line names them.
const NAMES: [&str; 4] = ["get", "set", "delete", "multiget"];

impl Mix {
    /// Gets alone.
    pub const GETS: Mix = Mix { get: 1, set: 0, delete: 0, multiget: 0 };
    /// Sets alone.
    pub const SETS: Mix = Mix { get: 0, set: 1, delete: 0, multiget: 0 };

    /// Whether there are requests with several keys.
    pub(crate) fn has_multigets(&self) -> bool {
        self.multiget > 0
    }

    fn weights(&self) -> [u32; 4] {
        [self.get, self.set, self.delete, self.multiget]
    }

    /// A chooser of these proportions.
    pub(crate) fn chooser(&self) -> Chooser {
        let weights = self.weights().map(u64::from);
        let sum: u64 = weights.iter().sum();
        let mut below = 0;
        let ends = weights.map(|weight| {
            below += weight;
            ((below << 32) / sum.max(1)).min(u32::MAX.into()) as u32
        });
        // The last kind of all takes what rounding has left.
        Chooser { get: ends[0], set: ends[1], delete: ends[2], multiget: self.multiget > 0 }
    }
}

/// Turns random bits into kinds of requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chooser {
    get: u32,
    set: u32,
    delete: u32,
    multiget: bool,
}

impl Chooser {
    /// The kind that 32 random bits stand for.
    #[inline]
    pub(crate) fn choose(&self, bits: u32) -> Op {
        if bits < self.get {
            Op::Get
        } else if bits < self.set {
            Op::Set
        } else if bits < self.delete {
            Op::Delete
        } else if self.multiget {
            Op::GetMany
        } else if self.delete > self.set {
            Op::Delete
        } else if self.set > self.get {
            Op::Set
        } else {
            Op::Get
        }
    }
}

impl FromStr for Mix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut weights = [0; 4];
        for part in text.split(',') {
            // Other programs have the protocol at this letter.
            if Protocol::names().any(|name| name == part) {
                return Err(format!("`{part}` is a protocol, and -m is the mix; write -p {part}"));
            }
            let (name, weight) = part.split_once('=').ok_or(format!(
                "`{part}` in `{text}` is no NAME=WEIGHT; write for example get=90,set=10"
            ))?;
            let at = NAMES.iter().position(|known| *known == name).ok_or(format!(
                "`{name}` in `{text}` is no kind of request; there are {}",
                NAMES.join(", ")
            ))?;
            weights[at] = weight
                .parse()
                .map_err(|_| format!("`{weight}` in `{text}` is no weight, a whole number"))?;
        }
        if weights == [0; 4] {
            return Err(format!("`{text}` asks for nothing: one weight must be above 0"));
        }
        let [get, set, delete, multiget] = weights;
        Ok(Mix { get, set, delete, multiget })
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (name, weight) in NAMES.iter().zip(self.weights()) {
            if weight > 0 {
                write!(f, "{}{name}={weight}", if first { "" } else { "," })?;
                first = false;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_come_in_their_proportions() {
        let mix: Mix = "get=70,set=20,delete=5,multiget=5".parse().unwrap();
        let chooser = mix.chooser();
        let mut counts = [0; 4];
        for step in 0..1_000_u32 {
            let at = match chooser.choose(step * (u32::MAX / 1_000)) {
                Op::Get => 0,
                Op::Set => 1,
                Op::Delete => 2,
                Op::GetMany => 3,
                other => panic!("{other:?}"),
            };
            counts[at] += 1;
        }
        assert_eq!(counts, [701, 200, 50, 49]);
    }

    #[test]
    fn what_has_no_weight_never_comes() {
        for (text, op) in [
            ("get=1", Op::Get),
            ("set=3", Op::Set),
            ("delete=7", Op::Delete),
            ("multiget=1", Op::GetMany),
        ] {
            let chooser = text.parse::<Mix>().unwrap().chooser();
            for bits in [0, 1, u32::MAX / 2, u32::MAX] {
                assert_eq!(chooser.choose(bits), op, "{text}");
            }
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, said) in [
            ("get", "`get` in `get` is no NAME=WEIGHT"),
            ("get=1,put=2", "`put` in `get=1,put=2` is no kind"),
            ("resp2", "`resp2` is a protocol, and -m is the mix; write -p resp2"),
            ("get=x", "`x` in `get=x` is no weight"),
            ("get=0,set=0", "asks for nothing"),
        ] {
            let error = text.parse::<Mix>().unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
