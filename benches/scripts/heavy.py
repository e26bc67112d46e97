#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much CPU commands take that work on many elements, in rds and in its peers.

    cargo build --release --bin rds
    python3 benches/scripts/heavy.py --server target/release/rds --beside valkey-server
    python3 benches/scripts/heavy.py --server target/release/rds --beside ../before/rds --only ZUNION --rounds 9

All servers hold the same collections, of --elements elements where a command works on large ones. In each round each
command is sent to each server in turn, as often as takes some milliseconds; the figure is the CPU time of the server per
command in microseconds: the median of the rounds, and the least and the greatest ratio within a round. Needs python3 and
/proc.
"""
import argparse, glob, random, statistics, sys, tempfile

from kinds import Server

# The command, and how often it is sent in a round. `@key` stands for what DUMP gives of the key.
COMMANDS = [
    ("COPY zset1 copied REPLACE", 3),
    ("COPY hash1 copied REPLACE", 3),
    ("COPY set1 copied REPLACE", 3),
    ("ZUNIONSTORE to 2 zset1 zset2", 2),
    ("ZUNIONSTORE to 2 set1 set2", 2),
    ("ZINTERSTORE to 2 zset1 zset2", 2),
    ("ZDIFFSTORE to 2 zset1 zset2", 2),
    ("SUNIONSTORE to set1 set2", 3),
    ("SINTERSTORE to set1 set2", 3),
    ("SDIFFSTORE to set1 set2", 3),
    ("SINTERCARD 2 set1 set2", 5),
    ("SMEMBERS set1", 3),
    ("HGETALL hash1", 3),
    ("ZRANGE zset1 0 -1", 3),
    ("ZUNIONSTORE to 2 small1 small2", 3000),
    ("ZUNIONSTORE to 2 packed1 packed2", 1000),
    ("SINTER packedset1 packedset2", 1000),
    ("HRANDFIELD packedhash -5", 3000),
    ("SRANDMEMBER ints -5", 3000),
    ("PFMERGE merged sketch1 sketch2", 500),
    ("PFCOUNT sketch1 sketch2", 500),
    ("RESTORE restored 0 @packedhash REPLACE", 1000),
    ("RESTORE restored 0 @hash1000 REPLACE", 500),
    ("DUMP text", 500),
    ("LRANGE numbers 0 -1", 3000),
    ("KEYS key:99*9", 3),
    ("MGET" + " large" * 10, 50),
]


# Commands that are sent more often than this are pipelined: the others' replies are large.
PIPELINED = 100


def shuffled(prefix, start, count):
    members = [f"{prefix}:{number:09d}" for number in range(start, start + count)]
    random.Random(start).shuffle(members)
    return members


def chunks(words, most=100):
    return (words[at : at + most] for at in range(0, len(words), most))


def scored(members, seed):
    scores = random.Random(seed)
    return [word for member in members for word in (f"{scores.random() * 1e6:.3f}", member)]


def fill(server, elements):
    requests = []
    for number, start in ((1, 0), (2, elements // 2)):
        members = shuffled("member", start, elements)
        requests += [["SADD", f"set{number}", *some] for some in chunks(members)]
        requests += [["ZADD", f"zset{number}", *some] for some in chunks(scored(members, number))]
        for name, count in (("small", 10), ("packed", 100)):
            few = shuffled("m", number * count // 2, count)
            requests.append(["ZADD", f"{name}{number}", *scored(few, number)])
            requests.append(["SADD", f"{name}set{number}", *few])
        noted = shuffled("seen", number * 50_000, 100_000)
        requests += [["PFADD", f"sketch{number}", *some] for some in chunks(noted)]
    fields = [word for field in shuffled("field", 0, elements) for word in (field, "of:" + field)]
    requests += [["HSET", "hash1", *some] for some in chunks(fields)]
    requests.append(["HSET", "packedhash", *fields[:400]])
    requests.append(["SADD", "ints", *range(0, 1500, 3)])
    requests.append(["HSET", "hash1000", *fields[:2000]])
    requests.append(["RPUSH", "numbers", *range(100_000, 200_000, 1000)])
    requests.append(["SET", "text", "".join(f"line {number} of a text, " for number in range(4000))])
    requests.append(["SET", "large", "v" * 1_000_000])
    requests += [["MSET", *some] for some in chunks([w for key in shuffled("key", 0, elements // 2) for w in (key, "v")])]
    server.send(requests)


def cpu(server):
    """CPU time of the process in microseconds."""
    total = 0
    for path in glob.glob(f"/proc/{server.process.pid}/task/*/schedstat"):
        with open(path) as file:
            total += int(file.read().split()[0])
    return total / 1000


def resolved(server, word):
    return server.ask("DUMP", word[1:]) if word.startswith("@") else word


def measure(server, words, count):
    words = [resolved(server, word) for word in words]
    before = cpu(server)
    if count > PIPELINED:
        server.send([words] * count)
    else:
        for _ in range(count):
            server.ask(*words)
    return (cpu(server) - before) / count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="the rds to measure")
    parser.add_argument("--beside", action="append", required=True, help="a server to compare it with; may be another rds")
    parser.add_argument("--elements", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="commands that contain this")
    arguments = parser.parse_args()
    binaries = [arguments.server, *arguments.beside]
    with tempfile.TemporaryDirectory() as folder:
        servers = [Server(binary, binary.endswith("rds"), folder) for binary in binaries]
        try:
            for server in servers:
                fill(server, arguments.elements)
            print("microseconds of CPU for each: " + ", ".join(binaries))
            for command, count in COMMANDS:
                if arguments.only not in command:
                    continue
                words = command.split()
                rounds = [[measure(server, words, count) for server in servers] for _ in range(arguments.rounds)]
                medians = [statistics.median(column) for column in zip(*rounds)]
                line = f"{command[:36]:38}" + "".join(f"{median:12.1f}" for median in medians)
                for other in range(1, len(servers)):
                    ratios = [times[0] / max(times[other], 0.1) for times in rounds]
                    ratio = medians[0] / max(medians[other], 0.1)
                    line += f"   {ratio:5.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
                print(line, flush=True)
        finally:
            for server in servers:
                server.stop()


if __name__ == "__main__":
    sys.exit(main())
