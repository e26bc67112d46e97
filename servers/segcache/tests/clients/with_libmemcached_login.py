# SPDX-License-Identifier: Apache-2.0
"""Logs in by SASL with libmemcached: ADDRESS USER PASSWORD. Its libsasl looks for mechanisms in SASL_PATH."""

import glob
import os
import sys

os.environ.setdefault("SASL_PATH", ":".join(glob.glob("/usr/lib/*/sasl2")))

import pylibmc  # noqa: E402

address, user, password = sys.argv[1:]


def tell(name, call):
    try:
        print(f"{name}: {call()}")
    except pylibmc.Error as error:
        # The address of the server follows.
        print(f"{name}: {type(error).__name__}")


def client(password):
    return pylibmc.Client([address], binary=True, username=user, password=password)


tell("wrong", lambda: client(password + "x").set("k", "v"))
good = client(password)
tell("set", lambda: good.set("k", "v"))
tell("get", lambda: good.get("k"))
tell("multi", lambda: good.set_multi({f"k{n}": n for n in range(100)}))
tell("get_multi", lambda: len(good.get_multi([f"k{n}" for n in range(100)])))
tell("incr", lambda: good.incr("k1"))
