// SPDX-License-Identifier: Apache-2.0
//! The process: its log, its files, its end.

use super::super::kind::Kind::{Choice, Integer, Special, Text, YesNo};
use super::super::parameter::{Parameter, ignored, kept, start};
use super::super::special;
use super::{INT_MAX, LONG_MAX};

pub(super) static ROWS: &[Parameter] = &[
    start("loglevel", Choice(&["debug", "verbose", "notice", "warning", "nothing"]), "notice")
        .meaning("How much is logged.")
        .at("[debug] log_level"),
    start("logfile", Text, "")
        .meaning(
            "The file to log to; if empty standard output, with a file of ours standard error.",
        )
        .at("[debug] log_file"),
    start("daemonize", YesNo, "no").meaning("Whether the server goes to the background."),
    start("supervised", Choice(&["upstart", "systemd", "auto", "no"]), "no").meaning(
        "The service manager that started the server, which then stays in the foreground.",
    ),
    start("pidfile", Text, "").meaning("The file to write the process's number to."),
    ignored("syslog-enabled", YesNo, "no", "the log goes to standard error or to logfile"),
    kept("syslog-ident", Text, "redis"),
    kept("syslog-facility", Text, "local0"),
    kept("dir", Text, "."),
    kept("always-show-logo", YesNo, "no"),
    kept("set-proc-title", YesNo, "no"),
    kept("proc-title-template", Text, "{title} {listen-addr} {server-mode}"),
    kept("crash-log-enabled", YesNo, "no"),
    kept("crash-memcheck-enabled", YesNo, "no"),
    kept("disable-thp", YesNo, "no"),
    kept("oom-score-adj", Choice(&["no", "yes", "relative", "absolute"]), "no"),
    kept("oom-score-adj-values", Special(special::words), "0 200 800"),
    kept("hz", Integer(0, INT_MAX), "10"),
    kept("dynamic-hz", YesNo, "yes"),
    kept("shutdown-timeout", Integer(0, INT_MAX), "10"),
    kept("shutdown-on-sigint", Special(special::words), "default"),
    kept("shutdown-on-sigterm", Special(special::words), "default"),
    kept("server_cpulist", Text, ""),
    kept("bio_cpulist", Text, ""),
    kept("aof_rewrite_cpulist", Text, ""),
    kept("bgsave_cpulist", Text, ""),
    kept("ignore-warnings", Text, ""),
    kept("busy-reply-threshold", Integer(0, LONG_MAX), "5000").or("lua-time-limit"),
    kept("propagation-error-behavior", Text, "ignore"),
    kept("enable-protected-configs", Choice(&["no", "yes", "local"]), "no"),
];
