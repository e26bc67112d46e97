# SPDX-License-Identifier: Apache-2.0
"""What the scripts beside this one share: a cache server of ours that they start, and what is said to it."""
import glob, os, re, resource, signal, socket, ssl, subprocess, sys, urllib.request
import listening

SECONDS_MAX = 60  # for anything that happens, on a busy machine


class Memcache:
    """What is said to a memcache server, and what it answers."""

    missing = b"END\r\n"

    @staticmethod
    def set(key, value):
        return b"set %s 0 0 %d\r\n%s\r\n" % (key, len(value), value), b"STORED\r\n"

    @staticmethod
    def get(key, value):
        return b"get %s\r\n" % key, b"VALUE %s 0 %d\r\n%s\r\nEND\r\n" % (key, len(value), value)


class Resp:
    """What is said to a server that speaks RESP, and what it answers."""

    missing = b"$-1\r\n"

    @staticmethod
    def set(key, value):
        header = b"*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n" % (len(key), key)
        return header + b"$%d\r\n%s\r\n" % (len(value), value), b"+OK\r\n"

    @staticmethod
    def get(key, value):
        request = b"*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n" % (len(key), key)
        return request, b"$%d\r\n%s\r\n" % (len(value), value)


class Server:
    """The server under test; its addresses are read from its log. It listens on TCP, on TCP with TLS, and on a unix
    socket; `descriptors` is its limit of open files, and `config` more of its configuration."""

    def __init__(self, binary, protocol, folder, max_connections=6000, arguments=(), config="", descriptors=None):
        self.protocol = protocol
        self.certificate, self.key = make_certificate(folder)
        self.unix_path = os.path.join(folder, "socket")
        path = os.path.join(folder, "server.toml")
        with open(path, "w") as file:
            file.write(
                f'[server]\nlisten = ["notls:127.0.0.1:0", "127.0.0.1:0", "unix:{self.unix_path}"]\n'
                f"max_connections = {max_connections}\n"
                "[admin]\nport = 0\n"
                f'[tls]\ncertificate_chain = "{self.certificate}"\nprivate_key = "{self.key}"\n{config}'
            )

        def prepare():
            pin(0)
            if descriptors:
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

        self.process = subprocess.Popen(
            [binary, *arguments, path], stderr=subprocess.PIPE, text=True, preexec_fn=prepare
        )
        self.port, self.tls_port, self.admin_port = listening.ports(self.process, 3)
        self.descriptors_idle = self.descriptors()

    def memory(self):
        """Resident bytes."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) << 10

    def forget_peak(self):
        """Begins anew to look for the peak of resident memory."""
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as file:
            file.write("5")

    def memory_peak_mb(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmHWM:\s+(\d+)", file.read()).group(1)) / 1024

    def memory_mb(self):
        return self.memory() / (1 << 20)

    def cpu_ns(self):
        """CPU time of all its threads so far, by the scheduler's account."""
        total = 0
        for path in glob.glob(f"/proc/{self.process.pid}/task/*/schedstat"):
            with open(path) as file:
                total += int(file.read().split()[0])
        return total

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def connect(self, port=None):
        return socket.create_connection(("127.0.0.1", port or self.port), SECONDS_MAX)

    def connect_unix(self):
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(SECONDS_MAX)
        sock.connect(self.unix_path)
        return sock

    def health(self):
        """The status that the admin port answers to a probe of its health."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin_port}/health", timeout=SECONDS_MAX) as reply:
            return reply.status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(SECONDS_MAX)
        if code != 0:
            sys.exit(f"FAIL: the server ended with code {code}")


def pin(core):
    if len(os.sched_getaffinity(0)) > 1:
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[core]})


def allow_descriptors(count):
    """Sets the limit of open files of this process, and of those it starts, to `count` or as near as it may;
    returns the limit."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    limit = min(hard, count) if hard > 0 else count
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    return limit


# What openssl is told of a key.
ECDSA_P256 = ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
RSA_2048 = ["rsa:2048"]


def make_certificate(folder, kind=ECDSA_P256):
    """Files of a certificate for localhost and of its key."""
    cert, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", *kind, "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-keyout", key, "-out", cert],
        check=True, capture_output=True,
    )
    return cert, key


def client_context():
    """Of a TLS client that believes every certificate."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def exchange(sock, request, end):
    """Sends a request and reads up to the reply's last bytes."""
    sock.sendall(request)
    reply = b""
    while not reply.endswith(end):
        piece = sock.recv(65536)
        if not piece:
            raise ConnectionError(f"closed after {reply[:80]!r}")
        reply += piece
    return reply
