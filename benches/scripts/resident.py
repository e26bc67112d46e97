#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Resident memory of a cache whose values change their sizes.

    cargo build --release --bin rds
    python3 benches/scripts/resident.py target/release/rds redis-server --maxmemory 256

Starts each server with --maxmemory and a policy, writes values of one size until as much as --times the memory was
written, then of the next, and so on. Prints for each size the highest resident memory (RssAnon) while it was written
as a multiple of maxmemory, how many keys are left, and the CPU time of the server for each write. Fails if resident
memory of the first server was above --ratio-max times maxmemory plus 16 MB. Needs python3 and /proc.
"""
import argparse, os, re, socket, subprocess, sys, tempfile, time

PIPELINE = 256 << 10  # bytes of requests between two looks at the process


class Server:
    def __init__(self, binary, maxmemory, policy, folder):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        flags = ["--admin-port", "0"] if os.path.basename(binary).startswith("rds") else ["--save", "", "--dir", folder]
        limits = ["--maxmemory", f"{maxmemory}mb", "--maxmemory-policy", policy]
        command = [binary, "--port", str(port), *limits, *flags]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(500):
            try:
                self.socket = socket.create_connection(("127.0.0.1", port), 60)
                break
            except ConnectionRefusedError:
                time.sleep(0.02)
        else:
            sys.exit(f"resident.py: {binary} did not start")
        self.input = self.socket.makefile("rb")

    def resident(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"RssAnon:\s+(\d+) kB", file.read()).group(1)) << 10

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def write(self, size, count):
        """Writes so many values, and returns the highest resident memory."""
        value, highest, number = b"v" * size, 0, 0
        while number < count:
            batch = range(number, min(count, number + max(1, PIPELINE // (size + 60))))
            keys = [b"key:%05d:%08d" % (size, n) for n in batch]
            request = b"".join(b"*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n" % (len(k), k, size, value) for k in keys)
            self.socket.sendall(request)
            for _ in batch:
                if (line := self.input.readline()) != b"+OK\r\n":
                    sys.exit(f"resident.py: {line!r}")
            number += len(batch)
            highest = max(highest, self.resident())
        return highest

    def keys(self):
        self.socket.sendall(b"DBSIZE\r\n")
        return int(self.input.readline()[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("servers", nargs="+")
    parser.add_argument("--maxmemory", type=int, default=256, help="in megabytes")
    parser.add_argument("--policy", default="allkeys-lru")
    parser.add_argument("--sizes", default="100,1000,300,2000,100")
    parser.add_argument("--times", type=float, default=1.5)
    parser.add_argument("--ratio-max", type=float, default=0)
    args = parser.parse_args()
    is_good = True
    print(f"{'server':16} {'size':>6} {'resident':>9} {'keys':>9} {'us a write':>10}")
    for nth, binary in enumerate(args.servers):
        with tempfile.TemporaryDirectory() as folder:
            server = Server(binary, args.maxmemory, args.policy, folder)
            try:
                for size in map(int, args.sizes.split(",")):
                    count = int(args.times * (args.maxmemory << 20) / size)
                    before = server.cpu_seconds()
                    highest = server.write(size, count)
                    cpu = (server.cpu_seconds() - before) / count * 1e6
                    ratio = highest / (args.maxmemory << 20)
                    name = os.path.basename(binary)
                    print(f"{name:16} {size:6} {ratio:9.3f} {server.keys():9} {cpu:10.2f}", flush=True)
                    most = args.ratio_max * (args.maxmemory << 20) + (16 << 20)
                    is_good &= nth > 0 or not args.ratio_max or highest <= most
            finally:
                server.process.kill()
                server.process.wait()
    if not is_good:
        sys.exit("resident.py: FAILED: more is resident than --ratio-max allows")


main()
