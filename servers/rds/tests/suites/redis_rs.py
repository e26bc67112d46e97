#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of redis-rs, the Rust client, against a server, in RESP2 and RESP3, blocking and asynchronous.

    cargo build --release --bin rds
    python3 servers/rds/tests/suites/redis_rs.py
    python3 servers/rds/tests/suites/redis_rs.py --server redis-server
    python3 servers/rds/tests/suites/redis_rs.py --only test_script,test_streams

The tests come with the crate, from crates.io, and are built in target/suites; that takes some minutes the first time.
Each starts a server of its own. What the crate leaves out of its package, a macro for asynchronous tests and the
address of a crate beside it, is put in. Some tests are left out: redis_rs.deselected lists them, with reasons.

Fails if a test fails, if hardly any ran, or if a line of the list matches no test.
"""

import argparse, json, os, pathlib, re, shutil, stat, subprocess, sys, time

# Leaves no compiled files in the source tree.
sys.dont_write_bytecode = True
from lists import conclude, patterns
from servers import CONFIG, DEFAULT, FOLDER, named

VERSIONS = {"redis": "1.8.1", "redis-test": "1.0.4"}
HERE = pathlib.Path(__file__).resolve().parent
LIST = HERE / "redis_rs.deselected"
SUITE = FOLDER / "redis-rs"
FEATURES = "aio,tokio-comp,connection-manager,cache-aio,r2d2,bb8,token-based-authentication"
# Those that need no cluster, no sentinel and no module.
TESTS = """
    test_acl test_async test_auth test_basic test_bignum test_cache test_digest_utils test_geospatial test_hotkeys
    test_script test_streams test_types
""".split()
PASSED_MIN = 700
SECONDS_MAX = 600

# Instead of a macro of a crate that is not published. An argument is a connection to a server of the test's own, or
# both of false and true.
ATTRIBUTES = r"((?:#\[[^\]]*\]\s*)*)"
ASYNC_TEST = re.compile(rf"{ATTRIBUTES}#\[async_test\]\s*{ATTRIBUTES}async fn (\w+)\(([^)]*)\)")
PLAIN_TEST = """#[test] {attributes}fn {name}() {{
    block_on_all(async {{ {calls} }}, RuntimeType::Tokio)
}}
{attributes}async fn {name}_task({parameters})"""
CONNECTION = "let ctx = TestContext::new(); let con = ctx.async_connection().await.unwrap(); "

# To the manifest, from which packaging has dropped what has no version.
MORE = """
[dev-dependencies.redis-test]
version = "{redis-test}"

[patch.crates-io]
redis = {{ path = "." }}
redis-test = {{ path = "../redis-test" }}
"""


def fetch():
    """Puts the crates into target/suites, from where cargo keeps their source."""
    if SUITE.exists():
        return
    partial = SUITE.with_name(f"{SUITE.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    (partial / "source/src").mkdir(parents=True)
    (partial / "source/src/lib.rs").touch()
    wanted = "".join(f'{name} = "={version}"\n' for name, version in VERSIONS.items())
    manifest = '[package]\nname = "source"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[dependencies]\n'
    (partial / "source/Cargo.toml").write_text(manifest + wanted)
    command = ["cargo", "metadata", "--format-version", "1"]
    described = subprocess.run(command, cwd=partial / "source", check=True, stdout=subprocess.PIPE)
    for package in json.loads(described.stdout)["packages"]:
        if package["name"] in VERSIONS:
            shutil.copytree(pathlib.Path(package["manifest_path"]).parent, partial / package["name"])
    manifest = partial / "redis/Cargo.toml"
    manifest.write_text(manifest.read_text() + MORE.format(**VERSIONS))
    for path in (partial / "redis/tests").glob("*.rs"):
        text = path.read_text().replace("use test_macros::async_test;", "")
        path.write_text(ASYNC_TEST.sub(plain, text))
    partial.rename(SUITE)


def plain(found):
    """A test that cargo knows, in place of one of the macro's."""
    before, behind, name, parameters = found.groups()
    attributes = before + behind
    if parameters.endswith(": bool"):
        calls = f"{name}_task(false).await; {name}_task(true).await"
    else:
        calls = f"{CONNECTION}{name}_task(con).await" if parameters else f"{name}_task().await"
    return PLAIN_TEST.format(attributes=attributes, name=name, calls=calls, parameters=parameters)


