#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manifests of packaging/kubernetes: valid for Kubernetes, and right for the servers that they run.

usage: kubernetes.py BINARIES [--version 1.30]

BINARIES is the folder with the built servers, which check the configurations. It needs the Python package
kubernetes-validate, which has the schemas of Kubernetes in it.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import yaml

ROOT = Path(__file__).resolve().parent.parent
UNITS = {"Mi": 1 << 20, "Gi": 1 << 30, "MB": 1 << 20, "GB": 1 << 30, "mb": 1 << 20, "gb": 1 << 30, "s": 1}


def check(condition, words):
    if not condition:
        sys.exit(f"kubernetes: {words}")


def number(text):
    """A size in bytes, or a duration in seconds."""
    amount, unit = re.fullmatch(r"(\d+)([A-Za-z]+)", text).groups()
    return int(amount) * UNITS[unit]


def said(configuration, key):
    return re.search(rf'^{key} = "(.*)"$', configuration, re.MULTILINE).group(1)


def consistent(path, documents, binaries):
    """What must agree within a file, and with the server."""
    kinds = {document["kind"]: document for document in documents}
    check(set(kinds) == {"ConfigMap", "Service", "StatefulSet", "PodDisruptionBudget"}, f"{path.name} has {list(kinds)}")
    [(file, configuration)] = kinds["ConfigMap"]["data"].items()
    name = path.stem
    done = subprocess.run([binaries / name, "--check-config", "-"], input=configuration, text=True, capture_output=True)
    check(done.returncode == 0, f"{path.name}: {done.stderr}")

    states = kinds["StatefulSet"]["spec"]
    pod = states["template"]["spec"]
    [container] = pod["containers"]
    labels = states["template"]["metadata"]["labels"]
    check(kinds["Service"]["spec"]["clusterIP"] == "None", f"{path.name}: the service is not headless")
    check(states["serviceName"] == kinds["Service"]["metadata"]["name"], f"{path.name}: the name of the service")
    for selector in (kinds["Service"]["spec"]["selector"], states["selector"]["matchLabels"],
                     kinds["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"]):
        check(selector == labels, f"{path.name}: {selector} does not select {labels}")
    check([f"/etc/shoebill/{file}"] == [f"{mount['mountPath']}/{name}.toml" for mount in container["volumeMounts"]],
          f"{path.name}: the image does not read {file}")
    done = subprocess.run([binaries / name, *container["args"], "--print-config", "-"], input=configuration, text=True,
                          capture_output=True)
    check(done.returncode == 0, f"{path.name}: {done.stderr}")
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    shown = done.stdout
    for port in ports.values():
        check(f"\nport = {port}\n" in shown, f"{path.name}: {name} does not listen on {port}")
    for probe, where in (("readinessProbe", "/ready"), ("livenessProbe", "/health")):
        request = container[probe]["httpGet"]
        check(request == {"path": where, "port": "admin"}, f"{path.name}: {probe} asks {request}")
    drain = (container["lifecycle"]["preStop"]["sleep"]["seconds"]
             + number(said(configuration, "drain_delay")) + number(said(configuration, "drain_timeout")))
    check(pod["terminationGracePeriodSeconds"] > drain, f"{path.name}: the pod is killed while it drains, {drain} s")
    key = "memory" if name == "segcache" else "maxmemory"
    memory = number(said(configuration, key))
    for kind in ("requests", "limits"):
        given = number(container["resources"][kind]["memory"])
        check(given >= memory * 11 // 10 + (32 << 20), f"{path.name}: {given} bytes are too few for {memory}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=Path)
    parser.add_argument("--version", default="1.30", help="the oldest Kubernetes that takes them")
    arguments = parser.parse_args()
    paths = sorted((ROOT / "packaging/kubernetes").glob("*.yaml"))
    check(paths, "there are no manifests")
    for path in paths:
        documents = list(yaml.safe_load_all(path.read_text()))
        for document in documents:
            try:
                kubernetes_validate.validate(document, arguments.version, strict=True)
            except kubernetes_validate.ValidationError as error:
                sys.exit(f"kubernetes: {path.name}: {document['kind']}: {error.path}: {error.message}")
        consistent(path, documents, arguments.binaries.resolve())
        print(f"kubernetes: {path.name}: {len(documents)} objects are valid for {arguments.version} and agree")


if __name__ == "__main__":
    main()
