// SPDX-License-Identifier: Apache-2.0
//! The counters of this protocol, and which of them an outcome bumps.
//!
//! Requests are counted by the row of their command, see [`Command::requests`](crate::Command).

use crate::command::CommandId;
use crate::op::{Direction, Family, Mode};
use ::metrics::{Counter, Histogram, counters, gauges, histograms};

/// The metrics of this protocol.
pub const METRICS: ::metrics::MetricSet = ::metrics::metric_set!();

counters! {
    /// Requests by command; a line with many keys is one. Gats counts as gat, and every step of a login as auth.
    "shoebill_memcache_commands_total" {
        pub static GET: command = "get";
        pub static GETS: command = "gets";
        pub static GAT: command = "gat";
        pub static SET: command = "set";
        pub static ADD: command = "add";
        pub static REPLACE: command = "replace";
        pub static APPEND: command = "append";
        pub static PREPEND: command = "prepend";
        pub static CAS: command = "cas";
        pub static INCR: command = "incr";
        pub static DECR: command = "decr";
        pub static DELETE: command = "delete";
        pub static MG: command = "mg";
        pub static MS: command = "ms";
        pub static MD: command = "md";
        pub static MA: command = "ma";
        pub static MN: command = "mn";
        pub static ME: command = "me";
        pub static TOUCH: command = "touch";
        pub static FLUSH_ALL: command = "flush_all";
        pub static STATS: command = "stats";
        pub static LRU_CRAWLER: command = "lru_crawler";
        pub static SLABS: command = "slabs";
        pub static LRU: command = "lru";
        pub static EXTSTORE: command = "extstore";
        pub static VERSION: command = "version";
        pub static VERBOSITY: command = "verbosity";
        pub static CONFIG: command = "config";
        pub static REFRESH_CERTS: command = "refresh_certs";
        pub static CACHE_MEMLIMIT: command = "cache_memlimit";
        pub static WATCH: command = "watch";
        pub static SHUTDOWN: command = "shutdown";
        pub static NOOP: command = "noop";
        pub static AUTH: command = "auth";
        pub static QUIT: command = "quit";
    }
    /// Keys that reading commands looked up, by command and by whether they were found. Gats counts as gat, and mg as
    /// get.
    "shoebill_memcache_lookups_total" {
        pub static GET_KEY_HIT: command = "get", result = "hit";
        pub static GET_KEY_MISS: command = "get", result = "miss";
        pub static GETS_KEY_HIT: command = "gets", result = "hit";
        pub static GETS_KEY_MISS: command = "gets", result = "miss";
        pub static GAT_KEY_HIT: command = "gat", result = "hit";
        pub static GAT_KEY_MISS: command = "gat", result = "miss";
    }
    /// What writing commands came to, by command; meta commands count as what they do. Failed means: too large, no memory,
    /// or not a number. Not stored: there was an item, or none, or it would get too large. Exists: the item has changed.
    "shoebill_memcache_writes_total" {
        pub static SET_STORED: command = "set", result = "stored";
        pub static SET_NOT_STORED: command = "set", result = "not_stored";
        pub static SET_EX: command = "set", result = "failed";
        pub static ADD_STORED: command = "add", result = "stored";
        pub static ADD_NOT_STORED: command = "add", result = "not_stored";
        pub static ADD_EX: command = "add", result = "failed";
        pub static REPLACE_STORED: command = "replace", result = "stored";
        pub static REPLACE_NOT_STORED: command = "replace", result = "not_stored";
        pub static REPLACE_EX: command = "replace", result = "failed";
        pub static APPEND_STORED: command = "append", result = "stored";
        pub static APPEND_NOT_STORED: command = "append", result = "not_stored";
        pub static APPEND_EX: command = "append", result = "failed";
        pub static PREPEND_STORED: command = "prepend", result = "stored";
        pub static PREPEND_NOT_STORED: command = "prepend", result = "not_stored";
        pub static PREPEND_EX: command = "prepend", result = "failed";
        pub static CAS_STORED: command = "cas", result = "stored";
        pub static CAS_EXISTS: command = "cas", result = "exists";
        pub static CAS_NOT_FOUND: command = "cas", result = "not_found";
        pub static CAS_EX: command = "cas", result = "failed";
        pub static INCR_STORED: command = "incr", result = "stored";
        pub static INCR_NOT_FOUND: command = "incr", result = "not_found";
        pub static INCR_EX: command = "incr", result = "failed";
        pub static DECR_STORED: command = "decr", result = "stored";
        pub static DECR_NOT_FOUND: command = "decr", result = "not_found";
        pub static DECR_EX: command = "decr", result = "failed";
        pub static DELETE_DELETED: command = "delete", result = "deleted";
        pub static DELETE_NOT_FOUND: command = "delete", result = "not_found";
        pub static TOUCH_TOUCHED: command = "touch", result = "touched";
        pub static TOUCH_NOT_FOUND: command = "touch", result = "not_found";
    }
    /// Writes answered with an error: by the store, or because the value does not end with its line.
    "shoebill_memcache_writes_refused_total" {
        pub static STORE_TOO_LARGE: reason = "too_large";
        pub static STORE_NO_MEMORY: reason = "no_memory";
        pub static STORE_BAD_DATA: reason = "bad_data";
    }
    /// Large values that waited for memory that others had which were arriving, and that were given up for others.
    "shoebill_memcache_large_values_total" {
        pub static LARGE_WAITED: event = "waited";
        pub static LARGE_GIVEN_UP: event = "given_up";
    }
    /// Lines and bodies that were no request.
    pub static MALFORMED: "shoebill_memcache_malformed_total";
    /// Credentials that were checked.
    pub static AUTH_CMDS: "shoebill_memcache_logins_total";
    /// Credentials that were wrong.
    pub static AUTH_ERRORS: "shoebill_memcache_login_failures_total";
    /// Lines that workers have written for clients that watch.
    pub static LOG_WORKER_WRITTEN: "shoebill_watch_lines_written_total";
    /// Lines for which a worker had no room, because it wrote too many in one turn.
    pub static LOG_WORKER_DROPPED: "shoebill_watch_lines_dropped_total";
    /// Lines sent to clients that watch.
    pub static LOG_WATCHER_SENT: "shoebill_watch_lines_sent_total";
    /// Lines that clients that watch have missed, because they did not read.
    pub static LOG_WATCHER_SKIPPED: "shoebill_watch_lines_skipped_total";
}

