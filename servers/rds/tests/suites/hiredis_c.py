#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs hiredis' own test, a program in C, against a server: over TCP, a unix socket, TLS and an inherited
descriptor, blocking and asynchronous, pipelines of 10,000 requests written before the first reply is read.

    cargo build --release --bin rds
    python3 servers/rds/tests/suites/hiredis_c.py
    python3 servers/rds/tests/suites/hiredis_c.py --server redis-server

The test comes with the source distribution of hiredis' Python package, from PyPI, and is built in
target/suites; it needs a C compiler and OpenSSL's headers. The package lacks the adapters for event loops:
event_loop/ has them. Parts of what is not implemented are left out: hiredis_c.deselected lists their functions,
with reasons.

Fails if a test fails or is skipped, if hardly any ran, or if a line of the list names no function.
"""

import argparse, contextlib, os, pathlib, re, shutil, socket, subprocess, sys, tempfile, time

# Leaves no compiled files in the source tree.
sys.dont_write_bytecode = True
from lists import patterns
from pypi import environment, source
from servers import DEFAULT, FOLDER, Server, free_port

VERSION = "3.5.0"
HERE = pathlib.Path(__file__).resolve().parent
LIST = HERE / "hiredis_c.deselected"
SUITE = FOLDER / f"hiredis-{VERSION}/vendor/hiredis"
BINARY = FOLDER / f"hiredis-{VERSION}.test"
SOURCES = "alloc async hiredis net read sds sockcompat ssl suite".split()
SECONDS_MAX = 120
PASSED_MIN = 200
# In the certificate beside the address.
NAME = "suites.test"

# What is different here. The first two go out to other machines; what takes their place behaves the same, on this
# one. The others want something to be done within 10 ms, which a busy machine does not always do.
CHANGES = {
    '"idontexist-noreally.com"': '"name.invalid"',
    '"192.168.254.254"': '"127.0.0.2"',
    "{.tv_sec = 0, .tv_usec = 10000}": "{.tv_sec = 0, .tv_usec = 500000}",
    "connect_timeout.tv_usec = 10000;": "connect_timeout.tv_usec = 500000;",
    "millisleep(10);": "millisleep(600);",
}


def body(text, function):
    """The lines of a function."""
    found = re.search(rf"^static void {function}\(.*?^}}", text, re.MULTILINE | re.DOTALL)
    return found[0] if found else ""


def build():
    """Builds the test without what the list leaves out. Returns how many tests that are, and what is stale."""
    text = (SUITE / "test.c").read_text()
    for words, others in CHANGES.items():
        if text.count(words) != 1:
            sys.exit(f"hiredis_c.py: the test does not say {words} once")
        text = text.replace(words, others)
    left_out, stale = 0, []
    for function in patterns(LIST):
        tests = len(re.findall(r"^\s*test\(", body(text, function), re.MULTILINE))
        text, calls = re.subn(rf"(?<!static void )\b{function}\([^()]*\);", "(void)0;", text)
        left_out += tests * calls
        if tests * calls == 0:
            stale.append(function)
    (SUITE / "suite.c").write_text(text)
    flags = ["-O1", "-w", f"-I{HERE / 'event_loop'}", "-DHIREDIS_TEST_SSL", "-DHIREDIS_TEST_ASYNC"]
    sources = [f"{name}.c" for name in SOURCES]
    command = ["cc", *flags, "-I.", *sources, "-o", BINARY, "-lssl", "-lcrypto"]
    subprocess.run(command, cwd=SUITE, check=True)
    return left_out, stale


def certificates(folder):
    """Writes an authority, and a certificate of it for the name and the address of the server."""
    openssl = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    openssl += ["-nodes", "-days", "2"]
    run = lambda *more: subprocess.run([*openssl, *more], cwd=folder, check=True, stderr=subprocess.PIPE)
    run("-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem")
    names = f"subjectAltName=DNS:{NAME},IP:127.0.0.1"
    more = ["-addext", names, "-addext", "basicConstraints=critical,CA:FALSE"]
    signed = ["-CA", "ca.pem", "-CAkey", "ca.key"]
    run("-subj", "/CN=server", *more, *signed, "-keyout", "server.key", "-out", "server.pem")


@contextlib.contextmanager
def black_hole(port):
    """Connections to this port of 127.0.0.2 are never made: nobody accepts, and the queue is full."""
    with contextlib.ExitStack() as stack:
        hole = stack.enter_context(socket.socket())
        hole.bind(("127.0.0.2", port))
        hole.listen(0)
        for _ in range(10):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.2", port))
        yield


def run(arguments):
    """Runs the test; what it says, and how it ended."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        certificates(folder)
        path = lambda name: os.path.join(folder, name)
        tls = free_port()
        flags = ["--unixsocket", path("socket"), "--tls-port", str(tls), "--tls-auth-clients", "no"]
        flags += ["--tls-cert-file", path("server.pem"), "--tls-key-file", path("server.key")]
        flags += ["--tls-ca-cert-file", path("ca.pem")]
        server = stack.enter_context(Server(arguments.server, *flags))
        stack.enter_context(black_hole(server.port))
        # Line by line: it may be ended from here.
        command = ["stdbuf", "-oL", BINARY, "-h", "127.0.0.1", "-p", str(server.port), "-s", path("socket")]
        command += ["--ssl-host", "127.0.0.1", "--ssl-port", str(tls), "--ssl-ca-cert", path("ca.pem")]
        command += ["--ssl-cert", path("server.pem"), "--ssl-key", path("server.key")]
        command += ["--ssl-verify-name", NAME, "--skips-as-fails"]
        try:
            result = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=SECONDS_MAX,
            )
            return result.stdout.decode(errors="replace"), result.returncode
        except subprocess.TimeoutExpired as error:
            said = (error.stdout or b"").decode(errors="replace")
            return f"{said}\nnot at its end after {SECONDS_MAX} s", None


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", default=DEFAULT, help="the binary to test")
    arguments = parser.parse_args()
    if shutil.which("cc") is None or not pathlib.Path("/usr/include/openssl/ssl.h").exists():
        sys.exit("hiredis_c.py: needs a C compiler and OpenSSL (apt-get install gcc libssl-dev)")

    source(environment("venv"), "hiredis", VERSION)
    left_out, stale = build()
    started = time.monotonic()
    said, status = run(arguments)
    count = lambda outcome: len(re.findall(rf"\x1b\[[\d;]*m{outcome}\x1b", said))
    passed, failed, skipped = count("PASSED"), count("FAILED"), count("SKIPPED")
    if status != 0:
        print(said)
    for function in stale:
        print(f"no function with tests is called {function}, which hiredis_c.deselected leaves out")
    print(
        f"hiredis {VERSION}: {passed} passed, {failed} failed, {skipped} skipped, {left_out} left out, "
        f"in {time.monotonic() - started:.0f} s"
    )
    sys.exit(1 if status != 0 or failed or skipped or stale or passed < PASSED_MIN else 0)


if __name__ == "__main__":
    main()
