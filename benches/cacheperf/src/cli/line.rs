// SPDX-License-Identifier: Apache-2.0
//! The rates of a load, and loads as text: `NAME=FLAGS`.

use super::load::TrafficArgs;
use crate::{Address, Error, Load, Offer, Protocol, Target, units};
use clap::builder::Resettable;
use clap::{Args, Command, FromArgMatches};

/// The rates that are offered.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Load")]
pub(super) struct OfferArgs {
    /// Send so many requests per second, whatever becomes of them: an open loop (k, m). With several,
    /// 20k,40k,60k, each is measured, and the page has their curve
    #[arg(short, long, value_delimiter = ',', value_parser = units::decimal)]
    rate: Vec<u64>,

    /// The rates as shares of the first server's peak, what it answers in a closed loop of the same load:
    /// 0.6, or several
    #[arg(long, value_name = "SHARE", value_delimiter = ',', conflicts_with = "rate")]
    rate_of_peak: Vec<f64>,
}

impl OfferArgs {
    pub(super) fn offers(&self) -> Vec<Offer> {
        let rates = self.rate.iter().map(|rate| Offer::Rate(*rate as f64));
        rates.chain(self.rate_of_peak.iter().map(|share| Offer::OfPeak(*share))).collect()
    }

    /// Those of `line`, if it has some.
    fn or(&self, line: OfferArgs) -> OfferArgs {
        if line.offers().is_empty() { self.clone() } else { line }
    }
}

/// A load of a comparison; each server has a target of its own.
pub(super) fn load(name: &str, traffic: &TrafficArgs, offers: &OfferArgs) -> Result<Load, Error> {
    let nowhere = Target::new(Protocol::Memcache, Address::Tcp(String::new()));
    let plan = traffic.plan(nowhere)?;
    Ok(Load { name: name.to_owned(), plan, offers: offers.offers() })
}

/// Reads `NAME=FLAGS`. Flags that are not in it are those of the command line.
pub(super) fn named(text: &str, traffic: &TrafficArgs, offers: &OfferArgs) -> Result<Load, Error> {
    let refuse = |words: String| Error::Setting(format!("--load '{text}': {words}"));
    let named = text.split_once('=').filter(|(name, _)| !name.is_empty() && !name.contains('-'));
    let (name, flags) = named.ok_or_else(|| refuse("write NAME=FLAGS, as 'big=-s 1k'".into()))?;
    // What a flag defaults to here is what it is on the command line.
    let command = TrafficArgs::augment_args_for_update(Command::new("load"));
    let command = OfferArgs::augment_args(command).no_binary_name(true).disable_help_flag(true);
    let command = command.mut_args(|arg| arg.default_value(Resettable::Reset));
    let matches = command.try_get_matches_from(flags.split_whitespace());
    let understood = matches.and_then(|mut matches| {
        let mut own = traffic.clone();
        own.update_from_arg_matches_mut(&mut matches)?;
        own.preload |= traffic.preload;
        Ok((own, offers.or(OfferArgs::from_arg_matches_mut(&mut matches)?)))
    });
    let (own, offers) = understood.map_err(|error| {
        let words = error.to_string();
        let first = words.lines().next().unwrap_or_default();
        refuse(first.trim_start_matches("error: ").to_owned())
    })?;
    load(name, &own, &offers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    #[command(no_binary_name = true)]
    struct Line {
        #[command(flatten)]
        traffic: TrafficArgs,
        #[command(flatten)]
        offers: OfferArgs,
    }

    fn read(text: &str, line: &str) -> Result<Load, String> {
        let line = Line::try_parse_from(line.split_whitespace()).unwrap();
        named(text, &line.traffic, &line.offers).map_err(|error| error.to_string())
    }

    #[test]
    fn a_load_has_its_own_flags_and_those_of_the_line() {
        let line = "-c 7 -d 3 -s 1k -k 100 --preload -r 5k";
        let load = read("a=", line).unwrap();
        assert_eq!((load.name.as_str(), load.plan.connections), ("a", 7));
        assert_eq!((load.plan.depth, load.plan.preload), (Some(3), true));
        assert_eq!(load.plan.workload.keys.key(0).value_len, 1_024);
        assert_eq!(load.offers, [Offer::Rate(5_000.0)]);
        let load = read("set=-m set=1 -d 32 -s 64 --rate-of-peak 0.5,0.9", line).unwrap();
        assert_eq!((load.name.as_str(), load.plan.connections), ("set", 7));
        assert_eq!((load.plan.depth, load.plan.preload), (Some(32), true));
        assert_eq!(load.plan.workload.keys.key(0).value_len, 64);
        assert_eq!(load.offers, [Offer::OfPeak(0.5), Offer::OfPeak(0.9)]);
        assert!(load.plan.load().contains("set=1"), "{}", load.plan.load());
        let plain = read("b=--preload", "").unwrap();
        assert!(plain.plan.preload && plain.offers.is_empty());
    }

    #[test]
    fn mistakes_in_a_load_are_named() {
        for (text, said) in [
            ("big", "--load 'big': write NAME=FLAGS"),
            ("-m get=1", "--load '-m get=1': write NAME=FLAGS"),
            ("a=-z 1", "--load 'a=-z 1': unexpected argument '-z'"),
            ("a=-d many", "invalid value 'many' for '--depth"),
            ("a=-r 1 --rate-of-peak 1", "cannot be used with"),
            ("a=-d 0", "--depth 0: write 1 to 65536"),
        ] {
            let words = read(text, "").unwrap_err();
            assert!(words.contains(said), "{text}: {words}");
        }
    }
}
