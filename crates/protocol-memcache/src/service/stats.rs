// SPDX-License-Identifier: Apache-2.0
//! The stats command and its topics: `stats/` has a file for each large one.

mod classes;
mod general;
mod settings;

use super::MemcacheService;
use super::outcome::Outcome;
use crate::reply::Dialect;
use buffer::SendBuf;
use classes::{items, slabs, slabs_in_all};
use general::{ENCRYPTED, GENERAL, View};
use protocol::Context;
use settings::settings;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};
use storage::{Receive, Stats};

/// The baseline of `stats reset`: the counts at that moment, by name.
///
/// The metrics themselves never decrease, because a scraper would take that for a restart; `stats`
/// shows the difference to the baseline.
#[derive(Debug, Default)]
pub(super) struct Baseline {
    counts: Mutex<BTreeMap<&'static str, u64>>,
}

/// A line of the general statistics.
enum Row {
    /// A count, which `stats reset` sets to zero.
    Count(&'static str, fn(&Stats) -> u64),
    /// Anything else.
    Level(&'static str, fn(&View<'_>) -> String),
}

impl<S: Receive> MemcacheService<S> {
    /// Answers `stats <topic>`.
    #[inline(never)]
    pub(super) fn stats<D: Dialect>(
        &mut self,
        topic: &[u8],
        reply: D,
        out: &mut SendBuf,
        context: &Context<'_>,
    ) -> Outcome {
        let is_in_pieces = reply.is_text() && !context.is_datagram;
        let show = &mut |name: &str, value: &dyn Display| reply.stat(out, name, value);
        match topic {
            b"" => self.general(show, context),
            b"items" => self.store.classes(context.now.ticks, &mut |class| items(class, show)),
            b"slabs" => self.slabs(show, context),
            // Details of the storage engine, with names of its own: a topic that memcached does not have.
            b"store" => self.store.details(context.now.ticks, show),
            b"settings" => settings(self, show),
            // What has any length, or takes long to find out, is sent in pieces, as text, if it can be.
            b"conns" if is_in_pieces => return self.connections(context),
            b"conns" => conns(show, context),
            b"sizes" if is_in_pieces && self.shared.options.dump => return self.sizes(context),
            b"sizes" => show("sizes_status", &"disabled"),
            // There is no storage outside of memory, and no proxy.
            b"extstore" | b"proxy" | b"proxyfuncs" | b"proxybe" => {}
            b"reset" => return self.reset(),
            b"cachedump" => return Outcome::NoKeys,
            _ => return Outcome::NoTopic,
        }
        reply.stats_end(out);
        Outcome::Shown
    }

    fn general(&self, show: Show<'_>, context: &Context<'_>) {
        let (options, platform) = (&self.shared.options, &*self.shared.platform);
        let view = View { store: self.store.stats(), options, platform, context };
        let baseline = self.shared.baseline.counts.lock();
        let baseline = baseline.unwrap_or_else(PoisonError::into_inner);
        let encrypted = if options.tls { ENCRYPTED } else { &[] };
        for row in GENERAL.iter().chain(encrypted) {
            match row {
                Row::Count(name, count) => {
                    let before = baseline.get(name).copied().unwrap_or(0);
                    show(name, &count(&view.store).saturating_sub(before));
                }
                Row::Level(name, level) => show(name, &level(&view)),
            }
        }
    }

    fn slabs(&self, show: Show<'_>, context: &Context<'_>) {
        let mut active = 0;
        self.store.classes(context.now.ticks, &mut |class| {
            active += 1;
            slabs(class, show);
        });
        slabs_in_all(active, &self.store.stats(), show);
    }

    fn reset(&self) -> Outcome {
        let store = self.store.stats();
        let counts = GENERAL.iter().chain(ENCRYPTED).filter_map(|row| match row {
            Row::Count(name, count) => Some((*name, count(&store))),
            Row::Level(..) => None,
        });
        self.shared.prefixes.reset();
        let baseline = self.shared.baseline.counts.lock();
        *baseline.unwrap_or_else(PoisonError::into_inner) = counts.collect();
        Outcome::StatsReset
    }
}

/// Shows a line: its name and its value.
type Show<'a> = &'a mut dyn FnMut(&str, &dyn Display);

/// The connections. Only that of the asking client is active; all others are shown as waiting.
fn conns(show: Show<'_>, context: &Context<'_>) {
    let now = context.now.ticks;
    for peer in context.directory.list() {
        let id = peer.id.serial();
        let state = if peer.id == context.connection { "conn_parse_cmd" } else { "conn_read" };
        let idle_s = now.since(peer.last_request()).as_secs();
        show(&format!("{id}:addr"), &peer.remote);
        show(&format!("{id}:listen_addr"), &peer.local);
        show(&format!("{id}:state"), &state);
        show(&format!("{id}:secs_since_last_cmd"), &idle_s);
    }
}

/// The value of a metric that another crate declares; 0 in a program without that crate.
fn metric(name: &str) -> u64 {
    let value = ::metrics::value(name).unwrap_or(0);
    u64::try_from(value).unwrap_or(0)
}
