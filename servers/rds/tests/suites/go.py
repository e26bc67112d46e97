# SPDX-License-Identifier: Apache-2.0
"""Fetches Go modules, from the Go module proxy, and builds the tests that come with them."""

import json, pathlib, shutil, subprocess, sys

# Read-only in what Go keeps.
WRITABLE = 0o755


def fetch(module, version, folder):
    """Copies a module into a folder that is not there yet."""
    if folder.exists():
        return
    if shutil.which("go") is None:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: needs Go (apt-get install golang)")
    folder.parent.mkdir(parents=True, exist_ok=True)
    download = ["go", "mod", "download", "-json", f"{module}@{version}"]
    # Outside of any module, so that the version is taken as it is given.
    result = subprocess.run(download, cwd="/", check=True, stdout=subprocess.PIPE)
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(json.loads(result.stdout)["Dir"], partial, copy_function=shutil.copyfile)
    for path in [partial, *(path for path in partial.rglob("*") if path.is_dir())]:
        path.chmod(WRITABLE)
    partial.rename(folder)


def build(folder, package, binary):
    """Builds the tests of a package of a module in a folder, unless that was done before."""
    if binary.exists():
        return
    print(f"building the tests of {folder.name} …", flush=True)
    subprocess.run(["go", "test", "-c", "-o", binary, package], cwd=folder, check=True)
