// SPDX-License-Identifier: Apache-2.0
//! The configuration sections that all servers share.
//!
//! Each section is a table with a row for each key ([`config::section!`]): name, type, default, range and
//! what it is for. A server's configuration has all of them beside its own
//! ([`configuration!`](crate::configuration!)), and hands them over as [`Sections`]. Names follow
//! Pelikan's where the meaning is the same.

mod admin;
mod engine;
mod listen;
mod log;
mod resp;
mod server;
mod tls;
mod udp;
mod worker;

pub use admin::Admin;
pub use config::{Section, Table};
pub use engine::Engine;
pub use listen::{Listen, SocketMode};
pub use log::{Debug as DebugLog, Klog, LogLevel};
pub use resp::Resp;
pub use server::{MainAddress, Server};
pub use tls::{ClientAuth, Tls, TlsVersion};
pub use udp::Udp;
pub use worker::Worker;

use reactor::{Limits, Options, Output};

/// All shared sections of one configuration.
#[derive(Clone, Copy, Debug)]
pub struct Sections<'a> {
    /// `[server]`
    pub server: &'a Server,
    /// `[worker]`
    pub worker: &'a Worker,
    /// `[admin]`
    pub admin: &'a Admin,
    /// `[tls]`
    pub tls: &'a Tls,
    /// `[debug]`
    pub debug: &'a DebugLog,
    /// `[klog]`
    pub klog: &'a Klog,
}

/// All shared sections of one configuration, to be changed.
#[derive(Debug)]
pub struct SectionsMut<'a> {
    /// `[server]`
    pub server: &'a mut Server,
    /// `[worker]`
    pub worker: &'a mut Worker,
    /// `[admin]`
    pub admin: &'a mut Admin,
    /// `[tls]`
    pub tls: &'a mut Tls,
    /// `[debug]`
    pub debug: &'a mut DebugLog,
    /// `[klog]`
    pub klog: &'a mut Klog,
}

/// A server's whole configuration: the sections that all share, and its own. Made with
/// [`configuration!`](crate::configuration!).
pub trait Configuration: 'static {
    /// The shared sections.
    fn sections(&self) -> Sections<'_>;

    /// The shared sections, to be changed.
    fn sections_mut(&mut self) -> SectionsMut<'_>;

    /// All sections in the order of the file, as pages show them.
    fn tables() -> Vec<Table>;
}

/// Defines a server's whole configuration. It has the sections that all servers share, and those that
/// are named here, each a [`config::section!`]:
///
/// ```
/// use server::settings::Configuration;
///
/// config::section! {
///     /// What is shouted.
///     pub struct Shout in "shout" {
///         /// How often.
///         pub times: u32 = 3, within 1..=9;
///     }
/// }
///
/// server::configuration! {
///     /// The whole file.
///     pub struct Config {
///         shout: Shout,
///     }
/// }
///
/// let config: Config = config::parse("[server]\nport = 1\n[shout]\ntimes = 5", "x.toml").unwrap();
/// assert_eq!((config.sections().server.port, config.shout.times), (Some(1), 5));
/// assert_eq!(Config::tables()[2].name, "shout");
/// ```
#[macro_export]
macro_rules! configuration {
    ($(#[$meta:meta])* $vis:vis struct $name:ident {$( $own:ident: $type:ty, )*}) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        $vis struct $name {
            /// Where to listen and how to treat connections.
            $vis server: $crate::settings::Server,
            /// The event loops.
            $vis worker: $crate::settings::Worker,
            $(
                #[allow(missing_docs, reason = "its type says it")]
                $vis $own: $type,
            )*
            /// Metrics, health and configuration over HTTP.
            $vis admin: $crate::settings::Admin,
            /// Certificates.
            $vis tls: $crate::settings::Tls,
            /// The log.
            $vis debug: $crate::settings::DebugLog,
            /// The command log.
            $vis klog: $crate::settings::Klog,
        }

        impl $crate::settings::Configuration for $name {
            fn sections(&self) -> $crate::settings::Sections<'_> {
                let $name { server, worker, admin, tls, debug, klog, .. } = self;
                $crate::settings::Sections { server, worker, admin, tls, debug, klog }
            }

            fn sections_mut(&mut self) -> $crate::settings::SectionsMut<'_> {
                let $name { server, worker, admin, tls, debug, klog, .. } = self;
                $crate::settings::SectionsMut { server, worker, admin, tls, debug, klog }
            }

            fn tables() -> Vec<$crate::settings::Table> {
                use $crate::settings::Section;
                vec![
                    <$crate::settings::Server as Section>::table(),
                    <$crate::settings::Worker as Section>::table(),
                    $( <$type as Section>::table(), )*
                    <$crate::settings::Admin as Section>::table(),
                    <$crate::settings::Tls as Section>::table(),
                    <$crate::settings::DebugLog as Section>::table(),
                    <$crate::settings::Klog as Section>::table(),
                ]
            }
        }
    };
}

impl Sections<'_> {
    /// The options of the workers, with requests of up to `request_bytes`.
    pub(crate) fn options(&self, request_bytes: usize) -> Options {
        let defaults = Options::default();
        let high_water = self.worker.high_water.0 as usize;
        Options {
            limits: Limits {
                request_bytes,
                high_water,
                requests_per_turn: self.worker.requests_per_turn,
            },
            output: Output {
                memory: self.worker.output_memory.map_or(defaults.output.memory, |memory| {
                    usize::try_from(memory.0).unwrap_or(usize::MAX)
                }),
                ..defaults.output
            },
            send_block: high_water + (defaults.send_block - defaults.limits.high_water),
            idle_timeout: self.server.idle_timeout.0,
            keepalive: self.server.keepalive.0,
            read_timeout: self.server.read_timeout.map_or(defaults.read_timeout, |limit| limit.0),
            write_timeout: self
                .server
                .write_timeout
                .map_or(defaults.write_timeout, |limit| limit.0),
            handshake_timeout: self.server.handshake_timeout.0,
            events: self.worker.nevent,
            tick: self.worker.timeout.0,
            turn_cpu_time: self.worker.turn_cpu_time,
            ..defaults
        }
    }

    /// The first rule that a value breaks, as key and problem.
    pub(crate) fn problem(&self) -> Option<(&'static str, String)> {
        let Sections { server, worker, admin, tls, debug, klog } = self;
        let parts: [&dyn Checked; 6] = [*worker, *server, *debug, *klog, *admin, *tls];
        parts.into_iter().find_map(Checked::problem)
    }
}

/// A section whose values can be checked.
trait Checked {
    fn problem(&self) -> Option<(&'static str, String)>;
}

impl<S: Section> Checked for S {
    fn problem(&self) -> Option<(&'static str, String)> {
        Section::problem(self)
    }
}
