#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long turns of the event loop are, in CPU time, and how long the machine keeps any thread from its work.

    cargo build --release --bins
    python3 benches/scripts/turns.py --binaries target/release --engine epoll --rounds 3

For each server and load, in each round: a new server with one worker on the first core, cacheperf on the
second with 50 connections for two seconds, and the server's own histogram (--turn-cpu-time): mean, p99, p99.9
and the highest turn in microseconds. Right behind it `hiccups` runs on the first core for as long and does
nothing but read its own clock of CPU time: its longest pause, in microseconds, is what the machine adds to a
turn at its worst. A turn that is long where such pauses are is not the server's. Needs the openssl command.
"""
import argparse, os, re, socket, subprocess, tempfile, time, urllib.request
import harness, listening

LOADS = [
    ("one at a time", None, "-m get=9,set=1"),
    ("32 at a time", None, "-m get=9,set=1 -d 32"),
    ("1 KiB, 100 at a time", None, "-m get=1,set=1 -s 1k -d 100"),
    ("gets of 100 keys, 32 at a time", None, "-m multiget=1 --multiget-keys 100 -d 32"),
    ("TLS, one at a time", "ec", "--tls-insecure -m get=9,set=1"),
    ("TLS handshakes, ECDSA P-256", "ec", "--tls-insecure --reconnect 1 --tls-no-resumption"),
    ("TLS handshakes, RSA 2048", "rsa", "--tls-insecure --reconnect 1 --tls-no-resumption"),
]
KEYS = {"ec": harness.ECDSA_P256, "rsa": harness.RSA_2048}


def wait_for(port):
    end = time.monotonic() + 10
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)


def segcache(port, certificate, folder):
    words = ["-p", str(port), "-t", "1", "-m", "1024"]
    if certificate:
        config = os.path.join(folder, "tls.toml")
        with open(config, "w") as file:
            file.write('[tls]\ncertificate_chain = "%s"\nprivate_key = "%s"\n' % certificate)
        words.append(config)
    return "memcache", words


def rds(port, certificate, _):
    if not certificate:
        return "resp2", ["--port", str(port)]
    words = ["--port", "0", "--tls-port", str(port), "--tls-auth-clients", "no"]
    return "resp2", words + ["--tls-cert-file", certificate[0], "--tls-key-file", certificate[1]]


def turns(binaries, server, engine, certificate, flags, folder):
    """Mean, p99, p99.9 and highest turn in microseconds under a load."""
    port, admin = listening.free(2)
    protocol, words = {"segcache": segcache, "rds": rds}[server](port, certificate, folder)
    command = [os.path.join(binaries, server), "--turn-cpu-time", "--engine", engine]
    command += ["--admin-port", str(admin), *words]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, preexec_fn=lambda: harness.pin(0))
    try:
        wait_for(port)
        load = [os.path.join(binaries, "cacheperf"), "-p", protocol, "-a", f"127.0.0.1:{port}"]
        load += ["-k", "100k", "--preload", "-D", "2s", "-w", "500ms", *flags.split()]
        subprocess.run(load, check=True, stdout=subprocess.DEVNULL, preexec_fn=lambda: harness.pin(1))
        shown = urllib.request.urlopen(f"http://127.0.0.1:{admin}/vars").read().decode()
    finally:
        process.kill()
        process.wait()
    found = dict(re.findall(r"^shoebill_turn_cpu_(\S+): (\S+)", shown, re.M))
    mean = float(found["seconds_sum"]) / max(1, float(found["seconds_count"]))
    recent = [found[f'recent_seconds{{quantile="{quantile}"}}'] for quantile in ("0.99", "0.999")]
    values = [mean, *recent, found["max_seconds"]]
    return [round(float(seconds) * 1e6) for seconds in values]


def longest_pause(binaries):
    command = [os.path.join(binaries, "hiccups"), "2"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, preexec_fn=lambda: harness.pin(0))
    return round(float(re.search(r"longest: (\S+) ms", done.stdout).group(1)) * 1000)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", default="target/release")
    parser.add_argument("--engine", default="epoll", choices=["epoll", "io_uring"])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        certificates = {}
        for kind, key in KEYS.items():
            os.mkdir(os.path.join(folder, kind))
            certificates[kind] = harness.make_certificate(os.path.join(folder, kind), key)
        for server in ["segcache", "rds"]:
            for name, kind, flags in LOADS:
                for _ in range(options.rounds):
                    certificate = certificates.get(kind)
                    values = turns(options.binaries, server, options.engine, certificate, flags, folder)
                    shown = " / ".join(str(value) for value in values)
                    pause = longest_pause(options.binaries)
                    print(f"{server}, {name}: {shown}; the machine {pause}", flush=True)


if __name__ == "__main__":
    main()
