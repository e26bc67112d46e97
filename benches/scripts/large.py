#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a large value keeps another connection of the same worker waiting.

    cargo build --release --bins
    python3 benches/scripts/large.py target/release/segcache memcached --rounds 5

A prober gets a small key in a loop over a connection of its own, first alone and then while another client sets, and
then gets, a value of 100 MB. Shown per server, over all rounds: the prober's p50, p99 and longest wait in microseconds
alone and during each transfer, p99 as a multiple of that alone; of the transfers the median time and the server's CPU
time in milliseconds; the peak of its resident memory in megabytes. The servers take turns in each round, each on the
first core with one worker; the clients are on the second. Server and prober go before other work if they may. Most
kernels do not take a processor from a process inside a system call, so the sender's socket holds 64 KiB only: with
megabytes of it the prober waits for the sender, and longer than for any server. A server whose file is named
`memcached` is started as memcached, `NAME=PATH` gives it a name, and arguments after the path go to it:
`"uring=target/release/segcache --engine io_uring"`.
"""
import argparse, multiprocessing, os, re, shlex, socket, ssl, statistics, subprocess, tempfile, time
import harness

PATIENCE = 60
# What the sending client may have on its way.
ON_ITS_WAY = 64 << 10


class Server:
    def __init__(self, words, megabytes, folder):
        path, *more = shlex.split(words)
        with socket.create_server(("127.0.0.1", 0)) as sock:
            self.port = sock.getsockname()[1]
        self.context = None
        command = [path, "-p", str(self.port), "-l", "127.0.0.1", "-t", "1", "-I", f"{megabytes + 28}m", "-m"]
        command += [str(max(1024, 8 * megabytes)), *(["-u", "nobody"] if "memcached" in path and not os.getuid() else [])]
        if "--tls" in more:
            more.remove("--tls")
            chain, key = harness.make_certificate(folder)
            file = os.path.join(folder, "tls.toml")
            with open(file, "w") as text:
                text.write(f'[tls]\ncertificate_chain = "{chain}"\nprivate_key = "{key}"\n')
            more.append(file)
            self.context = harness.client_context()
        self.process = subprocess.Popen([*command, *more], stderr=subprocess.DEVNULL, preexec_fn=serve)
        end = time.monotonic() + 10
        while True:
            try:
                self.connect().close()
                return
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def connect(self):
        sock = socket.create_connection(("127.0.0.1", self.port), PATIENCE)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self.context.wrap_socket(sock) if self.context else sock

    def status(self, name):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(name + r":\s+(\d+)", file.read()).group(1)) / 1024

    def forget_peak(self):
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as file:
            file.write("5")

    def cpu_ms(self):
        total = 0
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            with open(f"/proc/{self.process.pid}/task/{task}/schedstat") as file:
                total += int(file.read().split()[0])
        return total / 1e6

    def stop(self):
        self.process.kill()
        self.process.wait()


def prefer(niceness):
    """Goes before most other work of the machine, where that is allowed."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, niceness)
    except PermissionError:
        pass


def serve():
    harness.pin(0)
    prefer(-15)


def probe(server, stop, waits):
    """Gets a small key until `stop`, and passes on how long each took."""
    prefer(-20)
    seen = []
    with server.connect() as sock:
        while not stop.is_set():
            begin = time.perf_counter_ns()
            sock.sendall(b"get small\r\n")
            reply = sock.recv(100)
            while not reply.endswith(b"END\r\n"):
                reply += sock.recv(100)
            seen.append((time.perf_counter_ns() - begin) / 1000)
    waits.send(seen)


def read(sock, length):
    buffer = memoryview(bytearray(1 << 20))
    while length > 0:
        received = sock.recv_into(buffer[: min(length, len(buffer))])
        assert received > 0, f"closed with {length} bytes left"
        length -= received


def watched(server, work):
    """The waits of a prober while `work` is done."""
    stop = multiprocessing.Event()
    ours, theirs = multiprocessing.Pipe()
    prober = multiprocessing.Process(target=probe, args=(server, stop, theirs))
    prober.start()
    time.sleep(0.1)
    begin, cpu = time.monotonic(), server.cpu_ms()
    work()
    took, cpu = time.monotonic() - begin, server.cpu_ms() - cpu
    stop.set()
    seen = ours.recv()
    prober.join()
    # Without what it measured before and after.
    return [wait for wait in seen[-int(len(seen) * took / (took + 0.1)) or None :]], took * 1000, cpu


def round_of(server, value, wanted, found):
    header = b"set large 0 0 %d\r\n" % len(value)

    def put():
        sock.sendall(header)
        sock.sendall(value)
        sock.sendall(b"\r\n")
        reply = sock.recv(100)
        assert reply == b"STORED\r\n", reply

    def get():
        sock.sendall(b"get large\r\n")
        read(sock, len(b"VALUE large 0 %d\r\n" % len(value)) + len(value) + len(b"\r\nEND\r\n"))

    cores = os.sched_getaffinity(0)
    with server.connect() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, ON_ITS_WAY)
        sock.sendall(b"set small 0 0 5\r\nhello\r\n")
        assert sock.recv(100) == b"STORED\r\n"
        works = {"alone": lambda: time.sleep(0.5), "set": put, "get": get}
        for name in works:
            if name not in wanted:
                continue
            server.forget_peak()
            harness.pin(1)
            waits, took, cpu = watched(server, works[name])
            os.sched_setaffinity(0, cores)
            entry = found.setdefault(name, {"waits": [], "took": [], "cpu": [], "peak": []})
            entry["waits"] += waits
            entry["took"].append(took)
            entry["cpu"].append(cpu)
            entry["peak"].append(server.status("VmHWM"))


def quantile(sorted_waits, share):
    return sorted_waits[min(len(sorted_waits) - 1, int(len(sorted_waits) * share))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("servers", nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=int, default=100)
    options = parser.parse_args()
    servers = [named.split("=", 1) if "=" in named.split()[0] else (os.path.basename(named.split()[0]), named)
               for named in options.servers]
    found = {name: {} for name, _ in servers}
    value = os.urandom(1 << 20) * options.megabytes
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            for name, words in servers:
                server = Server(words, options.megabytes, folder)
                try:
                    # The second set and get are into and from memory that was used before.
                    round_of(server, value, ["alone", "set", "get"], found[name])
                    round_of(server, value, ["set", "get"], found[name])
                finally:
                    server.stop()
    for name, _ in servers:
        alone = quantile(sorted(found[name]["alone"]["waits"]), 0.99)
        for work, entry in found[name].items():
            waits = sorted(entry["waits"])
            p50, p99 = quantile(waits, 0.5), quantile(waits, 0.99)
            took, cpu = statistics.median(entry["took"]), statistics.median(entry["cpu"])
            shown = f"{name:12} {work:5}  p50 {p50:5.0f}  p99 {p99:7.0f} ({p99 / alone:5.1f}x)  max {waits[-1]:7.0f} us"
            print(f"{shown}  {len(waits):6} probes  {took:5.0f} ms  {cpu:5.0f} ms CPU  peak {max(entry['peak']):5.0f} MB")


if __name__ == "__main__":
    main()