gauges! {
    /// Clients that watch.
    pub static LOG_WATCHERS: "shoebill_watchers";
}

histograms! {
    /// Keys of requests with several keys, by command.
    "shoebill_memcache_keys_per_request" {
        pub static GET_CARDINALITY: command = "get";
        pub static GETS_CARDINALITY: command = "gets";
        pub static GAT_CARDINALITY: command = "gat";
    }
    /// Time that executing a request takes, by command, of a sample: one request in 61 of each worker. Reading it from
    /// the socket and sending the reply are not in it. Gats counts as gat.
    "shoebill_memcache_command_duration_seconds" in nanoseconds {
        static GET_TIME: command = "get";
        static GETS_TIME: command = "gets";
        static GAT_TIME: command = "gat";
        static SET_TIME: command = "set";
        static ADD_TIME: command = "add";
        static REPLACE_TIME: command = "replace";
        static APPEND_TIME: command = "append";
        static PREPEND_TIME: command = "prepend";
        static CAS_TIME: command = "cas";
        static INCR_TIME: command = "incr";
        static DECR_TIME: command = "decr";
        static DELETE_TIME: command = "delete";
        static TOUCH_TIME: command = "touch";
        static MG_TIME: command = "mg";
        static MS_TIME: command = "ms";
        static MD_TIME: command = "md";
        static MA_TIME: command = "ma";
        static OTHER_TIME: command = "other";
    }
}

/// The metrics of the keys of reading commands.
pub(crate) struct GetMetrics {
    pub(crate) hit: &'static Counter,
    pub(crate) miss: &'static Counter,
    pub(crate) cardinality: &'static Histogram,
}

/// The metrics of what storage commands come to.
pub(crate) struct SetMetrics {
    pub(crate) failed: &'static Counter,
    pub(crate) stored: &'static Counter,
    pub(crate) not_stored: &'static Counter,
    /// No item, where the client is told so and not just `NOT_STORED`.
    pub(crate) not_found: &'static Counter,
}

