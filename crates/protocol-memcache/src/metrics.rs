// SPDX-License-Identifier: Apache-2.0
//! The counters of this protocol, and which of them an outcome bumps.
//!
//! Requests are counted by the row of their command, see [`Command::requests`](crate::Command).

use crate::op::{Direction, Family, Mode};
use ::metrics::{Counter, counters, gauges, histograms};

counters! {
    /// Lines of get.
    pub static GET: "get";
    /// Keys asked for by get.
    pub static GET_KEY: "get_key";
    /// Keys of get that were found.
    pub static GET_KEY_HIT: "get_key_hit";
    /// Keys of get that were not found.
    pub static GET_KEY_MISS: "get_key_miss";
    /// Lines of gets.
    pub static GETS: "gets";
    /// Keys asked for by gets.
    pub static GETS_KEY: "gets_key";
    /// Keys of gets that were found.
    pub static GETS_KEY_HIT: "gets_key_hit";
    /// Keys of gets that were not found.
    pub static GETS_KEY_MISS: "gets_key_miss";
    /// Lines of gat and gats.
    pub static GAT: "gat";
    /// Keys asked for by gat and gats.
    pub static GAT_KEY: "gat_key";
    /// Keys of gat and gats that were found.
    pub static GAT_KEY_HIT: "gat_key_hit";
    /// Keys of gat and gats that were not found.
    pub static GAT_KEY_MISS: "gat_key_miss";
}

histograms! {
    /// Keys per line of get, of lines with several keys.
    pub static GET_CARDINALITY: "get_cardinality";
    /// Keys per line of gets, of lines with several keys.
    pub static GETS_CARDINALITY: "gets_cardinality";
    /// Keys per line of gat and gats, of lines with several keys.
    pub static GAT_CARDINALITY: "gat_cardinality";
}

counters! {
    /// Requests of set.
    pub static SET: "set";
    /// Requests of set that failed in the server: too large, or no memory.
    pub static SET_EX: "set_ex";
    /// Requests of set that stored.
    pub static SET_STORED: "set_stored";
    /// Requests of set that stored nothing.
    pub static SET_NOT_STORED: "set_not_stored";
    /// Requests of add.
    pub static ADD: "add";
    /// Requests of add that failed in the server: too large, or no memory.
    pub static ADD_EX: "add_ex";
    /// Requests of add that stored.
    pub static ADD_STORED: "add_stored";
    /// Requests of add that stored nothing: there was an item.
    pub static ADD_NOT_STORED: "add_not_stored";
    /// Requests of replace.
    pub static REPLACE: "replace";
    /// Requests of replace that failed in the server: too large, or no memory.
    pub static REPLACE_EX: "replace_ex";
    /// Requests of replace that stored.
    pub static REPLACE_STORED: "replace_stored";
    /// Requests of replace that stored nothing: there was no item.
    pub static REPLACE_NOT_STORED: "replace_not_stored";
    /// Requests of append.
    pub static APPEND: "append";
    /// Requests of append that failed in the server: too large, or no memory.
    pub static APPEND_EX: "append_ex";
    /// Requests of append that stored.
    pub static APPEND_STORED: "append_stored";
    /// Requests of append that stored nothing: there was no item, or it would get too large.
    pub static APPEND_NOT_STORED: "append_not_stored";
    /// Requests of prepend.
    pub static PREPEND: "prepend";
    /// Requests of prepend that failed in the server: too large, or no memory.
    pub static PREPEND_EX: "prepend_ex";
    /// Requests of prepend that stored.
    pub static PREPEND_STORED: "prepend_stored";
    /// Requests of prepend that stored nothing: there was no item, or it would get too large.
    pub static PREPEND_NOT_STORED: "prepend_not_stored";
    /// Requests of cas.
    pub static CAS: "cas";
    /// Requests of cas that failed in the server: too large, or no memory.
    pub static CAS_EX: "cas_ex";
    /// Requests of cas that stored.
    pub static CAS_STORED: "cas_stored";
    /// Requests of cas that stored nothing: the item has changed.
    pub static CAS_EXISTS: "cas_exists";
    /// Requests of cas that stored nothing: there was no item.
    pub static CAS_NOT_FOUND: "cas_not_found";
}

