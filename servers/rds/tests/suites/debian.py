# SPDX-License-Identifier: Apache-2.0
"""Fetches the sources of Debian's packages, which have the tests of programs that their registries do not have."""

import subprocess, sys

from pypi import unpack
from servers import FOLDER


def mirrors():
    """Where this machine's packages come from."""
    targets = ["Created-By: Packages", "Origin: Debian", "Component: main"]
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", *targets]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return sorted(set(result.stdout.split()))


def source(package, version, release, archive):
    """Fetches the original archive of a source package of a release of Debian. Returns the folder of its files."""
    folder = FOLDER / package
    unpacked = folder / "files"
    if not unpacked.exists():
        lists = folder / "lists"
        (lists / "partial").mkdir(parents=True, exist_ok=True)
        sources = folder / "sources.list"
        signed = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
        # The archives of updates have other releases.
        found = [uri for uri in mirrors() if "security" not in uri]
        sources.write_text("".join(f"deb-src {signed} {uri} {release} main\n" for uri in found))
        options = [f"Dir::Etc::sourcelist={sources}", "Dir::Etc::sourceparts=/dev/null", f"Dir::State::lists={lists}"]
        # As root, apt would fetch as a user who may not write to the folder.
        options.append("APT::Sandbox::User=root")
        apt = ["apt-get", "-qq", *(word for option in options for word in ("-o", option))]
        subprocess.run([*apt, "update"], check=True)
        fetch = ["source", "--download-only", "--tar-only", f"{package}={version}"]
        # It also fails when the mirror lacks another archive of the package, which nothing here needs.
        subprocess.run([*apt, *fetch], cwd=folder)
        partial = folder / "files.partial"
        for path in folder.glob(archive):
            unpack(path, partial)
        if not partial.exists():
            sys.exit(f"{package} {version} has no archive {archive}")
        partial.rename(unpacked)
    [only] = unpacked.iterdir()
    return only
