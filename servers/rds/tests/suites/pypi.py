# SPDX-License-Identifier: Apache-2.0
"""Fetches Python packages, from PyPI: into virtual environments, and as source, which has their tests."""

import subprocess, sys, tarfile

from servers import FOLDER


def environment(name, requirements=None):
    """Makes a virtual environment with what a file of requirements lists. Returns its Python."""
    python = FOLDER / name / "bin/python"
    if not python.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "venv", FOLDER / name], check=True)
    if requirements is not None:
        subprocess.run([*pip(python), "install", "-r", requirements], check=True)
    return python


def source(python, package, version):
    """Fetches the source distribution of a package. Returns the folder of its files."""
    folder = FOLDER / f"{package}-{version}"
    if not folder.exists():
        download = ["download", "--no-deps", "--no-binary", package, "-d", FOLDER]
        subprocess.run([*pip(python), *download, f"{package}=={version}"], check=True)
        partial = FOLDER / f"{package}-{version}.partial"
        unpack(FOLDER / f"{package}-{version}.tar.gz", partial)
        (partial / folder.name).rename(folder)
        partial.rmdir()
    return folder


def unpack(path, folder):
    """Unpacks an archive, with the care for names that Python has since the fourth release of 3.11."""
    careful = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(path) as archive:
        archive.extractall(folder, **careful)


def pip(python):
    return [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
