# SPDX-License-Identifier: Apache-2.0
"""The suites of clients: how each is fetched and run, and how it says which tests pass."""

import json, pathlib, re, shutil, subprocess

from client_suite import Suite
from go import build, fetch
from pypi import environment, source, unpack
from servers import FOLDER

HERE = pathlib.Path(__file__).resolve().parent
DRIVERS = HERE / "drivers"
PYTEST = re.compile(r"^PASSED (\S+.*)", re.MULTILINE)
TAP = re.compile(r"^ok (\d+ .*)", re.MULTILINE)
LINES = re.compile(r"^(?!\d{4}-\d\d-\d\dT)(.+)", re.MULTILINE)


class MemcacheSuite(Suite):
    """A suite that runs beside one server at 11211, unless it wants others."""

    ports = (11211,)
    environment = {}


class Python(MemcacheSuite):
    """The tests of a client in Python, which are in its source distribution; by pytest."""

    passed = PYTEST

    def __init__(self, name, version, passed_min, *arguments, about="its own tests", change=None):
        self.name, self.version, self.passed_min, self.about = name, version, passed_min, about
        self.arguments, self.change = arguments, change

    def prepare(self):
        self.python = environment("clients", HERE / "clients.requirements.txt")
        self.environment = {"PYTHONPATH": str(self.folder()), "MEMCACHED_HOST": "127.0.0.1"}
        source(self.python, self.name, self.version)
        if self.change:
            for path in self.folder().rglob("test*.py"):
                text = path.read_text()
                path.write_text(text.replace(*self.change))

    def folder(self):
        return FOLDER / f"{self.name}-{self.version}"

    def command(self):
        return [self.python, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", *self.arguments]


class Pymemcache(Python):
    # Keys are not listed: `stats cachedump`.
    differs = r".*::test_misc\[.*"


class PythonMemcached(Python):
    # The limit is on the value alone: one of exactly 1 MiB is stored.
    differs = r".*::test_ignore_too_large_value"

    def prepare(self):
        super().prepare()
        # Its source distribution has the tests without this module of theirs.
        (self.folder() / "tests/__init__.py").touch()
        shutil.copy(HERE / "drivers/python_memcached_utils.py", self.folder() / "tests/utils.py")


class Driver(MemcacheSuite):
    """A script of ours that prints what a client is told."""

    passed = LINES

    def __init__(self, name, script, passed_min, interpreter, package, check=None):
        self.name, self.script, self.passed_min, self.interpreter = name, script, passed_min, interpreter
        self.programs, self.about, self.check = {interpreter: package}, f"all its calls (drivers/{script})", check

    def missing(self):
        gone = super().missing()
        is_there = gone or not self.check or subprocess.run(self.check, capture_output=True).returncode == 0
        return gone if is_there else f"{self.programs[self.interpreter]} (apt-get install)"

    def command(self):
        return [self.interpreter, DRIVERS / self.script]


class Aiomcache(Driver):
    def __init__(self):
        super().__init__("aiomcache", "aiomcache_calls.py", 40, "python3", "python3")

    def prepare(self):
        self.interpreter = environment("clients", HERE / "clients.requirements.txt")


class Node(MemcacheSuite):
    """The tests of a client for Node, which are in its package."""

    passed = TAP
    programs = {"npm": "npm", "node": "nodejs"}

    def __init__(self, name, version, passed_min, also, about="its own tests"):
        self.name, self.version, self.passed_min, self.also, self.about = name, version, passed_min, also, about

    def prepare(self):
        if self.folder().exists():
            return
        partial = FOLDER / f"npm-{self.name}-{self.version}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        package = f"{self.name}@{self.version}"
        result = subprocess.run(["npm", "pack", "--silent", package], cwd=partial, check=True, stdout=subprocess.PIPE, text=True)
        unpack(partial / result.stdout.split()[-1], partial)
        install = ["npm", "install", "--silent", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--omit=dev"]
        # Nothing of what its developers use but what runs the tests.
        manifest = partial / "package/package.json"
        described = json.loads(manifest.read_text())
        described.pop("devDependencies", None)
        manifest.write_text(json.dumps(described))
        subprocess.run([*install, *self.also], cwd=partial / "package", check=True)
        partial.rename(FOLDER / f"npm-{self.name}-{self.version}")

    def folder(self):
        return FOLDER / f"npm-{self.name}-{self.version}" / "package"


class NodeMemcached(Node):
    ports = (11211, 11212, 11213)
    environment = {"MEMCACHED__HOST": "127.0.0.1"}

    def command(self):
        tests = sorted(self.folder().glob("test/*.test.js"))
        # It has a file with options of an older mocha.
        mocha = self.folder() / "node_modules/mocha/bin/mocha.js"
        return ["node", mocha, "--no-opts", "--exit", "--reporter", "tap", "--require", "should", *tests]


class Memjs(Node):
    def command(self):
        return ["node", "test/client_test.js"]


class MemjsCalls(Driver):
    """memjs' own tests use a server for little."""

    def __init__(self, suite):
        super().__init__("memjs-calls", "memjs_calls.js", 44, "node", "nodejs")
        self.suite = suite

    def prepare(self):
        self.suite.prepare()
        modules = FOLDER / "modules/node_modules"
        modules.mkdir(parents=True, exist_ok=True)
        if not (modules / "memjs").exists():
            (modules / "memjs").symlink_to(self.suite.folder())
        self.environment = {"NODE_PATH": str(modules)}


class Gomemcache(MemcacheSuite):
    name, about, passed_min = "gomemcache", "its own tests", 14
    passed = re.compile(r"^ *--- PASS: (\S+)", re.MULTILINE)
    programs = {"go": "golang"}
    version = "v0.0.0-20260422231931-4d751bb6e37c"

    def prepare(self):
        self.binary = FOLDER / f"gomemcache-{self.version}.test"
        fetch("github.com/bradfitz/gomemcache", self.version, self.folder())
        build(self.folder(), "./memcache", self.binary)

    def folder(self):
        return FOLDER / f"gomemcache-{self.version}"

    def command(self):
        # Its other tests start a memcached themselves, or none.
        return [self.binary, "-test.v", "-test.run=TestLocalhost|TestScan"]


class RustMemcache(MemcacheSuite):
    name, about, passed_min = "memcache-crate", "its tests of text, meta and binary", 67
    passed = re.compile(r"^test (\S+) \.\.\. ok", re.MULTILINE)
    programs = {"cargo": "cargo"}
    ports = (12345, 12346, 12347, 12348, 12349)
    version = "0.21.0"
    tests = ["test_ascii", "test_async_memcache", "test_exp_memcache", "test_exp_meta_client", "test_memcache", "tests"]

    def prepare(self):
        # The dependency of this workspace brings its source, tests and all.
        described = subprocess.run(
            ["cargo", "metadata", "--locked", "--format-version", "1"],
            cwd=HERE, check=True, stdout=subprocess.PIPE,
        )
        packages = json.loads(described.stdout)["packages"]
        [path] = [package["manifest_path"] for package in packages if package["name"] == "memcache"]
        if not self.folder().exists():
            shutil.copytree(pathlib.Path(path).parent, self.folder())
        self.environment = {"CARGO_TARGET_DIR": str(FOLDER / "memcache-crate-target")}
        subprocess.run([*self.cargo(), "--no-run", "--quiet"], cwd=self.folder(), check=True)

    def folder(self):
        return FOLDER / f"memcache-crate-{self.version}"

    def cargo(self):
        target = ["--target-dir", FOLDER / "memcache-crate-target"]
        chosen = [word for test in self.tests for word in ("--test", test)]
        return ["cargo", "test", "--features", "tokio,serde_json", *target, *chosen]

    def command(self):
        # Those two want sockets and UDP at fixed places.
        skipped = ["--", "--skip", "udp_test", "--exact", "--skip", "test"]
        return [*self.cargo(), "--offline", "--no-fail-fast", *skipped]


class Dalli5(Driver):
    """dalli 5, which speaks meta alone, from Debian's unstable release; unpacked, not installed."""

    def __init__(self):
        super().__init__("dalli-5", "dalli_calls.rb", 65, "ruby", "ruby")

    def prepare(self):
        folder = FOLDER / "dalli-5"
        if not folder.exists():
            partial = FOLDER / "dalli-5.partial"
            shutil.rmtree(partial, ignore_errors=True)
            oracles = HERE.parents[3] / ".ci/oracles.sh"
            subprocess.run(["bash", oracles, partial, "sid", "ruby-dalli", "ruby-connection-pool"], check=True)
            partial.rename(folder)
        self.libraries = sorted({path.parent for name in ("dalli.rb", "connection_pool.rb")
                                 for path in folder.rglob(name) if path.parent.name != "session"})

    def command(self):
        paths = [word for path in self.libraries for word in ("-I", path)]
        return ["ruby", *paths, DRIVERS / self.script]


class Nutcracker(Driver):
    """twemproxy before three servers, one of which is killed and started again; the driver starts them."""

    ports = ()

    def __init__(self):
        super().__init__("nutcracker", "nutcracker_calls.py", 9, "python3", "python3")
        self.about = "twemproxy before three servers, one killed (drivers/nutcracker_calls.py)"
        self.programs = {"python3": "python3", "nutcracker": "nutcracker"}


PHP = ["php", "-r", "exit(extension_loaded('memcached') ? 0 : 1);"]
MEMJS = Memjs("memjs", "1.3.2", 260, ["tap@npm:tape@5.10.2"])

SUITES = [
    Pymemcache("pymemcache", "4.0.0", 550, "-o", "addopts=", "-m", "integration or unit", "pymemcache/test"),
    PythonMemcached("python-memcached", "1.62", 10, "tests"),
    # Without those that want certificates or IPv6, or start servers themselves.
    Python("python_binary_memcached", "0.33.0", 100, "test", "--ignore=test/test_tls.py", "--ignore=test/test_ipv6.py",
           "--ignore=test/test_error_handling.py", change=("/tmp/memcached.sock", "127.0.0.1:11211")),
    Python("pylibmc", "1.6.3", 41, "tests"),
    Aiomcache(),
    Gomemcache(),
    NodeMemcached("memcached", "2.2.2", 43, ["mocha@12.0.3", "should@13.2.3"]),
    MEMJS,
    MemjsCalls(MEMJS),
    RustMemcache(),
    Driver("php-memcached", "php_calls.php", 115, "php", "php-cli php-memcached", PHP),
    Driver("dalli-3", "dalli_calls.rb", 60, "ruby", "ruby ruby-dalli", ["ruby", "-e", "require 'dalli'"]),
    Dalli5(),
    Nutcracker(),
]
