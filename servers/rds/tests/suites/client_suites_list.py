# SPDX-License-Identifier: Apache-2.0
"""The suites of clients: how each is fetched and run, and how it says which tests pass."""

import collections, json, pathlib, re, subprocess, xml.etree.ElementTree

import debian
from client_suite import Suite
from go import build, fetch
from servers import FOLDER

HERE = pathlib.Path(__file__).resolve().parent
CLIENTS = HERE / "clients"


def numbered(names):
    """Names of tests, of which those that are there more than once have a number."""
    seen = collections.Counter()
    for name in names:
        seen[name] += 1
        yield name if seen[name] == 1 else f"{name} ({seen[name]})"


class RedisSuite(Suite):
    """A suite that runs beside a server at 6379, unless it wants others."""

    ports = (6379,)
    # Ports of servers that are each all of a cluster.
    clusters = ()

    def environment(self):
        return {}

    def passed(self, account, said):
        """The tests that passed, by the account that the suite wrote, or by what it printed."""
        return re.findall(r"^\s*--- PASS: (\S+)", said, re.MULTILINE)


class NodeRedis(RedisSuite):
    """node-redis's own tests of its client. They start their servers with docker."""

    name, version, passed_min = "node-redis", "4.6.14", 1100
    about = "its own tests; those of clusters want servers that make one by CLUSTER MEET"
    ports = ()
    programs = {"npm": "npm", "node": "nodejs"}

    def prepare(self):
        self.top = debian.source("node-redis", "4.6.14+~1.1.2-5", "sid", "node-redis_*.orig.tar.gz")
        if (self.top / "ready").exists():
            return
        subprocess.run(["npm", "ci", "--ignore-scripts", "--silent"], cwd=self.top, check=True)
        tools = self.top / "packages/test-utils/lib/index.ts"
        text = tools.read_text()
        before, clusters = text.split("let dockersPromise", 1)
        condition = "if (this.isVersionGreaterThan(options.minimumDockerVersion))"
        tools.write_text(f"{before}let dockersPromise{clusters.replace(condition, 'if (false as boolean)', 1)}")
        subprocess.run(["npm", "run", "--silent", "build:tests-tools"], cwd=self.top, check=True)
        (self.top / "bin").mkdir()
        (self.top / "bin/docker").symlink_to(CLIENTS / "docker.py")
        (self.top / "ready").touch()

    def folder(self):
        return self.top / "packages/client"

    def environment(self):
        return {"PATH": str(self.top / "bin"), "TS_NODE_TRANSPILE_ONLY": "1"}

    def command(self, account):
        words = "mocha --exit --timeout 10000 -r source-map-support/register -r ts-node/register --reporter json"
        words = ["npx", *words.split(), "--reporter-option", f"output={account}"]
        return [*words, "./lib/**/*.spec.ts", "--redis-version", "8.0"]

    def passed(self, account, said):
        return [test["fullTitle"] for test in json.loads(account.read_text())["passes"]]


class Predis(RedisSuite):
    """Predis's own tests of commands, with PHPUnit."""

    name, version, passed_min = "Predis", "2.4.0", 1700
    about = "its own tests of commands"
    programs = {"php": "php-cli", "phpunit": "phpunit"}
    # Nothing is kept on disk. Those of commands that are newer than the version that the server says are skipped.
    differs = r".*WAITAOF.*|.*ACL_Test::testSetModule.*|.*(HGETDEL|HGETEX|HSETEX)_Test.*"

    def prepare(self):
        self.top = debian.source("php-nrk-predis", "2.4.0-1", "trixie", "php-nrk-predis_*.orig.tar.xz")

    def folder(self):
        return self.top

    def command(self, account):
        groups = "realm-server,connected,commands"
        return ["phpunit", "-c", "phpunit.xml.dist", "--no-coverage", "--group", groups, "--log-junit", account]

    def passed(self, account, said):
        cases = xml.etree.ElementTree.parse(account).iter("testcase")
        return [f"{case.get('class')}::{case.get('name')}" for case in cases if len(case) == 0]


