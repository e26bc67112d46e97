#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the dashboards and rules beside it: SERVER.json for Grafana and SERVER.rules.yml for Prometheus.

    generate.py            writes them
    generate.py --check    fails if one of them is not what would be written

What they ask for is in the tables below: a panel or a rule is a row. check.py asks running servers for it.
"""

import argparse
import json
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
SERVERS = ["pingserver", "segcache", "rds"]

# A panel: title, unit of Grafana, then expressions with their legends. $i stands for the selection of servers.
I = 'job=~"$job",instance=~"$instance"'
RATE = "[$__rate_interval]"


def rate(name, labels=""):
    return f"rate({name}{{{I}{',' if labels else ''}{labels}}}{RATE})"


def quantile(q, name, by=""):
    return f"histogram_quantile({q}, sum by (le{by}) ({rate(name + '_bucket')}))"


def level(name, labels=""):
    return f"{name}{{{I}{',' if labels else ''}{labels}}}"


def hit_ratio(name):
    hits, all_ = rate(name, 'result="hit"'), rate(name)
    return f"sum({hits}) / sum({all_})"


OVERVIEW = ("Overview", [
    ("Requests", "reqps", [(f"sum by (instance) ({rate('shoebill_requests_total')})", "{{instance}}")]),
    ("Time of a request", "s", [
        (quantile("0.5", "shoebill_request_duration_seconds"), "p50"),
        (quantile("0.99", "shoebill_request_duration_seconds"), "p99"),
        (quantile("0.999", "shoebill_request_duration_seconds"), "p99.9"),
        (f"max({level('shoebill_request_duration_max_seconds')})", "longest since the start"),
    ]),
    ("CPU", "percentunit", [
        (rate("process_cpu_user_seconds_total"), "{{instance}} user"),
        (rate("process_cpu_system_seconds_total"), "{{instance}} kernel"),
    ]),
    ("Memory in RAM", "bytes", [(level("process_resident_memory_bytes"), "{{instance}}")]),
])

CONNECTIONS = ("Connections", [
    ("Connections", "short", [
        (level("shoebill_connections"), "{{instance}}"),
        (level("shoebill_max_connections"), "{{instance}} at most"),
    ]),
    ("Accepted, rejected, broken", "cps", [
        (f"sum({rate('shoebill_connections_accepted_total')})", "accepted"),
        (f"sum({rate('shoebill_connections_rejected_total')})", "rejected"),
        (f"sum by (reason) ({rate('shoebill_connections_broken_total')})", "{{reason}}"),
    ]),
    ("Traffic", "Bps", [
        (f"sum({rate('shoebill_received_bytes_total')})", "received"),
        (f"sum({rate('shoebill_sent_bytes_total')})", "sent"),
    ]),
    ("Buffers of connections", "bytes", [(level("shoebill_connection_buffer_bytes"), "{{instance}}")]),
    ("Files", "short", [
        (level("process_open_fds"), "{{instance}} open"),
        (level("process_max_fds"), "{{instance}} at most"),
    ]),
    ("Lines of the log", "cps", [(f"sum by (result) ({rate('shoebill_log_lines_total')})", "{{result}}")]),
])

ITEMS = [
    ("Items", "short", [(level("shoebill_items"), "{{instance}}")]),
    ("Evictions", "cps", [(f"sum by (reason) ({rate('shoebill_evictions_total')})", "{{reason}}")]),
    ("Items that left otherwise", "cps", [
        (f"sum by (reason) ({rate('shoebill_items_removed_total')})", "{{reason}}"),
    ]),
]

DASHBOARDS = {
    "pingserver": [
        OVERVIEW,
        ("Pings", [("Pings", "reqps", [
            (f"sum({rate('shoebill_ping_requests_total')})", "pings"),
            (f"sum({rate('shoebill_ping_malformed_total')})", "other lines"),
        ])]),
        CONNECTIONS,
    ],
    "segcache": [
        OVERVIEW,
        ("Commands", [
            ("Hit ratio", "percentunit", [(hit_ratio("shoebill_memcache_lookups_total"), "hits")]),
            ("Hits and misses", "cps", [
                (f"sum by (command, result) ({rate('shoebill_memcache_lookups_total')})", "{{command}} {{result}}"),
            ]),
            ("Commands", "reqps", [
                (f"sum by (command) ({rate('shoebill_memcache_commands_total')}) > 0", "{{command}}"),
            ]),
            ("Results of writes", "cps", [
                (f"sum by (command, result) ({rate('shoebill_memcache_writes_total')}) > 0", "{{command}} {{result}}"),
            ]),
            ("Time to execute, p99", "s", [
                (quantile("0.99", "shoebill_memcache_command_duration_seconds", ", command"), "{{command}}"),
            ]),
            ("Refused", "cps", [
                (f"sum by (reason) ({rate('shoebill_memcache_writes_refused_total')})", "{{reason}}"),
                (f"sum({rate('shoebill_memcache_malformed_total')})", "malformed"),
            ]),
            ("Large values short of memory", "cps", [
                (f"sum by (event) ({rate('shoebill_memcache_large_values_total')})", "{{event}}"),
            ]),
        ]),
        ("Store", [
            *ITEMS,
            ("Memory", "bytes", [
                (level("shoebill_memory_limit_bytes"), "{{instance}} limit"),
                (level("shoebill_memory_segment_bytes"), "{{instance}} segments"),
                (level("shoebill_index_bytes"), "{{instance}} index"),
                (level("shoebill_memory_reserved_bytes"), "{{instance}} buffers"),
            ]),
            ("Bytes of segments", "bytes", [(f"sum by (state) ({level('shoebill_segment_bytes')})", "{{state}}")]),
            ("Age of evicted items", "s", [(level("shoebill_evicted_item_age_recent_seconds"), "{{instance}}")]),
            ("Live bytes by time to live", "bytes", [
                (f"sum by (ttl_class) ({level('shoebill_ttl_class_item_bytes')})", "{{ttl_class}} s"),
            ]),
            ("Bytes copied for each written", "percentunit", [
                (f"sum({rate('shoebill_item_copied_bytes_total')}) / sum({rate('shoebill_item_written_bytes_total')})",
                 "copied"),
            ]),
        ]),
        CONNECTIONS,
    ],
    "rds": [
        OVERVIEW,
        ("Commands", [
            ("Hit ratio", "percentunit", [(hit_ratio("shoebill_resp_lookups_total"), "hits")]),
            ("Hits and misses", "cps", [
                (f"sum by (command, result) ({rate('shoebill_resp_lookups_total')})", "{{command}} {{result}}"),
            ]),
            ("Commands", "reqps", [
                (f"sum by (command) ({rate('shoebill_resp_commands_total')}) > 0", "{{command}}"),
            ]),
            ("Time to execute, p99", "s", [
                (quantile("0.99", "shoebill_resp_command_duration_seconds", ", command"), "{{command}}"),
            ]),
            ("Errors", "cps", [
                (f"sum({rate('shoebill_resp_error_replies_total')})", "error replies"),
                (f"sum by (command) ({rate('shoebill_resp_commands_failed_total')})", "{{command}}"),
            ]),
            ("Blocked clients", "short", [(level("shoebill_clients_blocked"), "{{instance}}")]),
        ]),
        ("Keys", [
            ("Keys", "short", [(level("shoebill_keys"), "{{instance}} db {{db}}")]),
            ("Keys with an expiry", "short", [(level("shoebill_keys_volatile"), "{{instance}} db {{db}}")]),
            *ITEMS[1:],
            ("Memory", "bytes", [
                (level("shoebill_keyspace_used_bytes"), "{{instance}} used"),
                (f"{level('shoebill_keyspace_limit_bytes')} > 0", "{{instance}} maxmemory"),
            ]),
            ("What takes it", "bytes", [(f"sum by (kind) ({level('shoebill_keyspace_bytes')})", "{{kind}}")]),
        ]),
        CONNECTIONS,
    ],
}


def recorded(server):
    """Recording rules: name and expression."""
    job = f'job="{server}"'
    of = {"segcache": "memcache", "rds": "resp"}.get(server)
    rules = [
        ("instance:shoebill_requests:rate5m", f"rate(shoebill_requests_total{{{job}}}[5m])"),
        ("instance:shoebill_request_cpu_seconds:ratio_rate5m",
         f"rate(process_cpu_seconds_total{{{job}}}[5m]) / rate(shoebill_requests_total{{{job}}}[5m])"),
        ("instance:shoebill_request_duration_seconds:p99_rate5m",
         "histogram_quantile(0.99, sum by (job, instance, le) "
         f"(rate(shoebill_request_duration_seconds_bucket{{{job}}}[5m])))"),
    ]
    if of:
        lookups = f"shoebill_{of}_lookups_total"
        rules += [
            (f"instance:{lookups.removesuffix('_total')}:hit_ratio_rate5m",
             f"sum by (job, instance) (rate({lookups}{{{job},result=\"hit\"}}[5m])) / "
             f"sum by (job, instance) (rate({lookups}{{{job}}}[5m]))"),
            ("instance:shoebill_evictions:rate5m",
             f"sum by (job, instance) (rate(shoebill_evictions_total{{{job}}}[5m]))"),
        ]
    return rules


def alerts(server):
    """Alerts: name, expression, for how long, severity, and what it means."""
    job = f'job="{server}"'
    rules = [
        ("Down", f"up{{{job}}} == 0", "1m", "critical", "cannot be scraped."),
        ("Restarted", f"time() - process_start_time_seconds{{{job}}} < 300", None, "info",
         "has started within the last five minutes; its items are gone."),
        ("ConnectionsRejected", f"rate(shoebill_connections_rejected_total{{{job}}}[5m]) > 0", "5m", "warning",
         "refuses connections: there are max_connections."),
        ("ConnectionsNearLimit", f"shoebill_connections{{{job}}} / shoebill_max_connections{{{job}}} > 0.9", "5m",
         "warning", "has nine of ten connections that it may have."),
        ("AcceptingPaused", f"increase(shoebill_accept_pauses_total{{{job}}}[5m]) > 0", None, "critical",
         "has no descriptors left for connections."),
        ("DescriptorsRunOut", f"process_open_fds{{{job}}} / process_max_fds{{{job}}} > 0.9", "5m", "warning",
         "has nine of ten files open that it may have."),
        ("LogLinesLost", f'increase(shoebill_log_lines_total{{{job},result=~"dropped|failed"}}[15m]) > 0', None,
         "warning", "loses lines of its log: the disk is slow, or full."),
        # Choose your own bound.
        ("SlowRequests", f"instance:shoebill_request_duration_seconds:p99_rate5m{{{job}}} > 0.005", "10m", "warning",
         "takes more than 5 ms for one request in a hundred."),
    ]
    if server == "segcache":
        rules += [
            ("WritesRefusedForMemory",
             f'rate(shoebill_memcache_writes_refused_total{{{job},reason="no_memory"}}[5m]) > 0', "5m", "warning",
             "has no memory for what clients write."),
            ("ItemsCorrupt", f"increase(shoebill_items_corrupt_total{{{job}}}[1h]) > 0", None, "critical",
             "finds items whose bytes have changed: test the machine's memory."),
            ("DatagramsLimited", f'rate(shoebill_datagrams_failed_total{{{job},reason="limited"}}[5m]) > 0', "5m",
             "warning", "drops datagrams of a source that sends too many, or that somebody wants to be flooded."),
        ]
    if server == "rds":
        rules += [
            ("ClientsEvicted", f"increase(shoebill_clients_evicted_total{{{job}}}[15m]) > 0", None, "warning",
             "closes clients to free memory (maxmemory-clients)."),
            ("MemoryUsedUp",
             f"shoebill_keyspace_used_bytes{{{job}}} > 1.05 * shoebill_keyspace_limit_bytes{{{job}}} and "
             f"shoebill_keyspace_limit_bytes{{{job}}} > 0", "10m", "warning",
             "uses more than maxmemory: clients take it, or nothing can be evicted."),
        ]
    return rules


def rules_text(server):
    lines = [
        "# SPDX-License-Identifier: Apache-2.0",
        f"# Recording rules and alerts for {server}, scraped as the job \"{server}\". Written by generate.py.",
        "groups:",
        f"  - name: {server}-recorded",
        "    rules:",
    ]
    for name, expression in recorded(server):
        lines += [f"      - record: {name}", f"        expr: {json.dumps(expression)}"]
    lines += [f"  - name: {server}-alerts", "    rules:"]
    for name, expression, hold, severity, meaning in alerts(server):
        title = server.capitalize() + name
        lines += [f"      - alert: {title}", f"        expr: {json.dumps(expression)}"]
        lines += [f"        for: {hold}"] if hold else []
        lines += [
            f"        labels: {{severity: {severity}}}",
            f"        annotations: {{summary: {json.dumps('{{ $labels.instance }} ' + meaning)}}}",
        ]
    return "\n".join(lines) + "\n"


def target(number, expression, legend):
    return {
        "refId": chr(ord("A") + number), "expr": expression, "legendFormat": legend,
        "datasource": {"type": "prometheus", "uid": "$datasource"},
    }


def dashboard_text(server):
    panels, y = [], 0
    for title, row in DASHBOARDS[server]:
        panels.append({"type": "row", "title": title, "collapsed": False,
                       "gridPos": {"x": 0, "y": y, "w": 24, "h": 1}, "panels": []})
        y += 1
        for number, (name, unit, queries) in enumerate(row):
            panels.append({
                "type": "timeseries", "title": name,
                "datasource": {"type": "prometheus", "uid": "$datasource"},
                "gridPos": {"x": number % 3 * 8, "y": y + number // 3 * 8, "w": 8, "h": 8},
                "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
                "options": {"legend": {"displayMode": "list", "placement": "bottom"}},
                "targets": [target(at, *query) for at, query in enumerate(queries)],
            })
        y += -(-len(row) // 3) * 8
    for number, panel in enumerate(panels):
        panel["id"] = number + 1
    source = {"type": "prometheus", "uid": "$datasource"}

    def variable(name, query):
        return {"name": name, "type": "query", "datasource": source, "query": query, "refresh": 2,
                "includeAll": True, "multi": True, "current": {"text": "All", "value": "$__all"}}

    board = {
        "title": f"Shoebill: {server}", "uid": f"shoebill-{server}", "tags": ["shoebill", server],
        "schemaVersion": 39, "version": 1, "editable": True, "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"}, "timezone": "browser",
        "templating": {"list": [
            {"name": "datasource", "type": "datasource", "query": "prometheus"},
            variable("job", f'label_values(shoebill_build_info{{server="{server}"}}, job)'),
            variable("instance", f'label_values(shoebill_build_info{{server="{server}",job=~"$job"}}, instance)'),
        ]},
        "panels": panels,
    }
    return json.dumps(board, indent=1) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    options = parser.parse_args()
    stale = []
    for server in SERVERS:
        for name, text in [(f"{server}.json", dashboard_text(server)), (f"{server}.rules.yml", rules_text(server))]:
            path = os.path.join(FOLDER, name)
            if not options.check:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            elif not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
                stale.append(name)
    if stale:
        sys.exit(f"{', '.join(stale)}: not what generate.py writes; run it")


if __name__ == "__main__":
    main()
