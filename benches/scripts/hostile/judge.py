# SPDX-License-Identifier: Apache-2.0
"""Runs a scenario beside a well-behaved client, and says what harm it did."""
import multiprocessing, os, socket, sys, time
from harness import exchange, pin

MEMORY_LEAK_MB = 8  # growth that may be left behind (allocator slack)


def probe(protocol, sock, seconds):
    """A good client: writes and reads one key, checks every byte, returns its latencies."""
    latencies, end = [], time.monotonic() + seconds
    count = 0
    while time.monotonic() < end:
        value = b"%020d" % count
        for request, expected in protocol.set(b"probe", value), protocol.get(b"probe", value):
            start = time.perf_counter()
            reply = exchange(sock, request, expected[-5:])
            latencies.append(time.perf_counter() - start)
            if reply != expected:
                sys.exit(f"FAIL: the probe got {reply!r} instead of {expected!r}")
        count += 1
        time.sleep(0.0005)
    return sorted(latencies)


def percentile(latencies, p):
    return latencies[min(len(latencies) - 1, int(len(latencies) * p))] * 1e6


def run_hostile(scenario, server, ready, done):
    pin(-1)
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    scenario(server, ready, done)


def settle(read, target, seconds=60):
    """Waits until read() is at most target; returns the last value."""
    end = time.monotonic() + seconds
    while (value := read()) > target and time.monotonic() < end:
        time.sleep(0.1)
    return value


def run(scenario, server, quiet_seconds, seconds, memory_bound_mb):
    """Runs a scenario while the probe is timed for so many seconds, and for some before in quiet; returns by how
    much its p99 rose, and what went wrong. Resident memory may grow by the bound while the scenario lasts.

    The probe has the same connection all the time: what becomes of those who come anew, scenarios say."""
    with server.connect() as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        quiet = probe(server.protocol, sock, quiet_seconds)
        descriptors = settle(server.descriptors, server.descriptors_idle + 1)
        memory = server.memory_mb()
        server.forget_peak()
        ready, done = multiprocessing.Event(), multiprocessing.Event()
        hostile = multiprocessing.Process(target=run_hostile, args=(scenario, server, ready, done))
        hostile.start()
        while not ready.wait(0.1):
            if not hostile.is_alive():
                sys.exit(f"FAIL: {scenario.__name__} could not begin")
        disturbed = probe(server.protocol, sock, seconds)
        descriptors_during = server.descriptors()
        done.set()
        hostile.join(600)
        memory_during = server.memory_peak_mb()
        problems = []
        if hostile.exitcode != 0:
            problems.append(f"the hostile client ended with code {hostile.exitcode}")
        descriptors_after = settle(server.descriptors, descriptors)
        memory_after = settle(server.memory_mb, memory + MEMORY_LEAK_MB)
    if descriptors_after > descriptors:
        problems.append(f"{descriptors_after - descriptors} descriptors leaked")
    if memory_during > memory + memory_bound_mb:
        problems.append(f"memory grew by {memory_during - memory:.0f} MB")
    if memory_after > memory + MEMORY_LEAK_MB:
        problems.append(f"{memory_after - memory:.0f} MB of memory did not come back")
    ratio = percentile(disturbed, 0.99) / percentile(quiet, 0.99)
    print(
        f"{scenario.__name__:22} p50 {percentile(quiet, .5):4.0f} -> {percentile(disturbed, .5):4.0f} us   "
        f"p99 {percentile(quiet, .99):4.0f} -> {percentile(disturbed, .99):4.0f} us ({ratio:.2f}x)   "
        f"memory {memory:.0f} / {memory_during:.0f} / {memory_after:.0f} MB   "
        f"fds {descriptors} / {descriptors_during} / {descriptors_after}",
        flush=True,
    )
    return ratio, problems
