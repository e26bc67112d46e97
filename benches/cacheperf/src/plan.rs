// SPDX-License-Identifier: Apache-2.0
//! [`Plan`]: the settings of a run.

use crate::{
    Address, Arrivals, Error, KeySpace, MULTI_MAX, Mix, Popularity, Spread, Target, Workload,
};
use std::time::Duration;

/// How long a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// So much time after the warm-up.
    Time(Duration),
    /// So many requests after the warm-up.
    Requests(u64),
    /// Until there is nothing more to ask: of a list of keys, or a trace.
    ToEnd,
}

/// The default for the most requests in flight on a connection of an open loop.
const OPEN_DEPTH: usize = 64;

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The server.
    pub target: Target,
    /// More servers of the same kind, among which and the target connections are divided in turns.
    pub more: Vec<Address>,
    /// Connections, of all threads together.
    pub connections: usize,
    /// Threads, each with an event loop and its share of the connections.
    pub threads: usize,
    /// Requests of a pipeline, or in an open loop the most requests in flight on a connection. `None` is
    /// 1 for a closed loop and 64 for an open one.
    pub depth: Option<usize>,
    /// Requests per second of an open loop; `None` is a closed one.
    pub rate: Option<f64>,
    /// How the requests of an open loop follow each other.
    pub arrivals: Arrivals,
    /// In an open loop: users' requests, each of so many requests on different connections at once.
    pub fan_out: Option<usize>,
    /// In a closed loop: opens a new connection in place of each one that has had so many requests.
    pub reconnect: Option<u64>,
    /// A connection that breaks is opened again, until nobody could be reached for so long; zero is never.
    pub give_up_after: Duration,
    /// Time before the measured time, under the same load.
    pub warm_up: Duration,
    /// How long it takes.
    pub length: Length,
    /// Writes every key once before.
    pub preload: bool,
    /// Checks every value that is read.
    pub verify: bool,
    /// What is asked.
    pub workload: Workload,
    /// The seed of all random numbers: the same seed asks the same.
    pub seed: u64,
}

impl Plan {
    /// A closed loop of gets for ten seconds on 50 connections, over a million keys of 20 bytes with
    /// values of 64.
    ///
    /// # Panics
    ///
    /// Never: the keys of the default fit.
    pub fn new(target: Target) -> Self {
        let keys = KeySpace::new(1_000_000, Spread::fixed(20), Spread::fixed(64));
        Plan {
            target,
            more: Vec::new(),
            connections: 50,
            threads: 1,
            depth: None,
            rate: None,
            arrivals: Arrivals::Even,
            fan_out: None,
            reconnect: None,
            give_up_after: Duration::from_secs(10),
            warm_up: Duration::from_secs(1),
            length: Length::Time(Duration::from_secs(10)),
            preload: false,
            verify: true,
            workload: Workload {
                keys: keys.expect("20 bytes name a million keys"),
                popularity: Popularity::Uniform,
                mix: Mix::GETS,
                multiget_keys: 10,
                ttl_s: Spread::fixed(0),
            },
            seed: 1,
        }
    }

    /// All servers.
    pub fn targets(&self) -> Vec<Target> {
        (0..=self.more.len()).map(|number| self.target_of(number)).collect()
    }

    /// The server of a connection.
    pub(crate) fn target_of(&self, connection: usize) -> Target {
        match (connection % (1 + self.more.len())).checked_sub(1) {
            None => self.target.clone(),
            Some(number) => Target { address: self.more[number].clone(), ..self.target.clone() },
        }
    }

    /// All servers in words.
    pub(crate) fn servers(&self) -> String {
        let more = self.more.iter().map(|address| format!(", {address}"));
        more.fold(self.target.to_string(), |all, one| all + &one)
    }

    /// The depth that holds.
    pub fn effective_depth(&self) -> usize {
        self.depth.unwrap_or(if self.rate.is_some() { OPEN_DEPTH } else { 1 })
    }

    /// The settings that make the load, in a line.
    pub fn load(&self) -> String {
        let Plan { connections, threads, workload, .. } = self;
        let depth = self.effective_depth();
        let loop_of = match self.rate {
            Some(rate) => format!("open loop at {rate} requests/s ({} arrivals), ", self.arrivals),
            None => String::from("closed loop, "),
        };
        let load = format!("{loop_of}{connections} connections, {threads} threads, depth {depth}");
        let load = match self.fan_out {
            Some(width) if width > 1 => format!("{load}, {width} requests at once"),
            _ => load,
        };
        let load = match self.reconnect {
            Some(requests) => format!("{load}, each for {requests} requests"),
            None => load,
        };
        if !self.target.protocol.has_keys() {
            return load;
        }
        let Workload { keys, popularity, mix, ttl_s, .. } = workload;
        let mut load = format!("{load}, {mix}, {keys}, {popularity}");
        if ttl_s.max() > 0 {
            load += &format!(", ttl {ttl_s} s");
        }
        load
    }

