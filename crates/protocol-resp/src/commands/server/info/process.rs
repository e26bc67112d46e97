// SPDX-License-Identifier: Apache-2.0
//! What the server is: Server, CPU, Persistence, Replication.

use super::Full;
use crate::engine::any_call::AnyCall;
use crate::host::version::{REDIS_VERSION, SHOEBILL_VERSION};
use keyspace::View;
use metrics::process;
use std::fs;

const DAY_SECONDS: u64 = 24 * 60 * 60;

pub(super) fn server<V: View>(report: &mut Full<'_, '_, V>) {
    let call = report.call;
    report.line("redis_version", REDIS_VERSION);
    report.line("shoebill_version", SHOEBILL_VERSION);
    report.line("redis_git_sha1", "00000000");
    report.line("redis_git_dirty", 0);
    report.line("redis_build_id", 0);
    let mode = if report.call.is_in_cluster() { "cluster" } else { "standalone" };
    report.line("redis_mode", mode);
    report.line("os", system());
    report.line("arch_bits", usize::BITS);
    report.line("monotonic_clock", "POSIX clock_gettime");
    let multiplexing = call.platform().map_or("epoll", |platform| platform.multiplexing());
    report.line("multiplexing_api", multiplexing);
    report.line("process_id", std::process::id());
    report.line("process_supervised", "no");
    report.line("run_id", &call.startup().run_id);
    report.line("tcp_port", call.parameter("port").number());
    report.line("server_time_usec", call.now.unix_ms * 1000);
    let uptime = call.startup().at.elapsed().as_secs();
    report.line("uptime_in_seconds", uptime);
    report.line("uptime_in_days", uptime / DAY_SECONDS);
    let hz = call.parameter("hz").number();
    report.line("hz", hz);
    report.line("configured_hz", hz);
    report.line("lru_clock", call.now.unix_seconds() & 0xff_ffff);
    let executable = std::env::current_exe().unwrap_or_default();
    report.line("executable", executable.display());
    let file = call.config_file().map(|file| file.path().display().to_string()).unwrap_or_default();
    report.line("config_file", file);
    let zone = call.parameter("availability-zone");
    report
        .line("availability_zone", String::from_utf8_lossy(zone.text()).replace(['\r', '\n'], " "));
    report.line("io_threads_active", u8::from(call.parameter("io-threads").number() > 1));
    listeners(report);
}

/// Where clients connect, by the number that Redis has for each kind.
fn listeners<V: View>(report: &mut Full<'_, '_, V>) {
    let call = report.call;
    let bind = call.parameter("bind");
    let addresses = String::from_utf8_lossy(bind.text());
    let addresses: String =
        addresses.split(' ').map(|address| format!(",bind={address}")).collect();
    let network = |name: &str, port: &str| {
        let port = call.parameter(port).number();
        (port != 0).then(|| format!("name={name}{addresses},port={port}"))
    };
    let path = call.parameter("unixsocket");
    let path = String::from_utf8_lossy(path.text());
    let unix = (!path.is_empty()).then(|| format!("name=unix,bind={path}"));
    for (number, listener) in
        [network("tcp", "port"), unix, network("tls", "tls-port")].into_iter().enumerate()
    {
        if let Some(listener) = listener {
            report.line(&format!("listener{number}"), listener);
        }
    }
}

/// The certificates. The server shows none to other servers.
pub(super) fn tls<V: View>(report: &mut Full<'_, '_, V>) {
    let [server, authority] =
        report.call.platform().map(|platform| platform.certificates()).unwrap_or_default();
    let now = report.call.now.unix_seconds();
    for (name, certificate) in [("server", server), ("client", None), ("ca", authority)] {
        let serial = certificate.as_ref().map_or("none", |certificate| certificate.serial.as_str());
        report.line(&format!("tls_{name}_cert_serial"), serial);
        let left = certificate.as_ref().map_or(0, |certificate| certificate.ends_at);
        let left = left.saturating_sub(now);
        report.line(&format!("tls_{name}_cert_expires_in_seconds"), left);
    }
}

/// Name and release of the system, and the machine.
fn system() -> String {
    let read = |name: &str| {
        let text = fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap_or_default();
        text.trim().to_owned()
    };
    let machine = std::env::consts::ARCH;
    let system = format!("{} {} {machine}", read("ostype"), read("osrelease"));
    system.trim().to_owned()
}

pub(super) fn cpu<V: View>(report: &mut Full<'_, '_, V>) {
    let spent = process::cpu_time();
    let seconds = |nanos: u64| nanos as f64 / 1e9;
    report.line("used_cpu_sys", format!("{:.6}", seconds(spent.system_ns)));
    report.line("used_cpu_user", format!("{:.6}", seconds(spent.user_ns)));
    report.line("used_cpu_sys_children", "0.000000");
    report.line("used_cpu_user_children", "0.000000");
}

/// Nothing is saved, so nothing has gone wrong with it, and nothing is loaded.
pub(super) fn persistence<V: View>(report: &mut Full<'_, '_, V>) {
    report.zeros(&[
        "loading",
        "async_loading",
        "current_cow_peak",
        "current_cow_size",
        "current_cow_size_age",
        "current_save_keys_processed",
        "current_save_keys_total",
        "rdb_last_load_keys_expired",
        "rdb_last_load_keys_loaded",
        "rdb_changes_since_last_save",
        "rdb_bgsave_in_progress",
    ]);
    report.line("current_fork_perc", "0.00");
    report.line("rdb_last_save_time", report.call.startup().unix_seconds);
    report.line("rdb_last_bgsave_status", "ok");
    report.line("rdb_last_bgsave_time_sec", -1);
    report.line("rdb_current_bgsave_time_sec", -1);
    report.zeros(&["rdb_saves", "rdb_last_cow_size"]);
    report.zeros(&["aof_rewrites", "aof_rewrites_consecutive_failures"]);
    report.zeros(&["aof_enabled", "aof_rewrite_in_progress", "aof_rewrite_scheduled"]);
    report.line("aof_last_rewrite_time_sec", -1);
    report.line("aof_current_rewrite_time_sec", -1);
    report.line("aof_last_bgrewrite_status", "ok");
    report.line("aof_last_write_status", "ok");
    report.zeros(&["aof_last_cow_size", "module_fork_in_progress", "module_fork_last_cow_size"]);
    report.line("slot_migration_fork_in_progress", 0);
}

pub(super) fn replication<V: View>(report: &mut Full<'_, '_, V>) {
    report.line("role", "master");
    report.zeros(&["connected_slaves", "replicas_waiting_psync"]);
    report.line("master_failover_state", "no-failover");
    report.line("master_replid", &report.call.startup().run_id);
    report.line("master_replid2", "0".repeat(40));
    report.line("master_repl_offset", 0);
    report.line("second_repl_offset", -1);
    report.zeros(&["repl_backlog_active", "repl_backlog_size"]);
    report.zeros(&["repl_backlog_first_byte_offset", "repl_backlog_histlen"]);
}
