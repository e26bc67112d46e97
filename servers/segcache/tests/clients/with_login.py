# SPDX-License-Identifier: Apache-2.0
"""Clients that log in. Usage: with_login.py HOST:PORT USER PASSWORD

Prints a transcript: python-binary-memcached by SASL, pymemcache by a set of the credentials.
"""

import sys

import bmemcached
from pymemcache.client.base import Client
from pymemcache.exceptions import MemcacheClientError


def by_sasl(address, user, password):
    client = bmemcached.Client((address,), user, password)
    print("sasl:", client.set("sasl", "value"), client.get("sasl"))
    client.disconnect_all()


def by_text(address, user, password):
    host, port = address.rsplit(":", 1)
    client = Client((host, int(port)), default_noreply=False)
    try:
        print("before:", client.get("text"))
    except MemcacheClientError as error:
        print("before:", error)
    client = Client((host, int(port)), default_noreply=False)
    try:
        print("login:", client.set("login", f"{user} {password}"))
        print("text:", client.set("text", "value"), client.get("text"))
    except MemcacheClientError as error:
        print("login:", error)


if __name__ == "__main__":
    by_text(*sys.argv[1:])
    by_sasl(*sys.argv[1:])
