#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hostile and broken clients against a running cache server, while a well-behaved one is watched.

    cargo build --release --bin segcache --bin rds
    python3 benches/scripts/adversity.py --server target/release/segcache
    python3 benches/scripts/adversity.py --server target/release/rds --protocol resp --engine io_uring

Starts the server itself on free loopback ports, runs each scenario beside a probe that reads and writes one key,
and prints for each: the probe's p50 and p99 undisturbed, disturbed and their ratio, the server's resident memory
before, at its peak and after, and its open file descriptors before, during and after.

Fails if a reply to the probe or to a client that reads is ever wrong or missing, if memory grows past its bound, or
if descriptors or memory do not come back. With --p99 RATIO also if the disturbed p99 exceeds RATIO times the
undisturbed one; that is a measurement, so leave it out where the machine is shared. Where the machine has two cores,
the server gets the first; the probe shares the second with the hostile clients, which run at idle priority.

--seconds sets how long the random bytes last, --probe how long the probe is timed in quiet, and half of how long
the other scenarios last. Needs python3 and the openssl command. The scenarios are in the folder hostile.
"""
import argparse, dataclasses, sys, tempfile, typing
import harness
from hostile import connections, hoards, judge, operators, readers
from hostile.protocols import PROTOCOLS


@dataclasses.dataclass
class Scenario:
    play: typing.Callable
    # Growth of resident memory that it may cause while it lasts.
    memory_bound_mb: int = 64
    only: str = ""  # the protocol it is for, if it is for one
    server: dict = dataclasses.field(default_factory=dict)  # what a server of its own is started with

    @property
    def name(self):
        return self.play.__name__


# The most resident memory of a server that may use 256 MB for keys and clients, while all clients misbehave at once.
# It is above 256 MB because rds allows clients 5 % more where it evicts no keys, and because an allocator holds freed
# pages for a while.
ALL_MB = 340

SCENARIOS = [
    Scenario(connections.half_request),
    Scenario(readers.never_reads, ALL_MB),
    Scenario(readers.slow_readers, ALL_MB),
    Scenario(readers.pipeline_unread_unix),
    Scenario(readers.pipeline_unread_tcp, ALL_MB),
    Scenario(connections.idle_connections),
    Scenario(connections.broken_handshake),
    Scenario(connections.request_with_finished),
    Scenario(connections.open_and_reset),
    Scenario(connections.gigabyte_claim),
    Scenario(hoards.multi_queues, ALL_MB, only="resp"),
    Scenario(hoards.watched_keys, ALL_MB, only="resp"),
    Scenario(hoards.subscribed_channels, ALL_MB, only="resp"),
    Scenario(hoards.long_names, ALL_MB, only="resp"),
    Scenario(operators.certificate_without_end),
    Scenario(operators.few_descriptors, server={"descriptors": operators.few_descriptors.descriptors}),
    Scenario(connections.random_bytes),
]


def start(args, **settings):
    """A server in a folder of its own, and the folder."""
    folder = tempfile.TemporaryDirectory()
    protocol = PROTOCOLS[args.protocol]
    arguments = ["--engine", args.engine]
    server = harness.Server(args.server, protocol, folder.name, arguments=arguments, config=protocol.config, **settings)
    return server, folder


def play(args, scenario, server):
    """Runs a scenario; returns what went wrong, in words."""
    seconds = args.seconds if scenario.play is connections.random_bytes else 2 * args.probe
    ratio, problems = judge.run(scenario.play, server, args.probe, seconds, scenario.memory_bound_mb)
    if args.p99 and ratio > args.p99:
        problems.append(f"p99 is {ratio:.2f} times the undisturbed one")
    return [f"{scenario.name}: {problem}" for problem in problems]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="the binary of segcache or rds")
    parser.add_argument("--protocol", choices=PROTOCOLS, default="memcache", help="what it speaks (default memcache)")
    parser.add_argument("--engine", default="epoll", help="epoll or io_uring (default epoll)")
    parser.add_argument("--seconds", type=float, default=60, help="how long random bytes last (default 60)")
    parser.add_argument("--probe", type=float, default=3, help="how long the probe is timed in quiet (default 3)")
    parser.add_argument("--p99", type=float, help="fail if the p99 ratio exceeds this")
    parser.add_argument("--only", help="run one scenario by its name")
    args = parser.parse_args()
    harness.allow_descriptors(8192)
    harness.pin(-1)
    scenarios = [one for one in SCENARIOS if one.only in ("", args.protocol)]
    if args.only:
        scenarios = [one for one in scenarios if one.name == args.only]
        if not scenarios:
            sys.exit(f"--only {args.only}: no scenario of {args.protocol} has this name")
    failures = []
    shared, folder = start(args)
    try:
        for scenario in scenarios:
            if scenario.server:
                server, own = start(args, **scenario.server)
                with own, server:
                    failures += play(args, scenario, server)
            else:
                failures += play(args, scenario, shared)
        failures += operators.stops_while_reading(shared)
    finally:
        # Nothing of it is left behind, also when a scenario has failed.
        if shared.process.poll() is None:
            shared.process.kill()
        folder.cleanup()
    for failure in failures:
        print("FAIL:", failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
