#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The packages of `cargo xtask dist`, installed in a clean Debian and used.

usage: installed.py DIST ROOT

DIST is the folder with the packages. ROOT is a minimal Debian of the release that they were built on, without systemd, as
.ci/steps/needs.sh makes it; the tarball stays unpacked in it.

The Debian packages are installed there by apt, as the README says, and dpkg; the servers run as their user and serve clients of memcached and Redis;
man pages are shown, completions asked; what is left after removing and purging is counted. Then the tarball's programs
and the images' layers run, each image in a root that has nothing else. It needs root, for chroot.
"""

import argparse
import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SERVERS = {"segcache": "-p", "rds": "--port", "pingserver": None}
TOOLS = ["cacheperf"]
# What changes in a root whatever is installed: dpkg's own files, caches, and copies that tools keep of old files.
MOVING = ("proc/", "run/", "var/lib/dpkg/", "var/lib/apt/", "var/log/", "var/cache/", "root/", "tmp/", "etc/.pwd.lock",
          "etc/passwd-", "etc/group-", "etc/shadow-", "etc/gshadow-", "etc/subuid-", "etc/subgid-")
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root", "TERM": "dumb",
               "DEBIAN_FRONTEND": "noninteractive"}


def say(words):
    print(f"installed: {words}", flush=True)


def check(condition, words):
    if not condition:
        sys.exit(f"installed: {words}")


def run(*command, **options):
    """What a command prints; it must succeed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    check(done.returncode == 0, f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def readme(begin):
    """The one command of the README that begins so, as root has no need of sudo."""
    commands = re.findall(rf"^\$ sudo ({re.escape(begin)}.*)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    check(len(commands) == 1, f"the README has {len(commands)} commands that begin with sudo {begin}")
    return commands[0]


class Root:
    """A root to run programs in."""

    def __init__(self, folder):
        self.folder = folder

    def command(self, *words, user=None):
        return ["chroot", *([f"--userspec={user}"] if user else []), str(self.folder), *map(str, words)]

    def run(self, *words, user=None, **options):
        return run(*self.command(*words, user=user), env=ENVIRONMENT, **options)

    def path(self, path):
        return self.folder / path.lstrip("/")

    @contextlib.contextmanager
    def processes(self):
        """/proc within it, where this machine allows that."""
        mounted = subprocess.run(["mount", "-t", "proc", "proc", str(self.path("/proc"))], capture_output=True)
        try:
            yield
        finally:
            if mounted.returncode == 0:
                run("umount", self.path("/proc"))

    @contextlib.contextmanager
    def with_files(self, files):
        """Copies of files in a folder within it."""
        with tempfile.TemporaryDirectory(dir=self.path("/tmp")) as place:
            # apt reads them as a user of its own.
            os.chmod(place, 0o755)
            for file in files:
                shutil.copy(file, place)
            yield f"/tmp/{Path(place).name}"

    def files(self):
        """All paths but those that move."""
        found = set()
        for folder, folders, names in os.walk(self.folder):
            for name in folders + names:
                path = os.path.relpath(os.path.join(folder, name), self.folder)
                if not path.startswith(MOVING):
                    found.add(path)
        return found


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def ask(port, question, until):
    """Sends `question` and reads until the answer contains `until`."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(question)
        answer = b""
        while until not in answer:
            read = client.recv(4096)
            check(read, f"port {port}: the connection ended after {answer!r}")
            answer += read
        return answer


@contextlib.contextmanager
def serving(command, arguments):
    """The server `command` on ports of its own, until it has stopped as it is told to."""
    port, admin = free_port(), free_port()
    flag = SERVERS[Path(arguments[0]).name]
    # pingserver has no flag for its port.
    own = [flag, str(port)] if flag else []
    port = port if flag else 12321
    log = tempfile.TemporaryFile("w+")
    child = subprocess.Popen([*command, *arguments, *own, "--admin-port", str(admin)], stdout=log, stderr=log,
                             env=ENVIRONMENT)

    def told():
        log.seek(0)
        return f"{arguments}:\n{log.read()}"

    try:
        ready, deadline = False, time.monotonic() + 60
        while not ready:
            check(child.poll() is None and time.monotonic() < deadline, f"it does not become ready: {told()}")
            with contextlib.suppress(OSError):
                with urllib.request.urlopen(f"http://127.0.0.1:{admin}/ready", timeout=10) as answer:
                    ready = answer.status == 200
            time.sleep(0.02)
        yield port, child.pid
        child.send_signal(signal.SIGTERM)
        check(child.wait(60) == 0, f"it did not stop as it was told to: {told()}")
    finally:
        child.kill()
        child.wait()


def use(program, port):
    """Does with a server what its clients do."""
    if program == "segcache":
        with tempfile.NamedTemporaryFile(prefix="greeting") as file:
            file.write(b"hello from memccp")
            file.flush()
            run("memccp", f"--servers=127.0.0.1:{port}", file.name)
            stored = run("memccat", f"--servers=127.0.0.1:{port}", Path(file.name).name)
        check(stored.strip() == "hello from memccp", f"memccat got {stored!r}")
        check(ask(port, b"get nothing\r\n", b"END\r\n") == b"END\r\n", "get of a missing key")
    elif program == "rds":
        check(run("redis-cli", "-p", port, "set", "greeting", "hello") == "OK\n", "redis-cli set")
        check(run("redis-cli", "-p", port, "get", "greeting") == "hello\n", "redis-cli get")
        script = run("redis-cli", "-p", port, "eval", "return redis.call('get', KEYS[1])", "1", "greeting")
        check(script == "hello\n", f"redis-cli eval got {script!r}")
    else:
        check(ask(port, b"PING\r\n", b"\r\n") == b"PONG\r\n", "PING")


def pages(root, program):
    """The man pages are shown without a warning, and shells complete the flags."""
    names = [program] + ([f"{program}.toml"] if program in SERVERS else [])
    for name in names:
        shown = subprocess.run(root.command("man", "--warnings", "-P", "cat", name), capture_output=True, text=True,
                               env={**ENVIRONMENT, "MANWIDTH": "100"})
        check(shown.returncode == 0 and not shown.stderr, f"man {name}: {shown.stderr}")
        check("NAME" in shown.stdout and "DESCRIPTION" in shown.stdout, f"man {name} shows {shown.stdout[:200]!r}")
        check("\\fB" not in shown.stdout, f"man {name} shows marks of its language")
    # A beginning of a flag, and the flag.
    begin, flag = ("--check", "--check-config") if program in SERVERS else ("--vers", "--version")
    function = f"_{program}"
    bash = (f"source /usr/share/bash-completion/completions/{program}; COMP_WORDS=({program} {begin}); COMP_CWORD=1;"
            f" {function} {program} {begin} {program}; echo ${{COMPREPLY[@]}}")
    completed = root.run("bash", "--norc", "-c", bash).split()
    check(flag in completed, f"bash completes {begin} of {program} to {completed}")
    completed = root.run("fish", "-c", f"complete -C '{program} {begin}'")
    check(flag in completed, f"fish completes {begin} of {program} to {completed!r}")
    # Completions of zsh run at a terminal only: they are found by their name, and are read without an error.
    zsh = f"autoload -U compinit && compinit -u -D && print $_comps[{program}] && autoload +X {function}"
    found = root.run("zsh", "-f", "-c", zsh)
    check(found.strip() == function, f"zsh finds {found!r} for {program}")


def debian(dist, root):
    """Installs, uses, removes and purges the Debian packages."""
    programs = [*SERVERS, *TOOLS]
    packages = [f"shoebill-{program}" for program in programs]
    before = root.files()
    files = sorted(dist.glob("*.deb"))
    check(len(files) == len(packages), f"{len(packages)} packages are expected, there are {files}")
    with root.processes(), root.with_files(files) as place:
        root.run("bash", "-c", f"cd {place} && {readme('apt install ')}")
        root.run("bash", "-c", f"dpkg --install {place}/*.deb")
        say(f"apt and dpkg have installed {', '.join(packages)}")
        wrong = root.run("dpkg", "--verify", *packages)
        check(not wrong, f"installed files are not those of the packages:\n{wrong}")
        user = root.run("id", "-u", "shoebill").strip()
        admin_ports = set()
        for program in SERVERS:
            arguments = [f"/usr/bin/{program}", f"/etc/shoebill/{program}.toml"]
            root.run(*arguments, "--check-config")
            settings = root.run(*arguments, "--print-config")
            admin_ports.add(re.search(r"^\[admin\]\n(?:.+\n)*?port = (\d+)$", settings, re.MULTILINE).group(1))
            with serving(root.command(user="shoebill:shoebill"), arguments) as (port, pid):
                owner = os.stat(f"/proc/{pid}").st_uid
                check(str(owner) == user, f"{program} runs as user {owner}, not {user}")
                use(program, port)
                if program == "segcache":
                    root.run("cacheperf", "--version")
            unit = root.path(f"/usr/lib/systemd/system/{program}.service").read_text()
            check(f"ExecStart={' '.join(arguments)}\n" in unit, f"the unit of {program} starts something else")
            say(f"{program} has served its clients as the user shoebill")
        check(len(admin_ports) == len(SERVERS), f"servers share admin ports: {admin_ports}")
        for program in programs:
            pages(root, program)
        say("man pages and completions are there")
        changed = root.path("/etc/shoebill/segcache.toml")
        changed.write_text(changed.read_text() + "# changed\n")
        root.run("dpkg", "--remove", *packages)
        check(changed.read_text().endswith("# changed\n"), "a changed configuration is kept when its package is removed")
        check(not root.path("/usr/bin/segcache").exists(), "a program is gone when its package is removed")
        root.run("dpkg", "--purge", *packages)
    left = sorted(root.files() - before)
    check(not left, f"these files are left after purging: {left}")
    gone = sorted(before - root.files())
    check(not gone, f"these files are gone after purging: {gone}")
    check("shoebill" not in root.path("/etc/passwd").read_text(), "the user is left after purging")
    say("removing keeps the configuration, purging leaves nothing")


def tarball(dist, root):
    """Unpacks the tarball below /usr/local and runs its programs there."""
    with root.processes(), root.with_files(dist.glob("*-linux-gnu.tar.gz")) as place:
        root.run("bash", "-c", f"cd {place} && {readme('tar ')}")
        for program in [*SERVERS, *TOOLS]:
            root.run(f"/usr/local/bin/{program}", "--version")
        for program in SERVERS:
            arguments = [f"/usr/local/bin/{program}", f"/usr/local/etc/shoebill/{program}.toml"]
            with serving(root.command(user="nobody:nogroup"), arguments) as (port, _):
                use(program, port)
    say("the programs of the tarball have served their clients")


def image(path):
    """Checks that an image is what OCI says, and runs it as its configuration says in a root of its layer alone."""
    with tarfile.open(path) as archive:
        files = {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}
        owners = {(member.uid, member.gid) for member in archive}
    check(owners == {(0, 0)}, f"{path.name}: files belong to {owners}")
    check(json.loads(files["oci-layout"])["imageLayoutVersion"] == "1.0.0", f"{path.name}: the layout")

    def blob(described):
        bytes_ = files["blobs/sha256/" + described["digest"].removeprefix("sha256:")]
        digest = "sha256:" + hashlib.sha256(bytes_).hexdigest()
        check(digest == described["digest"] and len(bytes_) == described["size"], f"{path.name}: {described}")
        return bytes_

    [described] = json.loads(files["index.json"])["manifests"]
    manifest = json.loads(blob(described))
    configuration = json.loads(blob(manifest["config"]))
    [layer] = manifest["layers"]
    compressed = blob(layer)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "layer.tar.gz").write_bytes(compressed)
        unpacked = subprocess.run(["gzip", "-dc", f"{folder}/layer.tar.gz"], check=True, capture_output=True).stdout
        digest = "sha256:" + hashlib.sha256(unpacked).hexdigest()
        check(configuration["rootfs"]["diff_ids"] == [digest], f"{path.name}: the digest of the layer")
        with tarfile.open(fileobj=io.BytesIO(unpacked)) as archive:
            careful = {"filter": "fully_trusted"} if hasattr(tarfile, "data_filter") else {}
            archive.extractall(f"{folder}/root", **careful)
        root = Root(Path(folder) / "root")
        run_as = configuration["config"]
        check(not run_as["User"].startswith("0"), f"{path.name}: it runs as root")
        entry = run_as["Entrypoint"]
        program = Path(entry[0]).name
        text = root.path(entry[1]).read_text()
        check('host = "0.0.0.0"' in text, f"{path.name}: it is reached from its container alone")
        with serving(root.command(user=run_as["User"]), entry) as (port, _):
            use(program, port)
    say(f"{path.name}: {len(files)} files, {len(compressed) >> 10} KiB compressed; {program} has served its clients")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dist", type=Path)
    parser.add_argument("root", type=Path)
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("installed: NOT TESTED: the packages are installed in a root of their own, and this is not run as root")
    root = Root(arguments.root.resolve())
    debian(arguments.dist, root)
    tarball(arguments.dist, root)
    images = sorted(arguments.dist.glob("*-oci.tar"))
    check(len(images) == len(SERVERS), f"{len(SERVERS)} images are expected, there are {images}")
    for path in images:
        image(path)


if __name__ == "__main__":
    main()