def build(tests):
    """Builds the tests. Returns their programs."""
    chosen = [word for test in tests for word in ("--test", test)]
    command = ["cargo", "test", "--no-run", "--quiet", "--message-format", "json", "--features", FEATURES, *chosen]
    command += ["--target-dir", FOLDER / "redis-rs-target"]
    result = subprocess.run([*map(str, command)], cwd=SUITE / "redis", check=True, stdout=subprocess.PIPE)
    built = [json.loads(line) for line in result.stdout.splitlines()]
    return {one["target"]["name"]: one["executable"] for one in built if one.get("executable")}


def wrapper(binary):
    """A program that starts the server as redis-server is started, without a fixed port for the admin plane."""
    path = named(pathlib.Path(binary))
    if path.name == "redis-server":
        return path
    config, script = FOLDER / "redis-rs.toml", FOLDER / "redis-rs-server"
    config.write_text(CONFIG)
    script.write_text(f'#!/bin/sh\nexec "{path}" "{config}" "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=DEFAULT, help="the binary to test")
    parser.add_argument("--only", default=",".join(TESTS), help="names of test programs, with commas")
    arguments = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    fetch()
    tests = arguments.only.split(",")
    programs = build(tests)
    server = wrapper(arguments.server)
    lines = patterns(LIST)
    started = time.monotonic()
    outcomes = {"ok": [], "FAILED": [], "ignored": [], "left out": []}
    for protocol in ("RESP2", "RESP3"):
        for test in tests:
            listed = output([programs[test], "--list"], {})
            names = re.findall(r"^(\S+): test$", listed, re.M)
            left_out = [name for name in names if any(re.fullmatch(line, short(name)) for line in lines)]
            # A panic in one asynchronous test ends those beside it.
            command = [programs[test], "--test-threads", "1", "--exact"]
            command += [word for name in left_out for word in ("--skip", name)]
            said = output(command, {"REDISRS_SERVER_BIN": str(server), "PROTOCOL": protocol})
            # Between a test's name and its outcome comes what it prints.
            found = re.findall(
                r"^test (\S+)(?: - should panic)? \.\.\. (?:(?!^test ).)*?(ok|FAILED|ignored)$", said, re.M | re.S
            )
            for name, outcome in [*found, *((name, "left out") for name in left_out)]:
                outcomes[outcome].append(f"{short(name)} in {protocol}")
            if any(outcome == "FAILED" for _, outcome in found):
                print(said)
    left_out = {name.split(" in ")[0] for name in outcomes["left out"]}
    stale = [line for line in lines if not any(re.fullmatch(line, name) for name in left_out)]
    passed_min = PASSED_MIN if tests == TESTS else 1
    stale = stale if tests == TESTS else []
    all_outcomes = [outcomes[outcome] for outcome in ("ok", "FAILED", "ignored", "left out")]
    conclude(f"redis-rs {VERSIONS['redis']}", LIST, stale, all_outcomes, started, True, passed_min)


def output(command, environment):
    """What a test program prints."""
    result = subprocess.run(
        command,
        cwd=SUITE / "redis",
        env={**os.environ, "RUST_BACKTRACE": "0", **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=SECONDS_MAX,
    )
    return result.stdout.decode(errors="replace")


def short(name):
    """The name of a test without that of its module."""
    return name.split("::", 1)[-1]


if __name__ == "__main__":
    main()