counters! {
    /// Requests of incr.
    pub static INCR: "incr";
    /// Requests of incr that failed: not a number, or no memory.
    pub static INCR_EX: "incr_ex";
    /// Requests of incr that changed a number.
    pub static INCR_STORED: "incr_stored";
    /// Requests of incr without an item.
    pub static INCR_NOT_FOUND: "incr_not_found";
    /// Requests of decr.
    pub static DECR: "decr";
    /// Requests of decr that failed: not a number, or no memory.
    pub static DECR_EX: "decr_ex";
    /// Requests of decr that changed a number.
    pub static DECR_STORED: "decr_stored";
    /// Requests of decr without an item.
    pub static DECR_NOT_FOUND: "decr_not_found";
    /// Requests of delete.
    pub static DELETE: "delete";
    /// Requests of delete that removed an item.
    pub static DELETE_DELETED: "delete_deleted";
    /// Requests of delete without an item.
    pub static DELETE_NOT_FOUND: "delete_not_found";
    /// Requests of mg.
    pub static MG: "mg";
    /// Requests of ms.
    pub static MS: "ms";
    /// Requests of md.
    pub static MD: "md";
    /// Requests of ma.
    pub static MA: "ma";
    /// Requests of mn.
    pub static MN: "mn";
    /// Requests of me.
    pub static ME: "me";
    /// Requests of touch.
    pub static TOUCH: "touch";
    /// Requests of touch that changed an expiry.
    pub static TOUCH_TOUCHED: "touch_touched";
    /// Requests of touch without an item.
    pub static TOUCH_NOT_FOUND: "touch_not_found";
    /// Requests of flush_all.
    pub static FLUSH_ALL: "flush_all";
    /// Requests of stats.
    pub static STATS: "stats";
    /// Requests of lru_crawler.
    pub static LRU_CRAWLER: "lru_crawler";
    /// Requests of slabs.
    pub static SLABS: "slabs";
    /// Requests of lru.
    pub static LRU: "lru";
    /// Requests of extstore.
    pub static EXTSTORE: "extstore";
    /// Requests of version.
    pub static VERSION: "version";
    /// Requests of verbosity.
    pub static VERBOSITY: "verbosity";
    /// Requests of config.
    pub static CONFIG: "config";
    /// Requests of refresh_certs.
    pub static REFRESH_CERTS: "refresh_certs";
    /// Requests of cache_memlimit.
    pub static CACHE_MEMLIMIT: "cache_memlimit";
    /// Requests of watch.
    pub static WATCH: "watch";
    /// Lines that workers have written for clients that watch.
    pub static LOG_WORKER_WRITTEN: "log_worker_written";
    /// Lines for which a worker had no room, because it wrote too many in one turn.
    pub static LOG_WORKER_DROPPED: "log_worker_dropped";
    /// Lines sent to clients that watch.
    pub static LOG_WATCHER_SENT: "log_watcher_sent";
    /// Lines that clients that watch have missed, because they did not read.
    pub static LOG_WATCHER_SKIPPED: "log_watcher_skipped";
    /// Requests of shutdown.
    pub static SHUTDOWN: "shutdown";
    /// Requests of noop, in the binary protocol.
    pub static NOOP: "noop";
    /// Steps of logging in.
    pub static AUTH: "auth";
    /// Credentials that were checked.
    pub static AUTH_CMDS: "auth_cmds";
    /// Credentials that were wrong.
    pub static AUTH_ERRORS: "auth_errors";
    /// Requests of quit.
    pub static QUIT: "quit";
    /// Lines and bodies that were no request.
    pub static MALFORMED: "memcache_malformed";
    /// Writes refused because the value is too large.
    pub static STORE_TOO_LARGE: "store_too_large";
    /// Writes refused because there was no memory.
    pub static STORE_NO_MEMORY: "store_no_memory";
}

/// The metrics of the keys of reading commands.
pub(crate) struct GetMetrics {
    pub(crate) keys: &'static Counter,
    pub(crate) hit: &'static Counter,
    pub(crate) miss: &'static Counter,
    pub(crate) cardinality: &'static ::metrics::Histogram,
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
    static OF_GET: GetMetrics = GetMetrics {
        keys: &GET_KEY,
        hit: &GET_KEY_HIT,
        miss: &GET_KEY_MISS,
        cardinality: &GET_CARDINALITY,
    };
    static OF_GETS: GetMetrics = GetMetrics {
        keys: &GETS_KEY,
        hit: &GETS_KEY_HIT,
        miss: &GETS_KEY_MISS,
        cardinality: &GETS_CARDINALITY,
    };
    static OF_GAT: GetMetrics = GetMetrics {
        keys: &GAT_KEY,
        hit: &GAT_KEY_HIT,
        miss: &GAT_KEY_MISS,
        cardinality: &GAT_CARDINALITY,
    };
    match family {
        Family::Get => &OF_GET,
        Family::Gets => &OF_GETS,
        Family::Gat => &OF_GAT,
    }
}

gauges! {
    /// Clients that watch.
    pub static LOG_WATCHERS: "log_watchers";
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