class Rueidis(RedisSuite):
    """rueidis's own tests that want a server, each of them many clients that cache, wait, listen and run scripts."""

    name, version, passed_min = "rueidis", "v1.0.79", 10
    about = "its own tests of a single server, with and without its cache in the client"
    programs = {"go": "golang"}
    # The second is for Redis 5, where the client has no cache.
    ports = (6379, 6355)
    module, package = "github.com/redis/rueidis", "."
    tests = """
        TestSingleClient5?Integration(WithPool)? TestNegative.* TestUnblock.* TestNewClientMaxMultiplex
        TestStandaloneClientWithNoSendToReplicas
    """.split()

    def prepare(self):
        top = FOLDER / f"rueidis-{self.version}"
        fetch(Rueidis.module, self.version, top)
        for part in ("mock", "rueidiscompat"):
            # Modules that look for the first in the folder above theirs.
            fetch(f"{Rueidis.module}/{part}", self.version, top / part)
        self.top = top / self.package
        self.binary = FOLDER / f"{self.name}-{self.version}.test"
        build(self.top, ".", self.binary)

    def folder(self):
        return self.top

    def command(self, account):
        return [self.binary, "-test.v", f"-test.run=^({'|'.join(self.tests)})$"]


class RueidisCompat(Rueidis):
    """The tests of rueidis's adapter, which are go-redis's, with RESP2, RESP3 and its cache in the client."""

    name, passed_min, package = "rueidiscompat", 660, "rueidiscompat"
    about = "its own tests of all commands"
    ports = (6379, 6356, 6378, 6381, 6382)
    clusters = (7007, 7010)
    # Who is in a cluster says a file; nothing is kept on disk and no file of settings is written.
    # While a function runs, another connection asks for it: a worker that runs a function serves nobody else.
    differs = rf".* Functions Shows function stats|.* Cluster Cluster(Meet|Forget|Replicate|Links)|.* (should Save|Config BgSave|Config Config Rewrite)"

    def command(self, account):
        return [self.binary, "-test.v", "--ginkgo.no-color", f"--ginkgo.json-report={account}"]

    def passed(self, account, said):
        specs = [spec for suite in json.loads(account.read_text()) for spec in suite["SpecReports"]]
        named = lambda spec: " ".join([*(spec["ContainerHierarchyTexts"] or []), spec["LeafNodeText"]])
        passed = [named(spec) for spec in specs if spec["LeafNodeType"] == "It" and spec["State"] == "passed"]
        return [*super().passed(account, said), *passed]


class Calls(RedisSuite):
    """A driver of ours that calls all that a client can do and prints what it is told, for clients whose packages have
    no tests. A line that is the same with both servers counts as a test that passes."""

    # Of commands, and of forms of them, that are newer than redis-server, alone and in transactions.
    newer = re.compile(r"unknown_(sub)?command|syntax_error|EXECABORT")

    def passed(self, account, said):
        found = re.findall(r"^--- PASS: (\S+)", said, re.MULTILINE)
        return [line for line in found if not self.newer.search(line)]


class Java(Calls):
    programs = {"mvn": "maven", "javac": "default-jdk-headless"}
    about = "all its calls (clients/Calls.java)"
    # A dump has the version of Redis 7.0, which all servers read.
    differs = r"functionDump.*"

    def __init__(self, name, version, passed_min):
        self.name, self.version, self.passed_min = name, version, passed_min

    def prepare(self):
        self.top = FOLDER / "java"
        if not self.top.exists():
            copy = ["mvn", "-q", "-B", "-f", CLIENTS / "pom.xml"]
            copy.append("org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies")
            partial = self.top.with_name("java.partial")
            subprocess.run([*map(str, copy), f"-DoutputDirectory={partial}"], check=True)
            partial.rename(self.top)
        compiler = ["javac", "-XDsuppressNotes", "-cp", f"{self.top}/*", "-d", self.top, CLIENTS / "Calls.java"]
        subprocess.run([*map(str, compiler)], check=True)

    def command(self, account):
        return ["java", "-cp", f"{self.top}:{self.top}/*", "Calls", self.name.lower(), "6379"]


class Ioredis(Calls):
    name, version, passed_min = "ioredis", "6.0.0", 10_000
    programs = {"npm": "npm", "node": "nodejs"}
    about = "all its calls, alone, in transactions and pipelines (clients/ioredis_calls.mjs)"
    # Fewer digits, since 8.0.
    differs = ".*_geopos_.*"

    def prepare(self):
        self.top = FOLDER / f"ioredis-{self.version}"
        if (self.top / "node_modules").exists():
            return
        self.top.mkdir(parents=True, exist_ok=True)
        (self.top / "package.json").write_text('{"private": true}\n')
        install = ["npm", "install", "--silent", "--ignore-scripts", f"ioredis@{self.version}"]
        subprocess.run(install, cwd=self.top, check=True)

    def folder(self):
        return self.top

    def command(self, account):
        return ["node", CLIENTS / "ioredis_calls.mjs"]


SUITES = [
    NodeRedis(),
    Ioredis(),
    Rueidis(),
    RueidisCompat(),
    Java("Jedis", "8.0.2", 2800),
    Java("Lettuce", "7.7.0", 3400),
    Predis(),
]
