// SPDX-License-Identifier: Apache-2.0
//! The flags that describe a server and a load.

use crate::{
    Address, Arrivals, Error, KeySpace, Length, Mix, Plan, Popularity, Protocol, Spread, Target,
    Workload, units,
};
use session::{TlsConnector, Trust};
use std::path::PathBuf;
use std::time::Duration;

/// Which server is asked.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ServerArgs {
    /// What it speaks: memcache, meta, resp2, resp3 or ping
    #[arg(short, long, default_value = "memcache")]
    pub(crate) protocol: Protocol,

    /// Where it listens: HOST, HOST:PORT or unix:/path. With several, a,b,c, connections are divided among
    /// these servers in turns
    #[arg(short, long, default_value = "127.0.0.1", value_delimiter = ',')]
    pub(crate) address: Vec<Address>,

    #[command(flatten)]
    pub(crate) tls: TlsArgs,
}

/// How connections are encrypted.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct TlsArgs {
    /// Encrypt, and believe the certificates of this authority (PEM)
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,

    /// Encrypt, and believe every certificate
    #[arg(long, conflicts_with = "tls_ca")]
    tls_insecure: bool,

    /// Resume no TLS session: shake hands in full each time
    #[arg(long)]
    tls_no_resumption: bool,

    /// The host that the server's certificate is for
    #[arg(long, value_name = "NAME", default_value = "localhost")]
    tls_name: String,

    /// The certificate to show (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// Its key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

impl TlsArgs {
    pub(crate) fn connector(&self) -> Result<Option<TlsConnector>, Error> {
        let trust = match &self.tls_ca {
            Some(path) => Trust::CaFile(path.clone()),
            None if self.tls_insecure => Trust::Anybody,
            None if self.tls_cert.is_some() => {
                let words = "--tls-cert: say whom to believe, by --tls-ca or --tls-insecure";
                return Err(Error::Setting(words.to_owned()));
            }
            None => return Ok(None),
        };
        let connector = match (&self.tls_cert, &self.tls_key) {
            (Some(chain), Some(key)) => {
                TlsConnector::with_certificate(&self.tls_name, &trust, chain, key)?
            }
            _ => TlsConnector::new(&self.tls_name, &trust)?,
        };
        Ok(Some(if self.tls_no_resumption { connector.without_resumption() } else { connector }))
    }
}

impl ServerArgs {
    pub(crate) fn target(&self) -> Result<Target, Error> {
        let tls = self.tls.connector()?;
        let first = self.address.first().cloned();
        let first =
            first.ok_or_else(|| Error::Setting("--address: there must be one".to_owned()))?;
        Ok(Target { tls, ..Target::new(self.protocol, first) })
    }

    /// The servers besides the target.
    pub(crate) fn more(&self) -> Vec<Address> {
        self.address.iter().skip(1).cloned().collect()
    }
}

/// What is asked of the server.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct TrafficArgs {
    /// Connections, of all threads together
    #[arg(short, long, default_value_t = 50)]
    pub(crate) connections: usize,

    /// Threads, each with its share of the connections
    #[arg(short, long, default_value_t = 1)]
    pub(crate) threads: usize,

    /// Requests of a pipeline; in an open loop the most that are under way on a connection
    /// [default: 1, in an open loop 64]
    #[arg(short, long)]
    pub(crate) depth: Option<usize>,

    /// How the requests of an open loop follow each other: even or poisson
    #[arg(long, default_value = "even")]
    pub(crate) arrivals: Arrivals,

    /// In a closed loop: open a new connection in place of each one that has had so many requests. The
    /// first request of each then waits for the connection and the TLS handshake, too (k, m)
    #[arg(long, value_name = "REQUESTS", value_parser = units::decimal)]
    pub(crate) reconnect: Option<u64>,

    /// A connection that breaks is opened again. End when nobody could be reached for so long; 0 is to
    /// open none again
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = units::duration)]
    pub(crate) give_up_after: Duration,

    /// Time before the measured time, under the same load
    #[arg(short, long, default_value = "1s", value_parser = units::duration)]
    pub(crate) warm_up: Duration,

    /// The measured time
    #[arg(short = 'D', long, default_value = "10s", value_parser = units::duration)]
    pub(crate) duration: Duration,

    /// Write every key once before
    #[arg(long)]
    pub(crate) preload: bool,

    /// How many keys there are (k, m: thousands, millions)
    #[arg(short, long, default_value = "1m", value_parser = units::decimal)]
    pub(crate) keys: u64,

    /// Bytes of a key: 20, 16-40, lognormal:MEDIAN:SIGMA[:MAX] or a list as 16=9,40=1
    #[arg(long, value_name = "SPREAD", default_value = "20")]
    pub(crate) key_size: Spread,

    /// Bytes of a value, in the same ways (k, m: 1024, 1024 x 1024)
    #[arg(short = 's', long, value_name = "SPREAD", default_value = "64")]
    pub(crate) value_size: Spread,

    /// How requests spread over the keys: uniform or zipf:EXPONENT
    #[arg(long, default_value = "uniform")]
    pub(crate) popularity: Popularity,

    /// Kinds of requests by weight: get, set, delete, multiget
    #[arg(short, long, default_value = "get=1")]
    pub(crate) mix: Mix,

    /// Keys of one multi-get
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    pub(crate) multiget_keys: u16,

    /// Seconds that what is written lives, in the same ways as sizes; 0 for ever
    #[arg(long, value_name = "SPREAD", default_value = "0")]
    pub(crate) ttl: Spread,

    /// The seed of all random numbers: the same seed asks the same
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

impl TrafficArgs {
    /// A closed loop against `target`.
    pub(crate) fn plan(&self, target: Target) -> Result<Plan, Error> {
        let args = self.clone();
        let keys = KeySpace::new(args.keys, args.key_size, args.value_size);
        let plan = Plan {
            target,
            more: Vec::new(),
            connections: args.connections,
            threads: args.threads,
            depth: args.depth,
            rate: None,
            arrivals: args.arrivals,
            fan_out: None,
            reconnect: args.reconnect,
            give_up_after: args.give_up_after,
            warm_up: args.warm_up,
            length: Length::Time(args.duration),
            preload: args.preload,
            verify: true,
            workload: Workload {
                keys: keys.map_err(Error::Setting)?,
                popularity: args.popularity,
                mix: args.mix,
                multiget_keys: args.multiget_keys,
                ttl_s: args.ttl,
            },
            seed: args.seed,
        };
        plan.check()?;
        Ok(plan)
    }
}

/// A server and a load.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LoadArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,

    #[command(flatten)]
    pub(crate) traffic: TrafficArgs,

    /// Send so many requests per second, whatever becomes of them: an open loop (k, m)
    #[arg(short, long, value_parser = units::decimal)]
    rate: Option<u64>,

    /// End after so many requests instead of a time (k, m)
    #[arg(short = 'n', long, conflicts_with = "duration", value_parser = units::decimal)]
    requests: Option<u64>,
}

impl LoadArgs {
    pub(crate) fn plan(&self) -> Result<Plan, Error> {
        let mut plan = self.traffic.plan(self.server.target()?)?;
        plan.more = self.server.more();
        plan.rate = self.rate.map(|rate| rate as f64);
        if let Some(requests) = self.requests {
            plan.length = Length::Requests(requests);
        }
        plan.check()?;
        Ok(plan)
    }
}
