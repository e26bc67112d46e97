// SPDX-License-Identifier: Apache-2.0
//! The process: its log, its files, its end.

use super::super::kind::Kind::{Choice, Integer, Special, Text, Words, YesNo};
use super::super::kind::Value;
use super::super::parameter::{Parameter, ignored, kept, live, start};
use super::super::special;
use super::{INT_MAX, LONG_MAX};

const LOG_FORM: &str = "the log has one form";

pub(super) static ROWS: &[Parameter] = &[
    start("loglevel", Choice(&["debug", "verbose", "notice", "warning", "nothing"]), "notice")
        .meaning("How much is logged.")
        .at("[debug] log_level"),
    start("logfile", Text, "")
        .immutable()
        .meaning(
            "The file to log to; if empty standard output, with a file of ours standard error.",
        )
        .at("[debug] log_file"),
    start("daemonize", YesNo, "no")
        .immutable()
        .meaning("Whether the server goes to the background."),
    start("supervised", Choice(&["upstart", "systemd", "auto", "no"]), "no").immutable().meaning(
        "The service manager that started the server, which then stays in the foreground.",
    ),
    start("pidfile", Text, "").immutable().meaning("The file to write the process's number to."),
    ignored("syslog-enabled", YesNo, "no", "the log goes to standard error or to logfile")
        .immutable(),
    kept("syslog-ident", Text, "redis").immutable(),
    kept("syslog-facility", Text, "local0").immutable(),
    kept("dir", Text, ".").protected(),
    kept("availability-zone", Text, "").meaning("Where the server runs, for INFO."),
    ignored("log-format", Choice(&["legacy", "logfmt", "json"]), "legacy", LOG_FORM),
    ignored(
        "log-timestamp-format",
        Choice(&["legacy", "iso8601", "milliseconds"]),
        "legacy",
        LOG_FORM,
    ),
    ignored("hash-seed", Text, "", "each start has a random one").immutable(),
    ignored("locale-collate", Text, "", "SORT compares bytes"),
    kept("extended-redis-compatibility", YesNo, "no"),
    kept("enable-debug-assert", YesNo, "no").immutable().hidden(),
    kept("debug-context", Text, "").hidden(),
    kept("always-show-logo", YesNo, "no").immutable(),
    kept("set-proc-title", YesNo, "no").immutable(),
    kept("proc-title-template", Special(special::title), "{title} {listen-addr} {server-mode}"),
    kept("crash-log-enabled", YesNo, "no"),
    kept("crash-memcheck-enabled", YesNo, "no"),
    start("disable-thp", YesNo, "yes")
        .immutable()
        .meaning("Whether the system is kept from making huge pages of small ones where data is."),
    start("huge-pages", YesNo, "yes").immutable().meaning(
        "Whether memory of data is taken in huge pages where the system has them, before it is needed, by a thread of its own.",
    ),
    kept("oom-score-adj", Choice(&["no", "yes", "relative", "absolute"]), "no"),
    kept("oom-score-adj-values", Words(special::oom_scores), "0 200 800"),
    kept("hz", Special(special::hz), "10"),
    kept("dynamic-hz", YesNo, "yes"),
    kept("shutdown-timeout", Integer(0, INT_MAX), "10"),
    kept("shutdown-on-sigint", Words(special::shutdown), "default"),
    kept("shutdown-on-sigterm", Words(special::shutdown), "default"),
    kept("server_cpulist", Text, "").immutable().or("server-cpulist"),
    kept("bio_cpulist", Text, "").immutable().or("bio-cpulist"),
    kept("aof_rewrite_cpulist", Text, "").immutable().or("aof-rewrite-cpulist"),
    kept("bgsave_cpulist", Text, "").immutable().or("bgsave-cpulist"),
    kept("ignore-warnings", Text, ""),
    live(
        "busy-reply-threshold",
        Integer(0, LONG_MAX),
        "5000",
        |host| Value::Number(host.scripts().threshold_ms() as i64),
        |host, value| host.scripts().set_threshold_ms(value.count()),
    )
    .meaning(
        "Milliseconds from which on a script takes too long: one that has written nothing is ended, and others are \
         told that it is busy. 0: never.",
    )
    .or("lua-time-limit"),
    kept("propagation-error-behavior", Choice(&["ignore", "panic", "panic-on-replicas"]), "ignore"),
    kept("use-exit-on-panic", YesNo, "no").hidden(),
    kept("watchdog-period", Integer(0, INT_MAX), "0").hidden(),
    kept("hide-user-data-from-log", YesNo, "no"),
    kept("enable-protected-configs", Choice(&["no", "yes", "local"]), "no").immutable(),
];
