// SPDX-License-Identifier: Apache-2.0
//! The server itself.
//!
//! `command.rs`: COMMAND. `config.rs`: CONFIG. `databases.rs`: whole databases. `debug.rs`: DEBUG.
//! `info/`: INFO. `latency.rs`: LATENCY. `memory.rs`: MEMORY. `shutdown.rs`: SHUTDOWN, TIME, LOLWUT.
//! `commandlog.rs`: COMMANDLOG, SLOWLOG. `hotkeys.rs`: HOTKEYS. `facts.rs`: the numbers behind INFO and MEMORY.

mod command;
mod commandlog;
mod config;
mod databases;
mod debug;
mod facts;
mod hotkeys;
mod info;
mod latency;
mod memory;
mod shutdown;

pub(crate) use command::{
    command, command_count, command_docs, command_getkeys, command_getkeysandflags, command_info,
    command_list,
};
pub(crate) use commandlog::{
    commandlog_get, commandlog_len, commandlog_reset, slowlog_get, slowlog_len, slowlog_reset,
};
pub(crate) use config::{config_get, config_resetstat, config_rewrite, config_set};
pub(crate) use databases::{check_flush_option, dbsize, flushall, flushdb, swapdb};
pub(crate) use debug::debug;
pub(crate) use facts::process_metric;
pub(crate) use hotkeys::{hotkeys_get, hotkeys_reset, hotkeys_start, hotkeys_stop};
pub(crate) use info::{Report, Section, info, report};
pub(crate) use latency::{
    latency_doctor, latency_graph, latency_histogram, latency_history, latency_latest,
    latency_reset,
};
pub(crate) use memory::{
    memory_doctor, memory_malloc_stats, memory_purge, memory_stats, memory_usage,
};
pub(crate) use shutdown::{lolwut, shutdown, time};
