#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a request costs more than it did: instructions, system calls, allocations. It times nothing.

    cargo build --release --locked --bins
    python3 benches/scripts/guard.py
    python3 benches/scripts/guard.py --only 'rds GET' --functions 10
    python3 benches/scripts/guard.py --update

Runs each server under valgrind's callgrind, with one worker on epoll, and plays a fixed script of requests
(guard_cases.py) in lock step: it sends a step or a pipeline of steps, reads all replies and compares each
byte. Counted is what the worker's thread does for a step:

* instructions outside of the kernel;
* system calls, but for reading the clock, which is one only under valgrind, and whose instructions do not
  count either;
* calls of the allocator that get memory or change its size.

The numbers are compared with those of benches/baseline.json. Fails if one rose by more than 3 %, or from
nothing, and if a case is missing there or here; says what fell by more than 3 %. A large value may come in
one part more (guard_verdict.py). What rose is measured anew before it is believed. --update measures twice and
writes the file.

Instructions depend on compilers, on libc, on valgrind and on what its CPU can do: where one of these is not
as the baseline has it, instructions are not compared, and it says so.

Then segcache runs with a setting that costs something, checksums, and the comparison must notice.
Needs python3, valgrind and a C compiler.
"""
import argparse, itertools, json, shutil, socket, statistics, sys
import callgrind, guard_cases, guard_verdict

SLICES = 3
# Keys fall into other places of a table in each process, and a table may grow at a bad moment: what rose is
# measured anew so many times.
REPEATS = 4
EXCHANGES = 32  # of a slice, at least
CONFIG = """[server]
listen = ["127.0.0.1:0"]
[worker]
engine = "epoll"
threads = 1
timeout = "10s"
[admin]
enabled = false
"""


class Client:
    """One connection, in lock step with the server."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 600)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def play(self, exchanges):
        for request, expected in exchanges:
            self.socket.sendall(request)
            reply = bytearray()
            while len(reply) < len(expected) and (piece := self.socket.recv(1 << 20)):
                reply += piece
            if guard_cases.without_versions(reply) != expected:
                sys.exit(f"guard.py: FAILED: to {request[:200]} the reply is {bytes(reply[:200])}")


def pipelines(case, lap, laps=1):
    """So many laps over all keys, in pieces of the case's depth: bytes to send, bytes to expect."""
    turns = itertools.product(range(lap, lap + laps), range(guard_cases.KEYS))
    steps = [case.step(number, lap) for lap, number in turns]
    for first in range(0, len(steps), case.depth):
        requests, replies = zip(*steps[first : first + case.depth])
        yield b"".join(requests), b"".join(replies)


