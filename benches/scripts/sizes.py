#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a request for a large value costs, beside other servers: CPU time of the server, by the size of the value.

    cargo build --release --bins
    python3 benches/scripts/sizes.py --binaries target/release --memcached memcached --valkey valkey-server
    python3 benches/scripts/sizes.py --sizes 64k --loads set --depths 1 --rounds 9 --engine io_uring

SET and GET of each size, one and eight at a time, over 20 connections, each server with one worker on the first core and
`cacheperf compare` on the second; the servers take turns within each round. Shown for each load: CPU time per request
of each server in microseconds, median of the rounds; and for each of ours its time divided by that of the better of
the others within a round, as median (least to most). Each size has 64 MiB of values, more than a core's caches, in a
cache of 256 MiB: so the memory is all in use soon, as it is in a cache that has run for a while.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile
import listening

VALUES_BYTES = 64 << 20
OURS = ["segcache", "rds"]


def size(text):
    number, unit = (text[:-1], text[-1]) if text[-1] in "km" else (text, "")
    return int(number) << {"": 0, "k": 10, "m": 20}[unit]


def servers(args):
    """Those of ours, then the others, each as `cacheperf` wants it."""
    ports = iter(listening.free(8))

    def spec(name, protocol, words):
        port = next(ports)
        return f"{name}={protocol},127.0.0.1:{port},{words.format(port=port, admin=next(ports))}"

    ours = os.path.join(args.binaries, "{name}") + f" --engine {args.engine} " + "--admin-port {admin} "
    large = "-p {port} -t 1 -m 256 -I 2m"
    user = "" if os.getuid() else "-u nobody "
    every = {
        "segcache": ("memcache", ours.replace("{name}", "segcache") + large),
        "rds": ("resp2", ours.replace("{name}", "rds") + "--port {port}"),
        "memcached": ("memcache", f"{args.memcached} {user}-l 127.0.0.1 -U 0 {large}"),
        "valkey": ("resp2", args.valkey + ' --port {port} --save "" --appendonly no'),
    }
    return [spec(name, *every[name]) for name in every if name not in args.without]


def loads(args):
    for bytes in map(size, args.sizes):
        for operation in args.loads:
            for depth in args.depths:
                flags = f"-k {VALUES_BYTES // bytes} -s {bytes} -m {operation}=1 -d {depth}"
                yield f"{operation.upper()} {bytes >> 10} KiB, {depth} at a time", flags


def compare(args, name, flags):
    """CPU time per request in microseconds: of each server, in each round."""
    with tempfile.NamedTemporaryFile() as file:
        command = [os.path.join(args.binaries, "cacheperf"), "compare", "--preload", "-c", str(args.connections)]
        command += ["-D", args.duration, "-w", "200ms", "--rounds", str(args.rounds), "--json", file.name]
        command += ["--load", f"{name}={flags}"]
        for server in servers(args):
            command += ["--server", server]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"sizes.py: FAILED: {done.stdout}{done.stderr}")
        found = json.load(file)
    contenders = found["loads"][0]["contenders"] if "loads" in found else found["contenders"]
    return {one["name"]: [sample["server_cpu_ns"] / 1000 for sample in one["samples"]] for one in contenders}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", default="target/release")
    parser.add_argument("--memcached", default="memcached")
    parser.add_argument("--valkey", default="valkey-server")
    parser.add_argument("--engine", default="epoll", choices=["epoll", "io_uring", "auto"])
    parser.add_argument("--sizes", nargs="*", default=["16k", "64k", "256k", "1m"])
    parser.add_argument("--loads", nargs="*", default=["set", "get"], choices=["set", "get"])
    parser.add_argument("--depths", nargs="*", type=int, default=[1, 8])
    parser.add_argument("--without", nargs="*", default=[], help="servers to leave out")
    parser.add_argument("--connections", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--duration", default="400ms")
    args = parser.parse_args()
    for name, flags in loads(args):
        times = compare(args, name, flags)
        cells = [f"{server} {statistics.median(values):.1f}" for server, values in times.items()]
        others = [values for server, values in times.items() if server not in OURS]
        best = [min(values) for values in zip(*others)]
        for server in times:
            if server in OURS and best:
                ratios = sorted(mine / theirs for mine, theirs in zip(times[server], best))
                cells.append(f"{server} {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")
        print(f"{name}: " + "; ".join(cells), flush=True)


if __name__ == "__main__":
    main()