/// The metrics of what `incr` or `decr` come to.
pub(crate) struct ArithMetrics {
    pub(crate) failed: &'static Counter,
    pub(crate) stored: &'static Counter,
    pub(crate) not_found: &'static Counter,
}

/// Picks the metrics of a reading command.
#[inline]
pub(crate) fn of_get(family: Family) -> &'static GetMetrics {
    static OF_GET: GetMetrics =
        GetMetrics { hit: &GET_KEY_HIT, miss: &GET_KEY_MISS, cardinality: &GET_CARDINALITY };
    static OF_GETS: GetMetrics =
        GetMetrics { hit: &GETS_KEY_HIT, miss: &GETS_KEY_MISS, cardinality: &GETS_CARDINALITY };
    static OF_GAT: GetMetrics =
        GetMetrics { hit: &GAT_KEY_HIT, miss: &GAT_KEY_MISS, cardinality: &GAT_CARDINALITY };
    match family {
        Family::Get => &OF_GET,
        Family::Gets => &OF_GETS,
        Family::Gat => &OF_GAT,
    }
}

/// Picks the metrics of a storage command.
#[inline]
pub(crate) fn of_set(mode: Mode) -> &'static SetMetrics {
    macro_rules! all {
        ($($place:ident: $failed:ident $stored:ident $not:ident $none:ident;)*) => {$(
            static $place: SetMetrics = SetMetrics {
                failed: &$failed,
                stored: &$stored,
                not_stored: &$not,
                not_found: &$none,
            };
        )*};
    }
    all! {
        OF_SET: SET_EX SET_STORED SET_NOT_STORED SET_NOT_STORED;
        OF_ADD: ADD_EX ADD_STORED ADD_NOT_STORED ADD_NOT_STORED;
        OF_REPLACE: REPLACE_EX REPLACE_STORED REPLACE_NOT_STORED REPLACE_NOT_STORED;
        OF_APPEND: APPEND_EX APPEND_STORED APPEND_NOT_STORED APPEND_NOT_STORED;
        OF_PREPEND: PREPEND_EX PREPEND_STORED PREPEND_NOT_STORED PREPEND_NOT_STORED;
        OF_CAS: CAS_EX CAS_STORED CAS_EXISTS CAS_NOT_FOUND;
    }
    match mode {
        Mode::Set => &OF_SET,
        Mode::Add => &OF_ADD,
        Mode::Replace => &OF_REPLACE,
        Mode::Append => &OF_APPEND,
        Mode::Prepend => &OF_PREPEND,
        Mode::Cas => &OF_CAS,
    }
}

/// Picks the metrics of `incr` or `decr`.
pub(crate) fn of_arith(direction: Direction) -> &'static ArithMetrics {
    static OF_INCR: ArithMetrics =
        ArithMetrics { failed: &INCR_EX, stored: &INCR_STORED, not_found: &INCR_NOT_FOUND };
    static OF_DECR: ArithMetrics =
        ArithMetrics { failed: &DECR_EX, stored: &DECR_STORED, not_found: &DECR_NOT_FOUND };
    match direction {
        Direction::Up => &OF_INCR,
        Direction::Down => &OF_DECR,
    }
}

/// Picks the metric of the time that a command takes.
pub(crate) fn time_of(command: CommandId) -> &'static Histogram {
    match command {
        CommandId::Get => &GET_TIME,
        CommandId::Gets => &GETS_TIME,
        CommandId::Gat | CommandId::Gats => &GAT_TIME,
        CommandId::Set => &SET_TIME,
        CommandId::Add => &ADD_TIME,
        CommandId::Replace => &REPLACE_TIME,
        CommandId::Append => &APPEND_TIME,
        CommandId::Prepend => &PREPEND_TIME,
        CommandId::Cas => &CAS_TIME,
        CommandId::Incr => &INCR_TIME,
        CommandId::Decr => &DECR_TIME,
        CommandId::Delete => &DELETE_TIME,
        CommandId::Touch => &TOUCH_TIME,
        CommandId::Mg => &MG_TIME,
        CommandId::Ms => &MS_TIME,
        CommandId::Md => &MD_TIME,
        CommandId::Ma => &MA_TIME,
        _ => &OTHER_TIME,
    }
}