def measure(server, client, case, functions):
    """What a step of the case costs.

    What is the same for one exchange as for many is in the difference of the two no longer. Now and then a
    request pays for what a worker does by its clock, whoever the client is: that slice is not the least.
    """
    client.play(pipelines(case, 1))
    laps = max(1, EXCHANGES * case.depth // guard_cases.KEYS)
    shorts, longs = [], []
    server.restart()
    for number in range(SLICES):
        first, *rest = pipelines(case, 2 + number * laps, laps)
        for exchanges, slices in ([first], shorts), (rest, longs):
            client.play(exchanges)
            slices.append(server.counts())
    exchanges = len(rest) - 1
    steps = exchanges * case.depth
    between = {count: difference(shorts, longs, count) for count in guard_verdict.DIGITS}
    # To be told to count the server may be woken up, so a few of these come or go: quarters per exchange.
    between["system calls"] = round(4 * between["system calls"] / exchanges) / 4 * exchanges
    found = {count: round(between[count] / steps, digits) for count, digits in guard_verdict.DIGITS.items()}
    print(row(case.name, [f"{found[count]:.{digits}f}" for count, digits in guard_verdict.DIGITS.items()]))
    short, long = (min(slices, key=lambda slice: slice.totals["instructions"]) for slices in (shorts, longs))
    for name, cost in (long.functions - short.functions).most_common(functions):
        print(f"    {cost / steps:10.1f} {name}")
    sys.stdout.flush()
    return found


def difference(shorts, longs, count):
    """How much more of it there is in long slices than in short ones."""
    choose = statistics.median if count == "system calls" else min
    short, long = (choose(slice.totals[count] for slice in slices) for slices in (shorts, longs))
    return max(0, long - short)


def run(script, binaries, names, functions=0):
    """What those of a server's cases cost that have one of the names."""
    cases = [case for case in script.cases if case.name in names]
    if not cases:
        return {}
    with callgrind.Server(f"{binaries}/{script.binary}", CONFIG + script.config) as server:
        client = Client(server.ports(script.listeners)[-1])
        for filling in script.filling:
            client.play(pipelines(filling, 1 - filling.laps, filling.laps))
        return {case.name: measure(server, client, case, functions) for case in cases}


def run_all(args, names):
    """What the cases with these names cost, each in a server that was started for it and its like."""
    cases = {}
    for script in guard_cases.SCRIPTS:
        cases |= run(script, args.binaries, names, args.functions)
    return cases


def row(name, cells):
    return f"  {name:42}" + "".join(f"{cell:>14}" for cell in cells)


def comparable(baseline, environment):
    """The counts that are the same for the same code, here and where the baseline was made."""
    counts = list(guard_verdict.DIGITS)
    if differences := guard_verdict.differences(baseline["environment"], environment):
        counts.remove("instructions")
        print("\nINSTRUCTIONS ARE NOT COMPARED. The baseline was made elsewhere, and what they depend on differs:")
        print("\n".join(f"  {line}" for line in differences))
        print("To compare on this machine, make a baseline of the code before: --update --baseline FILE\n")
    return counts


def judge(rose, fell, missing):
    """Prints what differs from the baseline; returns why that is a failure."""
    failures = []
    if rose:
        print(f"\nrose too far:\n{guard_verdict.table(rose)}")
        failures.append(f"{len(rose)} counts rose")
    if fell:
        print("\nfell so far that --update can lower the baseline:")
        print(guard_verdict.table(fell))
    if missing:
        print("\nonly in the baseline or only in the script, so that --update is due:")
        print("\n".join(f"  {name}" for name in missing))
        failures.append(f"{len(missing)} cases have nothing to be compared with")
    return failures


def control(binaries):
    """Whether the comparison notices a setting that costs something."""
    print("\ncontrol: the same without and with checksums of items")
    scripts = guard_cases.PLAIN, guard_cases.DEAR
    plain, dear = (run(script, binaries, [case.name for case in script.cases]) for script in scripts)
    rose, _, _ = guard_verdict.compare(plain, dear)
    return [] if rose else ["the comparison does not notice what checksums cost"]


def main():
    parser = argparse.ArgumentParser(description="cost of requests, compared with a baseline")
    parser.add_argument("--binaries", default="target/release", help="where the servers are [target/release]")
    parser.add_argument("--baseline", default="benches/baseline.json", help="[benches/baseline.json]")
    parser.add_argument("--update", action="store_true", help="write the baseline instead of comparing with it")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose name has this in it")
    parser.add_argument("--functions", type=int, default=0, metavar="N", help="show N functions of each case")
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("guard.py: needs valgrind")
    if args.update and args.only:
        sys.exit("guard.py: --update takes all cases")

    binaries = {f"{args.binaries}/{script.binary}" for script in guard_cases.SCRIPTS}
    environment = callgrind.environment(sorted(binaries))
    names = [case.name for script in guard_cases.SCRIPTS for case in script.cases if args.only in case.name]
    if not args.update:
        with open(args.baseline) as file:
            baseline = json.load(file)
        counts = comparable(baseline, environment)
    print(row("per step", guard_verdict.DIGITS))
    cases = run_all(args, names)
    if args.update:
        print("and again, of which the lesser counts:")
        cases = guard_verdict.lesser(cases, run_all(args, names))
        with open(args.baseline, "w") as file:
            file.write(guard_verdict.text(environment, cases))
        print(f"{args.baseline} is written")
        return

    known = {name: baseline["cases"][name] for name in baseline["cases"] if args.only in name}
    rose, fell, missing = guard_verdict.compare(known, cases, counts)
    for _ in range(REPEATS):
        if rose:
            print("and again what rose, of which the lesser counts:")
            cases = guard_verdict.lesser(cases, run_all(args, {name for name, *_ in rose}))
            rose, fell, missing = guard_verdict.compare(known, cases, counts)
    failures = judge(rose, fell, missing)
    if not args.only:
        failures += control(args.binaries)
    if failures:
        sys.exit("guard.py: FAILED: " + "; ".join(failures))
    print(f"{len(cases)} cases: ok")


if __name__ == "__main__":
    main()