    /// Looks for settings that make no sense, alone or together.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`], with the value and what would do.
    pub fn check(&self) -> Result<(), Error> {
        let refuse = |words: String| Err(Error::Setting(words));
        let (connections, threads) = (self.connections, self.threads);
        if threads == 0 || threads > connections {
            return refuse(format!(
                "--threads {threads}: each needs a connection, and there are {connections}; \
                 write 1 to {connections}"
            ));
        }
        if self.depth.is_some_and(|depth| depth == 0 || depth > 1 << 16) {
            return refuse(format!("--depth {}: write 1 to 65536", self.effective_depth()));
        }
        if let Some(rate) = self.rate
            && !(rate > 0.0 && rate <= 1e9)
        {
            return refuse(format!("--rate {rate}: write requests per second, up to 1000m"));
        }
        if let Some(width) = self.fan_out {
            let lanes = connections / threads;
            if width == 0 || width > lanes {
                return refuse(format!(
                    "--fan-out {width}: each of its requests needs a connection, and a thread has {lanes}"
                ));
            }
            if self.rate.is_none() {
                return refuse("--fan-out: only in an open loop, so write --rate".to_owned());
            }
        }
        match self.reconnect {
            Some(0) => return refuse("--reconnect 0: write 1 or more requests".to_owned()),
            Some(_) if self.rate.is_some() => {
                return refuse("--reconnect: only in a closed loop, so not with --rate".to_owned());
            }
            _ => {}
        }
        let multiget_keys = usize::from(self.workload.multiget_keys);
        if multiget_keys == 0 || multiget_keys > MULTI_MAX {
            return refuse(format!("--multiget-keys {multiget_keys}: write 1 to {MULTI_MAX}"));
        }
        match self.length {
            Length::Time(time) if time.is_zero() => {
                refuse("--duration 0: there must be time to measure in".to_owned())
            }
            Length::Requests(0) => refuse("--requests 0: there must be one at least".to_owned()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Protocol;

    #[test]
    fn connections_are_divided_among_servers_in_turns() {
        let address = |text: &str| text.parse::<Address>().unwrap();
        let plan = Plan {
            more: vec![address("b"), address("c:1")],
            ..Plan::new(Target::new(Protocol::Meta, address("a")))
        };
        let places: Vec<_> = (0..5).map(|lane| plan.target_of(lane).address.to_string()).collect();
        assert_eq!(places, ["a", "b", "c:1", "a", "b"]);
        assert_eq!(plan.targets().len(), 3);
        assert_eq!(plan.servers(), "meta at a, b, c:1");
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let target = Target::new(Protocol::Memcache, Address::Tcp("localhost".to_owned()));
        let plan = Plan::new(target);
        assert!(plan.check().is_ok());
        let said = |change: fn(&mut Plan)| {
            let mut plan = plan.clone();
            change(&mut plan);
            plan.check().unwrap_err().to_string()
        };
        assert!(said(|plan| plan.threads = 51).contains("--threads 51"));
        assert!(said(|plan| plan.threads = 0).contains("--threads 0"));
        assert!(said(|plan| plan.depth = Some(0)).contains("--depth 0"));
        assert!(
            said(|plan| plan.fan_out = Some(51)).contains("--fan-out 51: each of its requests")
        );
        assert!(said(|plan| plan.fan_out = Some(10)).contains("write --rate"));
        assert!(said(|plan| plan.rate = Some(-1.0)).contains("--rate -1"));
        assert!(said(|plan| plan.workload.multiget_keys = 101).contains("--multiget-keys 101"));
        assert!(said(|plan| plan.reconnect = Some(0)).contains("--reconnect 0"));
        assert!(said(|plan| (plan.reconnect, plan.rate) = (Some(1), Some(1.0))).contains("--rate"));
        assert!(said(|plan| plan.length = Length::Requests(0)).contains("--requests 0"));
        assert!(said(|plan| plan.length = Length::Time(Duration::ZERO)).contains("--duration 0"));
    }
}
