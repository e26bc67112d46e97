// SPDX-License-Identifier: Apache-2.0
//! [`Load`]: a load that servers are compared under; and where the keys of several loads are.

use crate::{Error, KeySpace, Plan};

/// How many requests per second are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Offer {
    /// So many.
    Rate(f64),
    /// This share of what the first server answers in a closed loop of the same load.
    OfPeak(f64),
}

/// A load that servers are compared under.
#[derive(Clone, Debug)]
pub struct Load {
    /// What it is called in the results.
    pub name: String,
    /// The load. Its target and its rate are not used; with `preload` every key is written to each server
    /// before the first round.
    pub plan: Plan,
    /// The rates of open loops, each of which is measured; none is a closed loop.
    pub offers: Vec<Offer>,
}

impl Load {
    /// Looks for settings that make no sense.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.plan.check()?;
        for offer in &self.offers {
            match *offer {
                Offer::Rate(rate) => self.at(rate).check()?,
                Offer::OfPeak(share) if share > 0.0 && share <= 10.0 => self.at(1.0).check()?,
                Offer::OfPeak(share) => {
                    let words = format!("--rate-of-peak {share}: write a share, as 0.6");
                    return Err(Error::Setting(words));
                }
            }
        }
        Ok(())
    }

    /// The load at a rate.
    pub(super) fn at(&self, rate: f64) -> Plan {
        Plan { rate: Some(rate), ..self.plan.clone() }
    }

    pub(super) fn needs_peak(&self) -> bool {
        self.offers.iter().any(|offer| matches!(offer, Offer::OfPeak(_)))
    }
}

/// Gives loads whose keys or values have different sizes keys of their own, so that a server holds the
/// items of all at once. Those with the same share theirs.
pub(super) fn keep_apart(loads: &mut [Load]) -> Result<(), Error> {
    let mut known: Vec<(KeySpace, KeySpace)> = Vec::new();
    let mut first = 0;
    for load in loads {
        let keys = &mut load.plan.workload.keys;
        if let Some((_, moved)) = known.iter().find(|(asked, _)| asked == keys) {
            *keys = moved.clone();
            continue;
        }
        let moved = keys.clone().starting_at(first).map_err(Error::Setting)?;
        first += keys.count();
        known.push((std::mem::replace(keys, moved.clone()), moved));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Address, Protocol, Spread, Target};

    fn load(keys: u64, value_size: u32) -> Load {
        let target = Target::new(Protocol::Memcache, Address::Tcp(String::new()));
        let mut plan = Plan::new(target);
        let (key_size, value_size) = (Spread::fixed(20), Spread::fixed(value_size));
        plan.workload.keys = KeySpace::new(keys, key_size, value_size).unwrap();
        Load { name: String::new(), plan, offers: Vec::new() }
    }

    #[test]
    fn loads_of_different_sizes_have_different_keys() {
        let mut loads = [load(100, 64), load(100, 1_024), load(100, 64), load(50, 64)];
        keep_apart(&mut loads).unwrap();
        let ids = loads.each_ref().map(|load| {
            let keys = &load.plan.workload.keys;
            (keys.key(0).id, keys.key(keys.count() - 1).id)
        });
        assert_eq!(ids, [(0, 99), (100, 199), (0, 99), (200, 249)]);
        let sizes = loads.each_ref().map(|load| load.plan.workload.keys.key(7).value_len);
        assert_eq!(sizes, [64, 1_024, 64, 64]);
    }

    #[test]
    fn rates_that_make_no_sense_are_named() {
        let said = |offer| {
            let load = Load { offers: vec![offer], ..load(1, 1) };
            load.check().map_err(|error| error.to_string())
        };
        assert_eq!(said(Offer::OfPeak(0.6)), Ok(()));
        assert!(said(Offer::OfPeak(0.0)).unwrap_err().contains("--rate-of-peak 0"));
        assert!(said(Offer::OfPeak(60.0)).unwrap_err().contains("--rate-of-peak 60"));
        assert!(said(Offer::Rate(0.0)).unwrap_err().contains("--rate 0"));
    }
}
